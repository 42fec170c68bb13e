"""Positions and the state there: an offset, a time or a session names a prefix of the log (DESIGN 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledger.events import AnyEvent, SessionStarted, UnknownEvent
from ledger.source import split_source
from ledger.times import parse_time
from projections.protocol import fold
from projections.world import World, WorldState

__all__ = ["events_until", "offset_at_time", "session_sources", "state_at"]


def events_until(events: Iterable[AnyEvent], offset: int | None) -> Iterator[AnyEvent]:
    """The prefix at an offset: every event up to and including it, in file order; all of them for None.

    The prefix ends at the first event with that offset or a later one, so a merged or damaged file still has one.
    """
    for event in events:
        if offset is not None and event.seq > offset:
            return
        yield event
        if event.seq == offset:
            return


def state_at(events: Iterable[AnyEvent], offset: int | None = None, *, only: str | None = None) -> WorldState:
    """Everything the log means at an offset, its end by default (SPEC 1.2).

    Args:
        events: the log, from its first event.
        offset: the last event that counts.
        only: the source of the one session whose prompt and hot state are wanted.
    """
    return fold(World(only), events_until(events, offset))


def offset_at_time(events: Iterable[AnyEvent], moment: int) -> int | None:
    """The offset of the last event at or before a time in milliseconds, as folds count time; None if all are later.

    Time never runs backwards in a fold: an event without a readable time counts as having the one before it.
    """
    found: int | None = None
    now = 0
    for event in events:
        now = max(now, parse_time(event.time) or 0)
        if now > moment:
            break
        found = event.seq
    return found


def session_sources(events: Iterable[AnyEvent]) -> dict[str, str]:
    """Session ids of a log and the source each has, in order of their first event; the first host wins."""
    sources: dict[str, str] = {}
    for event in events:
        if isinstance(event, UnknownEvent) or "/" not in event.source:
            continue
        if isinstance(event, SessionStarted):
            sources.setdefault(event.data.session, event.source)
        else:
            _, session = split_source(event.source)
            sources.setdefault(session or "", event.source)
    return sources
