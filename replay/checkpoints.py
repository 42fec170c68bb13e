# ruff: noqa: PTH108, PTH110, PTH118, PTH208 - os.path strings, as in the rest of the package
"""Checkpoints in ``derived/checkpoints/``: where a fold may begin instead of at the first event (DESIGN 6).

A checkpoint is two files. The one that names it holds where the log is read on, the small part of the state, and what
has changed in its tables since the other one was written: an archive of them, which later checkpoints use too. The
name tells projection, version and stored types, ledger and byte. A checkpoint counts if the log is the same ledger and
its last line before that byte is the same; nothing else of the log is read. One that is damaged, foreign, of another
version or before its time is ignored, and whatever isn't there is folded: all of it changes time and nothing else.
"""

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ledger.codec import UNREADABLE, decode_known
from ledger.digests import blake2b
from ledger.events import LedgerCreated
from ledger.files import make_private_folder, open_regular
from ledger.log import FileLog
from ledger.reader import Cursor
from ledger.trust import DERIVED, open_own, put_own
from projections.memory.fold import WorkspaceMemory
from projections.policy import RULES_VERSION
from replay.archive import FORMAT, Archive, Damaged, Layout, build
from replay.places import digest_before
from replay.rows import read_older
from replay.stored import SCHEMA, Body, Held, Parts, changes_since, parts_of, records, tables_of
from replay.tables import Table

if TYPE_CHECKING:
    from ledger.pin import Pin

__all__ = ["CHECKPOINTS", "STATE_VERSION", "Checkpoint", "find", "folder_of", "is_covered", "read_whole", "save"]

CHECKPOINTS = "checkpoints"
STATE_VERSION = 4
"""Version of ``projections.world.World``, which a start need not import; a test compares them."""

_HEAD, _ARCHIVE = ".json", ".table"
_PLACE = 16
"""Digits of a byte in a name."""
_KIND = f"world-{STATE_VERSION}.{WorkspaceMemory.version}.{RULES_VERSION}.{FORMAT}-{SCHEMA}"
_KEPT = 2
_MOST_CHANGES = 2000
"""Changes beside an archive, above which the next checkpoint gets one of its own: a start reads them all."""
_FIRST_LINE = 1 << 16
_LONGEST_FIRST = 256
"""Bytes of a checkpoint's first line: a digest, and the length of the second one."""


class Head(Struct, frozen=True):
    """What is written of a checkpoint.

    Attributes:
        cursor: where the log is read on.
        before: digest of the bytes right before that.
        events: how many events are before it.
        facts: bytes of the file of facts that have served (``replay.kept``).
        layout: of the file of the tables.
        body: the rest of the state.
    """

    cursor: Cursor
    before: str
    events: int
    facts: int
    layout: Layout
    body: Body


class Checkpoint(Struct, frozen=True):
    """A checkpoint that counts, and how its state is read.

    Attributes:
        path: of its file.
        cursor: where the log is read on.
        events: how many events are before it.
        facts: where the facts are read on.
        asked: sources of the sessions whose blocks, deliveries and hot state are in it.
        parts: its state.
        archive: what its tables lie over.
    """

    path: str
    cursor: Cursor
    events: int
    facts: int
    asked: tuple[str, ...]
    parts: Parts
    archive: Archive


def find(log: FileLog) -> Iterator[Checkpoint]:
    """The checkpoints of a log that count, the latest first. Costs what stands in their files, not what in the log."""
    ledger = _ledger_of(log)
    if ledger is None:
        return
    folder, prefix = folder_of(log.directory), _prefix(ledger)
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in sorted(names, reverse=True):
        if name.startswith(prefix) and name.endswith(_HEAD):
            one = _load(log, os.path.join(folder, name))
            if one is not None:
                yield one


def is_covered(sources: Iterable[str], asked: Container[str], seen: Container[str], subagents: Container[str]) -> bool:
    """Whether all that is wanted of sessions is in a state: those that weren't asked for are new to it."""
    return all(source in asked or not (source in seen or source in subagents) for source in sources)


def read_whole(one: Checkpoint) -> Held:
    """The state of a checkpoint with all of its tables at hand: nothing of the files is read later.

    Raises:
        Damaged: if it isn't what was written.
    """
    from projections.world import WorldState

    parts = one.parts
    try:
        memory = parts.memory()
        memory.cohorts = {
            type_: {cohort: list(members) for cohort, members in cohorts.items()}
            for type_, cohorts in memory.cohorts.items()
        }
        world = WorldState(memory, parts.accounts(), parts.prompts(), parts.sessions(), parts.given())
        held = Held(world, one.asked, parts.table("seen"), parts.table("names"), parts.table("steps"))
        records = one.archive.tables()
        for name, table in tables_of(held).items():
            if isinstance(table, Table):
                table.read_all(records.get(name, ()))
    except UNREADABLE as error:
        raise Damaged(one.path) from error
    finally:
        one.archive.close()
    return held


