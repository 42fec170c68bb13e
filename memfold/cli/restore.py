"""``memfold restore``: make a memory that left active again under its id."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from memfold.cli.desk import Desk, tell
from memfold.cli.parsing import json_option, ledger_options
from memfold.editing import restore

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("memory", metavar="ID|TEXT", help="an id such as MEM-003, or a text, whole or in part")
    parser.add_argument("--reason", metavar="R", default="", help="why; kept in the history")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Restore a deleted, superseded or expired memory."""
    with Desk(options) as desk:
        ref = desk.named(options.memory, gone=True)
        return tell(desk, options, restore(desk.store, ref, reason=options.reason, time=desk.time))
