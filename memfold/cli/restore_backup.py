# ruff: noqa: PTH118 - os.path strings, as in ``memfold.paths``
"""``memfold restore-backup``: put a copy in the ledger's place; what that loses is shown first, and kept."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from shlex import quote

from msgspec import Struct

from ledger.copies import LogCopy, log_at, replace_log
from ledger.errors import LedgerNotFound, SequenceConflict
from ledger.events import AnyEvent, LedgerErased, type_name
from ledger.files import is_there
from ledger.log import FileLog
from ledger.reader import Reader, health_of, scan
from ledger.trust import DERIVED
from memfold.backups import MANIFEST_NAME, Backup, Manifest, find_backup, make_backup, require_backup
from memfold.cli.backup import backup_part, store_of
from memfold.cli.console import Console
from memfold.cli.documents.moves import RestoreBackupDocument
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.place import Place, find_place
from memfold.cli.words import plural
from memfold.clock import now_ms
from memfold.errors import OK, MemfoldError
from memfold.links import require_unlinked
from memfold.lost import bare_copy
from memfold.memory_file.keeper import keeper_of
from memfold.terminal import clean
from projections.erasure.returning import Purged
from projections.policy import Context
from projections.text.clean import decode
from projections.world import WorldState
from replay.state import state_at

__all__ = ["configure", "run"]

_SHOWN = 10
_TRIES = 5


class _Plan(Struct):
    """What a restore would do.

    Attributes:
        folder: of the copy.
        manifest: of the copy.
        seq: the next one in the present log; 0 if there is none.
        lost: events that only the present log has, by type.
        leaving: texts that are active now and not in the copy.
        coming: texts that are active in the copy and not now.
        purges: purges that the copy knows nothing of, if it still has what one of them erased.
        foreign: whether it is a copy of another workspace's ledger.
        notes: what else a person should know.
    """

    folder: str
    manifest: Manifest
    seq: int
    lost: dict[str, int]
    leaving: tuple[str, ...]
    coming: tuple[str, ...]
    purges: int
    foreign: bool
    notes: list[str]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("backup", metavar="PATH", help="folder of a copy, its log, or its name in backup --list")
    parser.add_argument("--dry-run", action="store_true", help="say what would be lost, and do nothing")
    parser.add_argument("--yes", action="store_true", help="don't ask")
    parser.add_argument(
        "--force",
        action="store_true",
        help="even a copy of another workspace's ledger, or one that has purged texts",
    )
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Restore; the present log is kept as a copy first."""
    place, console = find_place(options), Console(options)
    require_unlinked(place.directory)
    data, key = store_of(place)
    folder = find_backup(data, key, options.backup)
    for _ in range(_TRIES):
        plan = _plan(place, folder)
        document = _document(place, plan, dry_run=options.dry_run)
        if not options.json:
            _print(console, document)
        _require_force(plan, options)
        if options.dry_run:
            break
        _confirm(console, plan, options)
        try:
            kept = _restore(place, plan, console)
        except SequenceConflict:
            continue  # somebody has appended meanwhile: what is lost is told anew
        document = _document(place, plan, dry_run=False, kept=kept)
        break
    else:
        raise MemfoldError("the ledger changes all the time; nothing was restored", "try again")
    if options.json:
        console.emit(document)
    else:
        console.out("nothing was done (--dry-run)" if options.dry_run else _done(document))
    return OK


def _plan(place: Place, folder: str) -> _Plan:
    log, (present, seq) = log_at(folder), _present(place)
    manifest, notes = _manifest(folder, log, seq)
    backed = {event.id for event in Reader(log)}
    lost = [event for event in present if event.id not in backed]
    before, after = state_at(present, only=frozenset()), state_at(Reader(log), only=frozenset())
    health = health_of(scan(log))
    notes += [f"{plural(health.damaged, 'damaged piece')} of its log can't be read"] if health.damaged else []
    return _Plan(
        folder=folder,
        manifest=manifest,
        seq=seq,
        lost=dict(Counter(type_name(event) for event in lost).most_common()),
        leaving=tuple(text for text in _active(before) if text not in _active(after)),
        coming=tuple(text for text in _active(after) if text not in _active(before)),
        purges=_undone_purges(present, list(Reader(log)), place),
        foreign=bool(place.root) and manifest.root != decode(place.root),
        notes=notes,
    )


def _manifest(folder: str, log: str, seq: int) -> tuple[Manifest, list[str]]:
    """What a copy is, and what to note of it; one without a manifest only serves where there is no event to lose.

    Raises:
        MemfoldError: if it can't be restored.
    """
    if is_there(os.path.join(folder, MANIFEST_NAME)):
        return require_backup(folder), []
    if seq:
        raise MemfoldError(
            f"{decode(folder)} has no manifest, so nothing tells whether it is whole, and a ledger stands here",
            f"memfold import {quote(decode(log))} takes in the events that only it holds",
        )
    return bare_copy(folder), ["it has no manifest, so nothing tells whether it is whole"]


