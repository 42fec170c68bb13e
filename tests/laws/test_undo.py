"""An undo leaves what the log would say without the undone event (SPEC 15.3)."""

from __future__ import annotations

from collections import Counter

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ledger.events import AnyEvent, MemoryUndone, MemoryUndoneData
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState
from projections.protocol import fold
from replay.undo import latest_change, plan_undo
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
        id=f"undo-{undone}",
        source="memfold",
        time=None,
        seq=last.seq + 1,
        data=MemoryUndoneData(undone, plan.outcomes),
    )
    return [*events, event]


@settings(max_examples=examples(150))
@given(ledgers(max_size=35), st.data())
def test_undo_of_any_change_equals_the_fold_without_it(events: list[AnyEvent], data: st.DataObject) -> None:
    """Active texts and types are those of a log in which the event, and what it caused, never was."""
    changes = fold(WorkspaceMemory(), events).changes
    open_ = [event for event, change in changes.items() if not change.undone]
    assume(open_)
    undone = data.draw(st.sampled_from(open_))
    after = _undo(events, undone)
    without = [event for event in events if undone not in (event.id, getattr(event, "causationid", None))]
    memory = fold(WorkspaceMemory(), after)
    assert _active(memory) == _active(fold(WorkspaceMemory(), without))
    assert memory.changes[undone].undone
    watched(after)


@settings(max_examples=examples(60))
@given(ledgers(max_size=25))
def test_undoing_again_and_again_leads_to_no_change_left(events: list[AnyEvent]) -> None:
    """Each undo without a name takes the change before; at the end none is left, and no id was given twice."""
    left = len(fold(WorkspaceMemory(), events).changes)
    for _ in range(left + 1):
        memory = fold(WorkspaceMemory(), events)
        latest = latest_change(memory)
        if latest is None:
            break
        events = _undo(events, latest)
    assert latest_change(fold(WorkspaceMemory(), events)) is None
    watched(events)


@settings(max_examples=examples(60))
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
