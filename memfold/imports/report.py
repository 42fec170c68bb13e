"""What came of an import, file by file and memory by memory: taken, merged, waiting, retired, refused, left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from ledger.events import Event, MemoryImported, Skipped
from memfold.imports.model import Import
from projections.accounting import Record
from projections.memory.model import Ref, shown_id
from projections.world import WorldState

__all__ = ["FileReport", "LineReport", "Outcome", "reports_of"]

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


def reports_of(files: Iterable[Import], events: Iterable[Event], world: WorldState) -> tuple[FileReport, ...]:
    """The reports of files, in their order.

    Args:
        files: what was read of them.
        events: what was recorded of all of them.
        world: the state behind that.
    """
    recorded: dict[str, list[MemoryImported]] = {}
    for event in events:
        if isinstance(event, MemoryImported):
            recorded.setdefault(event.data.digest, []).append(event)
    # A file that comes twice is recorded once, and its second report has nothing new.
    return tuple(_report(found, recorded.pop(found.file.digest, []), world) for found in files)


def _report(found: Import, events: Iterable[MemoryImported], world: WorldState) -> FileReport:
    repairs: dict[tuple[int, int], tuple[str, ...]] = {}
    for one in found.repairs:
        place = (one.line, one.item)
        repairs[place] = (*repairs.get(place, ()), one.kind)
    lines: list[LineReport] = []
    for event in events:
        record = world.accounts.records.get(Ref(event.id, 0))
        if record is not None:  # else another process has imported the same file meanwhile
            lines.append(_line(event, record, world, repairs.get((event.data.line, event.data.item), ())))
    outcomes = Counter(line.outcome for line in lines)
    file = found.file
    return FileReport(
        file=file.file,
        format=file.format,
        digest=file.digest,
        known=len(found.lines) - len(lines),
        damaged=file.damaged,
        counter=file.counter,
        counts={outcome: count for outcome, count in outcomes.items()},
        lines=tuple(lines),
        skipped=file.skipped,
    )


def _line(event: MemoryImported, record: Record, world: WorldState, repairs: tuple[str, ...]) -> LineReport:
    ref, wanted = Ref(event.id, 0), event.data.number
    entry = world.memory.entries.get(ref if record.into is None else record.into)
    renumbered = entry is not None and entry.ref == ref and wanted not in (None, entry.number)
    return LineReport(
        line=event.data.line,
        item=event.data.item,
        outcome=_outcome(record),
        text=event.data.text,
        id=None if entry is None else entry.id,
        wanted=shown_id(wanted) if wanted is not None and renumbered else None,
        reasons=() if record.reasons == ("new_entry",) else record.reasons,
        repairs=repairs,
    )


def _outcome(record: Record) -> Outcome:
    named: dict[str, Outcome] = {"promoted": "taken", "absorbed": "merged", "pending": "waiting", "rejected": "refused"}
    return named.get(record.state, "retired")
