"""What came of an import, file by file and memory by memory: taken, merged, waiting, retired, refused, left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from ledger.events import Event, MemoryImported, Skipped
from memfold.imports.model import Import
from projections.accounting import Record
from projections.memory.model import Ref, shown_id
from projections.world import WorldState

__all__ = ["FileReport", "LineReport", "Outcome", "report_of"]

Outcome = Literal["taken", "merged", "waiting", "retired", "refused"]


class LineReport(Struct, frozen=True, kw_only=True):
    """What came of one memory of a file.

    Attributes:
        line: its line in the file, from 1.
        item: which of the memories of that line, from 0.
        outcome: `taken` as a memory of its own, `merged` into another one, `waiting` for the next session, `retired`
            as it was in the file, or `refused`.
        text: its text as it is stored.
        id: id of the memory that it is or went into; null for others.
        wanted: the id that the file gives it, if it got another one; else null.
        reasons: codes of the reasons.
        repairs: what taking it in has changed: `redacted`, `cut`, `cleaned`.
    """

    line: int
    item: int
    outcome: Outcome
    text: str
    id: str | None
    wanted: str | None
    reasons: tuple[str, ...]
    repairs: tuple[str, ...]


class FileReport(Struct, frozen=True, kw_only=True):
    """What came of one file.

    Attributes:
        file: its name.
        format: its layout.
        digest: SHA-256 of its bytes, in hex.
        known: memories that stood in the ledger already; importing them again changes nothing.
        damaged: why nothing could be read of it; empty if it could.
        counter: the next number that the file names, or null.
        counts: number of memories by outcome.
        lines: its new memories.
        skipped: what is no memory.
    """

    file: str
    format: str
    digest: str
    known: int
    damaged: str
    counter: int | None
    counts: dict[str, int]
    lines: tuple[LineReport, ...]
    skipped: tuple[Skipped, ...]


def report_of(found: Import, events: Iterable[Event], world: WorldState) -> FileReport:
    """The report of one file.

    Args:
        found: what was read of it.
        events: what was recorded, of all files.
        world: the state behind that.
    """
    repairs: dict[tuple[int, int], tuple[str, ...]] = {}
    for one in found.repairs:
        place = (one.line, one.item)
        repairs[place] = (*repairs.get(place, ()), one.kind)
    file = found.file
    mine = [event for event in events if isinstance(event, MemoryImported) and event.data.digest == file.digest]
    lines: list[LineReport] = []
    for event in mine:
        record = world.accounts.records.get(Ref(event.id, 0))
        if record is not None:  # else another process has imported the same file meanwhile
            fixed = repairs.get((event.data.line, event.data.item), ())
            lines.append(_line(event, record, world, fixed))
    outcomes = [line.outcome for line in lines]
    return FileReport(
        file=file.file,
        format=file.format,
        digest=file.digest,
        known=len(found.lines) - len(lines),
        damaged=file.damaged,
        counter=file.counter,
        counts={outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)},
        lines=tuple(lines),
        skipped=file.skipped,
    )


def _line(event: MemoryImported, record: Record, world: WorldState, repairs: tuple[str, ...]) -> LineReport:
    ref, wanted = Ref(event.id, 0), event.data.number
    entry = world.memory.entries.get(ref if record.into is None else record.into)
    is_own = entry is not None and entry.ref == ref
    return LineReport(
        line=event.data.line,
        item=event.data.item,
        outcome=_outcome(record),
        text=event.data.text,
        id=None if entry is None else entry.id,
        wanted=shown_id(wanted) if is_own and wanted is not None and entry.number != wanted else None,
        reasons=() if record.reasons == ("new_entry",) else record.reasons,
        repairs=repairs,
    )


def _outcome(record: Record) -> Outcome:
    named: dict[str, Outcome] = {"promoted": "taken", "absorbed": "merged", "pending": "waiting", "rejected": "refused"}
    return named.get(record.state, "retired")
