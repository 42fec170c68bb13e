"""One law suite over every registered projection (DESIGN 5, SPEC 24: I1, I2, I3, I9)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.events import (
    AnyEvent,
    MemoryImported,
    MemoryImportedData,
    SessionLinked,
    SessionLinkedData,
    UnknownEvent,
)
from ledger.times import DAY_MS, format_time
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState
from projections.prompts import RenderedPrompts
from projections.protocol import InPlace, Projection, fold
from projections.registry import PROJECTIONS
from projections.world import World
from tests.support.effort import examples
from tests.support.runs import call, ledgers_with_runs, measured
from tests.support.streams import ledgers

every = pytest.mark.parametrize("projection", PROJECTIONS, ids=lambda one: one.name)


def pure_fold(projection: Projection[Any], events: list[AnyEvent]) -> Any:
    """Fold by ``apply`` alone, one new state per event."""
    state = projection.initial()
    for event in events:
        state = projection.apply(state, event)
    return state


few = settings(max_examples=examples(20))
"""Each of the projections takes as many histories."""


@every
def test_names_and_versions_are_set(projection: Projection[Any]) -> None:
    """A checkpoint is named by them."""
    assert projection.name
    assert projection.version >= 1


@every
@few
@given(events=ledgers())
def test_i1_determinism_in_one_process(projection: Projection[Any], events: list[AnyEvent]) -> None:
    """The same events give the same state."""
    assert fold(projection, events) == fold(projection, list(events))


@every
@few
@given(events=ledgers(), data=st.data())
def test_i2_incremental_equals_full(projection: Projection[Any], events: list[AnyEvent], data: st.DataObject) -> None:
    """Folding in two pieces, from any point, equals folding at once."""
    cut = data.draw(st.integers(0, len(events)))
    start = fold(projection, events[:cut])
    assert fold(projection, events[cut:], start) == fold(projection, events)


@every
@few
@given(events=ledgers(max_size=15))
def test_i2_stepping_in_place_equals_applying(projection: Projection[Any], events: list[AnyEvent]) -> None:
    """The fast way and the plain fold are one meaning."""
    assert fold(projection, events) == pure_fold(projection, events)


@pytest.mark.parametrize(
    "projection",
    [*PROJECTIONS, RenderedPrompts({"test/A"}), World({"test/A"}), World({"test/new", "test/A"}), World(frozenset())],
    ids=lambda one: one.name,
)
@few
@given(events=ledgers_with_runs(), data=st.data())
def test_i2_runs_of_calls_equal_stepping(
    projection: Projection[Any], events: list[AnyEvent], data: st.DataObject
) -> None:
    """Tool calls taken in at once mean what they mean one by one, wherever a fold begins (I2)."""
    cut = data.draw(st.integers(0, len(events)))
    start = stepped(projection, events[:cut], projection.initial())
    assert fold(projection, events[cut:], start) == stepped(projection, events[cut:], start)


def test_calls_are_really_taken_in_at_once() -> None:
    """A run of ordinary calls steps the first one alone, which begins the activity."""
    seen: list[AnyEvent] = []

    class Watched(WorkspaceMemory):
        def step(self, state: MemoryState, event: AnyEvent) -> None:
            seen.append(event)
            super().step(state, event)

    state = fold(Watched(), [call("test/A", format_time(DAY_MS + seq // 2), seq) for seq in range(50)])
    assert len(seen) == 1
    assert (state.now, state.last_activity, state.offset) == (DAY_MS + 24, DAY_MS + 24, 49)


@every
def test_each_event_of_a_run_counts_as_it_would_alone(projection: Projection[Any]) -> None:
    """Measurements that come twice, calls of nobody, and calls at the time of an event that is no activity (I2)."""
    events: list[AnyEvent] = [
        call("test/A", format_time(DAY_MS), 0),
        measured("test/A", format_time(DAY_MS), 3),
        measured("test/A", format_time(DAY_MS), 3),
        call("", format_time(DAY_MS + 60_000), 1),
        measured("test/A", format_time(DAY_MS + 1), 3),
        call("", format_time(DAY_MS + 120_000), 2),
        measured("test", format_time(DAY_MS + 180_000), 4),
        call("test/A", format_time(DAY_MS + 180_000), 5),
    ]
    events = [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events)]
    for begin, end in combinations(range(len(events) + 1), 2):
        start = stepped(projection, events[:begin], projection.initial())
        assert fold(projection, events[begin:end], start) == stepped(projection, events[begin:end], start)
    state = fold(WorkspaceMemory(), events)
    assert (state.last_activity, state.warnings) == (DAY_MS + 180_000, {"duplicate_delivery": 2})
    assert fold(WorkspaceMemory(), events[:-1]).last_activity == DAY_MS


@every
@pytest.mark.parametrize("place", [3, 9])
@pytest.mark.parametrize("source", ["test/A", "test"])
def test_a_time_that_only_python_reads_is_none_in_a_run_either(
    projection: Projection[Any], place: int, source: str
) -> None:
    """A run that ends with a time in a form that RFC 3339 doesn't know means what its calls mean one by one (I2)."""
    events: list[AnyEvent] = [call("test/A", format_time(DAY_MS + 60_000 * seq), seq) for seq in range(9)]
    events.insert(1, measured("test/A", format_time(DAY_MS), 1))
    events.insert(place, call(source, "1970-01-02T02:00:00+0100", 10))
    events = [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events)]
    assert fold(projection, events) == stepped(projection, events, projection.initial())


