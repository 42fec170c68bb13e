"""What capture writes of texts whose lines are shown as one, of opaque ids (SPEC 7.1), and of turns off the record."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.events import MemoryRequestedData, SessionLinkedData, SessionStartedData, Target, ToolCompletedData
from memfold.capture import ID_LIMIT, Capture
from projections.policy import Context
from tests.support.harness import Harness

VALUE = "K7wzLmPq93xTvRgH42sd"
TOKEN = f"ghp_{VALUE}"


def _capture() -> Capture:
    return Capture("test", Context(root="/w/app"))


@pytest.mark.parametrize(
    ("title", "content"),
    [
        ("Deploy", f"DB password:\n{VALUE}"),
        ("Deploy", f"API_KEY:\n  {VALUE}"),
        ("Deploy", f"the token is\n{VALUE}"),
        ("Deploy", f"deploy --password\n{VALUE}"),
        ("DB password", VALUE),
        ("The token is", VALUE),
    ],
)
def test_a_memory_keeps_no_value_below_its_label(title: str, content: str) -> None:
    """Neither its title, nor its content, nor the prompt that joins both."""
    (added,) = _capture().memory_added("S", title=title, content=content, time=None)
    target = Target("e", 0)
    (updated,) = _capture().memory_updated("S", target, title=title, content=content, time=None)
    assert VALUE not in repr((added, updated))
    stage = Harness(None)
    stage.feed([{"do": "memory_add", "session": "S", "title": title, "content": content}])
    assert VALUE not in repr(stage.workspace().state())


@pytest.mark.parametrize(
    "text",
    [
        f"Remember the password:\n- {VALUE}\n- use tabs everywhere",
        f"Remember these:\n- the deploy token:\n- {VALUE}",
        f"Remember:\n> not this\n\n* the password:\n* {VALUE}",
    ],
)
def test_a_message_keeps_no_value_below_its_label(text: str) -> None:
    """A body may be a list, whose label stays behind in the line above (SPEC 4.5)."""
    (draft,) = _capture().user_message("S", "m1", text, time=None)
    assert isinstance(draft.data, MemoryRequestedData)
    assert VALUE not in draft.data.text
    assert "[REDACTED]" in draft.data.text


def test_lines_that_become_a_summary_keep_no_value() -> None:
    """Signal lines far apart are neighbours in the summary, and so are the lines of a command (SPEC 13.4)."""
    output = f"error: bad password:\nnoise\nnoise\n  {VALUE} error: refused"
    for args, said in (({"command": "npm test"}, output), ({"command": f"deploy --password\n{VALUE}"}, "")):
        (draft,) = _capture().tool_completed("S", "c1", "bash", args, exit=1, output=said, time=None)
        assert isinstance(draft.data, ToolCompletedData)
        assert VALUE not in repr(draft)
        assert "[REDACTED]" in draft.data.output + draft.data.args.command


def test_opaque_ids_keep_no_token_and_stay_apart() -> None:
    """An id that holds a token gets a digest for it, the same each time and another for another id."""
    capture = _capture()
    shown = [
        capture.session_started("S", time=None, instance=TOKEN, host_version=TOKEN),
        capture.user_message("S", TOKEN, "Remember: use tabs in Makefiles", time=None),
        capture.tool_completed("S", TOKEN, "bash", {"command": "ls"}, exit=0, output="", time=None),
        capture.tool_completed("S", TOKEN + "x", "bash", {"command": "ls"}, exit=0, output="", time=None),
        capture.compacted("S", TOKEN, "text", time=None),
        capture.memory_deleted("S", message=TOKEN, time=None),
    ]
    assert VALUE not in repr(shown)
    first, second = (drafts[0].data for drafts in shown[2:4])
    assert isinstance(first, ToolCompletedData)
    assert isinstance(second, ToolCompletedData)
    assert first.call.startswith("[REDACTED]-")
    assert first.call != second.call


def test_i8_the_id_of_a_session_keeps_no_token() -> None:
    """A source, a start and a link name a session alike, so that what belongs together still does."""
    capture, token = _capture(), TOKEN
    (started,) = capture.session_started(token, parent=f"{token}x", time=None)
    (linked,) = capture.session_linked(token, f"{token}x", time=None)
    assert VALUE not in repr((started, linked))
    assert started.source == linked.source == capture.source_of(token)
    start, link = started.data, linked.data
    assert isinstance(start, SessionStartedData)
    assert isinstance(link, SessionLinkedData)
    assert start.session == link.session == capture.id_of(token)
    assert start.parent == link.parent != capture.id_of(token)


def test_plain_ids_stay_as_they_are() -> None:
    """Nothing is done to an id that holds no secret."""
    (draft,) = _capture().session_started("S", time=None, instance="i-1", host_version="1.2.3")
    assert isinstance(draft.data, SessionStartedData)
    assert (draft.data.instance, draft.data.host_version) == ("i-1", "1.2.3")


def test_what_a_message_with_such_an_id_proposed_can_be_deleted() -> None:
    """The delete names the message as its request did (SPEC 15.1)."""
    stage = Harness(None)
    stage.feed(
        [
            {"do": "user_message", "session": "S", "message": TOKEN, "text": "Remember: use tabs in Makefiles"},
            {"do": "memory_delete", "session": "S", "message": TOKEN},
        ]
    )
    states = {account.state for account in stage.workspace().state().accounts.records.values()}
    assert states == {"deleted"}


def test_an_update_that_brings_a_label_hides_the_value_it_found() -> None:
    """The content was no secret until its new title said so: no state shows it from then on."""
    stage = Harness(None)
    stage.feed(
        [
            {"do": "memory_add", "session": "S", "title": "Staging box", "content": VALUE},
            {"do": "memory_update", "session": "S", "id": "MEM-001", "title": "DB password"},
        ]
    )
    (entry,) = stage.workspace().state().memory.entries.values()
    assert (entry.proposal.title, entry.proposal.content) == ("DB password", "[REDACTED]")
    assert entry.proposal.text == "DB password: [REDACTED]"


def test_a_turn_off_the_record_is_not_measured() -> None:
    """Not even its tokens are written; the session's next turn counts again (SPEC 3.7)."""
    capture = Capture("test", Context())

    def measured(session: str) -> int:
        return len(capture.measured(session, requests=1, input=8, cache_read=0, cache_write=0, time=None))

    capture.user_message("S", "m1", "Off the record: what is the root password?", time=None)
    assert (measured("S"), measured("T")) == (0, 1)
    capture.user_message("S", "m2", "and now?", time=None)
    assert measured("S") == 1


