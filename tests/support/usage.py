"""A session told step by step, for tests of what it cost; a minute passes with each step."""

from __future__ import annotations

from typing import Literal

from ledger.events import Data, Delivery, Draft, LedgerCreatedData, PromptRenderedData, SessionMeasuredData
from ledger.log import Log
from ledger.memory import MemoryLog
from ledger.source import make_source
from ledger.times import format_time, parse_time
from memfold.workspace import Workspace
from projections.policy import DEFAULT_POLICY
from projections.prompts import current_epoch
from tests.support.logs import KEY, ROOT, counting_ids

__all__ = ["HOST", "Tale"]

HOST = "test"
_MINUTE_MS = 60_000


class Tale:
    """Appends what a host would report.

    Args:
        log: where to; a log in memory by default.
        session: the session that the steps are about.
    """

    def __init__(self, log: Log | None = None, session: str = "s") -> None:
        self._now = parse_time("2026-01-01T09:00:00Z") or 0
        if log is None:
            log = MemoryLog(counting_ids())
            log.append([Draft(source="memfold", time=self._time(), data=LedgerCreatedData(1, "test", ROOT, KEY))])
        self.log = log
        self.session = session
        self._workspace = Workspace(log, ROOT, DEFAULT_POLICY, host=HOST)
        self.say = self._workspace.capture
        self._calls = 0
        self._workspace.configure(DEFAULT_POLICY, enabled=True, delivery=Delivery(tools=False))

    @property
    def source(self) -> str:
        """The source of the session."""
        return make_source(HOST, self.session)

    def add(self, *drafts: Draft) -> None:
        """Append drafts."""
        self._workspace.record(drafts)

    def note(self, data: Data) -> None:
        """Append an event of the session."""
        self.add(Draft(source=self.source, time=self._time(), data=data))

    def start(self, parent: str | None = None) -> None:
        """The session begins."""
        self.add(*self.say.session_started(self.session, time=self._time(), parent=parent))

    def ask(self, text: str) -> None:
        """The user writes."""
        self._calls += 1
        self.add(*self.say.user_message(self.session, f"m{self._calls}", text, time=self._time()))

    def edit(self, path: str, tool: str = "edit") -> None:
        """The model edits a file, so that the hot block is another one."""
        self._calls += 1
        call, args = f"c{self._calls}", {"filePath": f"{ROOT}/{path}"}
        self.add(
            *self.say.tool_completed(self.session, call, tool, args, exit=None, output="", time=self._time()),
        )

    def compact(self) -> None:
        """The host compacts the session."""
        self._calls += 1
        summary = "Memory candidates:\n- [decision] Prices must be computed in integer cents\n"
        self.add(*self.say.compacted(self.session, f"m{self._calls}", summary, time=self._time()))

    def measure(self, requests: int, input_: int, read: int = 0, write: int = 0) -> None:
        """A turn ends."""
        self.note(SessionMeasuredData(requests, input_, read, write))

    def give(self, kind: Literal["workspace", "hot", "delta"], size: int, digest: str | None = None) -> None:
        """The host is given a block, in the open epoch."""
        state = self._workspace.state(only={self.source})
        epoch = current_epoch(state.prompts, self.source)
        assert epoch is not None
        self.note(PromptRenderedData(kind, state.memory.offset, epoch.offset, digest or epoch.digest, size))

    def _time(self) -> str:
        self._now += _MINUTE_MS
        return format_time(self._now)
