"""What a state shows: the frozen block of a session, the present one, and that of the next session (SPEC 11, 12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

import msgspec

from projections.memory.decide import decide
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState
from projections.memory.turn import Turn
from projections.prompts import PromptState, current_epoch
from projections.render import Block, workspace_block

if TYPE_CHECKING:
    from projections.world import WorldState

__all__ = ["frozen_text", "next_block", "present_block"]

Blocks: TypeAlias = Union["PromptState", "WorldState"]
"""A state that has workspace memory and prompts; whoever asks for blocks alone need not fold hot state."""


def frozen_text(world: Blocks, source: str) -> str:
    """The frozen block of a session's open epoch; empty for a session that has none.

    A session known to be a sub-agent's begins no epoch. One whose parent becomes known later keeps the block it has
    been given until its epoch ends (SPEC 3.4, 12.1).
    """
    epoch = current_epoch(world.prompts, source)
    return "" if epoch is None else epoch.text


def present_block(world: Blocks, *, omitted: bool = True) -> Block:
    """The block as of the last event, with that event's time as now (SPEC 12.1); ``omitted`` as in its rendering."""
    return workspace_block(world.memory, omitted=omitted)


def next_block(world: Blocks, now: int | None = None, *, omitted: bool = True) -> Block:
    """The block that a session starting now would get: what is pending is decided first (SPEC 14.2).

    Args:
        world: the state.
        now: milliseconds; the state's own now by default.
        omitted: whether all that is left out is wanted too.
    """
    return workspace_block(_with_pending_decided(world.memory, now), omitted=omitted)


def _with_pending_decided(memory: MemoryState, now: int | None) -> MemoryState:
    after = WorkspaceMemory().copy(memory)
    if now is not None and now > after.now:
        after = msgspec.structs.replace(after, now=now)
    turn = Turn(state=after, event="", offset=after.offset + 1, moves=[])
    for waiting in list(after.pending.values()):
        decide(turn, waiting, before="pending")
    return after
