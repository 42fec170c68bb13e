"""What a state knows of its sessions: hot blocks, and what deliveries ``status`` warns about (SPEC 3.5, 11.5)."""

from __future__ import annotations

from collections import Counter

from projections.hot.block import ErrorEntry, HotBlock, hot_block
from projections.prompts import hot_pending
from projections.world import WorldState

__all__ = ["hot_view", "warnings_of"]


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


def warnings_of(world: WorldState) -> dict[str, int]:
    """What ``status`` warns about, by reason code: deliveries and conflicts of messages, summaries and calls."""
    sessions = world.sessions.sessions.values()
    found = Counter(world.memory.warnings)
    found["duplicate_delivery"] += sum(one.duplicate_deliveries for one in sessions)
    found["id_conflict"] += sum(one.id_conflicts for one in sessions)
    return {code: count for code, count in sorted(found.items()) if count}
