"""``memfold schema``: the JSON Schema of what the ledger holds."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from memfold.cli.parsing import choice

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    choice(parser, "what", ("events",), "schema", "the events of a ledger")


def run(options: Namespace) -> int:
    """Print the schema."""
    del options
    from ledger.schema import schema_text

    sys.stdout.write(schema_text())
    return 0
