"""What a state shows: the block of a session or of the next one, and a session's hot block (SPEC 11, 12)."""

from __future__ import annotations

from collections import Counter

import msgspec

from projections.hot.block import ErrorEntry, HotBlock, hot_block
from projections.memory.decide import Turn, decide
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState
from projections.prompts import current_epoch, hot_pending
from projections.render import Block, workspace_block
from projections.world import WorldState

__all__ = ["frozen_text", "hot_view", "next_block", "present_block", "warnings_of"]


def frozen_text(world: WorldState, source: str) -> str:
    """The frozen block of a session's open epoch; empty for a session that has none.

    A session known to be a sub-agent's begins no epoch. One whose parent becomes known later keeps the block it has
    been given until its epoch ends (SPEC 3.4, 12.1).
    """
    epoch = current_epoch(world.prompts, source)
    return "" if epoch is None else epoch.text


def present_block(world: WorldState) -> Block:
    """The block as of the last event, with that event's time as now (SPEC 12.1)."""
    return workspace_block(world.memory)


def next_block(world: WorldState, now: int | None = None) -> Block:
    """The block that a session starting now would get: what is pending is decided first (SPEC 14.2).

    Args:
        world: the state.
        now: milliseconds; the state's own now by default.
    """
    return workspace_block(_with_pending_decided(world.memory, now))


def hot_view(world: WorldState, source: str) -> HotBlock:
    """The hot block of a session as of the state's position (SPEC 11.5)."""
    memory = world.memory
    pending = [] if source in memory.subagents else hot_pending(memory, world.prompts, source)
    hot = world.sessions.hot(source)
    return hot_block(
        hot.files,
        [ErrorEntry(one.seen.category, one.seen.summary, one.maybe_fixed) for one in hot.errors],
        [decision.text for decision in hot.decisions],
        pending,
        max_chars=memory.context.policy.hot_chars,
        root=memory.context.root,
    )


def _with_pending_decided(memory: MemoryState, now: int | None) -> MemoryState:
    after = WorkspaceMemory().copy(memory)
    if now is not None and now > after.now:
        after = msgspec.structs.replace(after, now=now)
    turn = Turn(state=after, event="", offset=after.offset + 1, moves=[])
    for waiting in list(after.pending.values()):
        decide(turn, waiting, before="pending")
    return after


def warnings_of(world: WorldState) -> dict[str, int]:
    """What ``status`` warns about, by reason code: deliveries and conflicts of messages, summaries and calls."""
    sessions = world.sessions.sessions.values()
    found = Counter(world.memory.warnings)
    found["duplicate_delivery"] += sum(one.duplicate_deliveries for one in sessions)
    found["id_conflict"] += sum(one.id_conflicts for one in sessions)
    return {code: count for code, count in sorted(found.items()) if count}
