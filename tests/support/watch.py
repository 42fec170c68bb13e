"""Follows the state event by event and asserts what must hold after each one (SPEC 24: I4, I5, I7, I20)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from ledger.events import AnyEvent
from projections.accounting import ALLOWED_MOVES, counts
from projections.hot.view import hot_view
from projections.inert import inert_line
from projections.memory.model import CANDIDATE_STATES, CandidateState, Cohort, Entry, MemoryState, Proposal, Ref
from projections.memory.retention import cohort_of, dormant_spans, effective_age, rank_key, strength
from projections.memory.selection import active_entries
from projections.policy import caps_of
from projections.reasons import REASONS
from projections.render import numbered_block, workspace_block
from projections.world import World, WorldState

__all__ = ["Watch", "active_keys", "active_texts", "assert_block_keeps_limits", "watched"]

_LABEL = re.compile(r" \[\d+d old, verify\]")
_HOT_LIMITS = {"active_files": 8, "open_errors": 3, "recent_decisions": 8, "pending_memories": 6}


def watched(events: Iterable[AnyEvent], watch: Watch | None = None) -> WorldState:
    """Fold events under watch; the state at their end."""
    projection, eye = World(), watch or Watch()
    world = projection.initial()
    for event in events:
        projection.step(world, event)
        eye.see(world, event)
    return world


def active_keys(memory: MemoryState) -> set[str]:
    """Text keys of the active memories."""
    return {entry.proposal.key for entry in memory.entries.values() if entry.state == "promoted"}


def active_texts(memory: MemoryState) -> set[str]:
    """Texts of the active memories."""
    return {entry.proposal.text for entry in memory.entries.values() if entry.state == "promoted"}


class Watch:
    """What was seen so far: the state of each candidate, the memory behind each number, the events."""

    def __init__(self) -> None:
        self.states: dict[Ref, CandidateState] = {}
        self.numbers: dict[int, Ref] = {}
        self.next_number = 1
        self.events: dict[str, int] = {}
        self.now = 0
        self.revision = 0
        self.shown: dict[Ref, tuple[CandidateState, Proposal]] = {}
        self.reached: Counter[str] = Counter()
        """How often each state and each reason code occurred."""

    def see(self, world: WorldState, event: AnyEvent) -> None:
        """Take in the state after one more event."""
        self.events[event.id] = event.seq
        self._moves(world)
        self._conservation(world)
        self._ids(world.memory)
        self._times(world.memory)
        self._revision(world.memory)
        _indexes(world.memory)

    def _moves(self, world: WorldState) -> None:
        """Only allowed moves occur, each from the state the candidate was in, each with a reason."""
        for move in world.memory.moves:
            ref = move.proposal.ref
            assert self.states.get(ref) == move.before
            assert (move.before, move.after) in ALLOWED_MOVES
            assert move.after == "pending" or move.reasons
            assert all(code in REASONS or code.startswith("custom:") for code in move.reasons)
            assert move.outcome == "" or move.outcome in REASONS
            self.states[ref] = move.after
            self.reached.update([move.after, *move.reasons])

    def _conservation(self, world: WorldState) -> None:
        records, memory = world.accounts.records, world.memory
        assert {ref: record.state for ref, record in records.items()} == self.states
        table = counts(world.accounts)
        assert sum(table[state] for state in CANDIDATE_STATES) == table["candidates"] == len(records)
        assert all(table[state] >= 0 for state in CANDIDATE_STATES)
        for ref, record in records.items():
            assert record.proposal.ref == ref
            # A delete by message may come before what it deletes, so the causing event may be the older one.
            assert self.events[ref.event] <= memory.offset
            assert self.events[record.decided] <= memory.offset
            assert record.state == "pending" or record.reasons
            assert (record.state == "pending") == (ref in memory.pending)
            assert (record.state == "absorbed") == (ref in memory.absorbed)
            assert (record.state == "promoted") == (ref in memory.entries and memory.entries[ref].state == "promoted")
            if record.state == "absorbed":
                assert memory.absorbed[ref].into in memory.entries

    def _ids(self, memory: MemoryState) -> None:
        """A number once given names the same memory, and the counter never falls (I7)."""
        assert self.numbers.items() <= memory.numbers.items()
        assert self.next_number <= memory.next_number
        assert all(0 < number < memory.next_number for number in memory.numbers)
        assert {ref: entry.number for ref, entry in memory.entries.items()} == {
            ref: number for number, ref in memory.numbers.items()
        }
        self.numbers, self.next_number = dict(memory.numbers), memory.next_number

    def _revision(self, memory: MemoryState) -> None:
        """It never falls, and rises with every change that MEMORY.md would show."""
        shown = {entry.ref: (entry.state, entry.proposal) for entry in memory.entries.values()}
        assert memory.revision >= self.revision + (shown != self.shown)
        self.shown, self.revision = shown, memory.revision

    def _times(self, memory: MemoryState) -> None:
        """Now never runs backwards, ages are never negative, strengths finite, and the order is total (I20)."""
        assert memory.now >= self.now
        self.now = memory.now
        policy, dormant = memory.context.policy, dormant_spans(memory)
        for entry in memory.entries.values():
            assert memory.now >= entry.clock >= 0 or entry.clock < 0
            assert effective_age(entry.clock, memory.now, dormant, policy.retention) >= 0
            power = strength(entry, memory.now, dormant, policy)
            assert math.isfinite(power)
            assert power >= 0
        keys = [rank_key(entry, memory.now, dormant, policy) for entry in memory.entries.values()]
        assert len(set(keys)) == len(keys)


def _indexes(memory: MemoryState) -> None:
    """The indexes hold the active memories, each in its place, and no two of which have one exact key."""
    active = [entry for entry in memory.entries.values() if entry.state == "promoted"]
    assert memory.exact == {entry.proposal.exact: entry.ref for entry in active}
    assert len(memory.exact) == len(active) == len(active_entries(memory))
    places: dict[str, dict[Cohort, list[tuple[int, int]]]] = {}
    for entry in active:
        places.setdefault(entry.proposal.type, {}).setdefault(cohort_of(entry), []).append((entry.clock, entry.number))
    assert memory.cohorts == {
        type_: {cohort: sorted(members) for cohort, members in cohorts.items()} for type_, cohorts in places.items()
    }
    assert memory.compaction_active == sum(entry.proposal.source == "compaction" for entry in active)


def assert_block_keeps_limits(world: WorldState, source: str | None = None) -> None:
    """Workspace block and numbered list, and with ``source`` that session's hot block, keep their limits (I5)."""
    memory = world.memory
    policy = memory.context.policy
    for block in (workspace_block(memory), numbered_block(memory)):
        assert len(block.text) <= max(0, min(3600, policy.workspace_chars))
        assert block.text == "" or policy.workspace_chars >= 80
        assert len(block.shown) <= min(28, max(0, policy.max_entries))
        counted = Counter(one.proposal.type for one in block.shown if not one.proposal.safety_critical)
        assert all(count <= caps_of(policy)[type_] for type_, count in counted.items())
        left_out = [entry for entry, _ in block.omitted]
        listed = sorted(entry.number for entry in [*block.shown, *left_out])
        assert listed == sorted(entry.number for entry in active_entries(memory))
        assert bool(block.text) == bool(block.shown)
        _assert_whole_lines(block.text, block.shown)
    if source is not None:
        hot = hot_view(world, source)
        assert len(hot.text) <= min(700, max(0, policy.hot_chars))
        assert all(0 < count <= _HOT_LIMITS[section] for section, count in hot.sections.items())
        lines = hot.text.split("\n")
        assert sum(line.startswith("- ") for line in lines) == sum(hot.sections.values())


def _assert_whole_lines(text: str, shown: tuple[Entry, ...]) -> None:
    """Below the header and the headings stands one whole line for each entry, in order."""
    headings = [f"{type_}:" for type_ in dict.fromkeys(one.proposal.type for one in shown)]
    lines = text.split("\n")[1:]
    assert [line for line in lines if line in headings] == headings
    entries = [line for line in lines if line not in headings]
    for number, (line, entry) in enumerate(zip(entries, shown, strict=True), 1):
        wording = entry.proposal
        whole = inert_line(wording.text)
        why = f" Why: {inert_line(wording.rationale)}" if wording.rationale else ""
        assert line == f"[M{number}] {whole}" or _LABEL.sub("", line) == f"- {whole}{why}"
