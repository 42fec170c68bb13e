"""Tells what came of an import: what the fold has made of each memory that was recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ledger.events import Event, MemoryImported
from memfold.imports.model import Import
from memfold.imports.outcomes import FileReport, LineReport, Outcome
from projections.accounting import Record
from projections.memory.model import Ref, shown_id
from projections.world import WorldState

__all__ = ["reports_of"]


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
        counts=dict(outcomes.items()),
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
