"""The projection ``session-state``: the hot state of every session, or of one (SPEC 1.1, 13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import islice

import msgspec
from msgspec import Struct

from ledger.events import (
    AnyEvent,
    LedgerCreated,
    LedgerErased,
    MemoryRequested,
    PolicySet,
    PromptRendered,
    SessionDeleted,
    SessionLinked,
    SessionStarted,
    ToolCompleted,
)
from ledger.runs import Run
from ledger.source import make_source, split_source
from projections.facts import Known, facts_for
from projections.hot.calls import KnownCalls, SessionCalls, call_digest, take_steps
from projections.hot.facts import tool_facts
from projections.hot.session import Decision, HotState, after_decision
from projections.hot.working import Working
from projections.policy import DEFAULT_POLICY, Context, Policy, policy_from_document

__all__ = ["CALL_WINDOW", "Session", "SessionStates", "States"]

_TAKEN_IN = frozenset(
    [
        ToolCompleted,
        MemoryRequested,
        SessionStarted,
        SessionLinked,
        SessionDeleted,
        PolicySet,
        LedgerCreated,
        LedgerErased,
    ]
)
_LOOKS_AT_SESSIONS = (_TAKEN_IN | {PromptRendered}) - {ToolCompleted}
"""A receipt changes no session, but what it names are lines of one (``delivery.step_given``)."""

CALL_WINDOW = 1000
"""A call id counts once among this many calls of its session (SPEC 3.5)."""


class Session(Struct):
    """One session's hot state and what is needed to know a second delivery (SPEC 3.5).

    Attributes:
        hot: what the session knows; replaced as a whole, never changed in place.
        calls: digest of the content by call id, of the last 1,000 calls, oldest first.
        messages: ids of messages; whoever decides about memories counts their second deliveries.
        duplicate_deliveries: deliveries of a known call with the same content.
        id_conflicts: deliveries of a known call with other content; the first one won.
        deleted: whether the host has deleted the session.
    """

    hot: HotState = HotState()
    calls: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    messages: dict[str, bool] = msgspec.field(default_factory=dict[str, bool])
    duplicate_deliveries: int = 0
    id_conflicts: int = 0
    deleted: bool = False


class States(Struct):
    """State of the projection: sessions by source, the sources of sub-agents, and what judges them.

    ``policies`` holds the ids of the policy events that were taken in, ``policy`` is the one in force.
    """

    sessions: dict[str, Session] = msgspec.field(default_factory=dict[str, Session])
    subagents: dict[str, bool] = msgspec.field(default_factory=dict[str, bool])
    policies: dict[str, bool] = msgspec.field(default_factory=dict[str, bool])
    policy: Policy = DEFAULT_POLICY
    root: str = ""

    def hot(self, source: str) -> HotState:
        """The hot state of a session; empty for one that has none (unknown, deleted, a sub-agent)."""
        session = self.sessions.get(source)
        return session.hot if session else HotState()


class _Inside:
    """Sessions whose calls go by: their hot states are worked on beside ``state`` until somebody looks at them."""

    def __init__(self, state: States) -> None:
        self.state = state
        self.context = Context(state.policy, state.root)
        self._working: dict[str, Working] = {}

    def working(self, source: str, session: Session) -> Working:
        """The hot state of a session, to change it."""
        found = self._working.get(source)
        if found is None:
            found = self._working[source] = Working(session.hot)
        return found

    def put_back(self) -> None:
        """Make the sessions of ``state`` what they should be."""
        sessions = self.state.sessions
        for source, working in self._working.items():
            sessions[source].hot = working.state()
        self._working.clear()


class SessionStates:
    """Fold the hot state of sessions; each event costs what its own session holds, not what all do.

    Args:
        only: sources; events of other sessions are passed over at once. None folds all. Held, as in ``World``.
        known: facts at hand; they change the time a fold takes and nothing else.
        calls: calls at hand; likewise, where events come as runs.
    """

    name = "session-state"
    version = 2

    def __init__(
        self, only: AbstractSet[str] | None = None, known: Known | None = None, calls: KnownCalls | None = None
    ) -> None:
        self._only = only
        self._known = known
        self._calls = calls

    def initial(self) -> States:
        """No session, the default policy, no workspace root."""
        return States()

    def copy(self, state: States) -> States:
        """A state that shares nothing mutable; O(sessions and their known ids)."""
        sessions = {
            source: msgspec.structs.replace(session, calls={**session.calls}, messages={**session.messages})
            for source, session in state.sessions.items()
        }
        subagents, policies = {**state.subagents}, {**state.policies}
        return msgspec.structs.replace(state, sessions=sessions, subagents=subagents, policies=policies)

    def apply(self, state: States, event: AnyEvent) -> States:
        """The state after one more event; the given one stays as it was."""
        after = self.copy(state)
        self.step(after, event)
        return after

    def step(self, state: States, event: AnyEvent) -> None:
        """Take in one event. Unknown ids, damaged policies and foreign sessions change nothing and never raise."""
        if type(event) not in _TAKEN_IN:
            return
        if isinstance(event, ToolCompleted):
            inside = _Inside(state)
            self._take_call(inside, event)
            inside.put_back()
        elif isinstance(event, MemoryRequested):
            self._take_request(state, event)
        elif isinstance(event, SessionStarted):
            if event.data.parent is not None:
                self._leave_out(state, event.source)
        elif isinstance(event, SessionLinked):
            # The link may be reported from anywhere; it names the session by its id.
            host, _ = split_source(event.source)
            self._leave_out(state, make_source(host, event.data.session))
        elif isinstance(event, SessionDeleted):
            self._end(state, event.source)
        elif isinstance(event, LedgerErased):
            self._forget(state, event)
        elif isinstance(event, PolicySet | LedgerCreated):
            self._set_context(state, event)

    def run(self, state: States, events: Iterable[AnyEvent | Run]) -> None:
        """Step through many events, the calls of a session in bulk."""
        for event in self.calls_taken_in(state, events):
            if type(event) is not ToolCompleted and type(event) is not Run:
                self.step(state, event)

    def calls_taken_in(self, state: States, events: Iterable[AnyEvent | Run]) -> Iterator[AnyEvent | Run]:
        """Take in the calls of sessions that are asked for while events go by; runs without any stay as they are.

        The caller steps the state by every other event before it asks for the next. Sessions in ``state`` are as they
        should be whenever an event is yielded that looks at one, and at the end.
        """
        only = self._only
        inside = _Inside(state)
        try:
            for event in events:
                if type(event) is ToolCompleted:
                    if only is None or event.source in only:
                        self._take_call(inside, event)
                    yield event
                elif type(event) is Run and (only is None or not only.isdisjoint(event.stretch.sources)):
                    if self._take_run(inside, event):
                        yield event
                        continue
                    for one in event.events():
                        if type(one) is ToolCompleted and (only is None or one.source in only):
                            self._take_call(inside, one)
                        yield one
                elif type(event) in _LOOKS_AT_SESSIONS:
                    inside.put_back()
                    yield event
                    inside.context = Context(state.policy, state.root)  # the event may have changed both
                else:
                    yield event
        finally:
            inside.put_back()

    def _forget(self, state: States, event: LedgerErased) -> None:
        """A purged decision is no decision any more (SPEC 15.4)."""
        gone = {(target.event, target.index) for target in event.data.targets}
        for session in state.sessions.values():
            left = tuple(one for one in session.hot.decisions if (one.event, one.index) not in gone)
            if left != session.hot.decisions:
                session.hot = msgspec.structs.replace(session.hot, decisions=left)

    def _set_context(self, state: States, event: PolicySet | LedgerCreated) -> None:
        """A policy is in force until the next; delivered again it doesn't come back (SPEC 21)."""
        if isinstance(event, LedgerCreated):
            state.root = state.root or event.data.root
        elif event.id not in state.policies:
            state.policies[event.id] = True
            state.policy = policy_from_document(event.data.policy)

    def _take_call(self, inside: _Inside, event: ToolCompleted) -> None:
        session = self._session(inside.state, event.source)
        if session is not None and _is_new_call(session, event.data.call or event.id, call_digest(event.data)):
            inside.working(event.source, session).take(tool_facts(event.data, inside.context))

    def _take_run(self, inside: _Inside, run: Run) -> bool:
        """Take in the calls of a whole run, if they are at hand and all of them are new."""
        found = None if self._calls is None else self._calls(run, inside.context)
        if found is None:
            return False
        new: list[tuple[SessionCalls, Session]] = []
        for one in found.sessions:
            session = self._session(inside.state, one.source)
            if session is not None:
                if not one.calls.keys().isdisjoint(session.calls):
                    return False
                new.append((one, session))
        for one, session in new:
            session.calls.update(one.calls)
            _forget_oldest(session.calls)
            if one.steps:
                take_steps(inside.working(one.source, session), one.steps, found.block)
        return True

    def _take_request(self, state: States, event: MemoryRequested) -> None:
        session = self._session(state, event.source)
        if session is None:
            return
        message = event.data.message or event.id
        if message in session.messages:
            return
        session.messages[message] = True
        facts = facts_for(event, Context(state.policy, state.root), self._known)
        for index, line in enumerate(facts.lines):
            if line.type == "decision" and not line.reasons:
                session.hot = after_decision(session.hot, Decision(line.exact, line.text, event.id, index))

    def _session(self, state: States, source: str) -> Session | None:
        """The session an event belongs to; None if nobody asks for it or it has no hot state (SPEC 3.4)."""
        if not self._asked(source) or source in state.subagents or "/" not in source:
            return None
        session = state.sessions.get(source)
        if session is None:
            session = state.sessions[source] = Session()
        return session

    def _asked(self, source: str) -> bool:
        return self._only is None or source in self._only

    def _leave_out(self, state: States, source: str) -> None:
        """A sub-agent has no hot state, whenever its parent became known (I16)."""
        if self._asked(source):
            state.subagents[source] = True
            state.sessions.pop(source, None)

    def _end(self, state: States, source: str) -> None:
        """The hot state ends; known ids stay, so that nothing delivered late brings it back (I9).

        A second deletion is a second delivery of the same fact: hosts don't use a session id again.
        """
        session = self._session(state, source)
        if session is not None and not session.deleted:
            session.hot, session.deleted = HotState(), True


def _is_new_call(session: Session, call: str, digest: str) -> bool:
    """Note a call id; of one seen before count whether it came with the same content (SPEC 3.5)."""
    before = session.calls.get(call)
    if before is None:
        session.calls[call] = digest
        _forget_oldest(session.calls)
    elif before == digest:
        session.duplicate_deliveries += 1
    else:
        session.id_conflicts += 1
    return before is None


def _forget_oldest(calls: dict[str, str]) -> None:
    """Leave the last calls that fill the window."""
    excess = len(calls) - CALL_WINDOW
    if excess > 0:
        for call in list(islice(calls, excess)):
            del calls[call]
