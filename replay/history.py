"""All that ever happened to one memory: each event that touched it, with its wording before and after (SPEC 15.1)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ledger.events import AnyEvent
from projections.facts import Known
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState, Move, Proposal, Ref

__all__ = ["Step", "history_of"]


class Step(Struct, frozen=True):
    """What one event did to a memory.

    Attributes:
        event: the event.
        now: its time in milliseconds.
        moves: decisions about the memory itself, and about what went into it.
        before: its wording before; None where it wasn't proposed yet.
        after: its wording behind it.
        reinforcements: how often it has been reinforced by then.
    """

    event: AnyEvent
    now: int
    moves: tuple[Move, ...]
    before: Proposal | None
    after: Proposal | None
    reinforcements: int


def history_of(events: Iterable[AnyEvent], ref: Ref, known: Known | None = None) -> tuple[Step, ...]:
    """The steps of a memory or candidate, oldest first. One fold of the log.

    Args:
        events: the log, up to the position that is asked for.
        ref: the candidate that it was.
        known: facts at hand.
    """
    projection = WorkspaceMemory(known)
    memory = projection.copy(projection.initial())
    steps: list[Step] = []
    before, count = _seen(memory, ref)
    for event in events:
        projection.step(memory, event)
        moves = tuple(move for move in memory.moves if ref in (move.proposal.ref, move.into))
        after, reinforced = _seen(memory, ref)
        if moves and after is None:
            after = next((move.proposal for move in moves if move.proposal.ref == ref), None)
        if moves or after is not before or reinforced != count:
            steps.append(Step(event, memory.now, moves, before, after, reinforced))
        before, count = after, reinforced
    return tuple(steps)


def _seen(memory: MemoryState, ref: Ref) -> tuple[Proposal | None, int]:
    """The wording of a candidate now, and how often it was reinforced."""
    entry = memory.entries.get(ref)
    if entry is not None:
        return entry.proposal, entry.reinforcements
    if ref in memory.pending:
        return memory.pending[ref], 0
    if ref in memory.absorbed:
        return memory.absorbed[ref].proposal, 0
    if ref in memory.retired:
        return memory.retired[ref].proposal, 0
    return memory.refused.get(ref), 0
