"""What shows that a command is at work."""

from __future__ import annotations

import io
import itertools
import os
import pty
import threading
from collections.abc import Callable
from unittest import mock

import pytest

from memfold.cli.patience import Patience, patience_for
from memfold.terminal import display_width
from tests.support.cli import Terminal

LINE = "memfold check: reading the ledger, "


def _at_work() -> Callable[[], float]:
    """A processor that is busy with the command whenever it is asked."""
    return itertools.count().__next__


class _Watched(Terminal):
    """A terminal that says when something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def write(self, text: str) -> int:
        count = super().write(text)
        self.written.set()
        return count


def test_who_waits_is_told_until_something_is_printed() -> None:
    """A line that is written over itself, then taken away; nothing comes behind that."""
    stream = _Watched()
    patience = Patience("check", stream, 0.001, _at_work())
    assert stream.written.wait(30)
    patience.end()
    shown = stream.getvalue()
    lines = shown.removesuffix("\r\x1b[K").split("\r")
    assert (shown.endswith("\r\x1b[K"), lines[0], {line[: len(LINE)] for line in lines[1:]}) == (True, "", {LINE})
    patience.end()
    assert stream.getvalue() == shown


def test_no_line_is_broken_by_the_terminal() -> None:
    """What takes it away takes a row away."""
    stream = _Watched()
    with mock.patch.dict("os.environ", {"COLUMNS": "20"}):
        patience = Patience("check", stream, 0.001, _at_work())
    assert stream.written.wait(30)
    patience.end()
    assert {display_width(line) for line in stream.getvalue().removesuffix("\r\x1b[K").split("\r")} == {0, 19}


def test_nothing_is_shown_while_a_command_waits() -> None:
    """For what a person types, say: a line that stood there is taken away."""
    asked = threading.Semaphore(0)
    seconds = itertools.chain([0.0, 1.0], itertools.repeat(1.0))

    def spent() -> float:
        asked.release()
        return next(seconds)

    stream = _Watched()
    patience = Patience("check", stream, 0.001, spent)
    for _ in range(8):
        assert asked.acquire(timeout=30)
    patience.end()
    assert stream.getvalue() == f"\r{LINE}0 s\r\x1b[K"


def test_a_terminal_that_is_gone_fails_no_command() -> None:
    """Nothing is left in a buffer that would be flushed when Python ends."""
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w") as stream:
        patience = Patience("check", stream, 0.001, _at_work())
        while not os.read(leader, 100):
            pass
        os.close(leader)
        patience.end()
        stream.flush()


def test_nothing_is_shown_behind_another_job() -> None:
    """The terminal is that job's, and may stop whoever writes to it."""
    leader, follower = pty.openpty()
    os.set_blocking(leader, False)
    asked = threading.Semaphore(0)

    def other(_: int) -> int:
        asked.release()
        return os.getpgrp() + 1

    with os.fdopen(follower, "w") as stream, mock.patch("os.tcgetpgrp", other):
        patience = Patience("check", stream, 0.001, _at_work())
        for _ in range(3):
            assert asked.acquire(timeout=30)
        patience.end()
        with pytest.raises(BlockingIOError):
            os.read(leader, 1)
    os.close(leader)


def test_a_terminal_that_was_stopped_holds_no_command() -> None:
    """A write to it waits until somebody lets it go on; whoever ends doesn't."""
    written, go_on = threading.Event(), threading.Event()

    class Stopped(Terminal):
        def write(self, text: str) -> int:
            written.set()
            go_on.wait()
            return super().write(text)

    stream = Stopped()
    patience = Patience("check", stream, 0.001, _at_work())
    assert written.wait(30)
    patience.end()
    assert stream.getvalue() == ""
    go_on.set()


def test_what_is_quick_shows_nothing() -> None:
    """Not even what takes a line away that was never there."""
    stream = _Watched()
    Patience("check", stream, 3600, _at_work()).end()
    assert stream.getvalue() == ""


def test_a_terminal_that_is_gone_stops_nobody() -> None:
    """A closed stream refuses each line; the command goes on."""
    stream = _Watched()
    patience = Patience("check", stream, 0.001, _at_work())
    assert stream.written.wait(30)
    stream.close()
    patience.end()


@pytest.mark.parametrize(
    ("command", "stream", "term"),
    [
        ("check", io.StringIO(), "xterm"),
        ("check", None, "xterm"),
        ("check", Terminal(), "dumb"),
        ("check", Terminal(), ""),
        ("edit", Terminal(), "xterm"),
    ],
    ids=["no terminal", "no stream", "dumb", "no name", "another command"],
)
def test_nothing_is_shown_where_nobody_looks_on(command: str, stream: io.StringIO | None, term: str) -> None:
    """Programs read stderr too; a dumb terminal can't take a line back, and an editor needs the whole screen."""
    with mock.patch.dict("os.environ", {"TERM": term}):
        assert patience_for(command, stream) is None
