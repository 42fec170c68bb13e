"""The state at a position: everything the log means there (DESIGN 6)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from ledger.events import AnyEvent
from ledger.log import FileLog
from projections.facts import Known
from projections.protocol import fold
from projections.world import World, WorldState
from replay.calls import KeptCalls
from replay.kept import KeptFacts
from replay.outlines import by_blocks
from replay.positions import events_until, last_offset_of, offset_at_time

__all__ = ["state_at", "state_of"]


def state_at(
    events: Iterable[AnyEvent],
    offset: int | None = None,
    *,
    time: int | None = None,
    session: str | None = None,
    only: AbstractSet[str] | None = None,
    known: Known | None = None,
) -> WorldState:
    """Everything the log means at a position, its end by default (SPEC 1.2).

    Args:
        events: the log, from its first event.
        offset: the position, as an offset;
        time: or as a time in milliseconds: the last event at or before it;
        session: or as the source of a session: its last event.
        only: sources of the sessions whose prompts and hot state are wanted; None for all.
        known: facts at hand; they change the time this takes and nothing else.

    Raises:
        ValueError: if more than one of offset, time and session is given.
    """
    if sum(one is not None for one in (offset, time, session)) > 1:
        raise ValueError("a position is an offset, a time or a session: give one of them")
    if time is not None or session is not None:
        events = list(events)
        found = offset_at_time(events, time) if time is not None else last_offset_of(events, session or "")
        if found is None:
            return World(only, known).initial()
        offset = found
    return fold(World(only, known), events if offset is None else events_until(events, offset))


def state_of(log: FileLog, only: AbstractSet[str] | None = None) -> WorldState:
    """Everything a log means at its end, with the help of what is kept beside it.

    Args:
        log: the log.
        only: as for ``state_at``.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    return fold(World(only, KeptFacts(log.directory), KeptCalls(log.directory)), by_blocks(log))