def _undone_purges(present: Sequence[AnyEvent], backed: Sequence[AnyEvent], place: Place) -> int:
    """How many purges the copy doesn't have, if it would bring back what one of them erased.

    A purge rewrites the copies that it knows: those have a record with its digests, or had nothing to erase. Where
    they also went on by themselves, nobody can tell without that record.
    """
    config, ids = place.resolved.config, {event.id for event in present}
    purged = Purged(present, Context(config.policy, decode(place.root)))
    here = {event.id for event in backed}
    lost = [one for one in purged.purges if one.id not in here]
    known = {digest for event in backed if isinstance(event, LedgerErased) for digest in event.data.digests}
    unheard = [one for one in lost if not one.data.digests or not known.issuperset(one.data.digests)]
    went_on = any(event.id not in ids and not isinstance(event, LedgerErased) for event in backed)
    holds = any(map(purged.learn, backed)) or any(went_on or not one.data.digests for one in unheard)
    return len(lost) if holds else 0


def _present(place: Place) -> tuple[list[AnyEvent], int]:
    """The events of the present log, and the next seq; nothing where there is no log."""
    try:
        log = FileLog.open(place.directory)
        return list(log.read()), log.size()
    except LedgerNotFound:
        return [], 0


def _active(world: WorldState) -> dict[str, None]:
    return {one.proposal.text: None for one in world.memory.entries.values() if one.state == "promoted"}


def _require_force(plan: _Plan, options: Namespace) -> None:
    """Refuse what nobody may mean.

    Raises:
        MemfoldError: with what it is.
    """
    if options.force:
        return
    if plan.foreign:
        raise MemfoldError(
            f"it is a copy of another workspace's ledger, {clean(plan.manifest.root)}",
            "--force, if the project was moved",
        )
    if plan.purges:
        raise MemfoldError(
            f"it was made before {plural(plan.purges, 'purge')}, and would bring back what was erased",
            "--force, if you want that",
        )


def _confirm(console: Console, plan: _Plan, options: Namespace) -> None:
    """Ask, where a log is replaced; without a terminal it takes --yes."""
    if options.yes or not plan.seq:
        return
    if not options.json and sys.stdin.isatty():
        console.out("Restore it? [y/N] ")
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
        raise MemfoldError("nothing was restored")
    raise MemfoldError("this replaces the ledger, so nothing was done", "--yes, or --dry-run")


def _restore(place: Place, plan: _Plan, console: Console) -> str:
    """Keep the present log, put the copy in its place, and let MEMORY.md follow; the folder of what was kept."""
    data, key = store_of(place)
    kept: list[Backup] = []
    copy = LogCopy(plan.manifest.size, plan.manifest.digest)

    def keep() -> None:
        if plan.seq:
            kept.append(make_backup(place.directory, data, key, now=now_ms(), locked=True))

    def replace() -> None:
        replace_log(place.directory, plan.folder, copy, expect=plan.seq, first=keep)
        shutil.rmtree(os.path.join(place.directory, DERIVED), ignore_errors=True)

    if place.root:
        config = place.resolved.config
        with keeper_of(place.root, place.directory, config, lambda text: console.note(decode(text))) as keeper:
            keeper.replacing(replace)
    else:  # nobody knows whose memory file it would be
        replace()
    return decode(kept[0].folder) if kept else ""


def _document(place: Place, plan: _Plan, *, dry_run: bool, kept: str = "") -> RestoreBackupDocument:
    return RestoreBackupDocument(
        ledger=place.shown_directory,
        dry_run=dry_run,
        backup=backup_part(Backup(plan.folder, plan.manifest), ""),
        lost=plan.lost,
        leaving=plan.leaving,
        coming=plan.coming,
        kept=kept,
        notes=tuple(plan.notes),
    )


def _print(console: Console, document: RestoreBackupDocument) -> None:
    backup = document.backup
    console.out(f"{plural(backup.events, 'event')} of {backup.created}, in {clean(backup.folder)}")
    console.table([(name, f"{count:,}") for name, count in document.lost.items()], ("would be lost", "events"), (1,))
    for title, texts in (("no longer active", document.leaving), ("active again", document.coming)):
        if texts:
            console.heading(title)
        for text in texts[:_SHOWN]:
            console.wrapped(text)
        if len(texts) > _SHOWN:
            console.out(f"  … and {len(texts) - _SHOWN:,} more")
    if not document.lost:
        console.out("no event would be lost")
    for note in document.notes:
        console.note(note)


def _done(document: RestoreBackupDocument) -> str:
    kept = f"; the log that it replaces is kept in {clean(document.kept)}" if document.kept else ""
    return f"restored{kept}"
