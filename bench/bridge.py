"""``python -m bench bridge``: round trips and starts of a real bridge, beside an echo, and turns of the real client."""

from __future__ import annotations

import gc
import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.client import measure_client
from bench.ledgers import write_ledger
from bench.measure import Samples, median, ratio
from bench.pipes import Pipe
from ledger.log import FileLog
from memfold.paths import data_dir, ledger_dir, workspace_key
from replay.kept import keep_all

__all__ = ["BRIDGE", "Child", "Place", "Records", "measure_bridge", "place_of", "quiet"]

_ECHO = "echo"
_TOOLS, _MESSAGES, _PROMPTS = 1000, 200, 200
_MANY = 100
"""Values that it takes to speak of the 99th percentile."""
_WAIT = 30.0
"""Seconds until an answer counts as missing."""
_PAUSE = 1.0
"""Seconds that a client takes from starting a plugin to its first message."""
_ECHO_PROGRAM = """
import os
rest = b""
while chunk := os.read(0, 65536):
    *lines, rest = (rest + chunk).split(b"\\n")
    for line in lines:
        os.write(1, line + b"\\n")
"""
_FLOOR = "locked append"
_FLOOR_PROGRAM = """
import os, sys
from fcntl import LOCK_EX, LOCK_UN, flock
path = sys.argv[1]
log, lock = (os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND) for name in (path, path + ".lock"))
rest = b""
while chunk := os.read(0, 65536):
    *lines, rest = (rest + chunk).split(b"\\n")
    for line in lines:
        flock(lock, LOCK_EX)
        os.stat(path + ".lock"), os.stat(path)
        os.write(log, line + b"\\n")
        flock(lock, LOCK_UN)
        os.write(1, line + b"\\n")
"""
"""An echo that does with each line what an append can't do without, and nothing else: it reads nothing in it."""
BRIDGE = [sys.executable, "-E", "-P", "-m", "memfold", "bridge"]
"""How an installed plugin starts its child."""


class Place(NamedTuple):
    """A workspace with a ledger, and the environment in which a bridge finds it."""

    name: str
    root: str
    environ: Mapping[str, str]


class Child:
    """A process that answers each line with one."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
        self.begin = time.perf_counter()
        self._pipe = Pipe(command, environ)
        self._ids = 0

    def ask(self, record: Mapping[str, object]) -> float:
        """Send a record and wait for its answer; seconds.

        Raises:
            RuntimeError: if the answer is a refusal, or none.
        """
        self._ids += 1
        line = json.dumps({"id": self._ids, **record}).encode() + b"\n"
        begin = time.perf_counter()
        self._pipe.write(line)
        answer = self._pipe.line()
        seconds = time.perf_counter() - begin
        found: dict[str, Any] = json.loads(answer)
        if found.get("id") != self._ids or "refused" in found:
            raise RuntimeError(f"{record['hook']}: {answer[:200]!r}")
        return seconds

    def close(self) -> None:
        """End its input and wait for its end; one that doesn't end is killed."""
        self._pipe.close()


class Records:
    """Hook records of one session, each with an id of its own."""

    def __init__(self, root: str, session: str) -> None:
        self._root, self._session = root, session
        self._number = 0

    def init(self) -> dict[str, object]:
        """The first line of a child."""
        place = {"directory": self._root, "worktree": self._root, "instance": self._session, "options": {}}
        return self._record("init", input=place)

    def tool(self) -> dict[str, object]:
        """An edit, a command that fails, or one that passes."""
        number = self._next()
        command = {"command": "npm test"}
        name, args, exit_, output = (
            ("edit", {"filePath": f"{self._root}/src/file_{number % 60}.ts"}, None, "Edit applied."),
            ("bash", command, 1, f"FAIL src/file_{number % 60}.ts\nError: expected 3 items, got 2\n1 failed"),
            ("bash", command, 0, "24 passed"),
        )[number % 3]
        call = {"tool": name, "sessionID": self._session, "callID": f"call_{self._session}_{number}", "args": args}
        result = {"title": name, "output": output, "metadata": {} if exit_ is None else {"exit": exit_}}
        return self._record("tool.execute.after", input=call, output=result)

    def message(self, text: str = "") -> dict[str, object]:
        """A text of the user; by default a request to remember something new."""
        number = self._next()
        message = f"msg_{self._session}_{number}"
        text = text or f"Remember: module {number} of {self._session} keeps its amounts in integer cents"
        part = {"id": f"prt_{number}", "type": "text", "text": text, "messageID": message, "sessionID": self._session}
        head = {"id": message, "role": "user", "sessionID": self._session, "time": {"created": time.time() * 1000}}
        return self._record(
            "chat.message", input={"sessionID": self._session}, output={"message": head, "parts": [part]}
        )

    def prompt(self) -> dict[str, object]:
        """A request to the model is put together."""
        return self._record("experimental.chat.system.transform", input={"sessionID": self._session})

    def _record(self, hook: str, **payload: object) -> dict[str, object]:
        return {"hook": hook, "t": time.time(), "pid": os.getpid(), **payload}

    def _next(self) -> int:
        self._number += 1
        return self._number


