"""``memfold sync``: record what a person changed in MEMORY.md, and write what the ledger says."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing

from ledger.events import Event, MemoryDeleted, MemoryRestored, MemoryUpdated, type_name
from memfold.cli.desk import Desk
from memfold.cli.documents.changes import EditPart, SyncDocument
from memfold.cli.gist import gist
from memfold.cli.parsing import json_option, ledger_options
from memfold.errors import FINDINGS, OK
from memfold.terminal import clean
from projections.memory.model import MemoryState
from projections.text.clean import decode

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Bring file and ledger together; exit 3 if something in the file could not be taken."""
    with closing(Desk(options)) as desk:
        return _sync(desk, options)


def _sync(desk: Desk, options: Namespace) -> int:
    synced = desk.keeper.sync()
    document = SyncDocument(
        ledger=desk.place.shown_directory,
        file=decode(desk.keeper.path),
        kept=desk.keeper.is_kept(),
        edits=tuple(_part(desk.store.world().memory, event) for event in synced.events),
        wrote=synced.wrote,
        reports=tuple(map(decode, synced.reports)),
    )
    console = desk.console
    if options.json:
        console.emit(document)
    elif desk.place.resolved.config.memory_file == "off":
        console.out(f"no MEMORY.md is kept: memoryFile is off ({decode(desk.place.resolved.origins['memoryFile'])})")
    elif not document.kept:
        console.out("no MEMORY.md is kept here; memfold install opencode --memory-file begins one")
    else:
        for edit in document.edits:
            console.out(clean(f"{edit.event}  {edit.id or '-'}  {edit.what}".rstrip()))
        console.out(f"{'written' if synced.wrote else 'up to date'}  {document.file}")
    return FINDINGS if synced.reports else OK


def _part(memory: MemoryState, event: Event) -> EditPart:
    """One edit: the memory that it changed, or the one that it became."""
    target = event.data.target if isinstance(event, MemoryUpdated | MemoryDeleted | MemoryRestored) else None
    ids = (
        entry.id
        for entry in memory.entries.values()
        if (entry.ref == target if target else entry.ref.event == event.id)
    )
    return EditPart(type_name(event), next(ids, ""), gist(event))
