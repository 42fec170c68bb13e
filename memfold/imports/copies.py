# ruff: noqa: PTH119 - os.path strings, as in ``memfold.paths``
"""Takes in what only another copy of this ledger holds, as file synchronisation leaves one: the union of both by id.

Events keep their ids, sources and times, and get numbers here. So each counts once, however often a copy is taken in,
and whatever names an event by its id finds it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Set as AbstractSet

from msgspec import Struct

from ledger.events import (
    Draft,
    Event,
    FileWritten,
    LedgerCreated,
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
from ledger.recovery import recover
from memfold.errors import DataError
from memfold.imports.outcomes import FileReport
from projections.text.clean import decode

__all__ = ["LEDGER", "Copy", "is_log", "read_copy"]

LEDGER = "ledger"
"""Name of the layout in reports."""

_LOOKED_AT, _HEAD = 20, 1 << 24
"""Lines, and bytes, in which a log shows that it is one, whatever is damaged at its beginning."""
_UNKNOWN = "a type that this release doesn't know: import the copy again after an upgrade"
_OF_ITS_FILE = (LedgerCreated, LedgerSealed, LedgerRepaired, PolicySet, FileWritten, PromptRendered)


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


def read_copy(path: str, known: AbstractSet[str]) -> Copy:
    """What only a copy of a ledger holds; it is read event by event, whatever its size.

    Args:
        path: the copy's log.
        known: ids of the ledger's own events.

    Raises:
        DataError: if it is the log of another ledger.
        LedgerError: if it can't be read.
    """
    drafts: list[Draft] = []
    skipped: list[Skipped] = []
    common = 0
    for record in scan(path):
        item = record.item
        if isinstance(item, Problem):
            if item.kind in DAMAGE:
                skipped.append(Skipped(record.line, KINDS[item.kind][0]))
        elif item.id in known:
            common += 1
        elif isinstance(item, UnknownEvent):
            skipped.append(
                Skipped(record.line, "a type that this release doesn't know: import it again after an upgrade")
            )
        elif reason := _why_it_stays(item):
            skipped.append(Skipped(record.line, reason))
        else:
            drafts.append(_draft(item))
    name = decode(os.path.basename(path))
    if not common:
        raise DataError(
            f"{name} is the log of another ledger: it shares no event with this one",
            "--ledger or --workspace names the ledger that it is a copy of",
        )
    with open(path, "rb", opener=open_regular) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    report = FileReport(
        file=name,
        format=LEDGER,
        digest=digest,
        known=common,
        damaged="",
        counter=None,
        counts={"taken": len(drafts)} if drafts else {},
        lines=(),
        skipped=tuple(skipped),
    )
    return Copy(tuple(drafts), report)


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
