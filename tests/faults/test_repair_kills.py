"""A repair that is killed or refused at any moment leaves the old log or the new one, and loses no byte (SPEC 21)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest

from ledger.check import check
from ledger.errors import LedgerError
from ledger.events import LedgerRepaired
from ledger.ids import MonotonicIds
from ledger.log import FileLog
from ledger.problems import DAMAGE, Kind
from ledger.repair import find_damage, repair
from tests.support.logs import line_of, new_log

_PIECES = (b"torn {", b"\0\0\0\0", b"<<<<<<< ours")
_STEPS = ("open", "write", "fsync", "replace", "unlink", "fchmod")
"""The calls by which a repair changes anything."""
_KILLED = 9


def _damaged(folder: Path) -> bytes:
    """A log with three damaged pieces and a line of two events; its bytes."""
    log = new_log(folder)
    path = Path(log.path)
    first = path.read_bytes()
    lines = [first, _PIECES[0] + line_of(1), _PIECES[1] + b"\n", line_of(2).rstrip() + line_of(3), _PIECES[2]]
    path.write_bytes(b"".join(lines))
    return path.read_bytes()


def _run(directory: Path) -> None:
    repair(str(directory), time=None, new_id=MonotonicIds())


def _titles(directory: Path) -> list[int]:
    return [event.seq for event in FileLog.open(directory).read() if not isinstance(event, LedgerRepaired)]


def _kept(directory: Path) -> set[bytes]:
    return {path.read_bytes() for path in (directory / "quarantine").glob("*.bytes")}


class _Fault:
    """Does something at the n-th of the calls."""

    def __init__(self, at: int, fault: Callable[[], None]) -> None:
        self.left, self.fault = at, fault
        self.real = {name: getattr(os, name) for name in _STEPS}

    def __enter__(self) -> Self:
        for name, call in self.real.items():
            setattr(os, name, self._counted(call))
        return self

    def __exit__(self, *_: object) -> None:
        for name, call in self.real.items():
            setattr(os, name, call)

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                self.fault()
            return call(*arguments, **options)

        return counted


def _whole(directory: Path, before: bytes) -> None:
    """Nothing is lost: the bytes stand in the log or in quarantine, and the events in the log."""
    assert _titles(directory) == [0, 1, 2, 3]
    now = (directory / "events.jsonl").read_bytes()
    if now != before:
        assert _kept(directory) == set(_PIECES)
        assert find_damage(str(directory)) == []
    _run(directory)
    assert _titles(directory) == [0, 1, 2, 3]
    assert _kept(directory) >= set(_PIECES)
    kinds = {problem.kind for problem in check(directory)}
    assert kinds.isdisjoint(DAMAGE | {Kind.UNFINISHED_REWRITE})


def test_a_kill_at_any_call(tmp_path: Path) -> None:
    """Each call once is the last one."""
    before = _damaged(tmp_path / "origin")
    at, died = 0, True
    while died:
        at += 1
        directory = tmp_path / str(at)
        shutil.copytree(tmp_path / "origin", directory)
        if (child := os.fork()) == 0:
            with _Fault(at, lambda: os._exit(_KILLED)):
                _run(directory)
            os._exit(0)
        died = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == _KILLED
        _whole(directory, before)
    assert at > 10


def test_a_refusal_at_any_call(tmp_path: Path) -> None:
    """Each call once is refused: it is said, and the log is as it was, or as it will be."""
    before = _damaged(tmp_path / "origin")
    at, refused = 0, True
    while refused:
        at += 1
        directory = tmp_path / str(at)
        shutil.copytree(tmp_path / "origin", directory)

        def full() -> None:
            raise OSError(28, "no space left")

        with _Fault(at, full) as fault, suppress(LedgerError):
            _run(directory)
        refused = fault.left <= 0
        _whole(directory, before)
    assert at > 10


def test_an_event_that_a_repair_would_change_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new file is compared with the old one, event by event, before it takes its place."""
    before = _damaged(tmp_path / "l")
    monkeypatch.setattr("ledger.repair._Line.piece", lambda line, record: line.data[:0])
    with pytest.raises(LedgerError, match="nothing was done"):
        _run(tmp_path / "l")
    assert (tmp_path / "l" / "events.jsonl").read_bytes() == before
