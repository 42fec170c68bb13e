"""``python -m bench hook``: the hook as a process, beside a bare interpreter and hooks that rewrite a JSON file."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.measure import Samples, in_turn, median, ratio
from memfold.hook.command import fast_command

__all__ = ["measure_hook"]

_AT_ONCE = 16
_BARE, _LEAN, _PLAIN, _COMMAND = "python -I -S -c pass", "lean", "plain", "memfold hook, lean"
_PYTHON, _BARE_PYTHON, _NODE = "rewrites JSON, Python", "rewrites JSON, Python -I -S", "rewrites JSON, Node"
_BARE_NODE = "node -e 0"
_PEERS = Path(__file__).with_name("peers")


class _Case:
    """A command, and the file that it gets on its stdin."""

    def __init__(self, command: Sequence[str], given: Path, environ: Mapping[str, str], calls: int = 0) -> None:
        self._command, self._given, self._environ, self._calls = command, given, environ, calls
        self.sent = 0
        self.cpu: list[float] = []

    def start(self) -> subprocess.Popen[bytes]:
        with self._given.open("rb") as given:
            return subprocess.Popen(self._command, stdin=given, env=self._environ, cwd="/")

    def run(self, count: int) -> None:
        self.sent += count * self._calls
        before = _children()
        for process in [self.start() for _ in range(count)]:
            if process.wait() != 0:
                raise RuntimeError(f"{self._command} ended with {process.returncode}")
        self.cpu.append(_children() - before)


def measure_hook(folder: Path, rounds: int) -> None:
    """Measure and print: wall, and beside it the CPU of the processes, which neighbours disturb less."""
    cases = _cases(folder)
    print("\n(m) a hook as a process; wall, from start to exit; baseline: the same interpreter, which does nothing")
    for count, number in ((1, rounds * 8), (_AT_ONCE, rounds * 2)):
        runs: dict[str, Callable[[], object]] = {name: partial(case.run, count) for name, case in cases.items()}
        in_turn(runs, 1)
        samples = in_turn(runs, number, time.perf_counter)
        spent: Samples = {name: case.cpu[-number:] for name, case in cases.items()}
        print(f"    {count} at once, {number} rounds; baseline: {median(samples, _BARE) * 1e3:.0f} ms")
        for name in list(samples)[1:]:
            _report(samples, spent, name)
    stored = next(folder.rglob("events.jsonl")).read_bytes().count(b"tool.completed")
    print(
        f"    {stored:,} of {sum(case.sent for case in cases.values()):,} calls stored; load {os.getloadavg()[0]:.1f}"
    )


def _cases(folder: Path) -> dict[str, _Case]:
    """The cases; a ledger is there, and the store of each peer is full."""
    root = Path(os.path.realpath(folder)) / "w"
    for name in ("objects", "refs"):
        (root / ".git" / name).mkdir(parents=True)
    (root / ".git" / "HEAD").touch()
    # An installed program has its byte code; so it has here, whatever the environment says about writing it.
    environ = {"HOME": str(folder / "home"), "PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(_PEERS.parents[1])}
    lean, plain = _event(folder, root, "git status --short"), _event(folder, root, "echo the token is here")
    python = os.path.realpath(sys.executable)
    rewrite = [str(_PEERS / "rewrite.py"), str(folder / "python.json")]
    cases = {
        _BARE: _Case([python, "-I", "-S", "-c", "pass"], lean, environ),
        _LEAN: _Case(fast_command(), lean, environ, 1),
        _PLAIN: _Case(fast_command(), plain, environ, 1),
        _COMMAND: _Case([sys.executable, "-m", "memfold", "hook"], lean, environ, 1),
        _PYTHON: _Case([python, *rewrite], lean, environ),
        _BARE_PYTHON: _Case([python, "-I", "-S", *rewrite], lean, environ),
    }
    if node := shutil.which("node"):
        cases[_BARE_NODE] = _Case([os.path.realpath(node), "-e", "0"], lean, environ)
        command = [os.path.realpath(node), str(_PEERS / "rewrite.mjs"), str(folder / "node.json")]
        cases[_NODE] = _Case(command, lean, environ)
    for name in ("python.json", "node.json"):
        entry = {"session": "s", "tool": "Bash", "args": {"command": "x" * 200}, "exit": 0}
        (folder / name).write_text(json.dumps([entry] * 200), encoding="utf-8")
    cases[_PLAIN].run(1)
    return cases


def _event(folder: Path, root: Path, command: str) -> Path:
    data = {"call": "toolu_01", "tool": "Bash", "args": {"command": command}, "output": "M a.py\n" * 100}
    event = {"type": "tool.completed", "host": "bench", "session": "s", "cwd": str(root), "data": data}
    path = folder / f"{len(command)}.json"
    path.write_text(json.dumps(event), encoding="utf-8")
    return path


def _children() -> float:
    """Seconds of CPU that ended children have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _report(samples: Samples, spent: Samples, name: str) -> None:
    middle, low, high = ratio(samples, name, _BARE, share=0.5)
    cpu = ratio(spent, name, _BARE)[0]
    beside = f"; {ratio(samples, name, _LEAN)[0]:.1f} times the lean hook, CPU {ratio(spent, name, _LEAN)[0]:.1f}"
    print(f"    {name}: {middle:.2f}x (middle half {low:.2f} to {high:.2f}), CPU {cpu:.2f}x{beside * (name != _LEAN)}")
