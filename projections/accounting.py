"""Promotion accounting: one record per candidate, written from the decisions of workspace memory (SPEC 9.6)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from ledger.events import AnyEvent
from ledger.runs import Run
from projections.memory.activity import calls_taken_in
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import CANDIDATE_STATES, CandidateState, MemoryState, Move, Proposal, Ref

__all__ = [
    "ALLOWED_MOVES",
    "AccountingState",
    "Accounts",
    "PromotionAccounting",
    "Record",
    "counts",
    "record_moves",
]

ALLOWED_MOVES: frozenset[tuple[CandidateState | None, CandidateState]] = frozenset(
    [
        *((None, state) for state in CANDIDATE_STATES),
        *(("pending", state) for state in CANDIDATE_STATES if state != "pending"),
        ("promoted", "superseded"),
        ("promoted", "deleted"),
        ("promoted", "expired"),
        ("promoted", "rejected"),
        ("deleted", "promoted"),
        ("superseded", "promoted"),
        ("expired", "promoted"),
        ("absorbed", "promoted"),
        ("absorbed", "absorbed"),
        ("absorbed", "rejected"),
        ("rejected", "rejected"),
        ("rejected", "promoted"),
        ("deleted", "pending"),
    ]
)
"""The moves of SPEC 9.6, and those that other rules need.

Where a parent link comes late (SPEC 3.4), an absorbed candidate moves to another entry, to an entry of its own, or,
being the sub-agent's own, to rejected, so that where the link stands in the log doesn't matter for what that session
proposed (I16); for the same end a rejected one may change its reason. An undo leaves what would be there without the
undone event (SPEC 15.3): what was absorbed or refused because of it is let in, and what it deleted while it was pending
waits again.
"""


class Record(Struct, frozen=True, gc=False):
    """What became of one candidate.

    ``decided`` and ``offset`` name the event of the last decision, ``into`` the entry the candidate is or went into,
    ``outcome`` what its absorption did there (SPEC 10.3).
    """

    proposal: Proposal
    state: CandidateState
    reasons: tuple[str, ...]
    decided: str
    offset: int
    into: Ref | None = None
    outcome: str = ""


class Accounts(Struct):
    """Records by candidate, in ledger order of their proposal, and how many are in each state."""

    records: dict[Ref, Record] = {}
    totals: dict[str, int] = {}


class AccountingState(Struct):
    """Accounts beside the memory whose decisions they record."""

    memory: MemoryState
    accounts: Accounts


def record_moves(accounts: Accounts, moves: tuple[Move, ...]) -> None:
    """Write down what one event decided."""
    for move in moves:
        ref = move.proposal.ref
        known = accounts.records.get(ref)
        before = move.before if known is None else known.state
        if before is not None:
            accounts.totals[before] -= 1
        accounts.totals[move.after] = accounts.totals.get(move.after, 0) + 1
        # A merge may have changed an entry's wording; the record keeps what was proposed under this reference.
        proposal = move.proposal if known is None else known.proposal
        accounts.records[ref] = Record(
            proposal, move.after, move.reasons, move.event, move.offset, move.into, move.outcome
        )


def counts(accounts: Accounts) -> dict[str, int]:
    """Candidates per state, all seven named, and their number as ``candidates`` (I4: the states add up to it)."""
    table = {"candidates": len(accounts.records)}
    return table | {state: accounts.totals.get(state, 0) for state in CANDIDATE_STATES}


class PromotionAccounting:
    """The accounts as a projection of their own: decides nothing, records what workspace memory decides."""

    name = "promotion-accounting"
    version = 1

    def __init__(self) -> None:
        self._memory = WorkspaceMemory()

    def initial(self) -> AccountingState:
        """No candidates."""
        return AccountingState(self._memory.initial(), Accounts())

    def copy(self, state: AccountingState) -> AccountingState:
        """A state of its own."""
        return AccountingState(self._memory.copy(state.memory), copy_accounts(state.accounts))

    def apply(self, state: AccountingState, event: AnyEvent) -> AccountingState:
        """The state after one more event."""
        after = self.copy(state)
        self.step(after, event)
        return after

    def step(self, state: AccountingState, event: AnyEvent) -> None:
        """Change a state that only the caller can see."""
        self._memory.step(state.memory, event)
        record_moves(state.accounts, state.memory.moves)

    def run(self, state: AccountingState, events: Iterable[AnyEvent | Run]) -> None:
        """Step through many events, tool calls in bulk."""
        for event in calls_taken_in(state.memory, events):
            self.step(state, event)


def copy_accounts(accounts: Accounts) -> Accounts:
    """Accounts of their own; records are immutable."""
    return msgspec.structs.replace(accounts, records=dict(accounts.records), totals=dict(accounts.totals))
