"""``memfold forget``: take a memory out of all future blocks; its history stays and it can be restored."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from memfold.cli.desk import Desk, tell
from memfold.cli.parsing import json_option, ledger_options
from memfold.editing import delete

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("memory", metavar="ID|TEXT", help="an id such as MEM-003, or a text, whole or in part")
    parser.add_argument("--reason", metavar="R", default="", help="why; kept in the history")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Delete what the name means; several matches of a text are listed, and nothing is deleted."""
    with Desk(options) as desk:
        ref = desk.named(options.memory)
        done = delete(desk.store, ref, session=None, origin="cli", reason=options.reason, time=desk.time)
        also = f"memfold restore {done.id} brings it back; memfold purge {done.id} erases its text" if done.id else ""
        return tell(desk, options, done, also=also)
