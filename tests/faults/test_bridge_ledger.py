"""A ledger that can't be written for a while, or that others change: what is to be recorded waits, in order."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ledger.errors import InvalidDraft, LockTimeout, StorageError
from ledger.events import (
    AnyEvent,
    Draft,
    Event,
    LedgerCreated,
    LedgerCreatedData,
    MemoryAdded,
    MemoryAddedData,
    MemoryRequestedData,
    PolicySet,
    SessionStarted,
    ToolCompletedData,
)
from ledger.locks import FlockLock
from ledger.log import FileLog
from memfold.bridge import ledger as module
from memfold.bridge.bridge import Bridge
from memfold.bridge.ledger import LAST_TRIES, RETRY_AFTER, Ledger
from memfold.bridge.private_log import PrivateLog
from memfold.config import Config
from memfold.log_file import LOG_LIMIT
from memfold.workspace import Workspace
from projections.policy import Policy, RedactionExtra
from tests.support.bridge import environment, events_of, folder_of, init, line_of, ran, said, system
from tests.support.logs import titles

SOURCE = "opencode/S"


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """The present second."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


_OTHER = Config(policy=Policy(redaction=RedactionExtra(labels=("badge",))))


def _ledger(folder: Path, clock: Clock, config: Config = Config()) -> Ledger:  # noqa: B008 - a frozen value
    return Ledger(
        str(folder / "l"),
        str(folder),
        project=True,
        host="opencode",
        config=config,
        log=PrivateLog(str(folder / "data"), lambda: 0),
        clock=clock,
    )


def added(title: str) -> Draft:
    """A memory to write."""
    return Draft(source=SOURCE, time=None, data=MemoryAddedData(title=title))


def called(call: str) -> Draft:
    """A tool call to write."""
    return Draft(source=SOURCE, time=None, data=ToolCompletedData(call=call, tool="bash"))


def requested(text: str) -> Draft:
    """A request to remember."""
    return Draft(source=SOURCE, time=None, data=MemoryRequestedData(message=text, text=text))


def stored(folder: Path) -> list[AnyEvent]:
    """The events of the ledger."""
    return list(FileLog.open(folder / "l").read())


class FullAfter:
    """An ``os.write`` that takes so many lines and half of another, and then nothing more."""

    def __init__(self, lines: int) -> None:
        self._lines = lines
        self._write = os.write
        self._full = False

    def __call__(self, descriptor: int, data: Any) -> int:
        """Write what there is room for."""
        if self._full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._full = True
        lines = bytes(data).splitlines(keepends=True)
        return self._write(descriptor, b"".join(lines[: self._lines]) + lines[self._lines][:20])


class Refusing:
    """The place of ``Workspace.record``: raises what it is told, then does as usual."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0
        record = Workspace.record

        def refuse(workspace: Workspace, drafts: Sequence[Draft]) -> tuple[Event, ...]:
            self.calls += 1
            if self.errors:
                raise self.errors.pop(0)
            return record(workspace, drafts)

        monkeypatch.setattr(Workspace, "record", refuse)


def test_what_could_not_be_stored_is_stored_later_in_order(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A held lock costs nothing but time; until the pause is over there is no further attempt."""
    disk = Refusing(monkeypatch, LockTimeout("x.lock", 0.5))
    ledger = _ledger(tmp_path, clock)
    ledger.record([added("a")])
    assert ledger.waits
    assert "x.lock" in ledger.problem
    ledger.record([added("b")])
    ledger.store()
    assert disk.calls == 1
    clock.now += RETRY_AFTER
    ledger.record([added("c")])
    assert ledger.problem == ""
    assert titles(stored(tmp_path)) == ["a", "b", "c"]


