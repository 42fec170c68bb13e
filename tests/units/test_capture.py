"""What capture writes of texts whose lines are shown as one, of opaque ids (SPEC 7.1), and of turns off the record."""

from __future__ import annotations

import pytest

from ledger.events import MemoryRequestedData, SessionStartedData, Target, ToolCompletedData
from memfold.capture import Capture
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
