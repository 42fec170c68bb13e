"""Checkpoints change the time that an answer takes and nothing else (DESIGN 6, laws 2 and 8; SPEC 24: I2)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.ids import MonotonicIds
from ledger.log import FileLog
from ledger.repair import repair
from ledger.source import make_source
from projections.histories import HistoryState, MemoryHistories
from projections.histories import Step as HistoryStep
from projections.memory.model import Ref
from projections.prompts import RenderedPrompts
from projections.protocol import fold
from projections.render import workspace_block
from replay import checkpoints, rows
from replay.checkpoints import folder_of
from replay.history import with_history
from replay.kept import keep_all
from replay.live import Live
from replay.positions import session_sources
from replay.starting import with_blocks, with_names
from replay.state import state_at
from tests.support.effort import examples
from tests.support.harness import HOST
from tests.support.streams import SESSIONS, Stage, Step, histories

_SOURCES = tuple(make_source(HOST, session) for session in SESSIONS)
_BEGIN: Step = {"do": "session_start", "session": "A", "at": "2026-01-01T00:00:00Z"}
_ODD_ENDS = (b"", b"", b"\n", b'{"type":"memory.', b"\x00garbage\n")
_HARMS = ("none", "none", "flip", "cut", "delete", "delete one", "age", "foreign", "version", "old log")


@contextmanager
def _small_parts(most: int, newest: int) -> Iterator[None]:
    """An archive is written after so many changes, and so many places of a cohort are at hand."""
    usual = checkpoints._MOST_CHANGES, rows.NEWEST
    checkpoints._MOST_CHANGES, rows.NEWEST = most, newest
    try:
        yield
    finally:
        checkpoints._MOST_CHANGES, rows.NEWEST = usual


def _harm(data: st.DataObject, log: FileLog, kind: str, foreign: Path) -> None:
    """Something happens to the checkpoints of a log, or to what stands before them."""
    folder = Path(folder_of(log.directory))
    files = sorted(folder.iterdir()) if folder.exists() else []
    if kind == "delete":
        shutil.rmtree(folder, ignore_errors=True)
    elif kind == "old log":
        repair(
            log.directory, time=None, new_id=MonotonicIds()
        )  # whoever does so removes what is derived, but was killed
    elif not files:
        return
    elif kind == "age":
        files[-1].unlink()
    elif kind == "foreign":
        _take_over(foreign, folder, files)
    else:
        path = files[data.draw(st.integers(0, 9)) % len(files)]
        content = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, 1 << 20)) % max(1, len(content))
        if not content:
            return
        if kind == "flip":
            content[place] ^= 1 << data.draw(st.integers(0, 7))
            path.write_bytes(content)
        elif kind == "cut":
            path.write_bytes(content[:place])
        elif kind == "version":
            path.rename(path.with_name(path.name.replace("world-3", "world-4")))
        else:
            path.unlink()


def _take_over(foreign: Path, folder: Path, files: list[Path]) -> None:
    """Another ledger's checkpoints under the names of ours."""
    other = Stage(str(foreign))
    for step in (_BEGIN, {"do": "user_message", "session": "A", "message": "m", "text": "Remember: use tabs"}):
        other.step(step)
    log = other.workspace().log
    assert isinstance(log, FileLog)
    live = Live(FileLog.open(log.directory))
    live.world()
    live.keep(every=0)
    for theirs in Path(folder_of(log.directory)).iterdir():
        for ours in files:
            if ours.suffix == theirs.suffix:
                shutil.copy(theirs, ours)
    assert folder.exists()


def _check(log: FileLog, data: st.DataObject) -> None:
    """Whoever starts now is told what a fold of the whole log tells."""
    wanted = frozenset(data.draw(st.lists(st.sampled_from(_SOURCES), max_size=2)))
    whole = fold(RenderedPrompts(wanted), log.read())
    block = workspace_block(whole.memory)
    assert with_blocks(log, wanted, lambda state: workspace_block(state.memory)) == block
    assert with_blocks(log, wanted, lambda state: state == whole)
    told = fold(MemoryHistories(), log.read())
    assert with_history(log, None, lambda state: state == told)
    if refs := list(told.accounts.records):
        ref = data.draw(st.sampled_from(refs))
        assert with_history(log, None, partial(_steps, ref)) == told.steps[ref]
    names = session_sources(log.read())
    assert with_names(log, lambda found: list(found.items())) == list(names.items())
    assert with_names(log, lambda found: {name: found[name] for name in names}) == names


def _steps(ref: Ref, state: HistoryState) -> tuple[HistoryStep, ...]:
    return state.steps[ref]


@settings(max_examples=examples(40))
@given(histories(max_size=20), st.data())
def test_i2_whatever_checkpoints_there_are_answers_are_those_of_the_whole_log(
    history: list[Step], data: st.DataObject
) -> None:
    """Taken at any time by several writers, whole or as changes; deleted, damaged, aged, foreign, of other versions."""
    parts = _small_parts(data.draw(st.integers(0, 60)), data.draw(st.sampled_from((0, 1, 2, rows.NEWEST))))
    with TemporaryDirectory() as folder, TemporaryDirectory() as foreign, parts:
        stage = Stage(folder)
        lives: list[Live] = []
        for step in [_BEGIN, *history]:
            writer = Stage(folder) if data.draw(st.booleans()) else stage
            writer.step(step)
            log = writer.workspace().log
            assert isinstance(log, FileLog)
            with open(log.path, "ab") as file:  # noqa: PTH123 - as text that another process leaves
                file.write(data.draw(st.sampled_from(_ODD_ENDS)))
            if data.draw(st.integers(0, 3)) == 0:
                _harm(data, log, data.draw(st.sampled_from(_HARMS)), Path(foreign))
            if len(lives) < 2 or data.draw(st.booleans()):
                lives = [*lives[-1:], Live(FileLog.open(log.directory))]
            live = lives[data.draw(st.integers(0, 1)) % len(lives)]
            for source in data.draw(st.lists(st.sampled_from((None, *_SOURCES)), max_size=2)):
                assert live.world(source) == state_at(log.read(), only=live.sources)
            if data.draw(st.booleans()):
                live.world()
                live.keep(every=0)
                kept = Path(folder_of(log.directory))
                assert {path.suffix for path in kept.iterdir()} == {".json", ".table"}
            if data.draw(st.integers(0, 3)) == 0:
                keep_all(log.directory, log.read())
            _check(log, data)
