"""A line of 8 MB, or of 200 MB with ``make damage``: nothing hangs, and memory grows by a few such lines at most."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from ledger.codec import encode
from ledger.events import ToolArguments, ToolCompleted, ToolCompletedData
from ledger.log import LOG_NAME
from tests.support.damage import FULL
from tests.support.logs import event_id, line_of, raw_log

SIZE = 200_000_000 if FULL else 8_000_000
TIMES = 5
"""How many lines' worth of memory may be taken; 2 to 4 are, and objects in place of bytes would be 25."""

_MB = 1_000_000
_EVENT, _END = encode(
    ToolCompleted(
        specversion="1.0",
        id=event_id(2),
        source="h/s",
        seq=2,
        data=ToolCompletedData("c1", "bash", ToolArguments(command="ls"), exit=0, output="…"),
    )
).split("…".encode())
_UNKNOWN = _EVENT.partition(b'"data":')[0].replace(b"tool.completed", b"later.thing") + b'"data":['
_CHILD = """
import json, sys
from ledger.check import check
from ledger.events import Draft, MemoryAddedData
from ledger.log import FileLog
from projections.protocol import fold
from projections.world import World

def peak():
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM:"))

before = peak()
log = FileLog.open(sys.argv[1], durability="never")
seqs = [event.seq for event in log.read()]
fold(World(), log.read())
health = log.health()
found = [(one.kind, one.line) for one in check(sys.argv[1])]
log.append([Draft(source="h", time=None, data=MemoryAddedData(title="still here"))])
after = [event.seq for event in log.read()]
print(json.dumps([seqs, health.damaged, found, after, peak() - before]))
"""


class Line(NamedTuple):
    """A long line: what stands at its beginning, what fills it, what stands at its end; events and kind of damage."""

    head: bytes
    filling: bytes
    tail: bytes
    events: int
    kind: str


LINES = {
    "text": Line(b"", b"x" * 1000, b"", 0, "not_json"),
    "NUL bytes": Line(b"", b"\0" * 1000, b"", 0, "nul_bytes"),
    "letters of two bytes": Line(b"", "é".encode() * 500, b"", 0, "not_json"),
    "no UTF-8 at its end": Line(b'"', b"x" * 1000, b"\xff", 0, "not_utf8"),
    "an event that was never ended": Line(line_of(2)[:-6], b"x" * 1000, b"", 0, "not_json"),
    "JSON that is no event": Line(b'{"a":[', b"{}," * 333, b"0]}", 0, "not_an_event"),
    "nesting": Line(b"", b"[" * 1000, b"", 0, "not_json"),
    "an event behind text": Line(b"", b"x" * 1000, line_of(2).rstrip(), 1, "not_json"),
    "an event of a later release": Line(_UNKNOWN, b"{}," * 333, b"0]}", 1, ""),
    "an event": Line(_EVENT, b"x" * 1000, _END.rstrip(), 1, ""),
}


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize("is_last", [False, True], ids=["within", "at the end"])
@pytest.mark.parametrize("name", LINES)
def test_a_long_line(name: str, is_last: bool, tmp_path: Path) -> None:
    """Read, folded, checked and appended behind: events around it count, and what is in it is found or named."""
    line = LINES[name]
    raw_log(tmp_path, line_of(0) + line_of(1))
    with (tmp_path / LOG_NAME).open("ab") as file:
        file.write(line.head)
        for _ in range(SIZE // _MB):
            file.write(line.filling * (_MB // len(line.filling)))
        file.write(line.tail if is_last else line.tail + b"\n" + line_of(3))
    told = subprocess.check_output([sys.executable, "-c", _CHILD, str(tmp_path)])
    seqs, damaged, found, after, peak = json.loads(told)
    expected = [0, 1, *[2] * line.events, *([] if is_last else [3])]
    assert seqs == expected
    assert after == [*expected, expected[-1] + 1]
    assert damaged == bool(line.kind)
    kind = "torn_tail" if is_last and not line.events else line.kind
    assert ([kind, 3] in found) == bool(line.kind)
    assert peak < TIMES * SIZE + 6 * _MB
