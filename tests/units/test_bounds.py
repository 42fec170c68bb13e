"""How much of a host's text is read: whole lines, from the beginning, and never half of a secret."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.events import MemoryRequestedData
from memfold.bounds import LINES_LIMIT, READ_LIMIT, whole_lines
from memfold.bridge.lines import LINE_LIMIT
from memfold.bridge.notice import notice_of_length
from memfold.bridge.rule_files import RULE_FILE_LIMIT
from memfold.capture import Capture
from projections.policy import DEFAULT_POLICY, Context
from tests.support.bridge import Client, event, said

SECRET = "ghp_" + "a1B2c3D4e5" * 4
PLUGIN = Path(__file__).resolve().parents[2] / "memfold" / "hosts" / "opencode.js"


def _capture() -> Capture:
    return Capture("test", Context(DEFAULT_POLICY, "/w/app"))


def _message(text: str) -> str:
    drafts = _capture().user_message("s", "m", text, time=None)
    return "".join(draft.data.text for draft in drafts if isinstance(draft.data, MemoryRequestedData))


@given(
    st.lists(st.sampled_from(["", "a", "\n" * 2047, "x" * 40_000, "y" * 70_000, "é\U0001f600"]), max_size=8).map(
        "\n".join
    )
)
def test_whole_lines_from_the_beginning(text: str) -> None:
    """What is read is a beginning of the text, ends with a line, is within the limits, and can't be a line longer."""
    read = whole_lines(text)
    assert text.startswith(read)
    assert len(read) <= READ_LIMIT
    assert read.count("\n") <= LINES_LIMIT
    assert whole_lines(read) == read
    if read != text:
        assert read == "" or read.endswith("\n")
        following = text[len(read) :].partition("\n")
        longer = len(read) + len(following[0]) + len(following[1]) > READ_LIMIT
        assert longer or read.count("\n") == LINES_LIMIT


def test_a_request_counts_within_the_limit() -> None:
    """One at the beginning of a long message is recorded, one behind the limit isn't; nor is half of one."""
    filler = "a line of a log\n" * (READ_LIMIT // 16)
    assert _message("Remember: use tabs\n" + filler) == "Remember: use tabs"
    assert _message(filler + "Remember: use tabs") == ""
    assert _message(filler[: -len("a line of a log\n")] + "Remember: use tabs in all Go files") == ""


@pytest.mark.parametrize("before", range(READ_LIMIT - len(SECRET) - 12, READ_LIMIT + 2, 7))
def test_the_limit_parts_no_secret(before: int) -> None:
    """I8: wherever the limit falls, no file holds a part of a secret that stands across it."""
    text = ("Remember: " + "x" * 60 + "\n") * (before // 71)
    text += "Remember: " + "y" * (before - len(text) - 11) + " " + SECRET + " is the key\n"
    assert "a1B2c" not in _message(text)


@pytest.mark.parametrize("kind", ["key", "private"])
def test_a_span_across_the_limit_runs_to_the_end(kind: str) -> None:
    """What begins within the limit and ends behind it is withheld, not taken for the words of the user."""
    begin, line = {
        "key": ("-----BEGIN PRIVATE" + " KEY-----\n", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n"),
        "private": ("<private>\n", "Remember: the door code is on the wall\n"),
    }[kind]
    text = (
        "Remember: use tabs\n" + begin + line * (READ_LIMIT // len(line)) + "-----END PRIVATE" + " KEY-----</private>"
    )
    assert "MIIE" not in _message(text)
    assert "door" not in _message(text)


def test_off_the_record_counts_in_a_line_of_any_length() -> None:
    """The first words of a message are heard, though nothing else of its line is read (SPEC 3.7)."""
    capture = _capture()
    assert capture.user_message("s", "m", "Off the record: " + "x " * READ_LIMIT, time=None) == []
    assert capture.is_off_the_record("s")


def _tool(name: str) -> Callable[[str], list[Any]]:
    return lambda text: _capture().tool_completed("s", "c", name, {"command": text}, exit=1, output=text, time=None)


TAKERS: dict[str, Callable[[str], list[Any]]] = {
    "message": lambda text: _capture().user_message("s", text, f"Remember: use tabs\n{text}", time=None),
    "summary": lambda text: _capture().compacted("s", text, f"Memory candidates:\n{text}", time=None),
    "shell": _tool("bash"),
    "tool": lambda text: _capture().tool_completed("s", text, text, {}, exit=None, output=text, time=None),
    "failure": lambda text: _capture().tool_failed("s", "c", "bash", {"command": text}, text, time=None),
    "start": lambda text: _capture().session_started("s", time=None, host_version=text, instance=text),
}


@pytest.mark.parametrize("taker", TAKERS)
def test_what_is_judged_is_bounded(taker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a text of the host is, no redaction ever sees more of it than the limit, and no line grows."""
    import projections.text.redact as module

    seen: list[int] = []
    real = module._repeat

    def counted(once: Any, text: str, last: Any) -> str:
        seen.append(len(text))
        return real(once, text, last)

    monkeypatch.setattr(module, "_repeat", counted)
    drafts = TAKERS[taker]("a: b - c\n" * 200_000)
    assert max(seen, default=0) <= READ_LIMIT
    assert drafts
    assert all(len(msgspec.json.encode(draft)) < READ_LIMIT + 1000 for draft in drafts)


def test_the_limits_fit_each_other() -> None:
    """The plugin sends no line that the bridge would pass over, and a rule file is read like any text."""
    (kept,) = [line for line in PLUGIN.read_text().splitlines() if line.startswith("const KEPT_BYTES = ")]
    assert kept == "const KEPT_BYTES = 8 << 20"
    assert LINE_LIMIT == 8 << 20
    assert RULE_FILE_LIMIT == READ_LIMIT


def test_a_user_is_told_of_a_long_message(tmp_path: Path) -> None:
    """Only a person whose message it is, and only where it is longer."""
    assert notice_of_length("x" * READ_LIMIT) == notice_of_length("\n" * LINES_LIMIT) == ""
    assert notice_of_length("x\n" * 5000).startswith("Only the first 8,192 of 10,000 characters ")
    (tmp_path / "w").mkdir()
    client = Client(tmp_path, tmp_path / "w")
    client.begin()
    long = "x" * (READ_LIMIT + 1)
    sentence = "Only the first 0 of 65,537 characters are read for memories"
    assert client.ask(said(long))["notice"] == sentence
    client.ask(event("session.created", "child", info={"id": "child", "parentID": "S"}))
    assert "notice" not in client.ask(said(long, "child", "m2"))
    assert "notice" not in client.ask(said(f"off the record {long}", message="m3"))
    attached = said("look at this", message="m4")
    attached["output"]["parts"].append({"type": "text", "text": long, "synthetic": True})
    assert "notice" not in client.ask(attached)
