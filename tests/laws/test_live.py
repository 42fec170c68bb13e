"""A live state is what the whole log means, whoever appends and whoever is asked about (SPEC 24: I2)."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.log import FileLog
from ledger.source import make_source
from replay.kept import keep_all
from replay.live import Live
from replay.state import state_at
from tests.support.effort import examples
from tests.support.harness import HOST
from tests.support.streams import SESSIONS, Stage, Step, histories

_SOURCES = tuple(make_source(HOST, session) for session in SESSIONS)
_ODD_ENDS = (b"", b"", b"\n", b'{"type":"memory.', b"\x00garbage\n")


@settings(max_examples=examples(40))
@given(histories(max_size=20), st.data())
def test_i2_a_live_state_is_the_state_of_the_whole_log(history: list[Step], data: st.DataObject) -> None:
    """IDR-04: questions between appends of several writers, about any sessions, get what a fold of all gives.

    Now and then somebody puts another text in the place of the old one.
    """
    with TemporaryDirectory() as folder:
        stage = Stage(folder)
        live: Live | None = None
        asked: set[str] = set()
        for step in [{"do": "session_start", "session": "A", "at": "2026-01-01T00:00:00Z"}, *history]:
            writer = Stage(folder) if data.draw(st.booleans()) else stage
            writer.step(step)
            log = writer.workspace().log
            assert isinstance(log, FileLog)
            with open(log.path, "ab") as file:  # noqa: PTH123 - as text that another process leaves
                file.write(data.draw(st.sampled_from(_ODD_ENDS)))
            live = live or Live(FileLog.open(log.directory))
            if data.draw(st.integers(0, 7)) == 0:
                _write_over(log.path)
            for source in data.draw(st.lists(st.sampled_from((None, *_SOURCES)), max_size=2)):
                asked |= set() if source is None else {source}
                assert live.world(source) == state_at(log.read(), only=asked)
            if data.draw(st.booleans()):
                keep_all(log.directory, log.read())
        assert live is not None
        for source in _SOURCES:
            asked.add(source)
            assert live.world(source) == state_at(log.read(), only=asked)
        assert live.memory() == live.world().memory


def _write_over(path: str) -> None:
    """The same file gets its lines in another order; it doesn't become shorter."""
    first, *lines = Path(path).read_bytes().splitlines()
    Path(path).write_bytes(b"\n".join([first, *lines[-1:], *lines[:-1], b""]))
