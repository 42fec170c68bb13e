"""Laws of real folders: durable memories, workspaces apart, harmless reading (SPEC 24: I14, I21, I22)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.log import FileLog
from ledger.source import make_source
from projections.hot.view import hot_view
from projections.memory.model import MemoryState
from projections.protocol import fold
from projections.render import numbered_block
from projections.world import World
from replay.evidence import reason_lines
from replay.positions import offset_at_time, session_sources
from replay.sessions import warnings_of
from replay.state import state_at
from replay.views import frozen_text, next_block, present_block
from replay.what_if import under_policy
from replay.why import why
from tests.support.effort import examples
from tests.support.harness import FIRST, HOST
from tests.support.streams import SESSIONS, Stage, Step, histories, requests


def _log_of(stage: Stage) -> FileLog:
    log = stage.workspace().log
    assert isinstance(log, FileLog)
    return log


@settings(max_examples=examples(25))
@given(requests(max_size=10), st.data())
def test_i14_what_a_hook_has_returned_survives_any_kill(history: list[Step], data: st.DataObject) -> None:
    """Whatever byte the file ends at after a kill, each candidate that was written before it is accounted for."""
    with TemporaryDirectory() as folder:
        stage = Stage(folder)
        acknowledged: list[tuple[int, set[Any]]] = []
        for step in history:
            stage.step(step)
            acknowledged.append((stage.ledger_bytes(), set(stage.state().accounts.records)))
        path = Path(_log_of(stage).path)
        whole = path.read_bytes()
        left = data.draw(st.integers(0, len(whole)))
        path.write_bytes(whole[:left])
        world = state_at(FileLog.open(path.parent).read())
        for size, refs in acknowledged:
            if size <= left:
                assert refs <= set(world.accounts.records)


@settings(max_examples=examples(25))
@given(histories(max_size=16, links=False), st.data())
def test_i21_workspaces_do_not_touch_each_other(history: list[Step], data: st.DataObject) -> None:
    """What happens in one workspace leaves state and file of another as they would be without it."""
    with TemporaryDirectory() as both, TemporaryDirectory() as alone:
        roots = [data.draw(st.sampled_from(("/w/app", "/w/other"))) for _ in history]
        mixed, single = Stage(both), Stage(alone)
        first = {"do": "prompt", "session": "A", "workspace": "/w/other", "at": "2026-01-01T00:00:00Z"}
        mixed.step(first)
        single.step(first)
        for step, root in zip(history, roots, strict=True):
            before = mixed.all_bytes() if root == "/w/app" else {}
            mixed.step(step | {"workspace": root})
            if root == "/w/other" or step["do"] == "policy":
                single.step(step | {"workspace": root})
            after = mixed.all_bytes()
            own = _folder(mixed, "/w/app")
            assert {name for name in before if before[name] != after[name]} <= {
                name for name in after if name.startswith(own)
            }
        assert _plain(mixed.state("/w/other").memory) == _plain(single.state("/w/other").memory)


def _folder(stage: Stage, root: str) -> str:
    log = stage.workspace(root).log
    assert isinstance(log, FileLog)
    return log.directory


def _plain(memory: MemoryState) -> list[tuple[Any, ...]]:
    """What a memory holds, without the ids that each ledger gives."""
    entries = [
        (one.number, one.state, one.proposal.text, one.proposal.type, one.reinforcements, one.clock)
        for one in memory.entries.values()
    ]
    return [*entries, (memory.next_number, memory.now, [one.text for one in memory.pending.values()])]


def _everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for path in (folder, *folder.rglob("*"))
    }


def _readings(log: FileLog) -> Iterator[object]:
    """Every way to read a ledger there is."""
    events = list(log.read())
    world = state_at(log.read())
    yield from (list(log.scan()), log.size(), log.health(), list(log.reader()))
    yield from (
        present_block(world),
        next_block(world),
        numbered_block(world.memory),
        warnings_of(world.memory, world.sessions),
    )
    for session in SESSIONS:
        source = make_source(HOST, session)
        yield from (frozen_text(world, source), hot_view(world, source), state_at(log.read(), only={source}))
    yield from (offset_at_time(log.read(), FIRST), session_sources(log.read()), fold(World(), events))
    for ref, record in list(world.accounts.records.items())[:3]:
        yield from (why(log.read, record.proposal.text), reason_lines(log.read(), ref, record.reasons))
    yield from (why(log.read, "MEM-001"), why(log.read, "never said"))
    yield list(under_policy(log.read(), lambda policy: policy))


@settings(max_examples=examples(15))
@given(histories(max_size=16), st.sampled_from((b"", b'{"type":"memory.', b"\x00\xff garbage\n", b"\n\n")))
def test_i22_no_reading_changes_a_byte(history: list[Step], damage: bytes) -> None:
    """Reading a ledger, damaged or not, by any function leaves every file, folder and time as it was."""
    with TemporaryDirectory() as folder:
        stage = Stage(folder)
        stage.feed(history)
        log = _log_of(stage)
        with Path(log.path).open("ab") as file:
            file.write(damage)
        before = _everything(Path(folder))
        for _ in _readings(FileLog.open(log.directory)):
            assert _everything(Path(folder)) == before
        assert _everything(Path(folder)) == before
