"""What an undo leads to: the log folded with and without one event, candidate by candidate (SPEC 15.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ledger.events import AnyEvent, MemoryDeleted, MemoryRestored, MemoryUndone, MemoryUpdated, Outcome
from projections.accounting import Record
from projections.facts import Known
from projections.memory.model import Change, MemoryState, Proposal, Ref
from projections.protocol import fold
from projections.world import World, WorldState

__all__ = ["UndoPlan", "latest_change", "plan_undo"]


class UndoPlan(Struct, frozen=True):
    """What an undo would do.

    Attributes:
        event: the event that is undone.
        change: what it did.
        own: the memories that it was about; what else changes depends on it.
        outcomes: what becomes of each candidate that it concerns.
        world: the state with the event, which the outcomes change.
    """

    event: AnyEvent
    change: Change
    own: frozenset[Ref]
    outcomes: tuple[Outcome, ...]
    world: WorldState


def latest_change(memory: MemoryState) -> str | None:
    """The event of the latest change that isn't undone yet, and is no undo itself; None if there is none."""
    for event, change in reversed(memory.changes.items()):
        if not change.undone and change.kind != "undone":
            return event
    return None


def plan_undo(events: Sequence[AnyEvent], undone: str, known: Known | None = None) -> UndoPlan | None:
    """What the undo of an event leads to: what the log would say without it, and without what it caused.

    Args:
        events: the whole log.
        undone: id of the event.
        known: facts at hand.

    Returns:
        The plan; None if the event changed nothing that can be undone, or is undone already. Two folds of the log.
    """
    world = _world(events, known)
    change = world.memory.changes.get(undone)
    if change is None or change.undone:
        return None
    gone = [event for event in events if undone in (event.id, _cause(event))]
    rest = (event for event in events if undone not in (event.id, _cause(event)))
    outcomes = tuple(_outcomes(world, _world(rest, known)))
    return UndoPlan(gone[0], change, frozenset(_own(world, gone)), outcomes, world)


def _own(world: WorldState, events: Iterable[AnyEvent]) -> Iterable[Ref]:
    """The memories that events are about: those they proposed, targets, and what an undo had changed."""
    for event in events:
        yield from (ref for ref in world.accounts.records if ref.event == event.id)
        if isinstance(event, MemoryUpdated | MemoryDeleted | MemoryRestored) and event.data.target is not None:
            yield event.data.target
        elif isinstance(event, MemoryUndone):
            yield from (outcome.target for outcome in event.data.outcomes)


def _world(events: Iterable[AnyEvent], known: Known | None) -> WorldState:
    return fold(World(frozenset(), known), events)


def _cause(event: AnyEvent) -> str | None:
    """The event that caused this one: the lines of an import come and go with their file."""
    return getattr(event, "causationid", None)


def _outcomes(present: WorldState, wanted: WorldState) -> Iterable[Outcome]:
    """What has to happen to each candidate, in ledger order, for the present state to hold the wanted memories."""
    for ref, record in present.accounts.records.items():
        now, then = present.memory.entries.get(ref), wanted.memory.entries.get(ref)
        is_active = now is not None and now.state == "promoted"
        if then is not None and then.state == "promoted":
            wording = record.proposal if now is None else now.proposal
            outcome = _promoted(ref, wording, then.proposal)
            if not is_active or outcome != Outcome(ref, "promoted"):
                yield outcome
        elif is_active:
            yield _left(ref, wanted.accounts.records.get(ref))
        elif ref in wanted.memory.pending and record.state == "deleted":
            yield Outcome(ref, "pending")
        elif record.state == "pending" and ref not in wanted.accounts.records:
            yield Outcome(ref, "deleted")


def _promoted(ref: Ref, now: Proposal, then: Proposal) -> Outcome:
    """Fields stand in an outcome only where they change: else an undo of an earlier event would be overwritten."""
    return Outcome(
        ref,
        "promoted",
        type=_changed(now.type, then.type),
        title=_changed(now.title, then.title),
        content=_changed(now.content, then.content),
        tags=None if now.tags == then.tags else then.tags,
    )


def _changed(now: str, then: str) -> str | None:
    return None if now == then else then


def _left(ref: Ref, then: Record | None) -> Outcome:
    into = None if then is None or then.state not in ("absorbed", "superseded") else then.into
    return Outcome(ref, "deleted" if into is None else "superseded", into=into)
