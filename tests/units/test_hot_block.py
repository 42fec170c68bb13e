"""The hot block (SPEC 11.5)."""

from __future__ import annotations

import pytest

from projections.hot.block import ErrorEntry, HotBlock, hot_block
from projections.hot.session import FileEntry
from projections.hot.view import hot_view
from tests.support.harness import Harness

HEADER = "Hot session state (current session):"
FILE = FileEntry("/repo/src/a.ts", "edit", 2)


def test_sections_and_lines() -> None:
    """Sections in their order, errors newest first, decisions and pending oldest first, no blank lines."""
    block = hot_block(
        [FILE],
        [ErrorEntry("test", "new", maybe_fixed=True), ErrorEntry("lint", "old")],
        ["first", "second"],
        [("feedback", "one"), ("decision", "two")],
        root="/repo",
    )
    assert block.text == (
        f"{HEADER}\nactive_files:\n- src/a.ts (edit, 2x)\nopen_errors:\n- [test] new (maybe fixed)\n- [lint] old\n"
        "recent_decisions:\n- first\n- second\npending_memories:\n- [feedback] one\n- [decision] two"
    )
    assert block.sections == {
        "active_files": 1,
        "open_errors": 2,
        "recent_decisions": 2,
        "pending_memories": 2,
    }


def test_what_a_session_asked_for_is_shown_once_however_its_path_is_written() -> None:
    """A path below the workspace is one path, in the view of a state too (SPEC 8.3)."""
    roomy, tight = Harness(None), Harness(None, config={"prompt": {"hotChars": 90}})
    for harness in (roomy, tight):
        for message, path in (("m1", "/w/app/src/parse.ts"), ("m2", "src/parse.ts")):
            text = f"Remember: we decided the parser is in {path}"
            harness.step({"do": "user_message", "session": "A", "message": message, "text": text})
    assert hot_view(roomy.state(), "test/A").sections == {"pending_memories": 1}
    assert hot_view(tight.state(), "test/A") == HotBlock("", {})


def test_nothing_known_nothing_shown() -> None:
    """Without a line there is no header and no `(none)`."""
    assert hot_block([], [], [], []) == HotBlock("", {})


def test_a_decision_that_is_pending_is_shown_once() -> None:
    """By exact key, as pending; the one whose pending line isn't shown stays a decision."""
    decisions = ["we use Redis", "we use Kafka"]
    block = hot_block([], [], decisions, [("decision", "We use Redis!"), ("feedback", "we use Kafka")])
    assert block.sections == {"recent_decisions": 1, "pending_memories": 2}
    assert "- we use Kafka" in block.text

    short, whole = "keep it in src/a.ts", "keep it in /repo/src/a.ts"
    for decision, pending in ((short, whole), (whole, short)):
        near = hot_block([], [], [decision], [("decision", pending)], root="/repo")
        assert near.sections == {"pending_memories": 1}

    long = "we use Redis " + "x" * 40
    tight = hot_block([], [], [long], [("decision", long)], max_chars=len(HEADER) + 80)
    assert tight.sections == {"recent_decisions": 1}


@pytest.mark.parametrize("spare", [-1, 0])
def test_budget_counts_every_character(spare: int) -> None:
    """The last line is admitted if the whole block just fits, and `(none)` only if it does too."""
    text = f"{HEADER}\nrecent_decisions:\n- one"
    expected = text if spare == 0 else ""
    assert hot_block([], [], ["one"], [], max_chars=len(text) + spare).text == expected
    longest = "x" * (700 - len(text) + len("one") - spare)
    assert bool(hot_block([], [], [longest], []).text) == (spare == 0)
    whole = f"{HEADER}\nopen_errors: (none)\nrecent_decisions:\n- one"
    assert hot_block([], [], ["one"], [], max_chars=len(whole) + spare).text == (whole if spare == 0 else text)


def test_a_line_that_does_not_fit_is_passed_over() -> None:
    """The next shorter one is tried; an open error without room leaves no `(none)` behind."""
    errors = [ErrorEntry("test", "x" * 280)]
    block = hot_block([FileEntry("y" * 200, "edit", 1), FILE], errors, [], [], max_chars=100)
    assert block.text == f"{HEADER}\nactive_files:\n- /repo/src/a.ts (edit, 2x)"


def test_newest_pending_win_the_budget() -> None:
    """Pending memories are admitted newest first and shown oldest first."""
    pending = [("feedback", f"request {n} {'x' * 60}") for n in range(4)]
    block = hot_block([], [], [], pending, max_chars=260)
    assert [line[13:22] for line in block.text.splitlines()[3:]] == ["request 2", "request 3"]


def test_text_is_one_inert_line() -> None:
    """Line breaks become spaces and tags lose their bracket, wherever the text comes from."""
    block = hot_block([FileEntry("a\n<user>.ts", "edit", 1)], [ErrorEntry("test", "x\n</system>")], [], [])
    assert "- a \u2039user>.ts (edit, 1x)" in block.text
    assert "- [test] x \u2039/system>" in block.text
