# ruff: noqa: PTH119 - os.path strings, as in ``memfold.paths``
"""Takes in what only another copy of this ledger holds, as file synchronisation leaves one: the union of both by id.

Events keep their ids, sources and times, and get numbers here. So each counts once, however often a copy is taken in,
and whatever names an event by its id finds it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from shlex import quote
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ledger.codec import encode
from ledger.events import (
    AnyEvent,
    Draft,
    Event,
    FileWritten,
    LedgerCreated,
    LedgerCreatedData,
    LedgerErased,
    LedgerRepaired,
    LedgerSealed,
    PolicySet,
    PromptRendered,
    Skipped,
    UnknownEvent,
)
from ledger.files import open_regular
from ledger.problems import DAMAGE, KINDS, Problem
from ledger.reader import scan
from ledger.recovery import Record, recover
from memfold.errors import DataError
from memfold.imports.outcomes import FileReport
from projections.erasure.returning import Purged
from projections.text.clean import decode

__all__ = ["LEDGER", "Copy", "Own", "is_log", "own_events", "read_copy"]

LEDGER = "ledger"
"""Name of the layout in reports."""

_LOOKED_AT, _HEAD = 20, 1 << 24
"""Lines, and bytes, in which a log shows that it is one, whatever is damaged at its beginning."""
_UNKNOWN = "a type that this release doesn't know: import the copy again after an upgrade"
_PURGED = "it says what was purged here: delete the copy"
_OF_ITS_FILE = (LedgerCreated, LedgerSealed, LedgerRepaired, PolicySet, FileWritten, PromptRendered)


class Own(NamedTuple):
    """What is compared of an event that the ledger holds itself: its offset, and a hash of all but that."""

    seq: int
    digest: int
    purge: bool


class Copy(Struct, frozen=True):
    """Another copy of a ledger.

    Attributes:
        drafts: the events that only it holds, with their ids, in the order of its file.
        report: of the file, as of any other.
    """

    drafts: tuple[Draft, ...]
    report: FileReport


def is_log(path: str) -> bool:
    """Whether a file is the log of a ledger."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            lines = file.read(_HEAD).split(b"\n", _LOOKED_AT)[:_LOOKED_AT]
    except OSError:
        return False  # who reads it meets the same
    return any(not isinstance(record.item, Problem) for line in lines for record in recover(line))


def own_events(events: Iterable[AnyEvent]) -> dict[str, Own | None]:
    """The ledger's own events by their ids, as ``read_copy`` compares them."""
    return {event.id: Own(event.seq, _digest(event), isinstance(event, LedgerErased)) for event in events}


def read_copy(path: str, known: Mapping[str, Own | None], root: str, purged: Purged) -> Copy:
    """What only a copy of a ledger holds; it is read event by event, whatever its size.

    Events that both hold should be equal; which differ is reported, and neither is changed. Not where one of them
    has a purge that the other lacks, for a purge changes events.

    Args:
        path: the copy's log.
        known: the ledger's own events, and None for what another copy brings.
        root: of the workspace, by which a log that was begun anew is known as one of this workspace.
        purged: what was purged here: an event that says it isn't taken in.

    Raises:
        DataError: if it is the log of another ledger, or no ledger is there that it could be a copy of.
        LedgerError: if it can't be read.
    """
    found = _Pass(known, purged)
    for record in scan(path):
        found.take(record)
    found.end()
    if not found.common:
        _require_kinship(path, found.created, decode(root), begun=bool(known))
    name = decode(os.path.basename(path))
    with open(path, "rb", opener=open_regular) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    report = FileReport(
        file=name,
        format=LEDGER,
        digest=digest,
        known=found.common,
        damaged="",
        counter=None,
        counts={"taken": len(found.drafts)} if found.drafts else {},
        lines=(),
        skipped=tuple(found.skipped),
        differs=() if found.purges else tuple(found.differs),
    )
    return Copy(tuple(found.drafts), report)


class _Pass:
    """One pass over a copy: what only it holds, what both hold, and what stays there."""

    def __init__(self, known: Mapping[str, Own | None], purged: Purged) -> None:
        self._known = known
        self._purged = purged
        self._found: list[tuple[int, Event]] = []
        self.common = 0
        self.created: LedgerCreatedData | None = None
        self.drafts: list[Draft] = []
        self.skipped: list[Skipped] = []
        self.differs: list[int] = []
        self.purges = {id_ for id_, own in known.items() if own is not None and own.purge}
        """Those that only one of both holds, when the pass is over."""

    def take(self, record: Record) -> None:
        """Take in the next record of the copy."""
        item = record.item
        if isinstance(item, Problem):
            if item.kind in DAMAGE:
                self.skipped.append(Skipped(record.line, KINDS[item.kind][0]))
            return
        if isinstance(item, LedgerErased):
            self.purges ^= {item.id}
        elif isinstance(item, LedgerCreated) and self.created is None:
            self.created = item.data
        if item.id in self._known:
            self._compare(item)
        elif isinstance(item, UnknownEvent):
            self.skipped.append(Skipped(record.line, _UNKNOWN))
        elif reason := _why_it_stays(item):
            self.skipped.append(Skipped(record.line, reason))
        else:
            self._found.append((record.line, item))

    def end(self) -> None:
        """Leave out what says a purged text, now that all of the copy has told which were."""
        for line, event in self._found:
            if self._purged.holds(event):
                self.skipped.append(Skipped(line, _PURGED))
            else:
                self.drafts.append(_draft(event))
        self.skipped.sort(key=lambda one: one.line)

    def _compare(self, event: AnyEvent) -> None:
        self.common += 1
        self._purged.learn(event)
        own = self._known[event.id]
        if own is not None and own.digest != _digest(event):
            self.differs.append(own.seq)


def _require_kinship(path: str, created: LedgerCreatedData | None, root: str, *, begun: bool) -> None:
    """Refuse a log that shares no event with the ledger, unless it is another one of this workspace."""
    name = decode(os.path.basename(path))
    ours = created is not None and bool(root) and created.root == root
    if ours and begun:
        return  # one of the two was begun anew, after the other one was lost
    if ours:
        raise DataError(
            f"{name} is the log of this workspace, and no ledger stands here that could take it in",
            f"memfold restore-backup {quote(decode(path))}",
        )
    if created is None and not begun:
        raise DataError(f"{name} lacks the beginning of its log, and no ledger stands here that it is a copy of")
    of = f", that of {created.root}" if created is not None else ""
    raise DataError(
        f"{name} is the log of another ledger{of}: it shares no event with this one",
        "--ledger or --workspace names the ledger that it is a copy of",
    )


def _digest(event: AnyEvent) -> int:
    """A hash of all that an event says; its number is that of its place."""
    return hash(event.line if isinstance(event, UnknownEvent) else encode(replace(event, seq=0)))


def _why_it_stays(event: Event) -> str:
    """Why an event that only the copy holds is left out; empty if it is taken."""
    if isinstance(event, LedgerErased):
        return "a purge: run it here too"
    return "it speaks of its own file, of positions there or of the policy" if isinstance(event, _OF_ITS_FILE) else ""


def _draft(event: Event) -> Draft:
    return Draft(
        source=event.source,
        time=event.time,
        data=event.data,
        id=event.id,
        subject=event.subject,
        causationid=event.causationid,
    )
