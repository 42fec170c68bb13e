"""All projections in one pass: workspace memory first, the others read what it decided (DESIGN 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

from msgspec import Struct

from ledger.events import AnyEvent, ToolCompleted
from ledger.runs import Run
from projections.accounting import Accounts, copy_accounts, record_moves
from projections.facts import Known
from projections.hot.calls import KnownCalls
from projections.hot.delivery import Given, step_given
from projections.hot.state import SessionStates, States
from projections.memory.activity import calls_taken_in
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState
from projections.prompts import Prompts, copy_prompts, step_prompts

__all__ = ["World", "WorldState"]


class WorldState(Struct):
    """Everything a ledger means at one position."""

    memory: MemoryState
    accounts: Accounts
    prompts: Prompts
    sessions: States
    given: dict[str, Given] = {}
    """What of their hot state sessions have been given, by source (SPEC 12.3)."""


class World:
    """Workspace memory, accounts, prompts and hot state together.

    Args:
        only: sources of the sessions whose frozen blocks, deliveries and hot state are asked for; None for all.
            Workspace memory and accounts are the same either way: nobody pays for what nobody asks. It is held and
            not copied: its owner may add a source that no event so far is about.
        known: facts at hand; they change the time a fold takes and nothing else.
        calls: calls at hand; likewise, where events come as runs.
    """

    name = "world"
    version = 4

    def __init__(
        self, only: AbstractSet[str] | None = None, known: Known | None = None, calls: KnownCalls | None = None
    ) -> None:
        self._only = only
        self._memory = WorkspaceMemory(known)
        self._sessions = SessionStates(only, known, calls)

    def initial(self) -> WorldState:
        """The empty ledger."""
        return WorldState(self._memory.initial(), Accounts(), Prompts(), self._sessions.initial())

    def copy(self, state: WorldState) -> WorldState:
        """A state of its own."""
        return WorldState(
            self._memory.copy(state.memory),
            copy_accounts(state.accounts),
            copy_prompts(state.prompts),
            self._sessions.copy(state.sessions),
            dict(state.given),
        )

    def apply(self, state: WorldState, event: AnyEvent) -> WorldState:
        """The state after one more event."""
        after = self.copy(state)
        self.step(after, event)
        return after

    def step(self, state: WorldState, event: AnyEvent) -> None:
        """Change a state that only the caller can see."""
        if type(event) is ToolCompleted:
            self._sessions.step(state.sessions, event)
        self._step_rest(state, event)

    def run(
        self,
        state: WorldState,
        events: Iterable[AnyEvent | Run],
        then: Callable[[MemoryState, AnyEvent], None] | None = None,
    ) -> None:
        """Step through many events: calls by their sessions first, then in bulk by the memory.

        ``then`` is told memory as it is behind each event that wasn't taken in bulk.
        """
        for event in calls_taken_in(state.memory, self._sessions.calls_taken_in(state.sessions, events)):
            self._step_rest(state, event)
            if then is not None:
                then(state.memory, event)

    def _step_rest(self, state: WorldState, event: AnyEvent) -> None:
        """All that a call is beside its session's, which is activity of the workspace; of other events everything."""
        memory = state.memory
        self._memory.step(memory, event)
        if memory.moves:
            record_moves(state.accounts, memory.moves)
        if type(event) is not ToolCompleted:
            step_prompts(state.prompts, memory, event, self._only)
            self._sessions.step(state.sessions, event)
            step_given(state, event)
