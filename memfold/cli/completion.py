# ruff: noqa: PTH100, PTH118, PTH120, PTH123 - pathlib costs more at start-up than reading one file
"""``memfold completion``: the completion script of a shell, as shipped."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from memfold.cli.parsing import choice

__all__ = ["SHELLS", "configure", "run", "script_path"]

SHELLS = ("bash", "zsh", "fish")


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    choice(parser, "shell", SHELLS, "shell", "the shell")


def run(options: Namespace) -> int:
    """Print the script."""
    with open(script_path(options.shell), encoding="utf-8") as file:
        sys.stdout.write(file.read())
    return 0


def script_path(shell: str) -> str:
    """The file that is shipped for a shell; ``python -m memfold.cli.reference`` makes it."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", f"completion.{shell}")