def test_a_request_to_remember_is_tried_at_once(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request doesn't wait for the pause behind a failure, nor does the end of the client."""
    disk = Refusing(monkeypatch, LockTimeout("x", 0.5), LockTimeout("x", 0.5))
    ledger = _ledger(tmp_path, clock)
    ledger.record([added("a")])
    ledger.record([requested("Remember: use tabs")])
    assert disk.calls == 2
    ledger.store(urgent=True)
    assert not ledger.waits


def test_the_end_is_patient(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the client has ended, a lock is waited for again and again, but not for ever, and for nothing else."""
    disk = Refusing(monkeypatch, *[LockTimeout("x", 0.5)] * 5)
    ledger = _ledger(tmp_path, clock)
    ledger.record([requested("Remember: use tabs")])
    ledger.finish()
    assert (ledger.waits, disk.calls) == (False, 6)
    disk.errors += [LockTimeout("x", 0.5)] * (LAST_TRIES + 1)
    ledger.record([added("a")])  # a success ends the pause behind a failure: this is the first try
    ledger.finish()
    assert (ledger.waits, disk.errors) == (True, [])
    disk.errors.append(StorageError("x", errno.ENOSPC, "full"))
    ledger.finish()
    assert (ledger.waits, disk.errors) == (True, [])


@pytest.mark.parametrize("policy_stored", [False, True])
@pytest.mark.parametrize("lines", [0, 1, 2])
def test_a_batch_that_was_stored_in_part_is_not_stored_twice(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, lines: int, *, policy_stored: bool
) -> None:
    """After a disk that ran full in the middle, only what is missing is written again."""
    ledger = _ledger(tmp_path, clock)
    if policy_stored:
        ledger.record([added("first")])
    else:
        FileLog.create(tmp_path / "l", root=str(tmp_path), key="k")
    with monkeypatch.context() as disk:
        disk.setattr(os, "write", FullAfter(lines))
        ledger.record([added("batch 1"), added("batch 2"), added("batch 3")])
    assert ledger.waits
    ledger.store(urgent=True)
    assert [title for title in titles(stored(tmp_path)) if title != "first"] == ["batch 1", "batch 2", "batch 3"]
    assert sum(type(event).__name__ == "PolicySet" for event in stored(tmp_path)) == 1


def test_what_can_never_be_stored_is_left_out(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """One draft that no reader could read doesn't hold up those around it; the log names it."""
    bad = InvalidDraft("memory.added", "no reason")
    Refusing(monkeypatch, bad, bad)
    ledger = _ledger(tmp_path, clock)
    ledger.record([added("a"), added("b"), added("c")])
    assert titles(stored(tmp_path)) == ["b", "c"]
    assert "no reason" in (tmp_path / "data" / "memfold.log").read_text()


def test_a_failure_while_drafts_are_stored_one_by_one(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was left when the lock was lost waits, and nothing is written twice."""
    bad = InvalidDraft("memory.added", "no reason")
    disk = Refusing(monkeypatch, bad, bad)
    ledger = _ledger(tmp_path, clock)
    disk.errors.append(LockTimeout("x", 0.5))
    ledger.record([added("a"), added("b")])
    assert ledger.waits
    ledger.store(urgent=True)
    assert titles(stored(tmp_path)) == ["b"]


def test_what_waits_is_bounded(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """When too much waits, tool calls go before memories, the oldest first."""
    monkeypatch.setattr(module, "WAITING_LIMIT", 3)
    Refusing(monkeypatch, *[LockTimeout("x", 0.5)] * 1)
    ledger = _ledger(tmp_path, clock)
    ledger.record([added("a"), called("1"), called("2")])
    ledger.record([added("b"), added("c"), added("d")])
    ledger.store(urgent=True)
    assert titles(stored(tmp_path)) == ["b", "c", "d"]


def test_a_folder_that_is_removed_is_made_again(tmp_path: Path, clock: Clock) -> None:
    """The whole data folder may go while the client runs; the next event makes a ledger."""
    ledger = _ledger(tmp_path, clock)
    ledger.record([added("a")])
    for path in sorted((tmp_path / "l").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (tmp_path / "l").rmdir()
    ledger.record([added("b")])
    assert titles(stored(tmp_path)) == ["b"]
    assert not ledger.waits


@pytest.mark.parametrize("content", [b"", b'{"type":"ledger.cre'])
def test_a_log_that_has_not_begun_is_begun(content: bytes, tmp_path: Path, clock: Clock) -> None:
    """Another process may have made the file and not written to it yet, or was killed in between."""
    ledger = _ledger(tmp_path, clock)
    folder = tmp_path / "l"
    folder.mkdir(mode=0o700)
    (folder / "events.jsonl").write_bytes(content)
    (folder / "events.jsonl").chmod(0o600)
    ledger.record([added("a")])
    kinds = [type(event) for event in stored(tmp_path)]
    assert kinds == [LedgerCreated, PolicySet, MemoryAdded]


def test_each_event_is_judged_by_the_policy_of_its_writer(tmp_path: Path, clock: Clock) -> None:
    """Where another process has set its own since, ours is set again; else it is set once, and nothing is read."""
    ours, others = _ledger(tmp_path, clock), _ledger(tmp_path, clock, _OTHER)
    for ledger, call in ((ours, "a"), (others, "b"), (ours, "c"), (ours, "d"), (others, "e")):
        ledger.record([called(call)])
    kinds = ["set" if isinstance(event, PolicySet) else "call" for event in stored(tmp_path)[1:]]
    assert kinds == ["set", "call"] * 3 + ["call", "set", "call"]
    assert not ours.problem + others.problem


def test_another_log_in_the_place_of_ours(tmp_path: Path, clock: Clock) -> None:
    """Also one of the same length: once it has been read, its policy is seen."""
    ours, others = _ledger(tmp_path / "ours", clock), _ledger(tmp_path / "others", clock, _OTHER)
    for ledger in (ours, others):
        ledger.record([called("a")])
    (tmp_path / "others" / "l" / "events.jsonl").replace(tmp_path / "ours" / "l" / "events.jsonl")
    ours.catch_up()
    ours.record([called("b")])
    assert [type(event) for event in stored(tmp_path / "ours")[1:]].count(PolicySet) == 2


def test_a_ledger_begins_with_its_first_event(tmp_path: Path, clock: Clock) -> None:
    """The time of creation isn't later than what is recorded first, so that event keeps its time."""
    ledger = _ledger(tmp_path, clock)
    ledger.record([Draft(source=SOURCE, time="2026-01-01T00:00:00Z", data=MemoryAddedData(title="a"))])
    assert stored(tmp_path)[0].time == "2026-01-01T00:00:00.000Z"


# -- through the bridge ---------------------------------------------------------------------------------------


def _bridge(folder: Path, clock: Clock) -> Bridge:
    (folder / "w").mkdir(exist_ok=True)
    bridge = Bridge(environment(folder / "home"), clock)
    assert bridge.answer(line_of(init(folder / "w"), 1)).refused is None
    return bridge


def _log(folder: Path) -> str:
    return (folder / "home/.local/share/memfold/memfold.log").read_text()


def test_while_nothing_can_be_written_blocks_come_from_what_is_there(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start that isn't recorded gives no block, an older one does; a request says that it isn't stored."""
    bridge = _bridge(tmp_path, clock)
    bridge.answer(line_of(said("Remember: use tabs"), 2))
    bridge.answer(line_of(system("T"), 3))
    bridge.settle()
    before = events_of(tmp_path / "home", tmp_path / "w")
    disk = Refusing(monkeypatch, *[LockTimeout("held.lock", 0.5)] * 3)
    assert bridge.answer(line_of(system("new"), 4)).system == []
    block = bridge.answer(line_of(system("T"), 5)).system
    assert block is not None
    assert "use tabs" in block[0]
    answer = bridge.answer(line_of(said("Remember: use spaces", "new", "m2"), 6))
    assert str(answer.refused).startswith("not stored: held.lock")
    assert answer.part is None
    assert answer.notice == "Not stored yet: another process is writing"
    answer = bridge.answer(line_of(ran("npm test", 1, "FAIL a.js: no", "new"), 7))
    assert str(answer.refused).startswith("not stored: ")
    assert bridge.answer(line_of(said("go", "T", "m3"), 8)).part is None
    bridge.settle()
    assert events_of(tmp_path / "home", tmp_path / "w") == before
    assert disk.errors == [disk.errors[0]]
    assert _log(tmp_path).count("held.lock") == 1
    disk.errors.clear()
    bridge.close()
    kinds = [type(event).__name__ for event in events_of(tmp_path / "home", tmp_path / "w")[len(before) :]]
    assert kinds == ["SessionStarted", "MemoryRequested", "ToolCompleted"]


def test_a_lock_that_another_process_holds(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A held lock is waited for a moment; what was said then is stored when it is free, in order."""
    monkeypatch.setattr(module, "LOCK_PATIENCE", 0.02)
    bridge = _bridge(tmp_path, clock)
    bridge.answer(line_of(said("Remember: use tabs"), 2))
    path = str(folder_of(tmp_path / "home", tmp_path / "w") / "events.jsonl.lock")
    with FlockLock(path, 1).hold():
        answer = bridge.answer(line_of(said("Remember: use spaces", message="m2"), 3))
        assert "held by another process" in str(answer.refused)
        assert bridge.answer(line_of(ran("npm test", 1, "FAIL a.js: no"), 4)).refused is not None
    clock.now += RETRY_AFTER
    part = bridge.answer(line_of(said("go", message="m3"), 5)).part
    assert part is not None
    assert "use spaces" in part
    assert "FAIL a.js" in part


def test_a_disk_that_cannot_sync(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that may not outlive a power cut is said not to be stored, and isn't written a second time."""
    bridge = _bridge(tmp_path, clock)
    bridge.answer(line_of(said("go"), 2))
    bridge.settle()
    with monkeypatch.context() as disk:

        def fail(_: int) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        disk.setattr("ledger.writer._sync", fail)
        disk.setattr("memfold.bridge.hooks.hot_due", lambda *_: None)
        answer = bridge.answer(line_of(said("Remember: use tabs", message="m2"), 3))
    assert str(answer.refused).startswith("not stored: ")
    assert answer.notice == f"Not stored yet: {os.strerror(errno.EIO)}"
    part = bridge.answer(line_of(said("go on", message="m3"), 4)).part
    assert part is not None
    assert "use tabs" in part
    bridge.close()
    kinds = [type(event).__name__ for event in events_of(tmp_path / "home", tmp_path / "w")]
    assert kinds.count("MemoryRequested") == 1


def test_a_start_that_waited_gives_its_block_once_it_is_stored(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the trouble a session has one start and its block."""
    bridge = _bridge(tmp_path, clock)
    bridge.answer(line_of(said("Remember: use tabs"), 2))
    Refusing(monkeypatch, LockTimeout("x", 0.5))
    assert bridge.answer(line_of(system("T"), 3)).system == []
    clock.now += RETRY_AFTER
    block = bridge.answer(line_of(system("T"), 4)).system
    assert block is not None
    assert "use tabs" in block[0]
    events = events_of(tmp_path / "home", tmp_path / "w")
    assert [event.source for event in events if isinstance(event, SessionStarted)] == [SOURCE, "opencode/T"]


def test_a_log_that_cannot_be_read(tmp_path: Path, clock: Clock) -> None:
    """A folder in the place of the log is a reason to refuse; the client gets an answer to all the same."""
    (folder_of(tmp_path / "home", tmp_path / "w") / "events.jsonl").mkdir(parents=True)
    bridge = _bridge(tmp_path, clock)
    bridge.settle()
    for number, record in enumerate((said("Remember: use tabs"), system(), said("go", message="m2"))):
        answer = bridge.answer(line_of(record, number))
        assert "no regular file" in str(answer.refused)
        assert answer.notice == ("Not stored yet: it is no regular file" if number == 0 else None)
    bridge.settle()
    bridge.close()
    assert "no regular file" in _log(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_data_folder_without_permission(tmp_path: Path, clock: Clock) -> None:
    """A folder that we may not write breaks nothing, and not even the log can say so."""
    (tmp_path / "home").mkdir(mode=0o500)
    bridge = _bridge(tmp_path, clock)
    assert str(bridge.answer(line_of(said("Remember: use tabs"), 2)).refused).startswith("not stored: ")
    assert bridge.answer(line_of(system(), 3)).system == []
    bridge.close()


def test_a_file_in_the_place_of_the_data_folder(tmp_path: Path, clock: Clock) -> None:
    """Where no folder can be made, there is an answer, no ledger and no log, and no exception."""
    (tmp_path / "home" / ".local").mkdir(parents=True)
    (tmp_path / "home" / ".local" / "share").write_text("")
    bridge = _bridge(tmp_path, clock)
    assert str(bridge.answer(line_of(said("Remember: use tabs"), 2)).refused).startswith("not stored: ")
    assert bridge.answer(line_of(system(), 3)).system == []
    bridge.close()


def test_a_ledger_of_a_newer_release_is_read_and_not_written(tmp_path: Path, clock: Clock) -> None:
    """What a newer release has written is left alone."""
    folder = folder_of(tmp_path / "home", tmp_path / "w")
    folder.mkdir(parents=True)
    data = LedgerCreatedData(format=99, ledger="x", root="/w", key="k")
    Path(FileLog(folder).path).touch()
    FileLog(folder).append([Draft(source="memfold", time=None, data=data)])
    bridge = _bridge(tmp_path, clock)
    answer = bridge.answer(line_of(said("Remember: use tabs"), 2))
    assert "format 99" in str(answer.refused)
    assert answer.notice == "Not stored yet: a newer memfold wrote this ledger"
    assert len(events_of(tmp_path / "home", tmp_path / "w")) == 1


# -- the private log ------------------------------------------------------------------------------------------


def test_the_log_is_private_redacted_and_of_one_line(tmp_path: Path) -> None:
    """A line says when and why, for its owner alone, whatever is in the words."""
    log = PrivateLog(str(tmp_path / "data"), lambda: 0)
    log.note("bridge", "first\nsecond \x1b[31m ghp_" + "a1B2c3D4e5" * 4)
    log.note("bridge", "x" * 5000)
    path = tmp_path / "data" / "memfold.log"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    first, second = path.read_text().splitlines()
    assert first.startswith("1970-01-01T00:00:00.000Z [ERROR] bridge: first second ")
    assert "ghp_" not in first or "[REDACTED]" in first
    assert "a1B2c3" not in first
    assert "\x1b" not in first
    assert len(second) < 600


def test_what_lasts_is_said_once(tmp_path: Path) -> None:
    """The same cause again is no new line, until it was over."""
    log = PrivateLog(str(tmp_path), lambda: 0)
    for _ in range(3):
        log.note("bridge", "held")
    log.settled()
    log.note("bridge", "held")
    assert (tmp_path / "memfold.log").read_text().count("held") == 2


def test_the_log_is_rotated_once(tmp_path: Path) -> None:
    """At its limit the log becomes ``memfold.log.1``, in place of the one before."""
    path = tmp_path / "memfold.log"
    path.write_bytes(b"x" * LOG_LIMIT)
    (tmp_path / "memfold.log.1").write_text("older")
    PrivateLog(str(tmp_path), lambda: 0).note("bridge", "new")
    assert path.read_text().endswith("bridge: new\n")
    assert path.stat().st_size < 100
    assert (tmp_path / "memfold.log.1").stat().st_size == LOG_LIMIT


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_a_log_that_cannot_be_written_is_none(tmp_path: Path, kind: str) -> None:
    """Whatever stands in its place, nothing is raised and nobody waits."""
    path = tmp_path / "memfold.log"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path / "nowhere" / "at all")
    PrivateLog(str(tmp_path), lambda: 0).note("bridge", "held")
