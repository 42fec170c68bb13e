"""What an undo leads to: the log folded with and without one event, candidate by candidate (SPEC 15.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from ledger.events import AnyEvent, MemoryDeleted, MemoryRestored, MemoryUndone, MemoryUpdated, Outcome
from projections.accounting import Record
from projections.facts import Known
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import Change, MemoryState, Proposal, Ref
from projections.memory.undo import reverted
from projections.protocol import fold
from projections.world import World, WorldState

__all__ = ["UndoPlan", "open_changes", "plan_latest", "plan_undo"]


class UndoPlan(Struct, frozen=True):
    """What an undo would do.

    Attributes:
        event: the event that is undone.
        change: what it did.
        own: the memories that it was about; what else changes depends on it.
        outcomes: what becomes of each candidate that it concerns.
        world: the state with the event, which the outcomes change.
        next_seq: the seq that was next when the log was read: no other event may have come since.
    """

    event: AnyEvent
    change: Change
    own: frozenset[Ref]
    outcomes: tuple[Outcome, ...]
    world: WorldState
    next_seq: int = 0


def open_changes(memory: MemoryState) -> Iterator[str]:
    """The events of the changes that aren't undone yet, and are no undos themselves, the latest one first."""
    return (name for name, one in reversed(memory.changes.items()) if not one.undone and one.kind != "undone")


def plan_latest(events: Sequence[AnyEvent], known: Known | None = None) -> UndoPlan | None:
    """What the undo of the latest change leads to; None if none is left.

    A change of a text that was purged since is passed over: there is nothing left that its undo could bring back.
    """
    memory = fold(WorkspaceMemory(known), events)
    plans = (plan_undo(events, event, known) for event in open_changes(memory))
    return next((one for one in plans if one and (one.outcomes or memory.purged.keys().isdisjoint(one.own))), None)


def plan_undo(events: Sequence[AnyEvent], undone: str, known: Known | None = None) -> UndoPlan | None:
    """What the undo of an event leads to: what the log would say without it, and without what it caused.

    An undo holds the wording of its day, which would keep other changes of the same memory from being reverted. So
    the log is read without its undos and without what they have undone, wherever that reading says of the memories
    in question what the whole log says, right before the change and now. Elsewhere something was built upon an undo
    (a restore, say, of what one took away), and the undos stay in.

    Args:
        events: the whole log.
        undone: id of the event.
        known: facts at hand.

    Returns:
        The plan; None if the event changed nothing that can be undone, or is undone already. Two folds of the log,
        up to six where there are undos.
    """
    world = _world(events, known)
    changes = world.memory.changes
    change = changes.get(undone)
    if change is None or change.undone:
        return None
    gone = [event for event in events if undone in (event.id, _cause(event))]
    own = frozenset(_own(world, gone))
    states = _without_undos(events, world, undone, own, known)
    if states is None:
        left = [event for event in events if undone not in (event.id, _cause(event))]
        states = world, _world(left, known)
    return UndoPlan(gone[0], change, own, tuple(_outcomes(world, *states)), world)


def _without_undos(
    events: Sequence[AnyEvent], world: WorldState, undone: str, own: frozenset[Ref], known: Known | None
) -> tuple[WorldState, WorldState] | None:
    """The states with and without a change, as the log tells them that is read without its undos.

    None where that reading may not count: it must say of the memories in question, and of all that would change, what
    the whole log says, right before the change and now.
    """
    changes = world.memory.changes
    if all(one.kind != "undone" for one in changes.values()):
        return None
    base = _world(_in_force(events, changes), known)
    wanted = _world(_in_force(events, changes | {"": Change("undone", reverts=undone)}), known)
    refs = own.union(ref for ref in world.accounts.records if _fate(base, ref) != _fate(wanted, ref))
    before = events[: next(index for index, event in enumerate(events) if event.id == undone)]
    return (base, wanted) if _agree(refs, world, base) and _agreed(refs, before, known) else None


def _agreed(refs: Iterable[Ref], events: Sequence[AnyEvent], known: Known | None) -> bool:
    """Whether a log says the same of some candidates with and without its undos."""
    world = _world(events, known)
    return _agree(refs, world, _world(_in_force(events, world.memory.changes), known))


def _in_force(events: Iterable[AnyEvent], changes: Mapping[str, Change]) -> list[AnyEvent]:
    """The log without its undos, and without what they have undone and that caused."""
    out = reverted(changes)
    return [
        event
        for event in events
        if event.id not in out and _cause(event) not in out and not isinstance(event, MemoryUndone)
    ]


def _agree(refs: Iterable[Ref], one: WorldState, other: WorldState) -> bool:
    """Whether two states say the same of some candidates: which are active, with which words, and which wait."""
    return all(_standing(one, ref) == _standing(other, ref) for ref in refs)


def _standing(world: WorldState, ref: Ref) -> tuple[object, ...]:
    return fate if (fate := _fate(world, ref))[:1] in (("promoted",), ("pending",)) else ()


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


def _outcomes(present: WorldState, base: WorldState, wanted: WorldState) -> Iterable[Outcome]:
    """What has to happen to each candidate, in ledger order, for the present state to hold the wanted memories.

    Only to those that the undone event makes a difference to: what an earlier undo has left behind stays.
    """
    for ref, record in present.accounts.records.items():
        if _fate(base, ref) == _fate(wanted, ref):
            continue
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


def _fate(world: WorldState, ref: Ref) -> tuple[object, ...]:
    """What has become of a candidate, and with which words."""
    record, entry = world.accounts.records.get(ref), world.memory.entries.get(ref)
    if record is None:
        return ()
    wording = record.proposal if entry is None else entry.proposal
    state = record.state if entry is None else entry.state
    return (state, wording.type, wording.title, wording.content, wording.tags)


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
