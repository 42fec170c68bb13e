"""One workspace's ledger as a live host writes it: made with the first event, and patient where it can't be written."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from ledger.errors import InvalidDraft, LedgerError, LedgerNotFound, LockTimeout, StorageError
from ledger.events import Draft, Event, MemoryRequestedData
from ledger.log import FileLog
from ledger.times import parse_time
from memfold.bridge.private_log import PrivateLog
from memfold.bridge.spool import DISPENSABLE, Spool, without_purged
from memfold.capture import Capture
from memfold.clock import now_ms
from memfold.config import Config
from memfold.hosts.opencode import delivery_of
from memfold.paths import workspace_key
from memfold.workspace import Workspace
from projections.world import World, WorldState
from replay.live import Live

__all__ = ["LAST_TRIES", "LOCK_PATIENCE", "RETRY_AFTER", "WAITING_LIMIT", "Ledger"]

LOCK_PATIENCE = 0.5
"""Seconds to wait for another writer: a hook that waits longer is given up by the client."""
LAST_TRIES = 20
"""How often that is waited for when the client has ended."""
RETRY_AFTER = 2.0
"""Seconds after a failure before what waits is tried again, but for a request to remember."""
WAITING_LIMIT = 1000
"""Drafts that wait; above it those go first that no memory hangs on."""


class Ledger:
    """Records what a host reports, and tells what the log means now; no trouble of the disk is an exception here.

    Args:
        directory: the ledger's folder, made with the first event.
        root: real path of the workspace.
        project: False for places that are no project (SPEC 1.6).
        host: name of the host.
        config: the settings in force.
        log: where the reason is written if something can't be stored or read.
        clock: seconds that only rise.
        subject: who speaks in the private log.
        live: whether the state at the end of the log is kept; who appends once needs none.
        in_force: the digest of the policy in force, where that is known and no state is kept.

    Attributes:
        capture: what turns reports into drafts.
        latest: the events that the last drafts have become, and those that had waited before them.
        error: why the last drafts aren't stored for good, or the log can't be read; None if all is well.
    """

    def __init__(
        self,
        directory: str,
        root: str,
        *,
        project: bool,
        host: str,
        config: Config,
        log: PrivateLog,
        clock: Callable[[], float] = time.monotonic,
        subject: str = "bridge",
        live: bool = True,
        in_force: str | None = None,
    ) -> None:
        self._log = FileLog(directory, lock_timeout=LOCK_PATIENCE)
        self._live = Live(self._log)
        self._root, self._project, self._subject = root, project, subject
        self._workspace = Workspace(
            self._log, root, config.policy, host=host, live=self._live if live else None, in_force=in_force
        )
        self.capture: Capture = self._workspace.capture
        self._private_log = log
        self._clock = clock
        self._waiting: list[Draft] = []
        self._old = 0  # how many of them have waited since an earlier call
        self._unread = 0  # events that were stored since the log was read last
        self._spool = Spool(directory)
        self.latest: tuple[Event, ...] = ()
        self._next_try = 0.0
        self._has_tools = False
        self.error: LedgerError | None = None
        self.configure(config)

    @property
    def problem(self) -> str:
        """The last error in words; empty if all is well."""
        return "" if self.error is None else str(self.error)

    @property
    def waits(self) -> bool:
        """Whether something isn't stored yet."""
        return bool(self._waiting)

    def configure(self, config: Config) -> None:
        """Go on under other settings."""
        self._config = config
        delivery = delivery_of(config, tools=self._has_tools)
        self._workspace.configure(config.policy, enabled=config.enabled, delivery=delivery)

    def note_tools(self) -> None:
        """The client has taken our tools: sessions that start from now on are told so."""
        self._has_tools = True
        self.configure(self._config)

    def world(self, source: str | None = None) -> WorldState | None:
        """The state at the end of the log, of ``Live``; None if it can't be read. A log that isn't there is empty."""
        try:
            return self._live.world(source)
        except LedgerNotFound:
            return World(frozenset()).initial()
        except LedgerError as error:
            self._failed(error)
            return None

    def record(self, drafts: Sequence[Draft], *, urgent: bool = False, patience: int = 0) -> None:
        """Store drafts behind those that wait, or let them wait with the others, on disk too.

        Args:
            drafts: what to write.
            urgent: whether to try at once, even if the last try has just failed; a request to remember always is.
            patience: how often more another writer is waited for.
        """
        self.latest = ()
        self._waiting += drafts
        while len(self._waiting) > WAITING_LIMIT:
            missed = _least_missed(self._waiting)
            del self._waiting[missed]
            self._old -= missed < self._old
        self.store(urgent=urgent or any(isinstance(draft.data, MemoryRequestedData) for draft in drafts))
        for _ in range(patience):
            if isinstance(self.error, LockTimeout):
                self.store(urgent=True)
        if self._waiting:
            # Not before the last try: another process could store them meanwhile, and ``latest`` would lack their
            # events. Nor too late: until its answer is out, a line comes again to whoever succeeds a process that died.
            self._waiting = self._spool.keep(self._waiting)
        self._old = len(self._waiting)

    def store(self, *, urgent: bool = False) -> None:
        """Try to store what waits; after a failure not at once again, unless it is urgent."""
        if not self._waiting or (not urgent and self._clock() < self._next_try):
            return
        try:
            self._append()
        except LedgerError as error:
            self._failed(error)
            self._next_try = self._clock() + RETRY_AFTER
        else:
            self.error = None
            self._next_try = 0.0
            self._private_log.settled()

    def catch_up(self, most: int = 0) -> None:
        """Take in what was stored, so that the next question need not; what can't be read then is said then.

        Args:
            most: how many events that one can wait for.
        """
        if self._unread > most:
            self._unread = 0
            with suppress(LedgerError):
                self._workspace.catch_up()

    def seal(self, most: int | None = None) -> None:
        """Write the head of the hash tree that is due, if one is; see ``memfold.sealing``."""
        self._workspace.seal(most)

    def keep(self, most: int | None = None) -> None:
        """Write the checkpoint that is due, if one is; see ``replay.live``."""
        self._live.keep(most)

    def finish(self) -> None:
        """Store what waits before the process ends. Nobody waits for it now, so another writer may take its time."""
        for _ in range(LAST_TRIES):
            self.store(urgent=True)
            if not self._waiting or not isinstance(self.error, LockTimeout):
                return

    def close(self) -> None:
        """Let go of the files."""
        self._log.close()

    def _append(self) -> None:
        taken = self._spool.take()
        self._waiting[:0] = taken  # older than ours
        self._old += len(taken)
        try:
            self._write_all()
        except (LedgerNotFound, StorageError):
            if self._log.has_begun():
                raise
            self._create()  # it was never made, or deleted meanwhile, maybe with its folder
            self._write_all()
        self._spool.clear()

    def _write_all(self) -> None:
        self._drop_purged()
        try:
            self._write(len(self._waiting))
        except InvalidDraft:
            self._write_singly()

    def _drop_purged(self) -> None:
        """Leave out what has waited and would bring back what was purged meanwhile."""
        if self._old and (memory := self._live.world().memory).erasures:
            kept = without_purged(self._waiting[: self._old], self._log.read(), memory.context)
            self._waiting[: self._old] = kept
            self._old = len(kept)

    def _write(self, count: int) -> None:
        """Store the first drafts that wait, in one piece; those that stand in the log all the same wait no more."""
        try:
            # Their ids are given by the log, but for those that were in the spool: one that a draft brings along is
            # looked for in all of it first.
            events = self._workspace.record(self._waiting[:count])
        except StorageError as error:
            del self._waiting[: error.stored]
            raise
        del self._waiting[:count]
        self.latest += events
        self._unread += len(events)

    def _write_singly(self) -> None:
        """One of the drafts can never be stored: it is left out, and must not hold up the others."""
        while self._waiting:
            try:
                self._write(1)
            except InvalidDraft as error:
                self._private_log.note(self._subject, str(error))
                del self._waiting[0]

    def _create(self) -> None:
        """Make the ledger. It begins when its first event does: were it created now, that would be before it."""
        begin = next((ms for draft in self._waiting if (ms := parse_time(draft.time)) is not None), None)
        FileLog.create(
            self._log.directory,
            root=self._root,
            key=workspace_key(self._root),
            project=self._project,
            lock_timeout=LOCK_PATIENCE,
            clock=now_ms if begin is None else lambda: begin,
        ).close()

    def _failed(self, error: LedgerError) -> None:
        self.error = error
        self._private_log.note(self._subject, self.problem)


def _least_missed(drafts: Sequence[Draft]) -> int:
    """The index of the oldest draft that no memory hangs on, else of the oldest."""
    return next((n for n, draft in enumerate(drafts) if isinstance(draft.data, DISPENSABLE)), 0)
