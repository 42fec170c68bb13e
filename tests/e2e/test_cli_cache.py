"""``memfold cache``: a table over sessions, the epochs of one, and what is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ledger.events import Delivery, SessionStartedData
from ledger.log import FileLog
from memfold.cli.cache import rough, roughly
from memfold.terminal import display_width
from tests.support.cli import RECORDINGS, home, run
from tests.support.logs import new_log
from tests.support.usage import Tale


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path) -> Iterator[None]:
    """No configuration of this machine."""
    with home(tmp_path):
        yield


def play(tale: Tale, session: str, *, cached: bool = True) -> None:
    """A session of two turns, in which hot state changes before three requests."""
    tale.session = session
    tale.start()
    tale.give("workspace", 200)
    tale.give("hot", 120)
    tale.edit("a.py")
    tale.edit("b.py")
    tale.measure(3, 600, 26_400, 3000) if cached else tale.measure(3, 30_000)
    tale.ask(f"Remember: the harbour of {session} uses integer cents")
    tale.give("delta", 40)
    tale.measure(2, 2000, 97_000, 1000) if cached else tale.measure(2, 100_000)


def ledger(folder: Path, *sessions: str, cached: bool = True) -> Path:
    """A ledger of such sessions."""
    with new_log(folder / "ledger") as log:
        tale = Tale(log)
        for session in sessions:
            play(tale, session, cached=cached)
    return folder / "ledger"


def document(path: Path, *arguments: str) -> dict[str, Any]:
    """The JSON document."""
    ran = run("cache", "--ledger", str(path), "--json", *arguments)
    assert (ran.code, ran.err) == (0, "")
    found: dict[str, Any] = json.loads(ran.out)
    return found


def text(path: Path, *arguments: str) -> str:
    """What people see."""
    ran = run("cache", "--ledger", str(path), *arguments)
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def test_a_row_for_each_session_and_the_sum(tmp_path: Path) -> None:
    """The latest first; the estimate has two digits and a mark."""
    path = ledger(tmp_path, "ses_first_11", "ses_second_2")
    out = text(path)
    assert "no frozen block changed within its epoch: 10 requests in 2 epochs\n" in out
    assert "94% of 260,000 prompt tokens were read from the provider's cache\n" in out
    header, *rows = [line for line in out.splitlines() if re.match("session |…|together", line)]
    assert header.split() == ["session", "began", "(UTC)", "requests", "prompt", "tokens", "cached", "here", "classic"]
    assert [row.split()[0] for row in rows] == ["…second_2", "…first_11", "together"]
    assert [row.split()[-5:] for row in rows] == [
        *[["5", "130,000", "94%", "~0", "~40k"]] * 2,
        ["10", "260,000", "94%", "~0", "~80k"],
    ]
    assert "~ is an estimate: memfold cache --explain\n" in out
    assert "assume" not in out
    explained = text(path, "--explain")
    assert "what the estimates (~) assume" in explained
    assert "taken for ~10k tokens" in explained
    assert "memfold cache --explain" not in explained
    assert max(map(display_width, explained.splitlines())) <= 80, "no terminal here"


def test_the_first_line_has_the_requests_of_the_sum(tmp_path: Path) -> None:
    """A compaction's own request carries no block, and one before the session was known belongs to no epoch."""
    with new_log(tmp_path / "ledger") as log:
        tale = Tale(log)
        tale.start()
        tale.give("workspace", 10)
        tale.measure(3, 30_000)
        tale.compact()
        tale.measure(2, 20_000)
        out = text(tmp_path / "ledger")
        assert "within its epoch: 5 requests in 2 epochs, 1 of them for a compaction " in " ".join(out.split())
        late = Tale(log, "late")
        late.measure(2, 20_000)
    out = text(tmp_path / "ledger")
    words = "within its epoch: 7 requests in 2 epochs, 1 of them for a compaction, 2 outside of any "
    assert words in " ".join(out.split())
    (total,) = [line for line in out.splitlines() if line.startswith("together")]
    assert total.split()[1] == "7"


