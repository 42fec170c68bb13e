"""No process and no open port is left by clients, however they end (HKS-05); ``make torture`` plays 100 of them."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.check import check
from ledger.events import MemoryRequested
from ledger.problems import NOTES
from memfold.waiting import wait_until_ready
from tests.support.bridge import ROOT, environment, events_of, folder_of, init, line_of, said, system

SESSIONS = int(os.environ.get("MEMFOLD_SESSIONS", "8"))
_MARK = "MEMFOLD_TEST_MARK"
_PATIENCE = 20.0

_CLIENT = """
import json, subprocess, sys
lines = sys.stdin.buffer.readline(), sys.stdin.buffer.readline(), sys.stdin.buffer.readline()
child = subprocess.Popen([sys.executable, "-E", "-m", "memfold", "bridge"], stdin=-1, stdout=-1, stderr=-3, bufsize=0)
child.stdin.write(b"".join(lines))
answers = [child.stdout.readline() for _ in lines]
print(json.dumps({"child": child.pid, "answers": [json.loads(one) for one in answers]}), flush=True)
sys.stdin.buffer.readline()
child.stdin.close()
child.wait()
"""
"""A client as the plugin is one: it has a bridge over two pipes, and may be killed while it waits."""


def _marked(mark: str) -> Iterator[int]:
    """The processes that were started with a mark in their environment, ours and their children."""
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                if f"{_MARK}={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                    yield int(place.name)
            except OSError:
                continue


def _sockets(process: int) -> list[str]:
    """What of a process's descriptors is a socket."""
    targets = [str(one.readlink()) for one in Path(f"/proc/{process}/fd").iterdir()]
    return [target for target in targets if target.startswith("socket:")]


def _ended(process: int) -> bool:
    """Whether a process that isn't a child of ours ends, within a bound."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(wait_until_ready([descriptor], seconds=_PATIENCE))
    finally:
        os.close(descriptor)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked for in /proc")
def test_nothing_is_left_running(tmp_path: Path) -> None:
    """HKS-05: of sessions that end in four ways, half of them kills, no process stays, and each request is there."""
    (tmp_path / "w").mkdir()
    mark = secrets.token_hex(16)
    environ = {**environment(tmp_path / "home"), _MARK: mark}
    for number in range(SESSIONS):
        session = f"S{number}"
        lines = [
            init(tmp_path / "w", instance=session),
            said(f"Remember: use colour {number} for headings", session, f"m{number}"),
            system(session),
        ]
        with subprocess.Popen(
            [sys.executable, "-c", _CLIENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=environ
        ) as client:
            assert client.stdin is not None
            assert client.stdout is not None
            client.stdin.write(b"".join(line_of(line, n) for n, line in enumerate(lines)))
            client.stdin.flush()
            told = json.loads(client.stdout.readline())
            bridge = told["child"]
            assert sorted(_marked(mark)) == sorted([client.pid, bridge])
            assert _sockets(bridge) == []
            if number % 4 == 0:
                client.kill()
            elif number % 4 == 1:
                os.kill(bridge, signal.SIGKILL)
        assert _ended(bridge)
        assert list(_marked(mark)) == []
    requests = [one for one in events_of(tmp_path / "home", tmp_path / "w") if isinstance(one, MemoryRequested)]
    assert [one.data.message for one in requests] == [f"m{number}" for number in range(SESSIONS)]
    problems = check(str(folder_of(tmp_path / "home", tmp_path / "w")))
    assert [one for one in problems if one.kind not in NOTES] == []
