"""Workspace memory on disk against a plain model: what was asked is there, what was deleted is not."""

from __future__ import annotations

import shutil
import tempfile
from copy import deepcopy
from itertools import accumulate
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ledger.log import FileLog
from ledger.source import make_source
from projections.memory.model import MemoryState, Proposal, Ref
from projections.world import World, WorldState
from replay.state import state_at
from tests.support.effort import examples
from tests.support.harness import HOST
from tests.support.streams import POLICIES, Stage, Step, summary_of
from tests.support.watch import Watch, assert_block_keeps_limits

TEXTS = tuple(f"Always keep fact {number} of the house in mind" for number in range(6))
SESSIONS = ("A", "B", "C")
CHILD = "C"

texts = st.sampled_from(TEXTS)
sessions = st.sampled_from(SESSIONS)


class Asked:
    """The model: who asked for which text, what was deleted after it, which sessions are sub-agents."""

    def __init__(self) -> None:
        self.askers: dict[str, set[str]] = {}
        self.deleted: set[str] = set()
        self.messages: dict[str, tuple[str, str]] = {}
        self.linked: set[str] = set()

    def ask(self, session: str, message: str, text: str) -> None:
        """A message counts once, however often it comes."""
        if message not in self.messages:
            self.messages[message] = (session, text)
            self.askers.setdefault(text, set()).add(session)
            if session not in self.linked:
                self.deleted.discard(text)

    def delete(self, text: str) -> None:
        """Whoever asked for it before, it is gone."""
        self.askers.pop(text, None)
        self.deleted.add(text)

    def must_live(self) -> set[str]:
        """Texts that somebody other than a sub-agent asked for and nobody has deleted since."""
        return {text for text, askers in self.askers.items() if askers - self.linked}

    def must_not_live(self) -> set[str]:
        """Texts that were deleted and that nobody has asked for since."""
        return {text for text in self.deleted if text not in self.askers}


