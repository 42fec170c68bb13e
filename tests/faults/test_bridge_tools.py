"""Calls of the model while the ledger can't be written, or the bridge dies: stored once, and never said too early."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ledger.errors import LockTimeout
from ledger.events import MemoryAdded
from ledger.locks import FlockLock
from memfold.bridge import ledger as module
from memfold.bridge import tools
from memfold.bridge.bridge import Bridge, serve
from memfold.bridge.ledger import RETRY_AFTER
from memfold.bridge.lines import LineWriter
from memfold.workspace import Workspace
from tests.support.bridge import (
    Child,
    Record,
    environment,
    events_of,
    folder_of,
    has_tools,
    init,
    line_of,
    said,
    use,
)

CALL = use("memory_add", title="Use pnpm", content="in every package")
SAVED = "Saved MEM-001: "
WAITS = "Not stored yet: "


class Seconds:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """The present second."""
        return self.now


@pytest.fixture
def clock() -> Seconds:
    """A clock that stands still."""
    return Seconds()


def begun(folder: Path, clock: Seconds) -> Bridge:
    """A bridge whose client has the tools."""
    (folder / "w").mkdir()
    bridge = Bridge(environment(folder / "home"), clock)
    for number, line in enumerate([init(folder / "w"), has_tools(), said("go")], 1):
        assert bridge.answer(line_of(line, number)).refused is None
    bridge.settle()
    return bridge


def result(bridge: Bridge, line: Record, number: int = 10) -> str:
    """What the model reads."""
    answer = bridge.answer(line_of(line, number)).result
    bridge.settle()
    assert answer is not None
    return answer


def added(folder: Path) -> int:
    """How often something stands in the ledger as added."""
    return sum(isinstance(event, MemoryAdded) for event in events_of(folder / "home", folder / "w"))


def test_a_held_lock(tmp_path: Path, clock: Seconds, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call waits longer than a hook, and then says that it waits; it is stored once the lock is free, and once."""
    monkeypatch.setattr(module, "LOCK_PATIENCE", 0.01)
    bridge = begun(tmp_path, clock)
    path = str(folder_of(tmp_path / "home", tmp_path / "w") / "events.jsonl.lock")
    with FlockLock(path, 1).hold():
        answer = result(bridge, CALL)
        assert answer.startswith(WAITS)
        assert "held by another process" in answer
        assert added(tmp_path) == 0
    clock.now += RETRY_AFTER
    bridge.answer(line_of(said("next", message="m2"), 11))
    assert added(tmp_path) == 1
    assert result(bridge, CALL).startswith(SAVED)
    bridge.close()
    assert added(tmp_path) == 1


def test_a_lock_that_is_held_for_a_moment(tmp_path: Path, clock: Seconds, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model waits for its result, so a writer that takes some seconds costs no answer."""
    bridge = begun(tmp_path, clock)
    errors = [LockTimeout("held.lock", 0.5)] * tools.TRIES
    record = Workspace.record

    def refusing(self: Workspace, *args: object, **more: object) -> object:
        if errors:
            raise errors.pop()
        return record(self, *args, **more)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(Workspace, "record", refusing)
    assert result(bridge, CALL).startswith(SAVED)
    assert errors == []
    assert added(tmp_path) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path, clock: Seconds) -> None:
    """The answer says why; when writing is possible again, it is stored."""
    bridge = begun(tmp_path, clock)
    folder = folder_of(tmp_path / "home", tmp_path / "w")
    mode = (folder / "events.jsonl").stat().st_mode
    (folder / "events.jsonl").chmod(0o400)
    try:
        assert result(bridge, CALL).startswith(WAITS)
    finally:
        (folder / "events.jsonl").chmod(mode)
    bridge.close()
    assert added(tmp_path) == 1


def test_a_full_disk(tmp_path: Path, clock: Seconds, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails isn't called saved; at the end of the client it is tried again."""
    bridge = begun(tmp_path, clock)

    def full(_descriptor: int, _data: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        answer = result(bridge, CALL)
    assert answer.startswith(WAITS)
    assert "space" in answer
    assert added(tmp_path) == 0
    bridge.close()
    assert added(tmp_path) == 1


def test_a_log_that_cannot_be_read(tmp_path: Path, clock: Seconds) -> None:
    """Also a call that only reads has an answer in words, and none of a call says that it saved anything."""
    bridge = begun(tmp_path, clock)
    path = folder_of(tmp_path / "home", tmp_path / "w") / "events.jsonl"
    path.unlink()
    path.mkdir()
    for line in (CALL, use("memory_read", "c2"), use("memory_delete", "c3", id="MEM-001")):
        answer = result(bridge, line)
        assert answer.startswith("Not stored: ")  # and doesn't wait: nobody could look what is to be written
        assert "Saved" not in answer


class _Killed(BaseException):
    """The process is gone."""


class _Pipe(LineWriter):
    """Dies in the place of an answer that holds some words."""

    def __init__(self, words: bytes) -> None:
        super().__init__(-1)
        self._words = words

    def write(self, line: bytes) -> bool:
        """Take an answer."""
        if self._words in line:
            raise _Killed
        return True


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (CALL, SAVED),
        (use("memory_update", "u", id="MEM-001", title="Use pnpm 10"), "Updated MEM-001"),
        (use("memory_delete", "d", id="MEM-001"), "Archived MEM-001"),
    ],
)
def test_killed_between_the_ledger_and_the_answer(tmp_path: Path, line: Record, answer: str) -> None:
    """The call comes again to the successor: it changes nothing more, and the model reads what it would have read."""
    (tmp_path / "w").mkdir()
    environ = environment(tmp_path / "home")
    before = [init(tmp_path / "w"), has_tools(), said("go")]
    if line is not CALL:
        before.append({**CALL, "input": {**CALL["input"], "callID": "first"}})
    lines = [line_of(one, number) for number, one in enumerate([*before, line], 1)]
    with pytest.raises(_Killed):
        serve(iter(lines), _Pipe(f'"{answer}'.encode()), Bridge(environ))
    events = len(events_of(tmp_path / "home", tmp_path / "w"))
    successor = Bridge(environ)
    successor.answer(line_of(init(tmp_path / "w", tools=True), 1))
    assert result(successor, line).startswith(answer)
    assert len(events_of(tmp_path / "home", tmp_path / "w")) == events
    assert added(tmp_path) == 1


def test_the_real_process_is_killed(tmp_path: Path) -> None:
    """SIGKILL once the event is on the disk, whatever became of the answer: one memory, whose id the successor says."""
    (tmp_path / "w").mkdir()
    for round_ in range(4):
        line = use("memory_add", f"c{round_}", title=f"Fact number {round_}", content="of the project")
        with Child(tmp_path / "home") as child:
            child.ask(init(tmp_path / "w"))
            child.ask(has_tools())
            child.ask(said("go", message=f"m{round_}"))
            child.send(line)
            while added(tmp_path) <= round_:
                assert child.process.poll() is None
            child.process.kill()
        with Child(tmp_path / "home") as successor:
            successor.ask(init(tmp_path / "w", tools=True))
            assert successor.ask(line)["result"].startswith(f"Saved MEM-00{round_ + 1}: ")
            assert added(tmp_path) == round_ + 1
            successor.end()
