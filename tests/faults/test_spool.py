"""What can't be stored waits on disk: whatever dies at whatever moment, each event is in the log in the end, once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from ledger.errors import LockTimeout
from ledger.events import (
    Draft,
    MemoryRequestedData,
    SessionLinked,
    SessionLinkedData,
    SessionStartedData,
    ToolCompletedData,
)
from ledger.locks import FlockLock
from ledger.log import LOCK_SUFFIX
from memfold.bridge import ledger as module
from memfold.bridge.ledger import Ledger
from memfold.bridge.spool import SPOOL, is_spool_file, spooled
from memfold.purge.purge import Purge
from memfold.workspace import Workspace
from projections.accounting import Record
from tests.faults.test_bridge_ledger import Clock, _ledger, added, called, stored
from tests.faults.test_every_call_ledger import sound
from tests.support.broken_disk import Call, broken_disk, dead, full, read_only
from tests.support.logs import titles
from tests.support.sweep import Case, sweep

WAITING = [added("a"), added("b"), called("1")]


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


def _files(folder: Path) -> list[Path]:
    return sorted((folder / "l" / SPOOL).glob("*"))


def _left_behind(folder: Path, clock: Clock, *drafts: Draft) -> Ledger:
    """A ledger under a lock that another process holds, and what was to be written to it."""
    begun = _ledger(folder, clock)
    begun.record([added("first")])
    begun.close()
    waiting = _ledger(folder, clock)
    with FlockLock(str(folder / "l" / f"events.jsonl{LOCK_SUFFIX}"), 1).hold():
        for draft in drafts:
            waiting.record([draft], urgent=True)
    waiting.close()
    return waiting


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a lock."""
    monkeypatch.setattr(module, "LOCK_PATIENCE", 0.0)


def test_what_waits_is_stored_by_the_next_process(tmp_path: Path, clock: Clock) -> None:
    """Memories of a process that was killed come first, in order; its tool calls are gone with it."""
    _left_behind(tmp_path, clock, *WAITING)
    assert spooled(str(tmp_path / "l")) == 2
    _ledger(tmp_path, clock).record([added("c")])
    assert titles(stored(tmp_path)) == ["first", "a", "b", "c"]
    assert not any(isinstance(event.data, ToolCompletedData) for event in stored(tmp_path) if hasattr(event, "data"))
    assert (_files(tmp_path), spooled(str(tmp_path / "l"))) == ([], 0)


def test_two_that_live_store_it_once(tmp_path: Path, clock: Clock) -> None:
    """Another process may store what waits in one that lives: the id tells that it is one and the same."""
    waiting = _left_behind(tmp_path, clock, *WAITING)
    _ledger(tmp_path, clock).record([added("c")])
    waiting.record([added("d")], urgent=True)
    assert titles(stored(tmp_path)) == ["first", "a", "b", "c", "d"]
    assert not waiting.waits


