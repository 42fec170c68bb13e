"""Logs against a plain list: whatever happens in whatever order, the file reads back as the list."""

from __future__ import annotations

import shutil
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ledger.codec import encode
from ledger.errors import SequenceConflict
from ledger.events import AnyEvent
from ledger.log import FileLog
from ledger.memory import MemoryLog
from ledger.reader import Cursor
from tests.support.logs import draft, event_id, new_log, titles

TITLES = st.lists(st.text(max_size=5), min_size=1, max_size=3)


class LogMachine(RuleBasedStateMachine):
    """Two writers of one file, a crash now and then, a follower, and the list that says what must be there."""

    @initialize()
    def create(self) -> None:
        """A new ledger; the twin holds the same events in memory."""
        self.folder = Path(tempfile.mkdtemp())
        self.numbers = count(10_000)
        self.writers = [new_log(self.folder / "l"), FileLog.open(self.folder / "l", durability="never")]
        self.model: list[AnyEvent] = list(self.writers[0].read())
        self.twin = MemoryLog()
        self.twin_titles: list[object] = []
        self.cursor = Cursor()
        self.followed: list[AnyEvent] = []
        self.pieces = 0
        self.torn = False

    @rule(titles=TITLES, which=st.integers(0, 1))
    def append(self, titles: list[str], which: int) -> None:
        """A batch by either writer stands behind all that was there."""
        drafts = [draft(title, event_id(next(self.numbers))) for title in titles]
        events = self.writers[which].append(drafts)
        assert [event.data for event in events] == [item.data for item in drafts]
        assert [event.data for event in self.twin.append(drafts)] == [event.data for event in events]
        self._grown_by(*events)

    @rule(title=st.text(max_size=5), off=st.integers(-2, 2))
    def append_if_expected(self, title: str, off: int) -> None:
        """``expect`` lets exactly the next seq through."""
        following = len(self.model)
        new = draft(title, event_id(next(self.numbers)))
        if off:
            with pytest.raises(SequenceConflict):
                self.writers[0].append([new], expect=following + off)
        else:
            self._grown_by(*self.writers[0].append([new], expect=following))
            self.twin.append([new])

    @precondition(lambda self: len(self.model) > 1)
    @rule(data=st.data(), which=st.integers(0, 1))
    def deliver_again(self, data: st.DataObject, which: int) -> None:
        """I9: an event delivered again is not written again."""
        event = data.draw(st.sampled_from(self.model[1:]))
        assert self.writers[which].append([draft("again", event.id)]) == ()

    @precondition(lambda self: len(self.model) > 1)
    @rule(data=st.data())
    def copy_a_line(self, data: st.DataObject) -> None:
        """A line that a foreign hand copies to the end counts once."""
        if self.torn:
            return
        self._raw(encode(data.draw(st.sampled_from(self.model))))

    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        """A writer dies within its write: any prefix of a line is left behind."""
        if self.torn:
            return
        line = encode(self.model[-1])[:-1]
        self._raw(line[: data.draw(st.integers(1, len(line) - 1))])
        self.torn = True
        self.pieces += 1

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        """A restarted process knows nothing of the last one."""
        self.writers[which].close()
        self.writers[which] = FileLog.open(self.folder / "l", durability="never")

    @rule()
    def follow(self) -> None:
        """A follower that goes on from its cursor has read each event once."""
        reader = self.writers[0].reader(self.cursor)
        self.followed.extend(reader)
        self.cursor = reader.cursor
        assert self.followed == self.model

    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        """Reading from any seq gives the rest."""
        start = data.draw(st.integers(0, len(self.model) + 1))
        assert list(self.writers[1].read(start)) == self.model[start:]

    @invariant()
    def reads_back(self) -> None:
        """The file is the list; numbers are dense; damage is counted; the twin agrees."""
        log = self.writers[0]
        assert list(log.read()) == self.model
        assert [event.seq for event in self.model] == list(range(len(self.model)))
        assert log.size() == len(self.model)
        assert log.health().damaged == self.pieces
        assert titles(self.twin.read()) == titles(self.model)

    def teardown(self) -> None:
        """Close and clean up."""
        for writer in self.writers:
            writer.close()
        shutil.rmtree(self.folder)

    def _grown_by(self, *events: AnyEvent) -> None:
        self.model.extend(events)
        self.torn = False

    def _raw(self, data: bytes) -> None:
        with Path(self.writers[0].path).open("ab") as file:
            file.write(data)


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
