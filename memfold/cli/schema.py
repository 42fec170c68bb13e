"""``memfold schema``: the JSON Schema of what the ledger holds."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from memfold.cli.parsing import choice

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    choice(parser, "what", ("events", "hook"), "schema", "the events of a ledger, or those that memfold hook reads")


def run(options: Namespace) -> int:
    """Print the schema."""
    if options.what == "hook":
        from memfold.hook.schema import schema_text
    else:
        from ledger.schema import schema_text
    sys.stdout.write(schema_text())
    return 0
