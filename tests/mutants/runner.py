"""A pytest plugin that runs mutants instead of tests: learn who reaches what, then fork for each mutant."""

from __future__ import annotations

import functools
import gc
import json
import os
import resource
import signal
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest
from _pytest.runner import runtestprotocol
from mutmut.mutation.data import SourceFileMutationData
from mutmut.utils.format_utils import mangled_name_from_mutant_name

from tests.mutants import slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SURVIVED, KILLED, NO_TESTS, TIMEOUT = 0, 1, 33, 36
"""The codes of mutmut, so that ``mutmut results`` reads what is written here."""

_WORKERS = os.cpu_count() or 1
_MEMORY = 6 << 30
"""Bytes of address space: a mutant that never stops appending must not take the machine with it."""
_PATIENCE = (5.0, 5.0)
"""A mutant hangs if it takes these seconds and this many times as long as the code without it."""


slots.install()


class Cache(Protocol):
    """What ``lru_cache`` makes of a function."""

    def cache_clear(self) -> None:
        """Forget every answer."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that ``python -m tests.mutants`` passes on."""
    group = parser.getgroup("mutants")
    group.addoption("--mutant-share", default="1/1", help="of all mutants, this part: 2/5 is the second fifth")
    group.addoption("--mutant-names", default="", help="only mutants whose names contain one of these, by commas")
    group.addoption("--mutant-seconds", type=float, default=10.0, help="of tests to run for one mutant, at most")
    group.addoption("--mutant-again", action="store_true", help="try those again that survived")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Take the place of pytest's own loop."""
    if session.testsfailed:
        raise session.Interrupted("the tests can't be collected")
    option = session.config.option
    board = Board.load(option.mutant_share, option.mutant_names.split(","), again=option.mutant_again)
    reach = learn(session)
    Runner(session, board, reach, option.mutant_seconds).run()
    return True


@dataclass(slots=True)
class Reach:
    """Which tests reach a function, how long each takes, and how many functions it reaches."""

    tests: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    seconds: list[float] = field(default_factory=list)
    breadth: list[int] = field(default_factory=list)

    def plan(self, mutant: str, budget: float) -> list[int]:
        """Indexes of tests that reach a mutant, together within the budget of seconds; at least one.

        A fast test that reaches little else comes first: it was written for this function.
        """
        found = self.tests.get(mangled_name_from_mutant_name(mutant), set())
        reaching = sorted(found, key=lambda index: self.seconds[index] * self.breadth[index])
        total, chosen = 0.0, list[int]()
        for index in reaching:
            total += self.seconds[index]
            if chosen and total > budget:
                break
            chosen.append(index)
        return chosen


def learn(session: pytest.Session) -> Reach:
    """Run every test once on code that counts calls; any failure ends the run, for it would kill every mutant."""
    reach = Reach()
    for index, (item, following) in enumerate(zip(session.items, [*session.items[1:], None], strict=True)):
        slots.begin()
        begin = time.perf_counter()
        failed = [report for report in runtestprotocol(item, log=False, nextitem=following) if report.failed]
        if failed:
            raise session.Interrupted(f"{item.nodeid} fails without a mutant:\n{failed[0].longreprtext}")
        reach.seconds.append(time.perf_counter() - begin)
        called = slots.called()
        reach.breadth.append(len(called))
        for function in called:
            reach.tests[function].add(index)
        _tell(f"learning: {index + 1:,} of {len(session.items):,} tests")
    _tell(f"learning: {len(session.items):,} tests, {sum(reach.seconds):.0f} s of tests\n", always=True)
    return reach


def _fails(item: pytest.Item, following: pytest.Item | None) -> bool:
    return any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


