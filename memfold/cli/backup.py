# ruff: noqa: PTH120 - os.path strings, as in ``memfold.paths``
"""``memfold backup``: copy the ledger, with a manifest; or list the copies that there are."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from memfold.backups import (
    Backup,
    backups_folder,
    known_backups,
    make_backup,
    note_trouble,
    noted_elsewhere,
    read_backup,
    trouble_of,
)
from memfold.cli.console import Console
from memfold.cli.documents.moves import BackupDocument, BackupPart, BackupsDocument
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.place import Place, open_view, reading_place
from memfold.cli.words import plural
from memfold.clock import now_ms
from memfold.errors import FINDINGS, OK
from memfold.paths import data_dir, ledger_dir, workspace_key
from projections.text.clean import decode

__all__ = ["backup_part", "configure", "run", "store_of"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--to", metavar="FOLDER", help="make the copy in this folder, which a purge then knows")
    parser.add_argument("--list", action="store_true", help="list the copies, and look whether they are whole")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Make or list copies; 3 if one of those that are listed can't be restored, or not all are known."""
    console = Console(options)
    if options.list:  # the more where the log is gone
        return _list(options, console, reading_place(options))
    view = open_view(options)
    data, key = store_of(view.place)
    backup = make_backup(view.place.directory, data, key, now=now_ms(), to=options.to)
    document = BackupDocument(view.place.shown_directory, backup_part(backup, ""))
    if options.json:
        console.emit(document)
    else:
        part = document.backup
        console.out(f"copied {plural(part.events, 'event')}, {plural(part.size, 'byte')}, to {part.folder}")
    return OK


def store_of(place: Place) -> tuple[str, str]:
    """The data folder, and the key under which copies of a ledger are kept there."""
    data = data_dir(os.environ, place.resolved.config.data_dir)
    folder, name = os.path.split(place.directory)
    if not place.root and folder == os.path.dirname(ledger_dir(data, name)):
        return data, name  # a log that is gone can't name its workspace, but its folder has the key for a name
    return data, workspace_key(place.root or place.directory)


def backup_part(backup: Backup, trouble: str) -> BackupPart:
    """A copy as a part of a document."""
    manifest = backup.manifest
    return BackupPart(
        folder=decode(backup.folder),
        created="" if manifest is None else manifest.created,
        ledger="" if manifest is None else manifest.ledger,
        workspace="" if manifest is None else manifest.root,
        events=0 if manifest is None else manifest.events,
        size=0 if manifest is None else manifest.size,
        digest="" if manifest is None else manifest.digest,
        trouble=trouble,
    )


def _list(options: Namespace, console: Console, place: Place) -> int:
    data, key = store_of(place)
    folders = known_backups(data, key)
    parts = tuple(backup_part(one, trouble_of(one)) for one in map(read_backup, folders))
    away = [folder for folder in noted_elsewhere(data, key) if folder not in folders]
    if options.json:
        console.emit(BackupsDocument(place.shown_directory, parts))
    else:
        rows = [(one.created, f"{one.events:,}", f"{one.size:,}", one.trouble or "whole", one.folder) for one in parts]
        console.table(rows, ("made", "events", "bytes", "state", "folder"), (1, 2), (0, 4))
        if not parts:
            console.out(f"no copies in {decode(backups_folder(data, key))}")
    for folder in away:
        console.note(f"a copy was made in {decode(folder)}, which isn't there now")
    trouble = note_trouble(data, key)
    if trouble is not None:
        console.note(": ".join(trouble))
    return FINDINGS if trouble is not None or any(one.trouble for one in parts) else OK
