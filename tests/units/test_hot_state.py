"""The hot state of sessions (SPEC 13, 3.4, 3.5)."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from ledger.codec import decode_known
from ledger.events import (
    Event,
    LedgerSealed,
    LedgerSealedData,
    PolicySet,
    PolicySetData,
    SessionDeleted,
    SessionDeletedData,
    ToolCompleted,
)
from projections.hot.session import MAX_ERRORS, MAX_FILES, HotState
from projections.hot.state import CALL_WINDOW, SessionStates, States
from projections.policy import ErrorCategory, Policy, policy_document
from projections.protocol import fold
from tests.support.hot_rows import bash, edit, events_of, fold_steps, hot_after, tool_data

START = {"do": "session_start", "session": "A"}


def say(message: str, text: str, session: str = "A") -> dict[str, Any]:
    """A step: a message of the user."""
    return {"do": "user_message", "session": session, "message": message, "text": text}


def files(state: HotState) -> list[tuple[str, str, int]]:
    """Path, action and count of each file, best first."""
    return [(file.path, file.action, file.count) for file in state.files]


def test_rank_is_weight_and_count_then_recency() -> None:
    """Three points a touch; the heavier action stays; equal ranks go by recency."""
    steps = [edit("a.ts"), edit("b.ts", "write"), edit("b.ts", "read"), edit("b.ts", "read"), edit("c.ts")]
    assert files(hot_after(steps)) == [("b.ts", "write", 3), ("c.ts", "edit", 1), ("a.ts", "edit", 1)]


def test_each_file_of_a_call_is_more_recent_than_the_one_before() -> None:
    """Touches are numbered through the session, also within one call."""
    patch = {**edit("", "apply_patch"), "args": {"patchText": "*** Update File: a.ts\n*** Update File: b.ts"}}
    assert [path for path, _, _ in files(hot_after([patch, edit("z.ts")]))] == ["z.ts", "b.ts", "a.ts"]


def test_heavier_action_replaces_a_lighter_one() -> None:
    """A file that was read and then written is a written one."""
    assert files(hot_after([edit("a.ts", "read"), edit("a.ts", "write")])) == [("a.ts", "write", 2)]


def test_same_error_again_counts_and_loses_its_mark() -> None:
    """Equal summaries are one error, whatever command shows it; it is the newest again."""
    steps = [
        bash("node a.js", 1, "Error: src/a.ts broke"),
        bash("node b.js", 1, "Error: other"),
        edit("src/a.ts"),
        bash("node c.js", 1, "Error:  src/a.ts broke"),
    ]
    marked = hot_after(steps[:3])
    assert [(error.seen.summary, error.maybe_fixed) for error in marked.errors] == [
        ("Error: other", False),
        ("Error: src/a.ts broke", True),
    ]
    again = hot_after(steps)
    assert [(error.seen.summary, error.count, error.maybe_fixed) for error in again.errors] == [
        ("Error: src/a.ts broke", 2, False),
        ("Error: other", 1, False),
    ]


def test_a_closed_error_starts_anew() -> None:
    """After a success the same failure is seen for the first time."""
    steps = [bash("npm test", 1, "1 failed"), bash("npm test", 0), bash("npm test", 1, "1 failed")]
    assert [error.count for error in hot_after(steps).errors] == [1]


def test_reading_a_file_marks_no_error() -> None:
    """Only editing and writing may fix."""
    steps = [bash("node a.js", 1, "Error: src/a.ts broke"), edit("src/a.ts", "read")]
    assert not hot_after(steps).errors[0].maybe_fixed


def test_sessions_share_nothing() -> None:
    """Each session has its own hot state, and a new one starts empty (SPEC 1.1)."""
    states = fold_steps([START, edit("a.ts"), edit("b.ts", session="B")])
    assert files(states.hot("h/A")) == [("a.ts", "edit", 1)]
    assert files(states.hot("h/B")) == [("b.ts", "edit", 1)]
    assert states.hot("h/C") == HotState()


@pytest.mark.parametrize("at", range(3))
def test_a_sub_agent_has_no_hot_state_whenever_it_is_linked(at: int) -> None:
    """A link before, between or after its calls leaves nothing, then and later (SPEC 3.4)."""
    steps: list[dict[str, Any]] = [edit("a.ts"), say("m", "remember we decided on x")]
    steps.insert(at, {"do": "session_parent", "session": "A", "parent": "P"})
    states = fold_steps([*steps, edit("b.ts")])
    assert states.sessions == {}
    assert states.subagents == {"h/A": True}


def test_a_deleted_session_starts_empty() -> None:
    """Hot state ends with its session; what comes later stands alone, and no second deletion takes it."""
    gone = {"do": "session_deleted", "session": "A"}
    states = fold_steps([edit("a.ts"), bash("npm test", 1, "1 failed"), gone, edit("b.ts"), gone])
    assert files(states.hot("h/A")) == [("b.ts", "edit", 1)]
    assert states.hot("h/A").errors == ()


def test_known_call_ids_are_counted_and_change_nothing() -> None:
    """The same content is a second delivery, other content a conflict; the first wins (SPEC 3.5)."""
    first = {**edit("a.ts"), "call": "c"}
    other = {**edit("b.ts"), "call": "c"}
    session = fold_steps([first, first, other, first, other, other]).sessions["h/A"]
    assert files(session.hot) == [("a.ts", "edit", 1)]
    assert (session.duplicate_deliveries, session.id_conflicts) == (2, 3)


def test_a_default_that_is_spelled_out_is_no_other_content() -> None:
    """Two lines that mean the same call are one delivered twice, whatever they leave to be understood (SPEC 3.5)."""
    lines = [
        b'{"type":"tool.completed","specversion":"1.0","id":"%d","source":"h/A","time":null,"seq":%d,'
        b'"data":{"call":"c","tool":"grep"%s,"output":"a.py:"}}' % (seq, seq, args)
        for seq, args in enumerate((b"", b',"args":{}', b',"args":{"path":""},"exit":null,"status":"completed"'))
    ]
    session = fold(SessionStates(), map(decode_known, lines)).sessions["h/A"]
    assert (session.duplicate_deliveries, session.id_conflicts) == (2, 0)


def test_calls_without_an_id_are_all_different() -> None:
    """Without a host id the event's own id stands in."""
    assert files(hot_after([edit("a.ts"), edit("a.ts")])) == [("a.ts", "edit", 2)]


