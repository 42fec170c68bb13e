"""An undo leaves what the log would say without the undone event (SPEC 15.3)."""

from __future__ import annotations

from collections import Counter

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ledger.events import AnyEvent, MemoryUndone, MemoryUndoneData
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState
from projections.protocol import fold
from replay.undo import open_changes, plan_undo
from tests.support.effort import examples
from tests.support.streams import ledgers
from tests.support.watch import watched


def _active(memory: MemoryState) -> Counter[tuple[str, str]]:
    return Counter(
        (entry.proposal.type, entry.proposal.text) for entry in memory.entries.values() if entry.state == "promoted"
    )


def _undo(events: list[AnyEvent], undone: str) -> list[AnyEvent]:
    """The log with the undo behind it."""
    plan = plan_undo(events, undone)
    assert plan is not None
    last = events[-1]
    event = MemoryUndone(
        specversion="1.0",
        id=f"undo-{last.seq + 1}",
        source="memfold",
        time=None,
        seq=last.seq + 1,
        data=MemoryUndoneData(undone, plan.outcomes),
    )
    return [*events, event]


def _in_force(events: list[AnyEvent]) -> list[AnyEvent]:
    """The log without its undos, and without what they have undone; an undo that is undone itself undoes nothing."""
    out: set[str] = set()
    for event in reversed(events):
        if isinstance(event, MemoryUndone):
            if event.id not in out:
                out.add(event.data.undone)
            out.add(event.id)
    return [event for event in events if event.id not in out and getattr(event, "causationid", None) not in out]


@settings(max_examples=examples(40))
@given(ledgers(max_size=35), st.data())
def test_undos_of_any_changes_equal_the_fold_without_them(events: list[AnyEvent], data: st.DataObject) -> None:
    """Active texts and types are those of a log in which what is undone, and what it caused, never was.

    Also after the second and third undo of the same memory, and after undos of undos.
    """
    events = [event for event in events if not isinstance(event, MemoryUndone)]
    for _ in range(data.draw(st.integers(1, 4))):
        changes = fold(WorkspaceMemory(), events).changes
        open_ = [event for event, change in changes.items() if not change.undone]
        if not open_:
            break
        undone = data.draw(st.sampled_from(open_))
        events = _undo(events, undone)
        memory = fold(WorkspaceMemory(), events)
        assert _active(memory) == _active(fold(WorkspaceMemory(), _in_force(events)))
        assert memory.changes[undone].undone
    watched(events)


@settings(max_examples=examples(40))
@given(ledgers(max_size=35), st.data())
def test_an_undo_right_behind_a_change_leads_back(events: list[AnyEvent], data: st.DataObject) -> None:
    """Whatever was undone or restored before it, the active texts are those in front of the change."""
    changes = fold(WorkspaceMemory(), events).changes
    ends = [
        end
        for end, event in enumerate(events)
        if event.id in changes and changes[event.id].kind != "imported" and not isinstance(event, MemoryUndone)
    ]
    assume(ends)
    end = data.draw(st.sampled_from(ends))
    after = _undo(events[: end + 1], events[end].id)
    assert _active(fold(WorkspaceMemory(), after)) == _active(fold(WorkspaceMemory(), events[:end]))


@settings(max_examples=examples(35))
@given(ledgers(max_size=25))
def test_undoing_again_and_again_leads_to_no_change_left(events: list[AnyEvent]) -> None:
    """Each undo without a name takes the change before; at the end none is left, and no id was given twice."""
    left = len(fold(WorkspaceMemory(), events).changes)
    for _ in range(left + 1):
        memory = fold(WorkspaceMemory(), events)
        latest = next(open_changes(memory), None)
        if latest is None:
            break
        events = _undo(events, latest)
    assert not list(open_changes(fold(WorkspaceMemory(), events)))
    watched(events)


@settings(max_examples=examples(35))
@given(ledgers(max_size=25), st.data())
def test_an_undo_can_be_undone(events: list[AnyEvent], data: st.DataObject) -> None:
    """Undoing the undo brings back the active texts that were there before it."""
    changes = fold(WorkspaceMemory(), events).changes
    open_ = [event for event, change in changes.items() if not change.undone]
    assume(open_)
    undone = data.draw(st.sampled_from(open_))
    once = _undo(events, undone)
    twice = _undo(once, once[-1].id)
    assert _active(fold(WorkspaceMemory(), twice)) == _active(fold(WorkspaceMemory(), events))
    assert not fold(WorkspaceMemory(), twice).changes[undone].undone