def test_what_came_while_another_took_it_stays(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process keeps more while another stores what it had kept: that one removes only what it has stored."""
    waiting = _left_behind(tmp_path, clock, added("a"))
    taker = _ledger(tmp_path, clock)
    record = Workspace.record

    def meanwhile(self: Workspace, drafts: Sequence[Draft], **options: object) -> object:
        monkeypatch.setattr(Workspace, "record", _refuse)
        waiting.record([added("b")], urgent=True)
        monkeypatch.setattr(Workspace, "record", record)
        return record(self, drafts)

    monkeypatch.setattr(Workspace, "record", meanwhile)
    taker.record([added("c")])
    assert spooled(str(tmp_path / "l")) == 2
    _ledger(tmp_path, clock).record([added("d")])
    assert titles(stored(tmp_path)) == ["first", "a", "c", "b", "d"]


def _refuse(*_: object, **__: object) -> None:
    raise LockTimeout("x", 0.0)


def test_a_start_is_not_kept_but_a_parent_is(tmp_path: Path, clock: Clock) -> None:
    """Nobody was given a block for a start that waits; that a session is a sub-agent's must not be lost (SPEC 3.4)."""
    started = Draft(source="opencode/S", time=None, data=SessionStartedData(session="S"))
    child = Draft(source="opencode/C", time=None, data=SessionStartedData(session="C", parent="S"))
    _left_behind(tmp_path, clock, started, child)
    _ledger(tmp_path, clock).record([added("c")])
    kinds = [type(event).__name__ for event in stored(tmp_path)]
    assert "SessionStarted" not in kinds
    (link,) = (event.data for event in stored(tmp_path) if isinstance(event, SessionLinked))
    assert link == SessionLinkedData("C", "S")


def test_a_torn_or_foreign_file_disturbs_nobody(tmp_path: Path, clock: Clock) -> None:
    """Of a file that a kill has cut, whole lines count; what is no file of events is passed over."""
    _left_behind(tmp_path, clock, added("a"), added("b"))
    (path,) = _files(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    (path.parent / "0.jsonl").write_bytes(b"\xff\x00 nonsense\n")
    (path.parent / "1.jsonl").mkdir()
    _ledger(tmp_path, clock).record([added("c")])
    assert titles(stored(tmp_path)) == ["first", "a", "c"]


@pytest.mark.parametrize("trouble", [full, read_only, dead])
def test_a_spool_that_cannot_be_written(tmp_path: Path, clock: Clock, trouble: object) -> None:
    """Then the process alone keeps what waits, as long as it lives."""
    assert callable(trouble)
    ledger = _ledger(tmp_path, clock)
    ledger.record([added("a")])
    with broken_disk(trouble(1)):
        ledger.record([added("b")])
        assert ledger.waits
    ledger.record([added("c")], urgent=True)
    assert titles(stored(tmp_path)) == ["a", "b", "c"]
    assert _files(tmp_path) == []


def _store_until(folder: Path, number: int) -> bool:
    """Store what waits in a process that dies before its n-th call that changes something; whether it came so far."""
    left = number

    def die(call: Call) -> None:
        nonlocal left
        left -= call.changes or call.grows
        if not left:
            os._exit(9)

    if (child := os.fork()) == 0:
        code = 1
        try:
            with broken_disk(die):
                _ledger(folder, Clock()).record([added("c")])
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


def test_a_kill_at_any_call(tmp_path: Path, clock: Clock) -> None:
    """Whoever stores what waits may die at any moment: the next one stores it, and nothing stands there twice."""
    origin = tmp_path / "origin"
    _left_behind(origin, clock, *WAITING)
    number, died = 0, True
    while died:
        number += 1
        folder = tmp_path / str(number)
        shutil.copytree(origin, folder)
        died = _store_until(folder, number)
        _ledger(folder, clock).record([added("d")])
        found = titles(stored(folder))
        assert found in (["first", "a", "b", "c", "d"], ["first", "a", "b", "d"]), number
        assert _files(folder) == []
        shutil.rmtree(folder)
    assert number > 5


@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.torture)], ids=["some", "all"])
def test_each_call_fails(tmp_path: Path, clock: Clock, *, thorough: bool) -> None:
    """Trouble at any call, and in any way, loses nothing of what waits."""
    base = tmp_path / "base"
    _left_behind(base, clock, *WAITING)

    def act() -> Ledger:
        ledger = _ledger(base, clock)
        ledger.record([added("c")])
        ledger.close()
        return ledger

    def require(_done: bool, said: object) -> None:
        assert isinstance(said, Ledger)
        said.finish()
        said.close()
        # What the disk hid stays on the spool, and whoever appends next takes it.
        later = _ledger(base, clock)
        later.record([added("d")])
        later.close()
        found = sound(base / "l")
        assert found[0] == "first"
        assert [title for title in found if title in {"a", "b"}] == ["a", "b"]
        assert set(found) == {"first", "a", "b", "c", "d"}  # each attempt adds one c and one d

    assert sweep(Case(base, act, require), thorough=thorough, most=60) > 20


