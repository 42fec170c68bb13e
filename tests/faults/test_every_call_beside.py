"""Each call of the system fails once while something is kept beside the log: what is best effort disturbs nobody."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.errors import LedgerError
from ledger.events import Draft, MemoryRequestedData, ToolCompleted
from ledger.log import FileLog
from memfold.bridge.private_log import PRIVATE_LOG_NAME, PrivateLog
from memfold.hook import plain
from memfold.log_file import LOG_LIMIT
from memfold.tools.answers import Result
from memfold.tools.operation_log import OPERATION_LOG_NAME, OperationLog
from replay.kept import KeptFacts, facts_path, keep_all
from replay.live import Live
from replay.state import state_at
from tests.support.cli import make_ledger
from tests.support.hook import MS, Bench, sent, tool
from tests.support.sweep import Case, sweep

OLD = b"2026-01-01T00:00:00.000Z [ERROR] bridge: held\n"


def _private(folder: Path) -> None:
    PrivateLog(str(folder), lambda: 0).note("bridge", "new")


def _operations(folder: Path) -> None:
    OperationLog(str(folder)).note("memory_add", Result("saved", "Saved MEM-001: new"), "2026-01-01T00:00:00Z")


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.torture)], ids=["some", "all"])
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether each call has each kind of trouble, or one or two in turn."""
    return bool(request.param)


@pytest.mark.parametrize("rotates", [False, True], ids=["grows", "rotates"])
@pytest.mark.parametrize(("name", "note"), [(PRIVATE_LOG_NAME, _private), (OPERATION_LOG_NAME, _operations)])
def test_logs_for_people(
    tmp_path: Path, name: str, note: Callable[[Path], None], *, rotates: bool, thorough: bool
) -> None:
    """Nothing is raised, what stood in the log stands there or in the one before, and the next line is written."""
    folder = tmp_path / "base"
    folder.mkdir()
    path, before = folder / name, folder / f"{name}.1"
    old = OLD * (LOG_LIMIT // len(OLD) if rotates else 3)
    path.write_bytes(old)

    def require(_done: bool, _said: object) -> None:
        found = [one.read_bytes() for one in (path, before) if one.exists()]
        assert any(one.startswith(old) for one in found)
        note(folder)
        assert path.read_bytes().endswith(b"new\n")

    assert sweep(Case(folder, lambda: note(folder), require), thorough=thorough) > 4


def test_a_hook(tmp_path: Path, *, thorough: bool) -> None:
    """``memfold hook`` the plain way raises nothing, and what it leaves holds no later hook up."""
    folder = tmp_path / "base"
    folder.mkdir()
    place = Bench(folder)
    asked = json.dumps(sent("memory.requested", place.root, {"message": "m", "text": "Remember: use tabs"})).encode()
    later = json.dumps(tool(place.root, "Read", args={"file_path": "a.py"})).encode()

    def hook(raw: bytes) -> None:
        plain.record(raw, MS, None, place.environ)

    def require(done: bool, _said: object) -> None:
        assert done
        hook(later)
        events = list(FileLog.open(place.folder).read())
        assert [event.seq for event in events] == list(range(len(events)))
        assert isinstance(events[-1], ToolCompleted)
        assert not list(place.folder.glob("spool/*"))

    assert sweep(Case(folder, lambda: hook(asked), require), thorough=thorough) > 20


def test_kept_facts(tmp_path: Path, *, thorough: bool) -> None:
    """Whatever of them could be kept, they give the state that the log gives without any."""
    folder = make_ledger(tmp_path / "l")
    Path(facts_path(str(folder))).unlink()
    events = list(FileLog.open(folder).read())
    whole = state_at(events)

    def require(_done: bool, _said: object) -> None:
        assert state_at(events, known=KeptFacts(str(folder))) == whole

    case = Case(folder, lambda: keep_all(str(folder), events), require)
    assert sweep(case, thorough=thorough) > 4


@pytest.mark.parametrize("has_one", [False, True], ids=["first", "next"])
def test_checkpoints(tmp_path: Path, *, has_one: bool, thorough: bool) -> None:
    """Whatever of one could be read or written, a start is told what the log tells, or that the log can't be read."""
    folder = make_ledger(tmp_path / "l")
    log = FileLog.open(folder)
    if has_one:
        _checkpoint(log)
        log.append(
            [Draft(source="test/s", time=None, data=MemoryRequestedData("n", "Remember: use tabs in Makefiles"))]
        )
        log.close()
    whole = state_at(log.read(), only=set())

    def act() -> object:
        with log:  # which keeps its lock open otherwise, for the next append
            _checkpoint(log)
            return Live(log).world()

    def require(done: bool, said: object) -> None:
        assert not done or said == whole
        assert Live(log).world() == whole

    assert sweep(Case(folder, act, require, (LedgerError,)), thorough=thorough) > 20


def _checkpoint(log: FileLog) -> None:
    one = Live(log)
    one.world()
    one.keep(every=0)
