"""``memfold schema``: the JSON Schema of what the ledger holds."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("what", choices=("events",), metavar="events", help="the events of a ledger")


def run(options: Namespace) -> int:
    """Print the schema."""
    del options
    from ledger.schema import schema_text

    sys.stdout.write(schema_text())
    return 0
