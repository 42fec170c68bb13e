# ruff: noqa: PTH100, PTH120 - pathlib costs more at start-up than the rest of this module
"""The target of the console script: our own packages first, then the command line."""

import os
import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line and give its exit code.

    ``ledger``, ``projections`` and ``replay`` are names that a user's project may have too, and with
    ``PYTHONPATH=.`` Python would find those first. So our own folder goes in front before anything of ours is
    imported; only a process that is memfold does this, the library never touches ``sys.path``.
    """
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from memfold.cli.main import main as run

    return run()
