"""Candidates and entries as parts of documents: one place decides what a memory looks like from outside."""

from __future__ import annotations

from typing import Any

from ledger.source import split_source
from ledger.times import DAY_MS, format_time
from memfold.cli.documents.memories import DetailPart, MemoryPart
from projections.accounting import Record
from projections.memory.model import Entry, Ref
from projections.memory.retention import dormant_spans, half_life_days, strength
from projections.memory.selection import ranked
from projections.world import WorldState
from replay.names import current_wording
from replay.views import present_block
from replay.wording import wording_of

__all__ = ["Shelf"]


class Shelf:
    """All candidates of one state, with rank and strength as of its position; O(n log n) in active entries."""

    def __init__(self, world: WorldState) -> None:
        self.world = world
        self.order = [entry.ref for entry in ranked(world.memory)]
        block = present_block(world)
        self._ranks = {ref: rank for rank, ref in enumerate(self.order, 1)}
        self._shown = {entry.ref for entry in block.shown}
        self._omitted = {entry.ref: code for entry, code in block.omitted}
        self._dormant = dormant_spans(world.memory)

    def refs(self, state: str) -> list[Ref]:
        """Candidates in a state, or all: active ones by rank, then the others, newest first."""
        records = self.world.accounts.records
        rest = [ref for ref in reversed(records) if ref not in self._ranks]
        if state == "all":
            return self.order + rest
        if state in ("active", "promoted"):
            return self.order
        return [ref for ref in rest if records[ref].state == state]

    def part(self, ref: Ref) -> MemoryPart:
        """A candidate as ``list`` gives it."""
        return MemoryPart(**self._fields(ref))

    def detail(self, ref: Ref) -> DetailPart:
        """A candidate as ``show`` gives it."""
        record, entry = self.world.accounts.records[ref], self.world.memory.entries.get(ref)
        wording = current_wording(self.world, ref)
        session = record.proposal.session
        absorbed = record.into if record.state == "absorbed" else None
        return DetailPart(
            **self._fields(ref),
            confidence=wording.confidence,
            title=wording.title,
            content=wording.content,
            tags=wording.tags,
            rationale=wording.rationale,
            importance=wording.importance,
            safety_critical=wording.safety_critical,
            **self._life(entry),
            supersedes=self._id(entry.supersedes if entry else None),
            superseded_by=self._id(entry.superseded_by if entry else None),
            into=self._id(absorbed),
            session=None if session is None else split_source(session)[1],
            message=record.proposal.message,
            offset=record.proposal.order[0],
            decided=record.offset,
            wording=wording_of(self.world, ref),
        )

    def _fields(self, ref: Ref) -> dict[str, Any]:
        memory = self.world.memory
        record: Record = self.world.accounts.records[ref]
        entry = memory.entries.get(ref)
        wording = current_wording(self.world, ref)
        active = entry is not None and ref in self._ranks
        weight = strength(entry, memory.now, self._dormant, memory.context.policy) if entry and active else None
        return {
            "id": None if entry is None else entry.id,
            "candidate": ref,
            "type": wording.type,
            "text": wording.text,
            "source": wording.source,
            "state": record.state,
            "reasons": record.reasons,
            "strength": None if weight is None else round(weight, 9),
            "rank": self._ranks.get(ref),
            "reinforcements": 0 if entry is None else entry.reinforcements,
            "age_days": max(0, memory.now - record.proposal.time) // DAY_MS,
            "proposed": format_time(record.proposal.time),
            "shown": ref in self._shown,
            "omitted": self._omitted.get(ref),
        }

    def _life(self, entry: Entry | None) -> dict[str, Any]:
        """What only an entry has."""
        if entry is None:
            return {"updated": None, "clock": None, "half_life_days": None, "reinforced": None, "sessions": ()}
        retention = self.world.memory.context.policy.retention
        return {
            "updated": _time(entry.updated),
            "clock": format_time(entry.clock),
            "half_life_days": round(half_life_days(entry.reinforcements, retention), 2),
            "reinforced": _time(entry.reinforced_at),
            "sessions": tuple(split_source(source)[1] or "" for source in entry.sessions),
        }

    def _id(self, ref: Ref | None) -> str | None:
        entry = None if ref is None else self.world.memory.entries.get(ref)
        return None if entry is None else entry.id


def _time(ms: int | None) -> str | None:
    return None if ms is None else format_time(ms)
