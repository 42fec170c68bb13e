"""Positions: an offset, a time or a session names a prefix (SPEC 1.2, DESIGN 6)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from ledger.events import AnyEvent
from ledger.times import parse_time
from projections.world import World
from replay.positions import events_until, last_offset_of, offset_at_time, session_sources
from replay.state import state_at
from tests.support.harness import Harness


@pytest.fixture(scope="module")
def events() -> list[AnyEvent]:
    """Two sessions, an hour apart."""
    harness = Harness(None)
    harness.feed(
        [
            {"do": "session_start", "session": "A", "at": "2026-01-01T00:00:00Z"},
            {"do": "user_message", "session": "A", "message": "m1", "text": "Remember: deploys run from main only"},
            {"do": "session_start", "session": "B", "at": "2026-01-01T01:00:00Z"},
            {"do": "compacted", "session": "A", "summary": "x", "at": "2026-01-01T02:00:00Z"},
        ]
    )
    return harness.events()


def offsets(found: list[AnyEvent]) -> list[int]:
    """The offsets of events."""
    return [event.seq for event in found]


def test_prefix_ends_with_its_offset(events: list[AnyEvent]) -> None:
    """Up to and including it; all for None."""
    assert offsets(list(events_until(events, 2))) == [0, 1, 2]
    assert list(events_until(events, None)) == events


def test_prefix_of_swapped_events_holds_what_stands_before_it(events: list[AnyEvent]) -> None:
    """Order is file order, also where a merge has put a later event first."""
    swapped = [*events[:2], events[3], events[2], *events[4:]]
    assert offsets(list(events_until(swapped, 2))) == [0, 1, 3, 2]


def test_a_foreign_number_hides_nothing(events: list[AnyEvent]) -> None:
    """An event whose number is far off belongs to the prefix it stands in, however many events follow it."""
    far = replace(events[0], seq=2**53 - 1)
    many = [replace(events[0], seq=seq) for seq in range(3000)]
    assert offsets(list(events_until([*many[:5], far, *many[5:]], 2500))) == [*range(5), far.seq, *range(5, 2501)]


def test_prefix_at_a_missing_offset_ends_before_the_next(events: list[AnyEvent]) -> None:
    """A gap in a damaged log has a state too: that of the events before it."""
    assert offsets(list(events_until([*events[:2], *events[3:]], 2))) == [0, 1]


def test_search_for_a_missing_offset_is_bounded(events: list[AnyEvent]) -> None:
    """Reading stops long before the end of a large log."""
    read: list[int] = []

    def watched() -> Iterator[AnyEvent]:
        for event in [*events[:2], *(events[-1] for _ in range(3000))]:
            read.append(event.seq)
            yield event

    assert offsets(list(events_until(watched(), 2))) == [0, 1]
    assert len(read) < 1100


def test_a_time_names_the_last_event_at_or_before_it(events: list[AnyEvent]) -> None:
    """The state is that of the offset."""
    noon = parse_time("2026-01-01T01:30:00Z")
    assert noon is not None
    offset = offset_at_time(events, noon)
    assert state_at(events, time=noon) == state_at(events, offset)
    assert offset == max(event.seq for event in events if (parse_time(event.time) or 0) <= noon)


def test_a_time_before_the_log_names_the_empty_state(events: list[AnyEvent]) -> None:
    """Nothing had happened yet."""
    assert state_at(events, time=0) == World().initial()


def test_a_session_names_its_last_event(events: list[AnyEvent]) -> None:
    """And one that never was the empty state."""
    assert state_at(events, session="test/B") == state_at(events, last_offset_of(events, "test/B"))
    assert state_at(events, session="test/none") == World().initial()


def test_a_position_is_one_thing(events: list[AnyEvent]) -> None:
    """Two at once are a caller's mistake."""
    with pytest.raises(ValueError, match="give one of them"):
        state_at(events, 1, time=0)


def test_sessions_by_id(events: list[AnyEvent]) -> None:
    """People type ids; folds know sources."""
    assert session_sources(events) == {"A": "test/A", "B": "test/B"}