def test_call_ids_are_known_among_the_last_thousand() -> None:
    """The window is exact: the oldest of 1,000 calls is known, the one before it isn't."""
    calls = [{**edit("a.ts"), "call": str(number)} for number in range(CALL_WINDOW)]
    assert files(hot_after([*calls, calls[0]])) == [("a.ts", "edit", CALL_WINDOW)]
    more = {**edit("a.ts"), "call": "more"}
    assert files(hot_after([*calls, more, calls[0]])) == [("a.ts", "edit", CALL_WINDOW + 2)]


def test_decisions_are_distinct_and_come_from_this_session() -> None:
    """A repeated decision shows its newest wording; a message counts once; other types are none."""
    steps = [
        say("m1", "remember we decided on Postgres 16"),
        say("m2", "remember we decided on Redis 7"),
        say("m3", "remember: We decided on Postgres 16!"),
        say("m2", "remember we decided on Redis 7"),
        say("m4", "remember: deploys run from main only"),
        say("m5", "nothing to keep"),
    ]
    state = hot_after(steps)
    assert [decision.text for decision in state.decisions] == [
        "we decided on Redis 7",
        "We decided on Postgres 16!",
    ]
    assert [(decision.event, decision.index) for decision in state.decisions] == [("e2", 0), ("e3", 0)]


def test_a_decision_about_a_file_is_one_however_its_path_is_written() -> None:
    """Paths below the workspace are named from there on (SPEC 8.3)."""
    paths = ("/w/app/src/parse.ts", "src/parse.ts")
    state = hot_after([say(path, f"remember we decided the parser is in {path}") for path in paths])
    assert [decision.text for decision in state.decisions] == ["we decided the parser is in src/parse.ts"]


