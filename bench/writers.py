"""``python -m bench writers``: 32 processes that append a thousand events each, beside appends under the lock alone."""

from __future__ import annotations

import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.measure import Samples, ratio
from ledger.events import ToolCompleted
from ledger.log import LOG_NAME, FileLog
from ledger.problems import Problem

__all__ = ["measure_writers"]

_WRITERS, _EVENTS = 32, 1000
_LIMIT = 300.0
"""Seconds after which a round is given up and its processes are killed."""
_PLAIN, _LOOKS, _OURS = "flock alone", "lock and looks", "append"
_PROGRAM = """
import json, os, sys, time
from fcntl import LOCK_EX, LOCK_UN, flock
kind, folder, number, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
from ledger.events import Draft, ToolArguments, ToolCompletedData
from ledger.log import FileLog
log = FileLog.open(folder, lock_timeout=60.0)
drafts = [
    [Draft(source=f"bench/{number}", time="2026-01-01T00:00:00.000Z",
           data=ToolCompletedData(f"call_{number}_{n}", "bash", ToolArguments(command="npm test"), output="x" * 200))]
    for n in range(count)
]
lines = [b'{"type":"tool.completed","source":"bench/%d","seq":%d,"data":"%s"}\\n' % (number, n, b"x" * 340)
         for n in range(count)]
lock = os.open(folder + "/plain.lock", os.O_RDWR | os.O_CREAT)
plain = os.open(folder + "/plain", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def locked(line):
    flock(lock, LOCK_EX)
    os.write(plain, line)
    flock(lock, LOCK_UN)

def looked(line):
    flock(lock, LOCK_EX)
    os.stat(folder + "/plain.lock")
    os.stat(folder + "/plain")
    os.write(plain, line)
    flock(lock, LOCK_UN)

write = {"flock alone": locked, "lock and looks": looked, "append": log.append}[kind]
what = drafts if kind == "append" else lines
done = [0.0] * count
os.write(1, b"\\n")
os.read(0, 1)
begin = time.monotonic()
before = begin
for n, one in enumerate(what):
    write(one)
    now = time.monotonic()
    done[n] = now - before
    before = now
print(json.dumps({"begin": begin, "end": before, "waits": done}))
"""


class _Told(Struct):
    """What a writer says at its end: when it began and ended, and how long each append took."""

    begin: float
    end: float
    waits: list[float]


def measure_writers(folder: Path, rounds: int) -> None:
    """Measure and print.

    Args:
        folder: where logs are written; it must not be there.
        rounds: how often both kinds of writers run.

    Raises:
        RuntimeError: if an event is missing or there twice, or a number isn't the next one.
    """
    folder.mkdir()
    cases = (_PLAIN, _LOOKS, _OURS)
    seconds: Samples = {case: [] for case in cases}
    worst: Samples = {case: [] for case in cases}
    for number in range(rounds):
        for case in cases if number % 2 == 0 else reversed(cases):
            place = folder / f"{number}-{case.replace(' ', '-')}"
            FileLog.create(place, root="/w", key="0" * 16).close()
            told = _run(case, place)
            _require_all(case, place)
            seconds[case].append(max(one.end for one in told) - min(one.begin for one in told))
            worst[case].append(max(max(one.waits) for one in told))
    print(f"\n(h) {_WRITERS} processes append {_EVENTS:,} events each, no sync; wall; baseline: flock, write, unlock")
    each = statistics.median(seconds[_PLAIN]) / (_WRITERS * _EVENTS)
    print(f"    baseline: {each * 1e6:.1f} us an event, worst wait {statistics.median(worst[_PLAIN]) * 1e3:.0f} ms")
    for case in (_LOOKS, _OURS):
        middle, low, high = ratio(seconds, _PLAIN, case)
        print(f"    {case}: {middle:.2f} of its throughput ({low:.2f} to {high:.2f}, {rounds} rounds)")
        middle, low, high = ratio(worst, case, _PLAIN)
        highest = statistics.median(worst[case]) * 1e3
        print(f"        worst wait: {middle:.2f}x ({low:.2f} to {high:.2f}), {highest:.0f} ms")


def _run(kind: str, place: Path) -> list[_Told]:
    """All writers of one kind, let go at once when each is ready."""
    commands = [
        [sys.executable, "-c", _PROGRAM, kind, str(place), str(number), str(_EVENTS)] for number in range(_WRITERS)
    ]
    with _started(commands) as writers:
        deadline = time.monotonic() + _LIMIT
        for writer in writers:
            _line(writer, deadline)
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write(b"x")
        return [msgspec.json.decode(_line(writer, deadline), type=_Told) for writer in writers]


@contextmanager
def _started(commands: Sequence[Sequence[str]]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes with their pipes; none outlives the block."""
    writers: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            pipe = subprocess.PIPE
            writers += [subprocess.Popen(command, bufsize=0, stdin=pipe, stdout=pipe, env=_environ())]
        yield writers
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()


def _environ() -> Mapping[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}


def _line(writer: subprocess.Popen[bytes], deadline: float) -> bytes:
    """The next line that a writer says."""
    assert writer.stdout is not None
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([writer.stdout], [], [], max(0.0, deadline - time.monotonic()))
        chunk = os.read(writer.stdout.fileno(), 1 << 16) if ready else b""
        if not chunk:
            raise RuntimeError("a writer has died, or took too long")
        line += chunk
    return line


def _require_all(case: str, place: Path) -> None:
    """Whether all that was acknowledged is there, once, under numbers without a gap."""
    if case != _OURS:
        count = (place / "plain").read_bytes().count(b"\n")
        if count != _WRITERS * _EVENTS:
            raise RuntimeError(f"{count} plain lines")
        return
    items = [record.item for record in FileLog.open(place).scan()]
    if any(isinstance(item, Problem) for item in items):
        raise RuntimeError(f"problems in {place / LOG_NAME}")
    if [item.seq for item in items if not isinstance(item, Problem)] != list(range(_WRITERS * _EVENTS + 1)):
        raise RuntimeError("a number is missing")
    calls = {item.data.call for item in items if isinstance(item, ToolCompleted)}
    if calls != {f"call_{number}_{n}" for number in range(_WRITERS) for n in range(_EVENTS)}:
        raise RuntimeError("an event is missing")
