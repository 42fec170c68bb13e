"""The live state of a log: read once, read on, begun anew where what was read doesn't hold any more (SPEC 1.2)."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from ledger.errors import LedgerNotFound, StorageError
from ledger.events import AnyEvent, Draft, SessionLinkedData, SessionStartedData
from ledger.log import LOG_NAME, FileLog
from ledger.runs import Run
from projections.facts import Judged, facts_key
from projections.hot.calls import BlockCalls, block_calls
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState
from projections.policy import Context
from projections.protocol import fold
from projections.world import World
from replay.blocklines import path_of
from replay.calls import CALLS_NAME
from replay.kept import KeptFacts, facts_path, keep_all
from replay.live import Live
from replay.state import state_at
from replay.stored import Held, take_in
from tests.support.logs import TIME, draft, new_log


def start(session: str) -> Draft:
    """A session begins."""
    return Draft(source=f"test/{session}", time=TIME, data=SessionStartedData(session))


def link(child: str) -> Draft:
    """A session turns out to be a sub-agent's, as its parent tells."""
    return Draft(source="test/P", time=TIME, data=SessionLinkedData(child, "P"))


def texts(memory: MemoryState) -> list[str]:
    """What is remembered, in ledger order."""
    return [entry.proposal.text for entry in memory.entries.values()]


class Passes:
    """Counts the events that each pass of a fold takes in."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sizes: list[int] = []

        def counted(held: Held, world: World, events: Iterable[AnyEvent | Run]) -> None:
            taken = list(events)
            self.sizes.append(len(taken))
            take_in(held, world, taken)

        monkeypatch.setattr("replay.live.take_in", counted)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Passes:
    """The passes of this test."""
    return Passes(monkeypatch)


def test_each_event_is_read_once(tmp_path: Path, passes: Passes) -> None:
    """A question costs the new events; without any, nothing is folded."""
    log = new_log(tmp_path / "l")
    live = Live(FileLog.open(log.directory))
    log.append([start("A"), draft("one")])
    assert texts(live.memory()) == ["one"]
    log.append([draft("two")])
    live.world("test/new")
    live.world("test/new")
    assert texts(live.memory()) == ["one", "two"]
    assert passes.sizes == [3, 1]


def test_a_session_that_was_passed_over_costs_one_fold(tmp_path: Path, passes: Passes) -> None:
    """A session without events is only noted; one that has some is folded from the start, once."""
    log = new_log(tmp_path / "l")
    live = Live(log)
    log.append([start("A")])
    live.world("test/B")
    log.append([start("B")])
    assert "test/B" in live.world("test/B").prompts.epochs
    assert "test/A" in live.world("test/A").prompts.epochs
    live.world("test/A")
    assert passes.sizes == [2, 1, 3]


def test_a_sub_agent_is_known_by_what_others_said(tmp_path: Path) -> None:
    """A session that is only named in a link was passed over too."""
    log = new_log(tmp_path / "l")
    live = Live(log)
    log.append([link("C")])
    live.world()
    assert live.world("test/C") == state_at(log.read(), only={"test/C"})
    assert live.world().sessions.subagents == {"test/C": True}


def test_another_file_is_read_from_its_start(tmp_path: Path) -> None:
    """A log that was replaced, cut or taken away doesn't leave what it said."""
    log, other = new_log(tmp_path / "l"), new_log(tmp_path / "other")
    log.append([draft("one")])
    other.append([draft("other"), draft("more")])
    live, path = Live(FileLog.open(log.directory)), Path(log.path)
    assert texts(live.memory()) == ["one"]
    (tmp_path / "other" / LOG_NAME).rename(path)
    assert texts(live.memory()) == ["other", "more"]
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert texts(live.memory()) == ["other"]
    path.unlink()
    with pytest.raises(LedgerNotFound):
        live.memory()
    new_log(tmp_path / "l").append([draft("new")])
    assert texts(live.memory()) == ["new"]


