"""Histories: what each event did to each memory, and the words it had then (SPEC 15.1)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ledger.events import AnyEvent, MemoryImported, MemoryUndone, MemoryUpdated, type_name
from ledger.runs import Run
from projections.accounting import Accounts, copy_accounts, record_moves
from projections.facts import Known
from projections.memory.activity import calls_taken_in
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import CandidateState, MemoryState, Move, Proposal, Ref

__all__ = ["HistoryState", "MemoryHistories", "Step", "Steps", "Words", "note_steps"]


class Words(Struct, frozen=True, array_like=True, gc=False):
    """The words of a memory at one position."""

    text: str
    title: str = ""
    content: str = ""
    tags: tuple[str, ...] = ()


class Step(Struct, frozen=True, array_like=True, gc=False):
    """What one event did to a memory.

    Attributes:
        offset: of the event.
        event: its id.
        type: its type.
        source: its source.
        now: its time in milliseconds, as folds count it.
        states: what was decided, about the memory itself and about what went into it.
        reasons: the codes of these decisions.
        words: its words behind the event; None where they are those of the step before.
        reinforcements: how often it has been reinforced by then.
        origin: what wrote the event, if it says so.
        reason: why, if the event says so.
        file: of an import, the file and the line; else empty.
        undone: of an undo, the id of the event that it undoes; else empty.
    """

    offset: int
    event: str
    type: str
    source: str
    now: int
    states: tuple[CandidateState, ...]
    reasons: tuple[str, ...]
    words: Words | None
    reinforcements: int = 0
    origin: str = ""
    reason: str = ""
    file: str = ""
    undone: str = ""


Steps = dict[Ref, tuple[Step, ...]]
"""The steps of every candidate, oldest first."""


class HistoryState(Struct):
    """Histories beside the memory and the accounts that they are told of."""

    memory: MemoryState
    accounts: Accounts
    steps: Steps


class MemoryHistories:
    """The history of every candidate.

    Args:
        known: facts at hand; they change the time a fold takes and nothing else.
    """

    name = "memory-histories"
    version = 1

    def __init__(self, known: Known | None = None) -> None:
        self._memory = WorkspaceMemory(known)

    def initial(self) -> HistoryState:
        """No candidates."""
        return HistoryState(self._memory.initial(), Accounts(), {})

    def copy(self, state: HistoryState) -> HistoryState:
        """A state of its own."""
        return HistoryState(self._memory.copy(state.memory), copy_accounts(state.accounts), dict(state.steps))

    def apply(self, state: HistoryState, event: AnyEvent) -> HistoryState:
        """The state after one more event."""
        after = self.copy(state)
        self.step(after, event)
        return after

    def step(self, state: HistoryState, event: AnyEvent) -> None:
        """Change a state that only the caller can see."""
        self._memory.step(state.memory, event)
        record_moves(state.accounts, state.memory.moves)
        note_steps(state.steps, state.memory, event)

    def run(self, state: HistoryState, events: Iterable[AnyEvent | Run]) -> None:
        """Step through many events, tool calls in bulk."""
        for event in calls_taken_in(state.memory, events):
            self.step(state, event)


def note_steps(steps: Steps, memory: MemoryState, event: AnyEvent) -> None:
    """Add what an event did to each candidate that it touched; ``memory`` is the state after it."""
    if not memory.moves and not memory.touched:
        return
    about: dict[Ref, list[Move]] = {ref: [] for ref in memory.touched}
    for move in memory.moves:
        for ref in dict.fromkeys((move.proposal.ref, move.into)):
            if ref is not None:
                about.setdefault(ref, []).append(move)
    for ref, moves in about.items():
        before = steps.get(ref, ())
        words, count = _seen(memory, ref, moves)
        if words == _last_words(before):
            words = None
        is_updated = isinstance(event, MemoryUpdated)  # perhaps to the words that it had
        if moves or words is not None or is_updated or count != before[-1].reinforcements:
            steps[ref] = (*before, _step(event, memory.now, moves, words, count))


def _step(event: AnyEvent, now: int, moves: list[Move], words: Words | None, reinforcements: int) -> Step:
    data = getattr(event, "data", None)
    codes = (code for move in moves for code in (*move.reasons, move.outcome) if code)
    return Step(
        offset=event.seq,
        event=event.id,
        type=type_name(event),
        source=event.source,
        now=now,
        states=tuple(move.after for move in moves),
        reasons=tuple(dict.fromkeys(codes)),
        words=words,
        reinforcements=reinforcements,
        origin=getattr(data, "origin", ""),
        reason=getattr(data, "reason", ""),
        file=f"{event.data.file}, line {event.data.line}" if isinstance(event, MemoryImported) else "",
        undone=event.data.undone if isinstance(event, MemoryUndone) else "",
    )


def _last_words(steps: tuple[Step, ...]) -> Words | None:
    return next((step.words for step in reversed(steps) if step.words is not None), None)


def _seen(memory: MemoryState, ref: Ref, moves: list[Move]) -> tuple[Words | None, int]:
    """The words of a candidate now, and how often it was reinforced."""
    entry = memory.entries.get(ref)
    if entry is not None:
        return _words(entry.proposal), entry.reinforcements
    proposal = memory.pending.get(ref) or memory.refused.get(ref)
    if proposal is None and (gone := memory.absorbed.get(ref) or memory.retired.get(ref)) is not None:
        proposal = gone.proposal
    if proposal is None:  # what was refused without a text is kept nowhere else
        proposal = next((move.proposal for move in moves if move.proposal.ref == ref), None)
    return None if proposal is None else _words(proposal), 0


def _words(proposal: Proposal) -> Words:
    return Words(proposal.text, proposal.title, proposal.content, proposal.tags)