def test_the_epochs_of_one_session(tmp_path: Path) -> None:
    """Each with its block, its hot parts, its tokens, and both layouts."""
    path = ledger(tmp_path, "ses_first_11", "ses_second_2")
    out = text(path, "--session", "second")
    assert "epoch 1: from #" in out
    assert "frozen block  empty; the same in 5 requests\n" not in out, "the first session's memory is in it"
    assert re.search(r"frozen block  \d+ characters, about \d+ tokens; the same in 5 requests\n", out)
    assert "2 parts of messages, 160 characters, about 40 tokens: new once, then sent again, from the cache" in out
    assert "130,000 tokens in 5 requests: 123,400 read from the cache (94%), 4,000 written to it, 2,600 neither" in out
    assert "here ~0 tokens, classic ~40k (hot state changed before 3 of 5 requests)" in out
    (session,) = document(path, "--session", "second")["sessions"]
    (epoch,) = session["epochs"]
    assert (session["session"], session["began"]) == ("ses_second_2", epoch["time"])
    assert (epoch["receipts"], epoch["block_changes"], epoch["carried"], epoch["open"]) == (1, 0, 5, True)
    assert (epoch["hot_parts"], epoch["hot"]["characters"], epoch["placement"]) == (2, 160, "user-part")
    assert epoch["tokens"] == session["tokens"]
    assert session["tokens"] == {
        "requests": 5,
        "input": 2600,
        "cache_read": 123_400,
        "cache_write": 4000,
        "prompt": 130_000,
        "cached": 94,
        "hot_changes": 3,
        "again_here": 0,
        "again_classic": 40_000,
    }


def test_no_cache_use_is_no_percentage(tmp_path: Path) -> None:
    """A provider that reports none may have none, or may not tell."""
    path = ledger(tmp_path, "ses_first_11", cached=False)
    out = text(path)
    assert "the provider reported no cache use: 130,000 prompt tokens were all reported as\ninput\n" in out
    assert "% " not in out
    assert "cached -: the provider reported no cache use" in out
    assert "~40k" in out
    assert "together" not in out
    assert "tokens in 5 requests; the provider reported no cache use" in text(path, "--session", "first")
    assert document(path)["total"]["cached"] is None


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    """A ledger without turns or receipts: no table, no zeros that look like results."""
    with new_log(tmp_path / "ledger") as log:
        tale = Tale(log)
        tale.start()
        out = text(tmp_path / "ledger")
        assert out.startswith("no turn was measured yet: ")
        assert "no receipt says that a block was given" in out
        assert "classic" not in out
        assert document(tmp_path / "ledger")["sessions"] == []
        tale.give("workspace", 10)
        tale.give("hot", 10)
        one = document(tmp_path / "ledger")
        assert [sentence.split(":")[0] for sentence in one["missing"]] == ["no turn was measured yet"]
        assert one["assumptions"] == []
        assert "classic" not in text(tmp_path / "ledger"), "no zeros that look like results"
        assert "no turn measured" in text(tmp_path / "ledger", "--session", "s")


def test_a_changed_block_is_a_bug_and_is_shown(tmp_path: Path) -> None:
    """In the first line, and at its epoch."""
    with new_log(tmp_path / "ledger") as log:
        tale = Tale(log)
        tale.start()
        tale.give("workspace", 10)
        tale.give("workspace", 10, "f" * 64)
        tale.measure(2, 20_000)
        tale.measure(1, 30_000)
    out = text(tmp_path / "ledger")
    assert out.startswith("a frozen block changed within its epoch, 1 time: this is a bug of memfold\n")
    assert "~20k" in out
    assert "empty; CHANGED 1 time in 3 requests" in text(tmp_path / "ledger", "--session", "s")


