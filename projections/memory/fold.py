"""The workspace memory projection: one pure fold that decides about every candidate (SPEC 9, 14)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec

from ledger.events import (
    AnyEvent,
    CompactionPrepared,
    FileImported,
    FileWritten,
    LedgerCreated,
    LedgerErased,
    MemoryAdded,
    MemoryDeleted,
    MemoryImported,
    MemoryRequested,
    MemoryRestored,
    MemoryUndone,
    MemoryUpdated,
    PolicySet,
    RulesLoaded,
    SessionCompacted,
    SessionDeleted,
    SessionLinked,
    SessionStarted,
    ToolCompleted,
    UnknownEvent,
)
from ledger.runs import Run
from ledger.source import make_source, split_source
from projections.facts import Facts, Judged, Known, facts_for
from projections.memory import commands, decide, intake
from projections.memory.activity import advance, calls_taken_in, touch, touches
from projections.memory.model import MemoryState
from projections.memory.turn import Turn
from projections.policy import Context, policy_from_document

__all__ = ["WorkspaceMemory"]


class WorkspaceMemory:
    """Candidates, decisions and entries of one workspace.

    Tool events are activity times here and nothing else, so that nobody pays for what nobody asks (DESIGN 5).

    Args:
        known: facts at hand; they change the time a fold takes and nothing else.
    """

    name = "workspace-memory"
    version = 1

    def __init__(self, known: Known | None = None) -> None:
        self._known = known

    def initial(self) -> MemoryState:
        """No entries, no candidates, the default policy."""
        return MemoryState()

    def copy(self, state: MemoryState) -> MemoryState:
        """A state of its own: the dictionaries are copied, what they hold is immutable (but for one index)."""
        after = msgspec.structs.replace(state)
        for name in _TABLES:
            setattr(after, name, getattr(state, name).copy())
        after.cohorts = {
            type_: {cohort: members.copy() for cohort, members in cohorts.items()}
            for type_, cohorts in state.cohorts.items()
        }
        return after

    def apply(self, state: MemoryState, event: AnyEvent) -> MemoryState:
        """The state after one more event; the given state is left alone."""
        after = self.copy(state)
        self.step(after, event)
        return after

    def step(self, state: MemoryState, event: AnyEvent) -> None:
        """Change a state that only the caller can see."""
        if state.moves:
            state.moves = ()
        if state.touched:
            state.touched = ()
        state.opened = None
        kind = type(event)
        if kind is ToolCompleted:
            state.fresh = True
            state.offset = max(state.offset, event.seq)
            # Ids of tool calls aren't kept here. One whose time has passed may be a second delivery, which must
            # change nothing (I9), so it is no activity.
            if advance(state, event.time) and touches(state, event.source):
                touch(state)
            if state.expires is None or state.now <= state.expires:
                return
        elif not self._take_in(state, event):
            return
        turn = Turn(state=state, event=event.id, offset=event.seq, moves=[])
        if state.expires is not None and state.now > state.expires:
            decide.expire_pending(turn)
        if (judged := _JUDGED.get(kind)) is not None:
            judged(turn, event, facts_for(cast("Judged", event), state.context, self._known))
        elif (handler := _HANDLERS.get(kind)) is not None:
            handler(turn, event)
        state.moves = tuple(turn.moves)

    def run(self, state: MemoryState, events: Iterable[AnyEvent | Run]) -> None:
        """Step through many events, tool calls in bulk."""
        for event in calls_taken_in(state, events):
            self.step(state, event)

    def _take_in(self, state: MemoryState, event: AnyEvent) -> bool:
        """Position, now and activity of an event that is no tool call; whether it may change anything else."""
        known = not isinstance(event, UnknownEvent)
        if known and event.id in state.events:
            intake.warn(state, "duplicate_delivery")
            state.fresh = False
            return False
        state.fresh = True
        state.offset = max(state.offset, event.seq)
        if known:
            state.events[event.id] = None
            advance(state, event.time)
            if touches(state, event.source) and not intake.is_repeat(state, event):
                touch(state)
        return known


def _on_created(turn: Turn, event: LedgerCreated) -> None:
    state = turn.state
    state.context = Context(state.context.policy, event.data.root)
    state.project = event.data.project


def _on_policy(turn: Turn, event: PolicySet) -> None:
    state = turn.state
    state.context = Context(policy_from_document(event.data.policy), state.context.root)
    state.policy_digest = event.data.digest


def _on_written(turn: Turn, event: FileWritten) -> None:
    turn.state.written = event.data.position, event.data.digest


def _on_rules(turn: Turn, event: RulesLoaded) -> None:
    state = turn.state
    state.rules[event.data.path] = event.data.digests
    state.rule_digests = frozenset(digest for digests in state.rules.values() for digest in digests)


def _on_started(turn: Turn, event: SessionStarted) -> None:
    """Begin an epoch, unless one is open; before that, what other sessions left is decided (SPEC 12.1, 14.2)."""
    state, session = turn.state, event.source
    if event.data.parent is not None:
        _link(turn, session)
    if session in state.subagents or session in state.epochs:
        return
    for waiting in [one for one in state.pending.values() if one.session != session]:
        decide.decide(turn, waiting, before="pending")
    state.epochs[session] = event.seq
    state.opened = session


def _on_linked(turn: Turn, event: SessionLinked) -> None:
    host, _ = split_source(event.source)
    _link(turn, make_source(host, event.data.session))


def _link(turn: Turn, session: str) -> None:
    from projections.memory.links import link

    link(turn, session)


def _on_undone(turn: Turn, event: MemoryUndone) -> None:
    from projections.memory.undo import on_undone

    on_undone(turn, event)


def _on_file_imported(turn: Turn, event: FileImported) -> None:
    from projections.memory.imports import on_file_imported

    on_file_imported(turn, event)


def _on_imported(turn: Turn, event: MemoryImported, facts: Facts) -> None:
    from projections.memory.imports import on_imported

    on_imported(turn, event, facts)


def _on_erased(turn: Turn, event: LedgerErased) -> None:
    from projections.memory.erasure import on_erased

    on_erased(turn, event)


def _on_session_deleted(turn: Turn, event: SessionDeleted) -> None:
    """Decide what the session left pending; then its epoch and its list end (SPEC 14.4)."""
    state, session = turn.state, event.source
    for waiting in [one for one in state.pending.values() if one.session == session]:
        decide.decide(turn, waiting, before="pending")
    for table in (state.epochs, state.snapshots, state.said):
        table.pop(session, None)


_NEW = MemoryState()
_TABLES = tuple(name for name in MemoryState.__struct_fields__ if isinstance(getattr(_NEW, name), dict))
_HANDLERS: dict[type, Callable[[Turn, Any], None]] = {
    LedgerCreated: _on_created,
    PolicySet: _on_policy,
    RulesLoaded: _on_rules,
    SessionStarted: _on_started,
    SessionLinked: _on_linked,
    SessionDeleted: _on_session_deleted,
    CompactionPrepared: intake.on_prepared,
    MemoryUpdated: commands.on_updated,
    MemoryDeleted: commands.on_deleted,
    MemoryRestored: commands.on_restored,
    MemoryUndone: _on_undone,
    FileImported: _on_file_imported,
    FileWritten: _on_written,
    LedgerErased: _on_erased,
}
_JUDGED: dict[type, Callable[[Turn, Any, Facts], None]] = {
    SessionCompacted: intake.on_compacted,
    MemoryRequested: intake.on_requested,
    MemoryAdded: commands.on_added,
    MemoryImported: _on_imported,
}
