"""One workspace's ledger as a host or command uses it: capture in, append, and the state it gives."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, get_args

from msgspec.structs import replace

from ledger.drafts import stamp
from ledger.errors import LedgerNotFound, SequenceConflict, StorageError
from ledger.events import DATA_TO_EVENT, Delivery, Draft, Event, PolicySet, PolicySetData
from ledger.ids import MonotonicIds
from ledger.log import FileLog, Log
from ledger.pin import Pin
from ledger.source import OWN_SOURCE
from memfold.capture import Capture
from memfold.sealing import Sealer
from projections.facts import Judged
from projections.policy import Context, Policy, policy_digest, policy_document
from projections.protocol import fold
from projections.render import Block, numbered_block
from projections.world import World, WorldState
from replay.kept import KeptFacts, keep_facts
from replay.live import Live
from replay.state import state_at
from replay.undo import UndoPlan, plan_latest, plan_undo

__all__ = ["Workspace"]

_JUDGED = tuple(data for data, event in DATA_TO_EVENT.items() if event in get_args(Judged))
"""The payloads of the events that facts are kept of."""


class Workspace:
    """A ledger, the policy that judges what is written to it, and the capture of one host.

    Args:
        log: the ledger.
        root: real path of the workspace.
        policy: the configured policy; it is recorded before the first event it judges (DESIGN 5).
        host: name of the host whose reports come in.
        enabled: False while memory is switched off.
        live: the log's state as its owner keeps it; without one, the log is read for each question.
        in_force: the digest of the policy in force, where that is known; None to look it up.

    Attributes:
        log: the ledger.
        capture: what turns reports and changes into drafts.
        keeps: False: what can't be stored is an error, and doesn't wait (``memfold.editing.Store``).
    """

    keeps = False

    def __init__(
        self,
        log: Log,
        root: str,
        policy: Policy,
        *,
        host: str,
        enabled: bool = True,
        live: Live | None = None,
        in_force: str | None = None,
    ) -> None:
        self.log = log
        self._root = root
        self._live = live
        self._in_force = in_force
        self._next_seq: int | None = None  # behind what was recorded last, while that was under this policy
        self._sealer = Sealer(log)
        self.capture = Capture(host, Context(policy, root), enabled=enabled)
        self.configure(policy, enabled=enabled)

    def configure(self, policy: Policy, *, enabled: bool, delivery: Delivery = Delivery()) -> None:  # noqa: B008 - a frozen value
        """Go on under other settings; a changed policy is recorded with the next event."""
        self._policy = policy
        self._digest = policy_digest(policy)
        self._next_seq = None
        self._context = Context(policy, self._root)
        self.capture.configure(self._context, enabled=enabled, delivery=delivery)

    def record(self, drafts: Sequence[Draft], *, expect: int | None = None) -> tuple[Event, ...]:
        """Append what capture gave; a changed policy goes into the same write, before them.

        Args:
            drafts: what to write.
            expect: the seq that must be next; None to write wherever the log stands.

        Raises:
            LedgerError: as ``Log.append``, ``SequenceConflict`` with ``expect``; ``StorageError.stored`` counts the
                given drafts alone.
        """
        if not drafts:
            return ()
        if isinstance(self.log, FileLog) and any(isinstance(draft.data, _JUDGED) for draft in drafts):
            with Pin(self.log) as pin:
                events = self._append(drafts, expect)
                # Behind the append: facts that are missing cost time, facts without their event cost nothing.
                keep_facts(self.log.directory, events, self._context, pin)
        else:
            events = self._append(drafts, expect)
        if events:
            self._next_seq = events[-1].seq + 1
        self._sealer.note(events)
        return events

    def _append(self, drafts: Sequence[Draft], expect: int | None) -> tuple[Event, ...]:
        events = self._go_on(drafts) if expect is None else None
        return self._append_anywhere(drafts, expect) if events is None else events

    def _append_anywhere(self, drafts: Sequence[Draft], expect: int | None) -> tuple[Event, ...]:
        """Append wherever the log stands, behind the policy if it isn't the one in force there."""
        if isinstance(self.log, FileLog) and not self.log.has_begun():
            raise LedgerNotFound(self.log.path)  # no event may stand before the one that says whose ledger this is
        if self._is_in_force():
            return self.log.append(drafts, expect=expect)
        try:
            events = self.log.append([self._policy_change(drafts), *drafts], expect=expect)[1:]
        except StorageError as error:
            error.stored = max(0, error.stored - 1)
            self._in_force = None  # it may stand in the log
            raise
        self._in_force = self._digest
        return events

    def _go_on(self, drafts: Sequence[Draft]) -> tuple[Event, ...] | None:
        """Append right behind what was recorded last: nobody has set a policy since, so that nothing need be read.

        None if others have written meanwhile, or nothing was recorded under this policy yet.
        """
        if self._next_seq is None:
            return None
        try:
            return self.log.append(drafts, expect=self._next_seq)
        except SequenceConflict:
            self._next_seq = None
            return None

    def catch_up(self) -> None:
        """Take what is new in the log into the state that is kept, where nobody waits for it.

        Raises:
            LedgerError: as ``Live.world``.
        """
        if not self._is_in_force():  # also where another file with as many events has taken the log's place
            self._next_seq = None

    def seal(self, most: int | None = None) -> None:
        """Write the head of the hash tree that is due, if one is; see ``memfold.sealing``."""
        self._sealer.seal(most)

    def preview(self, drafts: Sequence[Draft]) -> tuple[tuple[Event, ...], WorldState]:
        """What recording drafts would lead to: the events, and the state behind them; nothing is written."""
        world = self.world()
        if not self._is_in_force():
            drafts = [self._policy_change(drafts), *drafts] if drafts else []
        events, _ = stamp(drafts, world.memory.offset + 1, MonotonicIds(), frozenset())
        after = fold(World(frozenset()), events, world)
        return tuple(event for event in events if not isinstance(event, PolicySet)), after

    def append(self, drafts: Sequence[Draft]) -> tuple[Event, ...]:
        """Store drafts for good; as ``record`` (``memfold.editing.Store``)."""
        return self.record(drafts)

    def world(self, source: str | None = None) -> WorldState:
        """The state at the end of the log, hot state and blocks for one session alone."""
        if self._live is not None:
            return self._live.world(source)
        return self.state(only=frozenset() if source is None else frozenset({source}))

    def state(self, offset: int | None = None, *, only: AbstractSet[str] | None = None) -> WorldState:
        """The state at an offset, from the log alone."""
        return state_at(self.log.read(), offset, only=only, known=self._kept())

    def prepare_compaction(self, session: str, *, time: str | None) -> tuple[str, Block]:
        """Make the numbered list for a compaction: its snapshot id and the block to give to the host (SPEC 5.4)."""
        world = self.state()
        block = numbered_block(world.memory)
        events = self.record(self.capture.compaction_prepared(session, world.memory.offset, block.shown, time=time))
        return (events[-1].id if events else ""), block

    def plan_undo(self, event: str | None = None) -> UndoPlan | None:
        """What the undo of an event leads to; without one, of the latest change that isn't undone yet (SPEC 15.3)."""
        # Before the read: what comes in between then makes a plan of yesterday. Not the offset of the state behind
        # it: where a number was damaged, the log doesn't go on from the highest one.
        next_seq = self.log.size()
        events = list(self.log.read())
        plan = plan_latest(events, self._kept()) if event is None else plan_undo(events, event, self._kept())
        return None if plan is None else replace(plan, next_seq=next_seq)

    def undo(
        self, plan: UndoPlan, *, origin: Literal["tool", "cli", "hand_edit"] = "cli", reason: str = "", time: str | None
    ) -> tuple[Event, ...]:
        """Carry a plan out.

        Raises:
            SequenceConflict: if something was appended since it was made.
            LedgerError: as ``record``.
        """
        drafts = self.capture.memory_undone(plan.event.id, plan.outcomes, origin=origin, reason=reason, time=time)
        return self.record(drafts, expect=plan.next_seq)

    def _policy_change(self, drafts: Sequence[Draft]) -> Draft:
        """The draft that records the configured policy, as of the first event that it judges."""
        data = PolicySetData(self._digest, policy_document(self._policy))
        return Draft(source=OWN_SOURCE, time=drafts[0].time, data=data)

    def _kept(self) -> KeptFacts | None:
        return KeptFacts(self.log.directory) if isinstance(self.log, FileLog) else None

    def _is_in_force(self) -> bool:
        """Whether the log's last policy is the configured one."""
        if self._live is not None:  # others may have set one meanwhile
            return self._live.memory().policy_digest == self._digest
        if self._in_force is None:
            self._in_force = self._recorded_policy()
        return self._in_force == self._digest

    def _recorded_policy(self) -> str:
        """Digest of the last policy in the log, or the empty string."""
        digest = ""
        for event in self.log.read():
            if isinstance(event, PolicySet):
                digest = event.data.digest
        return digest