def test_refused_requests_are_no_decisions() -> None:
    """What is refused as a memory is no recent decision; messages without an id are all different."""
    steps = [say("", "remember we decided on Redis 7?"), say("", "remember we decided on Kafka 3")]
    assert [decision.text for decision in hot_after(steps).decisions] == ["we decided on Kafka 3"]


def test_caps() -> None:
    """Twenty files and five errors are kept."""
    steps = [edit(f"f{number}.ts") for number in range(30)]
    steps += [bash(f"node {number}.js", 1, f"Error: {number}") for number in range(9)]
    state = hot_after(steps)
    assert len(state.files) == MAX_FILES
    assert [error.seen.summary for error in state.errors] == [f"Error: {n}" for n in range(8, 8 - MAX_ERRORS, -1)]


def test_policy_in_force_judges() -> None:
    """Each call is judged under the policy that was set before it."""
    policy = Policy(error_categories=(ErrorCategory("deploy", ("kamal",)),))
    run = ToolCompleted(
        specversion="1.0", id="1", source="h/A", seq=1, data=tool_data("bash", {"command": "kamal"}, exit_code=1)
    )
    known = PolicySet(specversion="1.0", id="0", source="h", seq=0, data=PolicySetData("d", policy_document(policy)))
    assert fold(SessionStates(), [run]).hot("h/A").errors == ()
    assert [error.seen.category for error in fold(SessionStates(), [known, run]).hot("h/A").errors] == ["deploy"]


def test_a_policy_delivered_again_does_not_come_back() -> None:
    """The same event counts once; the policy set last stays in force, whatever is repeated (SPEC 21)."""
    first, last = (
        PolicySet(specversion="1.0", id=name, source="h", seq=seq, data=PolicySetData(name, {"hot_chars": chars}))
        for seq, (name, chars) in enumerate([("p", 300), ("q", 400)])
    )
    assert fold(SessionStates(), [first, last, first]).policy == Policy(hot_chars=400)


def test_only_one_session_is_folded_when_asked() -> None:
    """Events of other sessions leave no trace at all."""
    steps = [edit("a.ts"), edit("b.ts", session="B"), say("m", "remember we decided on x", "B")]
    steps.append({"do": "session_parent", "session": "B", "parent": "A"})
    steps.append({"do": "session_deleted", "session": "B"})
    whole = fold(SessionStates(), events_of(steps))
    alone = fold(SessionStates({"h/A"}), events_of(steps))
    assert alone.hot("h/A") == whole.hot("h/A")
    assert set(alone.sessions) == {"h/A"}
    assert alone.subagents == {}


def test_events_without_a_session_have_no_hot_state() -> None:
    """A source that is a host alone owns nothing; other event types are passed over."""
    outside: list[Event] = [
        ToolCompleted(specversion="1.0", id="1", source="h", seq=0, data=tool_data("edit", {"filePath": "a"})),
        SessionDeleted(specversion="1.0", id="2", source="h", seq=1, data=SessionDeletedData()),
        LedgerSealed(specversion="1.0", id="3", source="h", seq=2, data=LedgerSealedData(1, "r")),
    ]
    assert fold(SessionStates(), outside) == States()


def test_state_survives_a_checkpoint() -> None:
    """The state is plain data: encoded and decoded it is equal, and goes on equally."""
    steps = [
        {**edit("a.ts"), "call": "c"},
        bash("npm test", 1, "1 failed"),
        say("m", "remember we decided on x"),
        {"do": "session_parent", "session": "B", "parent": "A"},
    ]
    state = fold_steps(steps)
    loaded = msgspec.json.decode(msgspec.json.encode(state), type=States)
    assert loaded == state


def test_apply_leaves_the_state_alone() -> None:
    """Both the given state and the new one stand on their own."""
    projection = SessionStates()
    states = list(itertools.accumulate(events_of([edit("a.ts"), edit("b.ts")]), projection.apply, initial=States()))
    assert [len(state.hot("h/A").files) for state in states] == [0, 0, 1, 2]
    assert projection.initial() == States()