def test_a_file_written_over_is_read_from_its_start(tmp_path: Path) -> None:
    """In its place, as long as before or longer: what stands before the cursor is another text."""
    log, other = new_log(tmp_path / "l"), new_log(tmp_path / "other")
    log.append([draft("one")])
    live, path = Live(log), Path(log.path)
    assert texts(live.memory()) == ["one"]
    other.append([draft("two")])
    for more in ([], [draft("more")]):
        other.append(more)
        inode = path.stat().st_ino
        path.write_bytes(Path(other.path).read_bytes())
        assert path.stat().st_ino == inode
        assert live.world() == state_at(other.read(), only=set())
    FileLog.open(log.directory).append([draft("last")])
    assert texts(live.memory()) == ["two", "more", "last"]


def test_a_file_replaced_behind_the_first_look_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a cursor of the old file found in the new one counts for nothing."""
    log, other = new_log(tmp_path / "l"), new_log(tmp_path / "other")
    log.append([draft("one")])
    other.append([draft("other"), draft("more")])
    live = Live(log)
    assert texts(live.memory()) == ["one"]
    log.append([draft("two")])

    def replaced(held: Held, world: World, events: Iterable[AnyEvent | Run]) -> None:
        monkeypatch.undo()
        (tmp_path / "other" / LOG_NAME).rename(log.path)
        take_in(held, world, events)

    monkeypatch.setattr("replay.live.take_in", replaced)
    assert texts(live.memory()) == ["other", "more"]


def test_a_pass_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a pass is forgotten; the next question begins from the start."""
    log = new_log(tmp_path / "l")
    log.append([draft("one")])
    live = Live(log)
    live.memory()
    log.append([draft("two"), draft("three")])
    step = WorkspaceMemory.step

    def failing(memory: WorkspaceMemory, state: MemoryState, event: AnyEvent) -> None:
        step(memory, state, event)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(WorkspaceMemory, "step", failing)
        with pytest.raises(KeyboardInterrupt):
            live.memory()
    assert texts(live.memory()) == ["one", "two", "three"]


def test_what_the_system_refuses_is_said(tmp_path: Path) -> None:
    """A folder that can't be looked into is no missing ledger."""
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(LedgerNotFound):
        Live(FileLog(tmp_path / "file")).memory()
    with pytest.raises(StorageError):
        Live(FileLog(tmp_path / "loop")).memory()


def test_facts_are_read_on_too(tmp_path: Path) -> None:
    """A second reading of the kept facts gives those that were added behind the first."""
    log = new_log(tmp_path / "l")
    log.append([draft("one")])
    assert keep_all(log.directory, log.read()) == 1
    known = KeptFacts(log.directory)
    context = fold(WorkspaceMemory(known), log.read()).context
    assert known.end == Path(facts_path(log.directory)).stat().st_size
    log.append([draft("two")])
    assert keep_all(log.directory, log.read()) == 1
    keys = [facts_key(event, context) for event in log.read() if isinstance(event, Judged)]
    behind = KeptFacts(log.directory, known.end)
    assert [behind.get(key) is not None for key in keys] == [False, True]


@pytest.mark.parametrize("is_replaced", [False, True])
def test_calls_are_kept_of_the_log_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
) -> None:
    """What was read of one that a purge has replaced meanwhile is written nowhere: it may hold what was purged."""
    from bench.ledgers import write_ledger

    write_ledger(tmp_path / "l", 1500)
    log = FileLog.open(tmp_path / "l")

    def read_and_lose(runs: Iterable[Iterable[AnyEvent]], context: Context) -> BlockCalls:
        if is_replaced:
            shutil.copy(log.path, f"{log.path}.new")
            Path(f"{log.path}.new").rename(log.path)
        return block_calls(runs, context)

    monkeypatch.setattr("replay.calls.block_calls", read_and_lose)
    live = Live(log)
    live.world()
    live.keep()
    assert Path(path_of(log.directory, CALLS_NAME)).exists() != is_replaced
