"""Full disks as field reports tell of them: half a record, and a lock file that can't be made."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ledger.check import check
from ledger.events import MemoryRequested
from ledger.log import FileLog
from ledger.problems import DAMAGE, NOTES
from memfold.bridge.ledger import RETRY_AFTER
from tests.faults.test_bridge_ledger import Clock, _bridge, _log
from tests.support.bridge import events_of, folder_of, line_of, said, system
from tests.support.broken_disk import Call, broken_disk, error_of
from tests.support.cli import home, run


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


def _asked(folder: Path) -> list[str]:
    return [one.data.text for one in events_of(folder / "home", folder / "w") if isinstance(one, MemoryRequested)]


class _RunsFull:
    """A disk that takes half of what is appended to a log, and then no more."""

    def __init__(self) -> None:
        self.writes = 0

    def __call__(self, call: Call) -> OSError | int | None:
        """Take half of the first write."""
        if call.name != "write" or not call.path.endswith("events.jsonl"):
            return None
        self.writes += 1
        return 2 if self.writes == 1 else error_of(errno.ENOSPC)


def test_a_short_write(tmp_path: Path, clock: Clock) -> None:
    """LOG-09: half a record, then a full disk: it is said, counted and set aside, and comes whole with the next."""
    bridge = _bridge(tmp_path, clock)
    assert bridge.answer(line_of(said("Remember: fact one is kept"), 2)).refused is None
    with broken_disk(_RunsFull()):
        answer = bridge.answer(line_of(said("Remember: fact two is kept", message="m2"), 3))
    assert str(answer.refused).startswith("not stored: ")
    assert answer.notice == f"Not stored yet: {os.strerror(errno.ENOSPC)}"
    assert _log(tmp_path).count("\n") == 1
    assert os.strerror(errno.ENOSPC) in _log(tmp_path)
    with home(tmp_path / "home"):
        status = run("status", "--workspace", str(tmp_path / "w"))
        assert "not stored  1 event" in status.out
        doctor = run("doctor", "--workspace", str(tmp_path / "w"))
        assert os.strerror(errno.ENOSPC) in doctor.out
    assert bridge.answer(line_of(said("Remember: fact three is kept", message="m3"), 4)).refused is None
    bridge.close()
    assert _asked(tmp_path) == [f"Remember: fact {number} is kept" for number in ("one", "two", "three")]
    folder = folder_of(tmp_path / "home", tmp_path / "w")
    (aside,) = (folder / "quarantine").iterdir()
    assert aside.read_bytes() in (folder / "events.jsonl").read_bytes()
    assert {problem.kind for problem in check(folder)} <= DAMAGE | NOTES
    assert FileLog.open(folder).health().damaged == 1
    with home(tmp_path / "home"):
        status = run("status", "--workspace", str(tmp_path / "w"))
        assert "not stored" not in status.out
        assert "recovered" in status.out


def test_a_full_disk_that_takes_no_spool_either(tmp_path: Path, clock: Clock) -> None:
    """LOG-09: where nothing can be written the bridge alone keeps the request, and stores it when there is room."""
    bridge = _bridge(tmp_path, clock)
    bridge.answer(line_of(said("Remember: fact one is kept"), 2))
    with broken_disk(lambda call: error_of(errno.ENOSPC) if call.grows else None):
        answer = bridge.answer(line_of(said("Remember: fact two is kept", message="m2"), 3))
        bridge.settle()
    assert answer.notice == f"Not stored yet: {os.strerror(errno.ENOSPC)}"
    bridge.close()
    assert _asked(tmp_path) == ["Remember: fact one is kept", "Remember: fact two is kept"]


def test_no_room_for_the_lock(tmp_path: Path, clock: Clock) -> None:
    """LOG-10: without a lock nothing is written, and it is said once; what is there is read; later all is stored."""
    bridge = _bridge(tmp_path, clock)
    bridge.answer(line_of(said("Remember: fact one is kept"), 2))
    bridge.answer(line_of(system("T"), 3))
    bridge.close()
    folder = folder_of(tmp_path / "home", tmp_path / "w")
    (folder / "events.jsonl.lock").unlink()
    before = (folder / "events.jsonl").read_bytes()

    def no_lock(call: Call) -> OSError | None:
        return error_of(errno.ENOSPC) if call.grows and call.path.endswith(".lock") else None

    bridge = _bridge(tmp_path, clock)
    with broken_disk(no_lock):
        assert bridge.answer(line_of(system("new"), 2)).system == []
        block = bridge.answer(line_of(system("T"), 3)).system
        assert block is not None
        assert "fact one is kept" in block[0]
        bridge.settle()
        clock.now += RETRY_AFTER
        answer = bridge.answer(line_of(said("Remember: fact two is kept", "new", "m2"), 4))
        assert answer.notice == f"Not stored yet: {os.strerror(errno.ENOSPC)}"
        bridge.settle()
    assert (folder / "events.jsonl").read_bytes() == before
    assert _log(tmp_path).count("\n") == 1
    assert "unexpected" not in _log(tmp_path)
    bridge.close()
    assert _asked(tmp_path) == ["Remember: fact one is kept", "Remember: fact two is kept"]
