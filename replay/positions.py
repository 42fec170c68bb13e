"""Positions: an offset, a time or a session names a prefix of the log (DESIGN 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledger.events import AnyEvent, SessionStarted, UnknownEvent
from ledger.source import split_source
from ledger.times import parse_time

__all__ = ["events_until", "last_offset_of", "note_session", "note_source", "offset_at_time", "session_sources"]

_LOOKAHEAD = 1000


def events_until(events: Iterable[AnyEvent], offset: int | None) -> Iterator[AnyEvent]:
    """The prefix at an offset: every event up to and including it, in file order; all of them for None.

    Where a damaged log has no event with that offset, the prefix ends behind the last earlier one. A merge may have
    put later events before it, and a foreign line may have any number: both belong to the prefix they stand in, so
    the offset is looked for a little further on before it counts as missing.
    """
    ahead: list[AnyEvent] = []
    for event in events:
        if event.seq == offset:
            yield from ahead
            yield event
            return
        if offset is not None and event.seq > offset:
            ahead.append(event)
            if len(ahead) > _LOOKAHEAD:
                return
        else:
            yield from ahead
            ahead.clear()
            yield event


def last_offset_of(events: Iterable[AnyEvent], source: str) -> int | None:
    """The offset of a session's last event; None if it has none."""
    return max((event.seq for event in events if event.source == source), default=None)


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
        note_session(sources, event)
    return sources


def note_session(sources: dict[str, str], event: AnyEvent) -> None:
    """Take one more event into what ``session_sources`` tells."""
    if isinstance(event, UnknownEvent):
        return
    if isinstance(event, SessionStarted) and "/" in event.source:
        sources.setdefault(event.data.session, event.source)
    else:
        note_source(sources, event.source)


def note_source(sources: dict[str, str], source: str) -> None:
    """Take the source of an event that names no session into what ``session_sources`` tells."""
    if "/" in source:
        _, session = split_source(source)
        sources.setdefault(session or "", source)