def test_a_long_run_is_taken_in_piece_by_piece() -> None:
    """Calls are held in small numbers only, however many come in a row."""
    seen: list[AnyEvent] = []

    class Watched(WorkspaceMemory):
        def step(self, state: MemoryState, event: AnyEvent) -> None:
            seen.append(event)
            super().step(state, event)

    events: list[AnyEvent] = [call("test/A", format_time(DAY_MS + seq), seq) for seq in range(2500)]
    state = fold(Watched(), events)
    assert [event.seq for event in seen] == [0, 1001, 2002]
    assert (state.now, state.offset) == (DAY_MS + 2499, 2499)


def test_a_number_too_high_does_not_end_runs() -> None:
    """Calls whose seq doesn't rise are taken in at once too: one wrong number must not make a fold slow for ever."""
    seen: list[AnyEvent] = []

    class Watched(WorkspaceMemory):
        def step(self, state: MemoryState, event: AnyEvent) -> None:
            seen.append(event)
            super().step(state, event)

    numbers = [0, 1, 9_000, *range(3, 50)]
    events: list[AnyEvent] = [call("test/A", format_time(DAY_MS + place), seq) for place, seq in enumerate(numbers)]
    state = fold(Watched(), events)
    assert len(seen) == 1
    assert (state.now, state.last_activity, state.offset) == (DAY_MS + 49, DAY_MS + 49, 9_000)


@every
def test_a_session_is_known_as_a_subagent_from_its_link_on(projection: Projection[Any]) -> None:
    """Calls behind a link are no activity, though calls of that session before it were."""
    link = SessionLinked(
        specversion="1.0", id="link", source="test/A", time=None, seq=3, data=SessionLinkedData("C", "A")
    )
    events = [call("test/C", format_time(DAY_MS * seq), seq) for seq in range(1, 9)]
    events_with_link: list[AnyEvent] = [*events[:2], link, *events[3:]]
    assert fold(projection, events_with_link) == stepped(projection, events_with_link, projection.initial())


@every
def test_a_run_of_calls_lets_pending_candidates_expire(projection: Projection[Any]) -> None:
    """The first call behind the date decides, not the end of the run (SPEC 9.5)."""
    data = MemoryImportedData(
        "old.json", "d", 1, "the codebase builds with Bazel only", type="project", source="compaction", state="pending"
    )
    imported = MemoryImported(
        specversion="1.0", id="import", source="test/A", time=format_time(DAY_MS), seq=0, data=data
    )
    events: list[AnyEvent] = [
        imported,
        *(call("test/A", format_time(DAY_MS * (1 + 7 * seq)), seq) for seq in range(1, 9)),
    ]
    assert fold(projection, events) == stepped(projection, events, projection.initial())


def test_a_projection_needs_no_more_than_apply() -> None:
    """The faster ways are offers; a plain projection is folded event by event."""

    class Calls:
        name, version = "calls", 1

        def initial(self) -> int:
            return 0

        def apply(self, state: int, event: AnyEvent) -> int:
            return state + 1

    assert fold(Calls(), [call("test/A", None, seq) for seq in range(3)], 4) == 7


def stepped(projection: Projection[Any], events: list[AnyEvent], start: Any) -> Any:
    """Fold by ``step`` alone, one event after another."""
    assert isinstance(projection, InPlace)
    state = projection.copy(start)
    for event in events:
        projection.step(state, event)
    return state


@every
@few
@given(events=ledgers(max_size=15), data=st.data())
def test_apply_and_fold_leave_their_input_alone(
    projection: Projection[Any], events: list[AnyEvent], data: st.DataObject
) -> None:
    """States are values: whoever holds one keeps what they hold (I3)."""
    cut = data.draw(st.integers(0, len(events)))
    held = fold(projection, events[:cut])
    again = fold(projection, events[:cut])
    fold(projection, events[cut:], held)
    for event in events[cut : cut + 1]:
        projection.apply(held, event)
    assert held == again


@every
@few
@given(events=ledgers(max_size=15), data=st.data())
def test_unknown_events_are_skipped(projection: Projection[Any], events: list[AnyEvent], data: st.DataObject) -> None:
    """An event of a type this release doesn't know changes nothing but the position."""
    place = data.draw(st.integers(0, len(events)))
    unknown = UnknownEvent(type="x.new", specversion="1.0", id="x", source="test/A", time=None, seq=place - 1, line=b"")
    with_it = fold(projection, [*events[:place], unknown, *events[place:]])
    assert without_counters(with_it) == without_counters(fold(projection, events))


@every
@few
@given(events=ledgers(max_size=12), data=st.data())
def test_i9_any_event_may_be_delivered_again(
    projection: Projection[Any], events: list[AnyEvent], data: st.DataObject
) -> None:
    """Delivering any event again, anywhere later, changes no state but delivery counters (SPEC 3.5)."""
    which = data.draw(st.integers(0, len(events) - 1))
    place = data.draw(st.integers(which + 1, len(events)))
    again = fold(projection, [*events[:place], events[which], *events[place:]])
    assert without_counters(again) == without_counters(fold(projection, events))


def without_counters(state: Any) -> Any:
    """A state as plain data without what counts deliveries, and without what only the last event tells."""
    left_out = {"warnings", "moves", "touched", "opened", "fresh", "duplicate_deliveries", "id_conflicts"}
    if isinstance(state, msgspec.Struct):
        fields = {name: getattr(state, name) for name in state.__struct_fields__ if name not in left_out}
        return {name: without_counters(value) for name, value in fields.items()}
    if isinstance(state, dict):
        return {key: without_counters(value) for key, value in state.items()}
    return state
