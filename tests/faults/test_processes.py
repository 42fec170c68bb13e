"""Many writers at once, and writers that are killed: nothing acknowledged is lost, no event fuses with another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ledger.codec import decode_known
from ledger.events import MemoryAdded
from ledger.locks import FlockLock
from ledger.log import FileLog, Health
from tests.support.logs import KEY, ROOT, draft, new_log, titles

ROOT_FOLDER = str(Path(__file__).parents[2])

WRITER = """
import sys
from ledger.log import FileLog
from ledger.events import Draft, MemoryAddedData
folder, name, number, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
log = FileLog.create(folder, root="/w/app", key="k", durability="never", lock_timeout=60.0)
for index in range(number):
    draft = Draft(source="test/s", time=None, data=MemoryAddedData(title=f"{name}/{index}", content="x" * size))
    (event,) = log.append([draft])
    sys.stdout.write(f"{event.seq} {event.data.title}\\n")
    sys.stdout.flush()
"""


def _writer(folder: Path, name: str, number: int, size: int) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", WRITER, str(folder), name, str(number), str(size)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, cwd=ROOT_FOLDER)


def test_eight_processes(tmp_path: Path) -> None:
    """Eight processes append 500 events each to a ledger that none of them found: dense, whole, all there."""
    writers = [_writer(tmp_path / "l", str(name), 500, 10) for name in range(8)]
    acknowledged: dict[int, str] = {}
    for writer in writers:
        output, _ = writer.communicate(timeout=120)
        assert writer.returncode == 0
        for line in output.decode().splitlines():
            seq, title = line.split()
            acknowledged[int(seq)] = title
    lines = (tmp_path / "l" / "events.jsonl").read_bytes().splitlines(keepends=True)
    events = [decode_known(line) for line in lines]
    assert [event.seq for event in events] == list(range(4001))
    assert len({event.id for event in events}) == 4001
    assert titles(events) == [acknowledged[seq] for seq in range(1, 4001)]
    assert len(acknowledged) == 4000


def test_threads_of_one_process(tmp_path: Path) -> None:
    """Threads that share one log object append as processes do: dense, whole, all there."""
    log = new_log(tmp_path / "l")

    def work(name: int) -> None:
        for index in range(50):
            log.append([draft(f"{name}/{index}")])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert [event.seq for event in log.read()] == list(range(201))
    assert set(titles(log.read())) == {f"{name}/{index}" for name in range(4) for index in range(50)}


def test_large_events(tmp_path: Path) -> None:
    """LCK-02: eight processes append 20 events of 200 KB each: 160 whole lines, each as its writer wrote it."""
    writers = [_writer(tmp_path / "l", str(name), 20, 200_000) for name in range(8)]
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0
    log = FileLog.open(tmp_path / "l")
    assert sorted(titles(log.read())) == sorted(f"{name}/{index}" for name in range(8) for index in range(20))
    assert all(event.data.content == "x" * 200_000 for event in log.read() if isinstance(event, MemoryAdded))
    assert log.health() == Health(events=161)


FORKER = """
import os, sys
from ledger.log import FileLog
from ledger.events import Draft, MemoryAddedData
folder, kills, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
log = FileLog.open(folder, durability="never", lock_timeout=60.0)
for child in range(kills):
    if (pid := os.fork()) == 0:
        index = 0
        while True:
            title = f"{child}/{index}"
            log.append([Draft(source="test/s", time=None, data=MemoryAddedData(title=title, content="y" * size))])
            os.write(1, f"{title}\\n".encode())
            index += 1
    os.write(1, f"pid {pid}\\n".encode())
    os.waitpid(pid, 0)
"""


def test_two_hundred_kills(tmp_path: Path) -> None:
    """A writer is killed 200 times while it appends: every event it acknowledged is there, whole, and once."""
    log = new_log(tmp_path / "l")
    arguments = [sys.executable, "-c", FORKER, str(tmp_path / "l"), "200", "20000"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, cwd=ROOT_FOLDER) as parent:
        assert parent.stdout is not None
        acknowledged: list[str] = []
        kills = 0
        for line in parent.stdout:
            word, _, number = line.decode().strip().partition(" ")
            if word != "pid":
                acknowledged.append(word)
                continue
            time.sleep(0.003 + kills % 10 * 0.0007)
            os.kill(int(number), signal.SIGKILL)
            kills += 1
    assert kills == 200
    events = list(log.read())
    found = titles(events)
    assert set(acknowledged) <= set(found)
    assert len(found) == len(set(found))
    assert [event.seq for event in events] == list(range(len(events)))
    assert log.append([]) == ()
    assert FileLog.create(tmp_path / "l", root=ROOT, key=KEY).size() == len(events)


def test_it_waits_for_the_other(tmp_path: Path) -> None:
    """A lock held for a moment is waited for."""
    path = str(tmp_path / "log.lock")
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        with FlockLock(path, 1.0).hold():
            held.set()
            go.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    threading.Timer(0.02, go.set).start()
    with FlockLock(path, 10.0).hold():
        assert go.is_set()
    thread.join()


LOCKED_FORK = """
import os, sys
from ledger.errors import LockTimeout
from ledger.locks import FlockLock
lock = FlockLock(sys.argv[1], 0.0)
with lock.hold():
    if (child := os.fork()) == 0:
        try:
            with lock.hold():
                os._exit(1)
        except LockTimeout:
            os._exit(0)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_has_a_lock_of_its_own(tmp_path: Path) -> None:
    """A child that inherited the lock object opens the sidecar again instead of sharing its parent's lock."""
    subprocess.run([sys.executable, "-c", LOCKED_FORK, str(tmp_path / "l")], check=True, cwd=ROOT_FOLDER)
