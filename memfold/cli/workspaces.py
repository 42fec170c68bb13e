"""``memfold workspaces``: all that have a ledger, and which of them are left over."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence

from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.documents.settings import WorkspacePart, WorkspacesDocument
from memfold.cli.moved import exported, took_over
from memfold.cli.parsing import json_option
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
    """List them, the one that was written last first; behind them, what can be done about those that are left over."""
    console = Console(options)
    data = data_dir(os.environ, load("", os.environ).config.data_dir)
    folder = os.path.dirname(ledger_dir(data, "any"))  # noqa: PTH120 - a text
    known = known_ledgers(folder, os.environ)
    taken = took_over(folder, os.environ) if any(one.state == "gone" for one in known) else {}
    document = WorkspacesDocument(decode(folder), tuple(_part(one, taken) for one in known))
    if options.json:
        console.emit(document)
    else:
        _print(console, document)
    return 0


def _part(known: KnownLedger, taken: Mapping[str, str]) -> WorkspacePart:
    """A row; of a workspace that is gone also whether its memories are somewhere else by now."""
    found = exported(known.folder) if known.state == "gone" else None
    by = "" if found is None else taken.get(found.digest, "")
    nothing_left = by or (found is not None and not found.memories)
    return WorkspacePart(
        workspace=decode(known.root),
        state=known.state,
        written=format_time(known.written),
        size=known.size,
        ledger=decode(known.folder),
        take_over=take_over(known.root) if known.state == "gone" and not nothing_left else "",
        taken_over_by=decode(by),
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
        _print_gone(console, gone)
    odd = [one for one in shown if one.state == "no project"]
    if odd:
        console.heading("no project: the home folder, / and the folders for temporary files")
        console.out("nothing becomes memory there, what sessions do is recorded; this deletes what was:")
        _print_removal(console, odd)


def _print_gone(console: Console, gone: Sequence[WorkspacePart]) -> None:
    left = [one for one in gone if one.take_over]
    if left:
        console.out("in the folder that it is now, this takes its memories over:")
        for one in left:
            console.out(f"  {one.take_over}")
    for one in gone:
        if one.taken_over_by:
            console.out(f"{one.workspace} was taken over by {one.taken_over_by}")
        elif not one.take_over:
            console.out(f"{one.workspace} holds no memory")
    console.out("if nothing of it is wanted any more, this deletes it for ever:")
    _print_removal(console, gone)


def _print_removal(console: Console, parts: Sequence[WorkspacePart]) -> None:
    for one in parts:
        console.out(f"  rm -r {shlex.quote(one.ledger)}")