def save(
    log: FileLog,
    held: Held,
    *,
    cursor: Cursor,
    events: int,
    facts: int,
    archive: Archive | None,
    pin: "Pin",
    most: int | None = None,
) -> Archive | None:
    """Keep a checkpoint, best effort: it is made in another place and put there at once, whoever else does the same.

    Args:
        log: the log.
        held: the state.
        cursor: where the log is read on behind it.
        events: how many events are before that.
        facts: bytes of the file of facts that have served.
        archive: what its tables lie over; None if nothing does.
        pin: the log that the state is of.
        most: how many keys of tables may be written; None for as many as there are.

    Returns:
        What the tables in the file lie over; None if it couldn't be written.
    """
    ledger, folder = _ledger_of(log), folder_of(log.directory)
    if ledger is None:
        return None
    prefix = os.path.join(folder, _prefix(ledger))
    written: dict[str, bytes] = {}
    try:
        changes = None
        if archive is not None and os.path.exists(archive.path):
            changes = changes_since(held, archive, _MOST_CHANGES)
        if archive is None or changes is None:
            if most is not None and sum(map(len, tables_of(held).values())) > most:
                return None
            data, layout = build(records(held))
            path = f"{prefix}{_place(cursor.byte)}{_ARCHIVE}"
            written[path] = data
            archive = Archive(path, layout)
        body, older = parts_of(held, changes)
        head = Head(cursor, digest_before(log.path, cursor.byte), events, facts, archive.layout, body)
        data = msgspec.json.encode(head)
        base = os.path.basename(archive.path)[-len(_ARCHIVE) - _PLACE : -len(_ARCHIVE)]  # noqa: PTH119
        path = f"{prefix}{_place(cursor.byte)}-{base}{_HEAD}"
        written[path] = b"%s %d\n%s\n%s" % (blake2b(data).hexdigest().encode(), len(data), data, older)
        with pin.unchanged() as is_its:
            if is_its and _put_all(folder, written):
                _prune(folder, os.path.basename(prefix), _place(os.path.getsize(log.path)))  # noqa: PTH119, PTH202
                return archive
    except OSError:
        pass
    return None


def folder_of(directory: str) -> str:
    """Where the checkpoints of a ledger are kept."""
    return os.path.join(directory, DERIVED, CHECKPOINTS)


def _load(log: FileLog, path: str) -> Checkpoint | None:
    """A checkpoint, if it is whole and the log still has what stands before it."""
    try:
        with open(path, "rb", opener=open_own) as file:
            first = file.readline(_LONGEST_FIRST)
            digest, _, length = first.partition(b" ")
            data = file.read(min(int(length), os.fstat(file.fileno()).st_size))
        if blake2b(data).hexdigest().encode() != digest:
            return None
        head = msgspec.json.decode(data, type=Head)
        if digest_before(log.path, head.cursor.byte) != head.before:
            return None
        archive = Archive(_archive_of(path), head.layout)
    except (OSError, ValueError, *UNREADABLE):
        return None
    parts = Parts(head.body, archive, partial(read_older, path, len(first) + len(data) + 1))
    return Checkpoint(path, head.cursor, head.events, head.facts, head.body.asked, parts, archive)


def _ledger_of(log: FileLog) -> str | None:
    """The id of the ledger, which its first line names; empty where it doesn't, None where there is no log."""
    try:
        with open(log.path, "rb", opener=open_regular) as file:
            line = file.readline(_FIRST_LINE)
    except OSError:
        return None
    with suppress(*UNREADABLE):
        event = decode_known(line)
        return event.data.ledger if isinstance(event, LedgerCreated) else ""
    return ""


def _prefix(ledger: str) -> str:
    """What the names of a ledger's checkpoints begin with. An id comes from outside, so it is no part of a name."""
    digest = blake2b(ledger.encode("utf-8", "replace")).hexdigest()
    return f"{_KIND}-{digest[:16]}-"


def _place(byte: int) -> str:
    return f"{byte:0{_PLACE}d}"


def _archive_of(path: str) -> str:
    """What the tables of a checkpoint lie over: its name says where that was written."""
    stem = path.removesuffix(_HEAD)
    return stem[: -2 * _PLACE - 1] + stem[-_PLACE:] + _ARCHIVE


def _put_all(folder: str, files: Mapping[str, bytes]) -> bool:
    """Put files in their places, each at once; whether all are there. If one can't be, none is left."""
    # What one is made as has a name that no other writer takes.
    beside = {path: f"{path}.{os.urandom(4).hex()}" for path in files}
    try:
        make_private_folder(folder)
        for path, data in files.items():
            put_own(path, beside[path], data)
    except OSError:
        for path in (*beside.values(), *files):
            _remove(path)
        return False
    return True


def _prune(folder: str, prefix: str, end: str) -> None:
    """Remove all but the latest checkpoints and what they lie over: of other versions too, and what kills have left.

    One of a place that the log doesn't reach is of a log that was replaced, and is no later one.

    Another writer may lose what it is about to put in place. Then it has none, which costs it time.
    """
    names = os.listdir(folder)
    own = (name for name in names if name.startswith(prefix) and name.endswith(_HEAD))
    heads = sorted(name for name in own if name[len(prefix) :][:_PLACE] <= end)[-_KEPT:]
    for name in {*names} - {*heads, *map(_archive_of, heads)}:
        _remove(os.path.join(folder, name))


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
