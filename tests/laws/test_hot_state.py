"""Laws of the hot state of sessions and of its block (SPEC 24)."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ledger.events import Event, SessionLinked, SessionLinkedData
from projections.hot.block import ErrorEntry, hot_block
from projections.hot.session import MAX_DECISIONS, MAX_ERRORS, MAX_FILES, FileEntry, HotState
from projections.hot.state import SessionStates, States
from projections.protocol import fold
from tests.support.hot_events import histories, recorded, renumbered, texts
from tests.support.hot_rows import bash, events_of


def without_counters(states: States) -> States:
    """The states with their delivery counters at zero."""
    sessions = {
        source: replace(session, duplicate_deliveries=0, id_conflicts=0) for source, session in states.sessions.items()
    }
    return replace(states, sessions=sessions)


@given(histories)
def test_copy_and_step_is_apply(history: list[dict[str, Any]]) -> None:
    """Folding in place gives what applying event by event gives, and apply leaves every state as it was."""
    projection = SessionStates()
    events = recorded(history)
    states = [projection.initial()]
    before = [msgspec.json.encode(states[0])]
    for event in events:
        states.append(projection.apply(states[-1], event))
        before.append(msgspec.json.encode(states[-1]))
    assert fold(projection, events) == states[-1]
    assert list(map(msgspec.json.encode, states)) == before


@given(histories, histories)
def test_i2_incremental_is_full(first: list[dict[str, Any]], then: list[dict[str, Any]]) -> None:
    """Folding in two pieces equals folding at once."""
    projection = SessionStates()
    events = recorded(first + then)
    cut = len(recorded(first))
    assert fold(projection, events[cut:], fold(projection, events[:cut])) == fold(projection, events)


@given(histories)
def test_one_session_alone_is_that_session_in_the_whole(history: list[dict[str, Any]]) -> None:
    """Nobody pays for what nobody asks, and gets the same."""
    events = recorded(history)
    whole = fold(SessionStates(), events)
    for source in ("h/A", "h/B"):
        alone = fold(SessionStates({source}), events)
        assert alone.sessions == {key: value for key, value in whole.sessions.items() if key == source}


@given(histories, st.data())
def test_i9_delivering_again_changes_only_counters(history: list[dict[str, Any]], data: st.DataObject) -> None:
    """Any event delivered again, anywhere later, changes no hot state."""
    once = recorded(history)
    again: list[Event] = list(once)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(again) - 1))
        again.insert(data.draw(st.integers(at + 1, len(again))), again[at])
    projection = SessionStates()
    assert without_counters(fold(projection, renumbered(again))) == without_counters(fold(projection, once))


@given(histories, st.data())
def test_i16_where_a_parent_link_stands_does_not_matter(history: list[dict[str, Any]], data: st.DataObject) -> None:
    """A late link leaves the hot state an early one does."""
    events = recorded(history)
    link = SessionLinked(specversion="1.0", id="link", source="h/A", seq=0, data=SessionLinkedData("A", "P"))
    at = data.draw(st.integers(1, len(events)))
    early = fold(SessionStates(), renumbered([*events[:1], link, *events[1:]]))
    late = fold(SessionStates(), renumbered([*events[:at], link, *events[at:]]))
    assert early == late
    assert late.hot("h/A") == HotState()


@given(histories)
def test_i5_caps_hold_after_each_event(history: list[dict[str, Any]]) -> None:
    """Files are ranked and distinct, errors have one fingerprint and one command each, decisions are distinct."""
    projection = SessionStates()
    states = projection.initial()
    for event in recorded(history):
        projection.step(states, event)
        for session in states.sessions.values():
            hot = session.hot
            assert len({file.path for file in hot.files}) == len(hot.files) <= MAX_FILES
            assert len({error.seen.fingerprint for error in hot.errors}) == len(hot.errors) <= MAX_ERRORS
            assert len({error.seen.command for error in hot.errors}) == len(hot.errors)
            assert len({decision.key for decision in hot.decisions}) == len(hot.decisions) <= MAX_DECISIONS


@given(histories)
def test_a_whole_success_closes_its_category_and_nothing_else(history: list[dict[str, Any]]) -> None:
    """After `pytest` succeeds no test error is open; errors of other categories stay as they were."""
    steps = [*history, bash("pytest")]
    before = fold(SessionStates(), recorded(history)).hot("h/A").errors
    after = fold(SessionStates(), events_of(steps, "/w/app")).hot("h/A").errors
    assert after == tuple(error for error in before if error.seen.category != "test")


files = st.builds(FileEntry, texts, st.sampled_from(["edit", "read"]), st.integers(1, 99))
errors = st.builds(ErrorEntry, st.sampled_from(["test", "lint"]), texts, st.booleans())
entries = st.tuples(st.sampled_from(["feedback", "decision"]), texts)


@given(
    st.lists(files, max_size=10),
    st.lists(errors, max_size=5),
    st.lists(texts, max_size=10),
    st.lists(entries, max_size=9),
    st.integers(0, 700),
)
def test_i5_block_keeps_its_budget_and_limits(
    some_files: list[FileEntry],
    some_errors: list[ErrorEntry],
    decisions: list[str],
    pending: list[tuple[str, str]],
    max_chars: int,
) -> None:
    """Never more characters than asked for, never more lines than a section may have, whole lines only."""
    block = hot_block(some_files, some_errors, decisions, pending, max_chars=max_chars)
    whole = hot_block(some_files, some_errors, decisions, pending, max_chars=100_000)
    assert len(block.text) <= max_chars
    limits = {"active_files": 8, "open_errors": 3, "recent_decisions": 8, "pending_memories": 6}
    assert all(0 < count <= limits[section] for section, count in block.sections.items())
    decision_lines = {hot_block([], [], [text], []).text.split("\n")[-1] for text in decisions}
    assert set(block.text.split("\n")) <= {*whole.text.split("\n"), *decision_lines, "", "recent_decisions:"}
    assert bool(block.text) == bool(block.sections)
