"""Now and activity: the only clock a fold has is the time of its events (SPEC 1.2, 10.4)."""

from __future__ import annotations

from ledger.times import DAY_MS, parse_time
from projections.memory.model import MemoryState

__all__ = ["advance", "touch"]


def advance(state: MemoryState, time: str | None) -> bool:
    """Move now to an event's time; a missing, unreadable or earlier time counts as the time before it.

    Returns whether the event's own time is now.
    """
    moment = parse_time(time)
    if moment is None or moment < state.now:
        return False
    state.now = moment
    return True


def touch(state: MemoryState) -> None:
    """Count the present event as activity; a gap of more than 14 days leaves a dormant span."""
    last, now = state.last_activity, state.now
    if last is not None:
        start = last + state.context.policy.retention.dormant_after_days * DAY_MS
        if start < now:
            state.dormant = (*state.dormant, (start, now))
    state.last_activity = now