def test_a_patient_call_keeps_its_events(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody waits for the events of a call: nothing of it is on the spool while it is tried again and again."""
    _left_behind(tmp_path, clock, added("a"))
    ledger = _ledger(tmp_path, clock)
    record, seen = Workspace.record, list[int]()

    def late(self: Workspace, drafts: Sequence[Draft], **_: object) -> object:
        seen.append(spooled(str(tmp_path / "l")))
        if len(seen) < 3:
            raise LockTimeout("x", 0.0)
        return record(self, drafts)

    monkeypatch.setattr(Workspace, "record", late)
    ledger.record([added("mine")], patience=5)
    assert seen == [1, 1, 1]
    assert titles(ledger.latest) == ["a", "mine"]
    assert not ledger.waits


def test_what_cannot_be_read_now_is_left_for_later(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that refuses a file of the spool once costs it nothing: it isn't removed with what was stored."""
    _left_behind(tmp_path, clock, added("a"))
    ledger = _ledger(tmp_path, clock)

    def refused(*_: object) -> object:
        raise OSError(5, "no such luck")

    with monkeypatch.context() as patch:
        patch.setattr("memfold.bridge.spool.open_own", refused)
        ledger.record([added("b")])
    assert titles(stored(tmp_path))[-1] == "b"
    assert len(_files(tmp_path)) == 1
    ledger.record([added("c")])
    assert titles(stored(tmp_path))[-2:] == ["a", "c"]
    assert _files(tmp_path) == []


SAID = "the safe opens with seven nine one"


def _purge(folder: Path) -> None:
    """Purge the text as a person does, in the ledger alone."""
    directory, data = str(folder / "l"), str(folder / "data")
    purge = Purge(directory, data=data, key="k", named=lambda _: (), texts=(SAID,), containing="purge", time=LATER)
    preview = purge.look()
    assert preview.does_anything
    purge.run(preview)


LATER = "2100-01-01T00:00:00.000Z"
"""When the purge is; what a client says later than that is said anew."""


def _said(number: int, text: str, time: str | None = None) -> Draft:
    return Draft(source="opencode/S", time=time, data=MemoryRequestedData(message=f"m{number}", text=text))


@pytest.mark.parametrize("spool", [True, False])
def test_what_waits_in_a_process_brings_no_purged_text_back(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, *, spool: bool
) -> None:
    """Whether the spool could be written or not: other requests that waited are stored, once, and a later one too."""
    begun = _ledger(tmp_path, clock)
    begun.record([_said(0, f"Remember: {SAID}")])
    living = _ledger(tmp_path, clock)
    waiting = [
        _said(1, f"Remember: {SAID}" + ("\nRemember: ropes are blue" if spool else "")),
        _said(2, "Remember: eels sleep in the mud"),
        Draft(source="opencode/S", time=None, data=ToolCompletedData(call="1", tool="bash", output=f"> {SAID}")),
    ]
    with FlockLock(str(tmp_path / "l" / f"events.jsonl{LOCK_SUFFIX}"), 1).hold(), monkeypatch.context() as patch:
        if not spool:
            patch.setattr("memfold.bridge.spool.open_private_new", _refuse)
        living.record(waiting, urgent=True)
    assert spooled(str(tmp_path / "l")) == (2 if spool else 0)
    _purge(tmp_path)
    living.record([_said(3, "Remember: oil the crane on Mondays")], urgent=True)
    assert not living.waits
    held = [path for path in tmp_path.rglob("*") if path.is_file() and SAID.encode() in path.read_bytes()]
    assert held == []
    texts = [record.proposal.text for record in _records(living)]
    assert texts == ["[erased]", *(["[erased]", "ropes are blue"] if spool else []), *KEPT]
    living.record([_said(4, f"Remember: {SAID}", "2101-01-01T00:00:00.000Z")], urgent=True)
    assert [record.proposal.text for record in _records(living)][-1] == SAID


KEPT = ("eels sleep in the mud", "oil the crane on Mondays")


def _records(ledger: Ledger) -> list[Record]:
    world = ledger.world()
    assert world is not None
    return list(world.accounts.records.values())


def test_what_a_dead_process_kept_before_a_purge(tmp_path: Path, clock: Clock) -> None:
    """A file that comes back to the spool, as file synchronisation brings one: what stands in the log is erased."""
    _left_behind(tmp_path, clock, _said(1, f"Remember: {SAID}\nRemember: ropes are blue"))
    (path,) = _files(tmp_path)
    data = path.read_bytes()
    _purge(tmp_path)
    assert _files(tmp_path) == []
    path.write_bytes(data)
    later = _ledger(tmp_path, clock)
    later.record([added("c")])
    assert _files(tmp_path) == []
    assert [record.proposal.text for record in _records(later)] == ["first", "[erased]", "ropes are blue", "c"]


def test_which_files_of_the_spool_are_in_use(tmp_path: Path, clock: Clock) -> None:
    """Those that hold events, and those of which nobody can tell; no other one is."""
    _left_behind(tmp_path, clock, added("a"))
    (path,) = _files(tmp_path)
    assert is_spool_file(str(path))
    assert not is_spool_file(str(path.with_suffix(".gone")))
    assert not is_spool_file(str(path.parent / "gone.jsonl"))
    path.with_name("0.jsonl").write_bytes(b"nonsense\n")
    assert not is_spool_file(str(path.with_name("0.jsonl")))
    path.with_name("1.jsonl").mkdir()
    assert is_spool_file(str(path.with_name("1.jsonl")))
