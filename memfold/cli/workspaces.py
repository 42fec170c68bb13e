"""``memfold workspaces``: all that have a ledger, and which of them are left over."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.documents import WorkspacesDocument
from memfold.cli.parsing import json_option
from memfold.cli.parts import WorkspacePart
from memfold.config import load
from memfold.ledgers import KnownLedger, known_ledgers, take_over
from memfold.paths import data_dir, ledger_dir
from projections.text.clean import decode

__all__ = ["configure", "run"]

_DAY = 10


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    json_option(parser)


def run(options: Namespace) -> int:
    """List them, the one that was written last first; behind them, what can be done about those that are gone."""
    console = Console(options)
    data = data_dir(os.environ, load("", os.environ).config.data_dir)
    folder = os.path.dirname(ledger_dir(data, "any"))  # noqa: PTH120 - a text
    document = WorkspacesDocument(decode(folder), tuple(map(_part, known_ledgers(folder, os.environ))))
    if options.json:
        console.emit(document)
    else:
        _print(console, document)
    return 0


def _part(known: KnownLedger) -> WorkspacePart:
    return WorkspacePart(
        workspace=decode(known.root),
        state=known.state,
        written=format_time(known.written),
        size=known.size,
        ledger=decode(known.folder),
        take_over=take_over(known.root) if known.state == "gone" else "",
    )


def _print(console: Console, document: WorkspacesDocument) -> None:
    shown = document.workspaces
    rows = [(one.state, one.written[:_DAY], f"{one.size:,}", one.workspace or one.ledger) for one in shown]
    console.table(rows, ("folder", "written", "bytes", "workspace"), (2,), (3,))
    if not rows:
        console.out(f"no workspace has a ledger in {document.folder}")
    gone = [one for one in shown if one.state == "gone"]
    if gone:
        console.heading("gone: renamed, moved or deleted")
        console.out("in the folder that it is now, this takes its memories over:")
        for one in gone:
            console.out(f"  {one.take_over}")
        console.out("or, if nothing of it is wanted any more, this deletes them for ever:")
        for one in gone:
            console.out(f"  rm -r {one.ledger}")
