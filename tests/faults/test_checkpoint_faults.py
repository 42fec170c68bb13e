"""Checkpoints on a disk that is full, under kills and under several writers: time is all that they cost (DESIGN 6)."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.events import Draft, MemoryRequestedData
from ledger.log import FileLog
from replay.checkpoints import find, folder_of
from replay.live import Live
from replay.state import state_at

_SOURCE = "test/s"
_WRITER = """
import os, signal, sys
from ledger.log import FileLog
from replay.live import Live
from tests.faults.test_checkpoint_faults import add
die_at = int(sys.argv[2])
calls = 0
def counted(call):
    def made(*arguments, **more):
        global calls
        calls += 1
        if calls == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **more)
    return made
log = FileLog.open(sys.argv[1])
live = Live(log)
live.world("test/s")
if die_at:
    for name in ("open", "write", "replace", "unlink", "mkdir", "fchmod", "listdir"):
        setattr(os, name, counted(getattr(os, name)))
    live.keep(every=0)
else:
    for number in range(20):
        add(log, f"{os.getpid()}-{number}")
        live.world("test/s")
        live.keep(every=0)
"""


def add(log: FileLog, word: str) -> None:
    """Ask for one more memory."""
    data = MemoryRequestedData(word, f"Remember: service {word} needs a port of its own")
    log.append([Draft(source=_SOURCE, time="2026-01-01T00:00:00Z", data=data)])


@pytest.fixture
def log(tmp_path: Path) -> FileLog:
    """A ledger with a checkpoint, and an event behind it."""
    log = FileLog.create(tmp_path / "ledger", root="/w/app", key="0" * 16, durability="never")
    add(log, "first")
    one = Live(log)
    one.world(_SOURCE)
    one.keep(every=0)
    add(log, "second")
    return log


def _is_as_the_log(log: FileLog) -> bool:
    return Live(log).world(_SOURCE) == state_at(log.read(), only={_SOURCE})


def _run(log: FileLog, die_at: int = 0) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _WRITER, log.directory, str(die_at)])


def test_a_kill_at_any_call_leaves_what_counts_or_nothing(log: FileLog) -> None:
    """Each system call of a writer is its last once; the next one removes what it has left."""
    for die_at in range(1, 100):
        process = _run(log, die_at)
        if process.wait() != -signal.SIGKILL:
            break
        assert _is_as_the_log(log)
        assert list(find(log))
    else:
        pytest.fail("it never came to its end")
    assert die_at > 8
    assert {path.suffix for path in Path(folder_of(log.directory)).iterdir()} == {".json", ".table"}
    assert _is_as_the_log(log)


def test_writers_at_once_harm_nobody(log: FileLog) -> None:
    """Three processes append and write checkpoints; whoever starts meanwhile and later reads what the log says."""
    running = [_run(log) for _ in range(3)]
    while any(process.poll() is None for process in running):
        seen = Live(log).world(_SOURCE)
        at = seen.memory.offset
        assert seen == state_at(log.read(), at, only={_SOURCE})
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(list(log.read())) == 63
    assert _is_as_the_log(log)
    add(log, "last")
    one = Live(log)
    one.world(_SOURCE)
    one.keep(every=0)
    assert next(find(log)).cursor.byte == Path(log.path).stat().st_size
    assert {path.suffix for path in Path(folder_of(log.directory)).iterdir()} == {".json", ".table"}