class MemoryMachine(RuleBasedStateMachine):
    """Sessions that ask, compact, end and die; people who delete and configure; a disk that loses the last write."""

    @initialize()
    def create(self) -> None:
        """An empty data folder."""
        self.folder = tempfile.mkdtemp()
        self.stage = Stage(self.folder)
        self.model = Asked()
        self.earlier = deepcopy(self.model)
        self.batch: list[tuple[str, str, str]] = []
        self.size = self.stage.workspace().log.size() and self.stage.ledger_bytes()
        self.count = 0
        self._refold()

    def teardown(self) -> None:
        """Nothing stays behind."""
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    @rule(session=sessions, text=texts)
    def ask(self, session: str, text: str) -> None:
        """A user asks to remember something."""
        self.count += 1
        self._asked(session, f"m{self.count}", text)

    @precondition(lambda self: self.model.messages)
    @rule(data=st.data())
    def deliver_again(self, data: st.DataObject) -> None:
        """A host reports a message for a second time."""
        message = data.draw(st.sampled_from(sorted(self.model.messages)))
        session, text = self.model.messages[message]
        self._asked(session, message, text)

    @rule(first=texts, second=texts)
    def ask_in_one_batch(self, first: str, second: str) -> None:
        """Two sessions' messages reach the ledger in one write."""
        self._begin()
        workspace = self.stage.workspace()
        drafts = []
        for session, text in (("A", first), ("B", second)):
            self.count += 1
            message = f"m{self.count}"
            drafts += workspace.capture.user_message(session, message, f"Remember: {text}", time=None)
            self.model.ask(session, message, text)
            self.batch.append((session, message, text))
        workspace.record(drafts)

    @rule(session=sessions)
    def start(self, session: str) -> None:
        """A session's first prompt, or its resumption."""
        self._do({"do": "session_start", "session": session})

    @rule(session=sessions, proposed=st.lists(texts, max_size=3), command=st.sampled_from(("REINFORCE", "REPLACE", "")))
    def compact(self, session: str, proposed: list[str], command: str) -> None:
        """A numbered list and the summary that answers it."""
        self._do({"do": "compaction_started", "session": session})
        lines = [f"- [feedback] {text}" for text in proposed]
        commands = {"REINFORCE": ["REINFORCE [M1]"], "REPLACE": [f"REPLACE [M1] [feedback] {TEXTS[0]}"], "": []}
        self._do({"do": "compacted", "session": session, "summary": summary_of([*commands[command], *lines])})

    @rule(session=sessions)
    def end(self, session: str) -> None:
        """The host deletes a session: what it left is decided first."""
        self._do({"do": "session_deleted", "session": session})

    @rule(text=texts)
    def delete(self, text: str) -> None:
        """A person deletes a memory, active or waiting, by its text."""
        refs = _live(self.stage.state().memory, text)
        if refs:
            self._begin()
            workspace = self.stage.workspace()
            workspace.record(workspace.capture.memory_deleted(None, target=refs[0], origin="cli", time=None))
            self.model.delete(text)

    @rule()
    def link(self) -> None:
        """One session turns out to be a sub-agent's."""
        self._begin()
        self.model.linked.add(CHILD)
        self.stage.step({"do": "session_parent", "session": CHILD, "parent": "A"})

    @rule(config=st.sampled_from(POLICIES))
    def configure(self, config: dict[str, Any]) -> None:
        """Other caps, budgets and languages from now on."""
        self.stage.step({"do": "policy", "config": config})

    @rule()
    def reopen(self) -> None:
        """Every process ends; what comes next is read from disk."""
        self.stage.step({"do": "restart"})

    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        """The last write reached the disk up to some byte only; without its newline alone it is whole."""
        path = self._path()
        whole = path.read_bytes()
        if self.size == len(whole):
            return
        left = data.draw(st.integers(self.size, len(whole)))
        path.write_bytes(whole[:left])
        if left < len(whole) - 1:
            self.model = deepcopy(self.earlier)
            ends = list(accumulate(map(len, whole[self.size :].splitlines(keepends=True)), initial=self.size))
            for request, end in zip(reversed(self.batch), reversed(ends), strict=False):
                if left >= end - 1:  # its line is whole, though the write wasn't
                    self.model.ask(*request)
        self.stage.step({"do": "restart"})
        self.size = left
        self._refold()

    @invariant()
    def asked_and_deleted(self) -> None:
        """What was asked for lives, what was deleted doesn't, and what a message proposed is accounted for."""
        world = self._fold_on()
        for text in self.model.must_live():
            assert _live(world.memory, text)
        for text in self.model.must_not_live():
            assert not _live(world.memory, text)
        accounted = {record.proposal.message for record in world.accounts.records.values()}
        assert set(self.model.messages) <= accounted
        for record in world.accounts.records.values():
            if record.proposal.session in {make_source(HOST, one) for one in self.model.linked}:
                assert record.state not in {"pending", "promoted", "absorbed"}

    @invariant()
    def folded_on_equals_folded_anew(self) -> None:
        """The state that grew event by event is the state that the file gives from its first byte."""
        world = self._fold_on()
        assert world == state_at(FileLog.open(self._path().parent).read())
        for session in SESSIONS:
            assert_block_keeps_limits(world, make_source(HOST, session))

    def _asked(self, session: str, message: str, text: str) -> None:
        self._begin()
        self.model.ask(session, message, text)
        self.stage.step({"do": "user_message", "session": session, "message": message, "text": f"Remember: {text}"})

    def _do(self, step: Step) -> None:
        self._begin()
        self.stage.step(step)

    def _begin(self) -> None:
        """Note what a lost write leaves: the file and the model as they are now."""
        self.size = self._path().stat().st_size
        self.earlier = deepcopy(self.model)
        self.batch = []

    def _path(self) -> Path:
        log = self.stage.workspace().log
        assert isinstance(log, FileLog)
        return Path(log.path)

    def _refold(self) -> None:
        self.projection, self.watch = World(), Watch()
        self.world = self.projection.initial()
        self.known = 0

    def _fold_on(self) -> WorldState:
        """Step through what has been written since; the watch asserts conservation, ids and caps."""
        events = self.stage.events()
        for event in events[self.known :]:
            self.projection.step(self.world, event)
            self.watch.see(self.world, event)
        self.known = len(events)
        return self.world


def _live(memory: MemoryState, text: str) -> list[Ref]:
    """The active memory with a text, then the requests for it that wait."""
    wordings: dict[Ref, Proposal] = {
        ref: entry.proposal for ref, entry in memory.entries.items() if entry.state == "promoted"
    }
    wordings |= memory.pending
    return [ref for ref, wording in wordings.items() if wording.text == text]


TestMemoryMachine = MemoryMachine.TestCase
TestMemoryMachine.settings = settings(max_examples=examples(40), stateful_step_count=25)
