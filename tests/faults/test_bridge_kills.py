"""A bridge that is killed at any line: its successor gets what wasn't answered, and memory is as if nothing was."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfold.bridge.bridge import Bridge, serve
from memfold.bridge.lines import LineWriter
from tests.hosts.calls import recorded
from tests.support.bridge import Child, Record, as_forwarded, environment, events_of, line_of, remembered, replaced

WORKSPACE = "/workspace/demo"
BUSY = ("remember", "compaction", "other-inputs", "subagent")
"""Recordings with requests, summaries, an expanded command, and a session with a parent."""


class _Killed(BaseException):
    """The process is gone, in the middle of whatever it did."""


class _Pipe(LineWriter):
    """Counts the answers that came through; the process dies before or behind one of them."""

    def __init__(self, kill_at: int, *, behind: bool) -> None:
        super().__init__(-1)
        self.answered = 0
        self._kill_at = kill_at
        self._behind = behind

    def write(self, line: bytes) -> bool:
        """Take answers, each a line."""
        count = line.count(b"\n")
        here = self.answered < self._kill_at <= self.answered + count
        if here and not self._behind:
            raise _Killed
        self.answered += count
        if here:
            raise _Killed
        return True


def _live(folder: Path, lines: list[Record], kill_at: int = -1, *, behind: bool = False) -> None:
    """Send lines to a bridge that dies at one of its answers, and all that it had not answered to the next one."""
    environ = environment(folder)
    pipe = _Pipe(kill_at, behind=behind)
    try:
        serve((line_of(record, n) for n, record in enumerate(lines)), pipe, Bridge(environ))
    except _Killed:
        again = replaced(lines, pipe.answered)
        serve((line_of(record, n) for n, record in enumerate(again)), _Pipe(-1, behind=False), Bridge(environ))


@pytest.fixture(params=BUSY)
def lines(request: pytest.FixtureRequest) -> list[Record]:
    """What the plugin forwards of a recording."""
    return list(as_forwarded(recorded(request.param)))


@pytest.mark.parametrize("behind", [False, True], ids=["before", "behind"])
def test_killed_at_each_answer(tmp_path: Path, lines: list[Record], *, behind: bool) -> None:
    """Whichever answer is the last to come through, or the first that doesn't, memory is the same (I14)."""
    _live(tmp_path / "whole", lines)
    whole = remembered(events_of(tmp_path / "whole", WORKSPACE))
    for number in range(1, len(lines) + 1, 1 + len(lines) // 60):  # summaries and their ends are three lines or more
        _live(tmp_path / str(number), lines, number, behind=behind)
        assert remembered(events_of(tmp_path / str(number), WORKSPACE)) == whole, number


def test_killed_for_good(tmp_path: Path) -> None:
    """SIGKILL to the real process, again and again while lines stand in its pipe, loses no memory (I14)."""
    for name in ("remember", "compaction"):
        lines = list(as_forwarded(recorded(name)))
        _live(tmp_path / f"{name}-whole", lines)
        folder = tmp_path / name
        done, lives = 0, 0
        while done < len(lines):
            again = replaced(lines, done)
            with Child(folder) as child:
                for record in again:
                    child.send(record)
                for _ in range(min(len(again), 7 + lives % 5)):
                    child.receive()
                child.process.kill()
                # What it had answered before it died is answered.
                answered = min(len(again), 7 + lives % 5) + child.stdout.read().count(b"\n")
            done += answered - (len(again) - (len(lines) - done))
            lives += 1
        assert lives > 1
        expected = remembered(events_of(tmp_path / f"{name}-whole", WORKSPACE))
        assert remembered(events_of(folder, WORKSPACE)) == expected