@given(st.text(max_size=3) | st.text("x\udcff\ud83d\ude00", max_size=3), st.integers(0, 3 * ID_LIMIT))
@example("x", ID_LIMIT)
@example("x", ID_LIMIT + 1)
def test_ids_are_bounded_and_stay_apart(end: str, length: int) -> None:
    """An id of any length is written in at most so many characters, and two that differ at their end still differ."""
    capture = _capture()
    shown, other = capture.id_of("x" * length + end), capture.id_of("x" * length + end + "y")
    assert len(shown) <= ID_LIMIT + 17
    assert shown != other
    assert capture.id_of("x" * length) == "x" * length or length > ID_LIMIT


_NAMES = st.sampled_from("ABCDE")


@given(
    st.lists(
        st.tuples(st.just("link"), _NAMES, _NAMES) | st.tuples(st.sampled_from(["off", "on"]), _NAMES, _NAMES),
        max_size=12,
    )
)
def test_sub_agents_are_off_the_record_as_long_as_any_they_work_for(steps: list[tuple[str, str, str]]) -> None:
    """At any depth, in a circle too, and until that session's next message; nothing of theirs is written (SPEC 3.7)."""
    capture = _capture()
    parents: dict[str, str] = {}
    silent: set[str] = set()
    for step, session, other in steps:
        if step == "link":
            capture.note_parent(session, other)
            parents[session] = other
        else:
            text = "Remember: use tabs in Makefiles"
            capture.user_message(session, "m", f"off the record\n{text}" if step == "off" else text, time=None)
            (silent.add if step == "off" else silent.discard)(session)
    for session in "ABCDE":
        line = [session]
        while (parent := parents.get(line[-1])) is not None and parent not in line:
            line.append(parent)
        hushed = not silent.isdisjoint(line)
        drafts = [
            capture.tool_completed(session, "c", "bash", {"command": "ls"}, exit=0, output="", time=None),
            capture.tool_failed(session, "d", "read", {"filePath": "a.py"}, "no", time=None),
            capture.measured(session, requests=1, input=8, cache_read=0, cache_write=0, time=None),
            capture.memory_added(session, title="a", content="b", time=None),
        ]
        assert [bool(made) for made in drafts] == [not hushed] * len(drafts)
        assert capture.is_off_the_record(session) is hushed
        assert capture.spoke_off_the_record(session) is (session in silent)


@pytest.mark.parametrize("late", [False, True])
def test_a_start_or_a_link_says_whom_a_session_works_for(late: bool) -> None:
    """A sub-agent's own prompt doesn't end the mark, and its summary is left out; that of the user's session stays."""
    capture = _capture()
    capture.user_message("P", "m1", "off the record", time=None)
    capture.session_started("S", time=None, parent=None if late else "P")
    if late:
        capture.session_linked("S", "P", time=None)
    assert capture.user_message("S", "m2", "Remember: use tabs in Makefiles", time=None) == []
    assert capture.compacted("S", "m3", "Memory candidates:\n- [project] a", time=None) == []
    assert capture.compacted("P", "m4", "Memory candidates:\n- [project] a", time=None) != []
    capture.user_message("P", "m5", "go on", time=None)
    assert capture.user_message("S", "m6", "Remember: use tabs in Makefiles", time=None) != []
    assert capture.compacted("S", "m7", "Memory candidates:\n- [project] a", time=None) != []
