"""Locks and parallel work as field reports tell of them: many hooks at once, locks that lie, locks that last."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger import rewrite
from ledger.check import check
from ledger.errors import LockTimeout
from ledger.events import LedgerCreated, MemoryRequested
from ledger.ids import MonotonicIds
from ledger.locks import FlockLock, Lock, PortableLock
from ledger.log import LOCK_SUFFIX, FileLog
from ledger.problems import NOTES
from memfold.bridge import ledger as module
from replay.state import state_at
from tests.faults.test_bridge_ledger import Clock, _bridge
from tests.faults.test_every_call_ledger import Shout
from tests.faults.test_processes import ROOT_FOLDER
from tests.support.bridge import Child, events_of, folder_of, init, line_of, said
from tests.support.logs import draft, new_log, titles

LOCKS = [FlockLock, PortableLock]
Locks = Callable[[str, float], Lock]

HOOKS = """
import os, sys
from pathlib import Path
from memfold.bridge.bridge import Bridge
from tests.support.bridge import environment, init, line_of, said
folder, number = Path(sys.argv[1]), int(sys.argv[2])
environ = environment(folder / "home")
gate, opened = os.pipe()
children = []
for n in range(number):
    if (child := os.fork()) == 0:
        code = 1
        try:
            os.close(opened)
            os.read(gate, 1)
            bridge = Bridge(environ)
            lines = [init(folder / "w", instance=f"i{n}"), said(f"Remember: fact {n} is kept", f"S{n}", f"m{n}")]
            answers = [bridge.answer(line_of(line, count)) for count, line in enumerate(lines, 1)]
            bridge.settle()
            bridge.close()
            code = 0 if all(one.id is not None for one in answers) else 2
        finally:
            os._exit(code)
    children.append(child)
os.close(opened)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""


def test_sixty_hooks_at_once(tmp_path: Path) -> None:
    """LCK-01: sixty processes that begin at once, each with another request: sixty events, sixty effects."""
    (tmp_path / "w").mkdir()
    command = [sys.executable, "-c", HOOKS, str(tmp_path), "60"]
    run = subprocess.run(command, cwd=ROOT_FOLDER, capture_output=True, text=True, check=False)
    assert (json.loads(run.stdout), run.stderr) == ([0] * 60, "")
    events = events_of(tmp_path / "home", tmp_path / "w")
    requests = Counter(event.data.text for event in events if isinstance(event, MemoryRequested))
    assert requests == Counter(f"Remember: fact {n} is kept" for n in range(60))
    assert sum(isinstance(event, LedgerCreated) for event in events) == 1
    assert [event.seq for event in events] == list(range(len(events)))
    records = state_at(events).accounts.records.values()
    assert sorted(one.proposal.text for one in records) == sorted(f"fact {n} is kept" for n in range(60))
    assert {one.state for one in records} <= {"pending", "promoted"}
    folder = folder_of(tmp_path / "home", tmp_path / "w")
    assert {problem.kind for problem in check(folder)} <= NOTES
    lines = (folder / "events.jsonl").read_bytes().splitlines()
    assert len([json.loads(line) for line in lines]) == len(events)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_that_names_a_process(lock: Locks, tmp_path: Path) -> None:
    """LCK-07: what stands in the lock file, were it the number of a process that lives, keeps nobody out."""
    log = new_log(tmp_path / "l")
    log.append([draft("first")])
    path = Path(log.path + LOCK_SUFFIX)
    path.write_text(json.dumps({"pid": os.getpid(), "started": 0, "host": "elsewhere"}), encoding="utf-8")
    with FileLog.open(tmp_path / "l", lock=lock(str(path), 0.0)) as other:
        other.append([draft("second")])
    assert titles(log.read()) == ["first", "second"]


HOLDER = """
import sys
from ledger.locks import FlockLock
with FlockLock(sys.argv[1], 5.0).hold():
    print("held", flush=True)
    sys.stdin.read()
"""