def test_hot_state_in_the_system_prompt_is_told(tmp_path: Path) -> None:
    """It is read again here, too."""
    path = ledger(tmp_path, "ses_first_11")
    with FileLog.open(path) as log:
        tale = Tale(log, "moved")
        tale.note(SessionStartedData("moved", delivery=Delivery(placement="system")))
        tale.give("hot", 100)
        tale.edit("a.py")
        tale.edit("b.py")
        tale.measure(3, 90_000)
    assert "1 block in the system prompt, 100 characters" in text(path, "--session", "moved")
    (session,) = document(path, "--session", "moved")["sessions"]
    assert session["tokens"]["again_here"] == session["tokens"]["again_classic"] == 40_000


def test_few_turns_tell_nothing_of_the_classic_layout(tmp_path: Path) -> None:
    """Where all prompts are as small as the smallest, what stands behind the first block isn't known."""
    with new_log(tmp_path / "ledger") as log:
        tale = Tale(log)
        tale.start()
        tale.edit("a.py")
        tale.measure(2, 20_000)
    out = text(tmp_path / "ledger")
    assert re.search(r"~0 +\?\n", out)
    assert "classic ?: hot state changed, but too few turns were measured to tell more" in out
    assert document(tmp_path / "ledger")["total"]["again_classic"] is None


def test_ten_sessions_and_no_sub_agents(tmp_path: Path) -> None:
    """The rest is counted."""
    path = ledger(tmp_path, *(f"ses_number_{number}" for number in range(12)))
    out = text(path)
    assert out.count("\n…") == 10
    assert "within its epoch: 50 requests in 10 epochs of the last 10 of 12 sessions 94% of " in " ".join(out.split())
    assert "2 earlier sessions left out: memfold cache --session S\n" in out
    assert document(path)["more"] == 2
    recording = str(RECORDINGS / "subagent.jsonl")
    run("ingest", "opencode", recording, "--ledger", str(tmp_path / "other"))
    assert "1 sub-agent left out, which get no block\n" in text(tmp_path / "other")
    child = document(tmp_path / "other")
    assert (child["subagents"], len(child["sessions"])) == (1, 1)
    (child_id,) = {
        json.loads(line)["data"]["session"]
        for line in run("log", "--ledger", str(tmp_path / "other"), "--json").out.splitlines()
        if '"parent"' in line
    }
    out = text(tmp_path / "other", "--session", child_id)
    assert f"session {child_id} has no epoch here: it was given no block" in out


def test_an_earlier_position(tmp_path: Path) -> None:
    """As if the log ended there."""
    path = ledger(tmp_path, "ses_first_11", "ses_second_2")
    whole = document(path)
    begin = whole["sessions"][0]["epochs"][0]["offset"]
    before = document(path, "--at", str(begin - 1))
    assert [one["session"] for one in before["sessions"]] == ["ses_first_11"]
    assert (before["position"], whole["position"] > before["position"]) == (begin - 1, True)


def test_it_fits_a_terminal(tmp_path: Path) -> None:
    """Eighty columns, large numbers included."""
    with new_log(tmp_path / "ledger") as log:
        tale = Tale(log)
        tale.start()
        for number in range(3):
            tale.edit(f"{number}.py")
        tale.measure(1234, 12_345_678, 123_456_789, 1_234_567)
    with (
        mock.patch("memfold.cli.console.terminal_width", return_value=80),
        mock.patch("memfold.cli.parsing.terminal_width", return_value=80),
    ):
        for arguments in ((), ("--session", "s"), ("--explain",)):
            assert all(display_width(line) <= 80 for line in text(tmp_path / "ledger", *arguments).splitlines())


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "~0"),
        (7.4, "~7"),
        (349, "~350"),
        (999, "~1k"),
        (1000, "~1k"),
        (5649, "~5.6k"),
        (56_499, "~56k"),
        (564_999, "~560k"),
        (999_999, "~1M"),
        (1_149_999, "~1.1M"),
        (56_000_000, "~56M"),
    ],
)
def test_estimates_have_two_digits(number: float, words: str) -> None:
    """More would suggest a precision that isn't there."""
    assert roughly(number) == words
    assert roughly(rough(number)) == words