@dataclass(slots=True)
class Board:
    """The verdicts, kept in mutmut's files, one beside each mutated file."""

    files: list[SourceFileMutationData]
    waiting: list[tuple[SourceFileMutationData, str]]
    dirty: set[int] = field(default_factory=set)

    @classmethod
    def load(cls, share: str, names: Iterable[str], *, again: bool) -> Board:
        """All mutants of this share and these names that have no verdict yet, or should get another one."""
        part, parts = (int(number) for number in share.split("/"))
        wanted = [name for name in names if name]
        files, waiting = list[SourceFileMutationData](), list[tuple[SourceFileMutationData, str]]()
        for meta in sorted(Path().glob("*/**/*.meta")):
            data = SourceFileMutationData(path=meta.with_suffix(""))
            data.meta_path = meta  # this process stands inside the copy, mutmut beside it
            data.load()
            files.append(data)
            for name, code in data.exit_code_by_key.items():
                if wanted and not any(one in name for one in wanted):
                    continue
                if code is not None and not (again and code in {SURVIVED, NO_TESTS}):
                    continue
                if int(sha256(name.encode()).hexdigest(), 16) % parts == part - 1:
                    waiting.append((data, name))
        return cls(files, waiting)

    def put(self, data: SourceFileMutationData, name: str, code: int) -> None:
        """Write a verdict down; ``save`` brings it to disk."""
        data.exit_code_by_key[name] = code
        self.dirty.add(self.files.index(data))

    def save(self) -> None:
        """Bring all verdicts to disk."""
        for index in self.dirty:
            self.files[index].save()
        self.dirty.clear()


@dataclass(slots=True)
class Runner:
    """Forks for each mutant, as many at a time as there are cores."""

    session: pytest.Session
    board: Board
    reach: Reach
    budget: float
    running: dict[int, tuple[SourceFileMutationData, str, float]] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def run(self) -> None:
        """Try every mutant on the board."""
        caches = _caches()
        gc.collect()
        gc.freeze()  # children share the memory of this process
        # In an order that says nothing, so that a run that is cut off has tried a fair sample.
        waiting = sorted(self.board.waiting, key=lambda one: sha256(one[1].encode()).digest())
        for number, (data, name) in enumerate(waiting):
            plan = self.reach.plan(name, self.budget)
            if not plan:
                self._verdict(data, name, NO_TESTS)
                continue
            while len(self.running) >= _WORKERS:
                self._wait()
            expected = sum(self.reach.seconds[index] for index in plan)
            limit = _PATIENCE[0] + _PATIENCE[1] * expected
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                self._child(name, plan, caches, limit)
            self.running[pid] = (data, name, time.monotonic() + 6 * limit)
            self._progress(number, len(waiting))
        while self.running:
            self._wait()
        self.board.save()
        self._progress(len(waiting), len(waiting), always=True)
        sys.stdout.write("\n")

    def _child(self, name: str, plan: Sequence[int], caches: Sequence[Cache], limit: float) -> None:
        code = 3
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 3))
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            for cache in caches:
                cache.cache_clear()  # it holds answers of the code without the mutant
            slots.activate(name)
            code = KILLED if any(_fails(self.session.items[index], None) for index in plan) else SURVIVED
        finally:
            os._exit(code)  # nothing of the parent's is to be ended, flushed or removed here

    def _wait(self) -> None:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid in self.running:
                data, name, _ = self.running.pop(pid)
                died = os.WIFSIGNALED(status)
                late = died and os.WTERMSIG(status) in {signal.SIGXCPU, signal.SIGKILL}
                # A crash or an error in the machinery (a test that can't even begin) is a kill like a failed test.
                code = TIMEOUT if late else KILLED if died or os.WEXITSTATUS(status) else SURVIVED
                self._verdict(data, name, code)
                return
            for child, (_, _, deadline) in self.running.items():
                if time.monotonic() > deadline:
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.002)

    def _verdict(self, data: SourceFileMutationData, name: str, code: int) -> None:
        self.counts[code] += 1
        self.board.put(data, name, code)
        if sum(self.counts.values()) % 20 == 0:
            self.board.save()

    def _progress(self, done: int, total: int, *, always: bool = False) -> None:
        counted = {word: self.counts[code] for word, code in _WORDS.items()}
        _tell(f"mutants: {done:,} of {total:,} {json.dumps(counted)}", always=always)


_WORDS = {"killed": KILLED, "survived": SURVIVED, "timeout": TIMEOUT, "no tests": NO_TESTS}
_told = [0.0]


def _tell(text: str, *, always: bool = False) -> None:
    if always or time.monotonic() - _told[0] > 2:
        _told[0] = time.monotonic()
        stream = sys.__stdout__ or sys.stdout  # that of the process: pytest has put another in its place
        stream.write(f"\r\x1b[K{text}" if stream.isatty() else f"{text}\n")
        stream.flush()


def _caches() -> list[Cache]:
    ours = ("ledger", "projections", "replay", "memfold")
    found = (one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper))
    return [one for one in found if one.__module__.partition(".")[0] in ours]