class Holder:
    """Another process that holds a lock until it is let go."""

    def __init__(self, path: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT_FOLDER,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "held\n"

    def release(self) -> None:
        """The process ends."""
        self._process.communicate("", timeout=20)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_slow_holder_is_not_robbed(lock: Locks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LCK-09: a lock that has been held for days is waited for and then left; nobody takes it, and nothing changes."""
    log = new_log(tmp_path / "l")
    log.append([draft("a"), draft("b")])
    path = log.path + LOCK_SUFFIX
    holder = Holder(path)
    os.utime(path, (0, 0))
    before = Path(log.path).read_bytes()
    monkeypatch.setattr(rewrite, "default_lock", lambda path, _: lock(path, 0.01))
    with pytest.raises(LockTimeout, match="held by another process"):
        rewrite.rewrite(log.path, Shout(), new_id=MonotonicIds())
    with pytest.raises(LockTimeout):
        FileLog.open(tmp_path / "l", lock=lock(path, 0.0)).append([draft("c")])
    assert Path(log.path).read_bytes() == before
    holder.release()
    rewrite.rewrite(log.path, Shout(), new_id=MonotonicIds())
    assert titles(log.read()) == ["A", "b", "end"]


def test_a_long_wait(tmp_path: Path) -> None:
    """LCK-10: a hook under a held lock is answered; what it said waits on disk and is stored by the next append, once.

    The bridge is killed meanwhile, so that nothing but the spool tells of it.
    """
    (tmp_path / "w").mkdir()
    with Child(tmp_path / "home") as child:
        child.ask(init(tmp_path / "w"))
        assert "refused" not in child.ask(said("Remember: fact one is kept", message="m1"))
    folder = folder_of(tmp_path / "home", tmp_path / "w")
    holder = Holder(str(folder / f"events.jsonl{LOCK_SUFFIX}"))
    with Child(tmp_path / "home") as child:
        child.ask(init(tmp_path / "w"))
        for number in ("two", "three"):
            answer = child.ask(said(f"Remember: fact {number} is kept", message=f"m-{number}"))
            assert answer["refused"].startswith("not stored: ")
            assert answer["notice"] == "Not stored yet: another process is writing"
        child.process.kill()
    assert len(list((folder / "spool").iterdir())) == 1
    holder.release()
    for message in ("m4", "m5"):
        with Child(tmp_path / "home") as successor:
            successor.ask(init(tmp_path / "w"))
            successor.ask(said(f"Remember: fact {message} is kept", message=message))
            assert successor.end() == b""
    events = events_of(tmp_path / "home", tmp_path / "w")
    asked = [event.data.text for event in events if isinstance(event, MemoryRequested)]
    assert asked == [f"Remember: fact {number} is kept" for number in ("one", "two", "three", "m4", "m5")]
    assert list((folder / "spool").iterdir()) == []


def test_a_long_wait_of_a_bridge_that_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LCK-10: when the lock is free, the same bridge stores what waited, in order and once, and keeps it no more."""
    monkeypatch.setattr(module, "LOCK_PATIENCE", 0.02)
    clock = Clock()
    bridge = _bridge(tmp_path, clock)
    bridge.answer(line_of(said("Remember: fact one is kept"), 2))
    folder = folder_of(tmp_path / "home", tmp_path / "w")
    with FlockLock(str(folder / f"events.jsonl{LOCK_SUFFIX}"), 1).hold():
        bridge.answer(line_of(said("Remember: fact two is kept", message="m2"), 3))
        bridge.answer(line_of(said("Remember: fact three is kept", message="m3"), 4))
        assert len(list((folder / "spool").iterdir())) == 1
    bridge.answer(line_of(said("Remember: fact four is kept", message="m4"), 5))
    bridge.close()
    asked = [one.data.text for one in events_of(tmp_path / "home", tmp_path / "w") if isinstance(one, MemoryRequested)]
    assert asked == [f"Remember: fact {number} is kept" for number in ("one", "two", "three", "four")]
    assert list((folder / "spool").iterdir()) == []
