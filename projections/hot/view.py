"""What a state shows of one session: its hot block, and the lines that are true of it (SPEC 11.5, 14.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from projections.hot.block import ErrorEntry, HotBlock, HotLine, hot_block, hot_lines
from projections.hot.session import FileEntry
from projections.prompts import hot_pending

if TYPE_CHECKING:
    from projections.world import WorldState

__all__ = ["hot_view", "true_lines"]


class _Entries(NamedTuple):
    """What may be shown, in the order of ``hot_block``."""

    files: Sequence[FileEntry]
    errors: Sequence[ErrorEntry]
    decisions: Sequence[str]
    pending: Sequence[tuple[str, str]]


def hot_view(world: WorldState, source: str) -> HotBlock:
    """The hot block of a session as of the state's position (SPEC 11.5)."""
    context = world.memory.context
    return hot_block(*_entries(world, source), max_chars=context.policy.hot_chars, root=context.root)


def true_lines(world: WorldState, source: str) -> tuple[HotLine, ...]:
    """All lines of a session's hot state, those included that the block has no room for."""
    return hot_lines(*_entries(world, source), root=world.memory.context.root)


def _entries(world: WorldState, source: str) -> _Entries:
    memory, hot = world.memory, world.sessions.hot(source)
    return _Entries(
        hot.files,
        [ErrorEntry(one.seen.category, one.seen.summary, one.maybe_fixed) for one in hot.errors],
        [decision.text for decision in hot.decisions],
        [] if source in memory.subagents else hot_pending(memory, world.prompts, source),
    )