def measure_bridge(folder: Path, large: Path, events: int, rounds: int) -> None:
    """Measure and print.

    Args:
        folder: an empty folder.
        large: a ledger with its facts.
        events: how many events it has.
        rounds: how often a child is started in each case.
    """
    small = folder / "thousand"
    write_ledger(small, 1000)
    keep_all(str(small), FileLog.open(small).read())
    places = [place_of(folder, "1,000 events", small)]
    if events != 1000:
        places.append(place_of(folder, f"{events:,} events", large))
    with quiet():
        _round_trips(folder, places)
        _starts(places, rounds * 2)
    measure_client(folder / "client", BRIDGE)


def place_of(folder: Path, name: str, ledger: Path) -> Place:
    """A workspace of its own, with a copy of a ledger where a bridge looks for it."""
    base = folder / f"workspace-{ledger.name}"
    root = base / "shop"
    root.mkdir(parents=True)
    environ = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(base),
        "XDG_DATA_HOME": str(base / "data"),
        "XDG_CONFIG_HOME": str(base / "config"),
    }
    real = os.path.realpath(root)
    shutil.copytree(ledger, ledger_dir(data_dir(environ), workspace_key(real)))
    return Place(name, real, environ)


@contextmanager
def quiet() -> Iterator[None]:
    """No collection of ours between a question and its answer."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _round_trips(folder: Path, places: Sequence[Place]) -> None:
    plain = {_ECHO: [_ECHO_PROGRAM], _FLOOR: [_FLOOR_PROGRAM, str(folder / "appended")]}
    with ExitStack() as stack:
        children: dict[str, Child] = {}
        records: dict[str, Records] = {}
        for name, program in plain.items():
            child = children[name] = Child([sys.executable, "-I", "-S", "-c", *program])
            stack.callback(child.close)
            records[name] = Records(places[0].root, "ses_bench")
        for place in places:
            child = children[place.name] = Child(BRIDGE, place.environ)
            stack.callback(child.close)
            records[place.name] = Records(place.root, "ses_bench")
        for name, child in children.items():
            for first in (records[name].init(), records[name].message(), records[name].prompt()):
                child.ask(first)
        cases: tuple[tuple[str, int, Callable[[Records], dict[str, object]]], ...] = (
            ("tool.execute.after", _TOOLS, Records.tool),
            ("chat.message, each with a request to remember", _MESSAGES, Records.message),
            ("system.transform", _PROMPTS, Records.prompt),
        )
        print(f"\n(e) a line to memfold bridge and its answer; wall; baseline: {_ECHO} child over the same pipes")
        for title, number, make in cases:
            samples: Samples = {name: [] for name in children}
            order = list(children.items())
            for turn in range(number):
                for name, child in order if turn % 2 == 0 else reversed(order):
                    samples[name].append(child.ask(make(records[name])))
            print(f"    {title}, {number:,} times")
            _report(samples)


def _starts(places: Sequence[Place], rounds: int) -> None:
    """From the start of a process to what it says first, and to its first answered message."""
    starts: Samples = {}
    messages: Samples = {}
    later: Samples = {}
    for turn in range(rounds):
        _note(starts, _ECHO, _first_answer([sys.executable, "-I", "-S", "-c", _ECHO_PROGRAM]))
        messages.setdefault(_ECHO, []).append(starts[_ECHO][-1])
        for place in places if turn % 2 == 0 else reversed(places):
            records = Records(place.root, f"ses_start{turn}")
            child = Child(BRIDGE, place.environ)
            try:
                child.ask(records.init())
                _note(starts, place.name, time.perf_counter() - child.begin)
                child.ask(records.message())
                _note(messages, place.name, time.perf_counter() - child.begin)
            finally:
                child.close()
            records = Records(place.root, f"ses_later{turn}")
            child = Child(BRIDGE, place.environ)
            try:
                child.ask(records.init())
                time.sleep(_PAUSE)
                _note(later, place.name, child.ask(records.message()))
            finally:
                child.close()
    print(f"\n(f) start of a child; wall; baseline: start of the {_ECHO} child (python -I -S) to its first answer")
    print("    to the answer to init")
    _report(starts)
    print("    to the answer to the first message, sent at once")
    _report(messages)
    print(f"    the answer to the first message alone, sent {_PAUSE:.0f} s after init, as a client does")
    _report(later)


def _first_answer(command: Sequence[str]) -> float:
    child = Child(command)
    try:
        child.ask({"hook": "init"})
        return time.perf_counter() - child.begin
    finally:
        child.close()


def _note(samples: Samples, name: str, seconds: float) -> None:
    samples.setdefault(name, []).append(seconds)


def _report(samples: Samples) -> None:
    """Median, the value that 99 of 100 stay below, the ratio to the echo, and growth from ledger to ledger."""
    for name, seconds in samples.items():
        many = len(seconds) >= _MANY
        high = statistics.quantiles(seconds, n=100)[-1] if many else max(seconds)
        tail = f"{'p99' if many else 'highest'} {high * 1e3:.2f} ms"
        beside = ""
        if name != _ECHO and _ECHO in samples:
            middle, low, high = ratio(samples, name, _ECHO, share=0.5)
            beside = f"; {middle:.1f}x the echo (middle half {low:.1f} to {high:.1f})"
        print(f"      {name:>15}: median {median(samples, name) * 1e3:.2f} ms, {tail}{beside}")
    small, *larger = [name for name in samples if name not in (_ECHO, _FLOOR)]
    for large in larger:
        middle, low, high = ratio(samples, large, small, share=0.5)
        print(f"      {large} / {small}: {middle:.2f} (middle half {low:.2f} to {high:.2f})")
