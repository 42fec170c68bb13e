"""``memfold pin`` and ``unpin``: set and clear the tag that keeps a memory out of the type caps (SPEC 11.1)."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from memfold.cli.desk import Desk, tell
from memfold.cli.parsing import json_option, ledger_options
from memfold.editing import update
from memfold.errors import NotFoundError

__all__ = ["PIN_TAG", "configure", "run"]

PIN_TAG = "safety-critical"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("memory", metavar="ID|TEXT", help="an id such as MEM-003, or a text, whole or in part")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Set or clear the tag, as the command is called."""
    with Desk(options) as desk:
        ref = desk.named(options.memory)
        if ref not in desk.store.world().memory.entries:
            raise NotFoundError("it is pending: a request is decided at the next session start", "memfold list")
        tags = [tag for tag in desk.wording(ref).tags if tag != PIN_TAG]
        is_pin = options.command == "pin"
        if is_pin:
            tags.append(PIN_TAG)
        done = update(desk.store, ref, session=None, tags=tags, origin="cli", time=desk.time)
        return tell(desk, options, done, as_="pinned" if is_pin else "unpinned")
