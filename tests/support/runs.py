"""Runs of tool calls and measurements of several sessions, put between the events of a history."""

from __future__ import annotations

import msgspec
from hypothesis import strategies as st

from ledger.events import (
    AnyEvent,
    SessionMeasured,
    SessionMeasuredData,
    ToolArguments,
    ToolCompleted,
    ToolCompletedData,
)
from ledger.times import DAY_MS, HOUR_MS, format_time, parse_time
from tests.support.streams import ledgers

SOURCES = ("test/A", "test/A", "test/B", "test/C", "test/d", "test/new", "test", "")
GAPS = (
    0,
    1,
    1,
    1000,
    60_000,
    60_000,
    HOUR_MS,
    DAY_MS,
    14 * DAY_MS,
    14 * DAY_MS + 1,
    15 * DAY_MS,
    31 * DAY_MS,
    -1,
    -HOUR_MS,
)
ODD_TIMES = (
    None,
    "",
    "some day",
    "2026-01-01T24:61:00.000Z",
    "2026-01-09",
    "2026-01-09T10:00:00",
    "2026-01-09T10:00:00+0100",
    "2026-01-09T10:00:00.000999Z",
    "2026-01-09T10:00:00.000001Z",
    "20260109T100000.0000000Z",
    "9999-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00:00+23:59",
)
Call = tuple[str, int, str | None, bool, int]
"""Source, milliseconds since the time before, an odd time in its place, whether it has that, and the call's number."""

_call: st.SearchStrategy[Call] = st.tuples(
    st.sampled_from(SOURCES),
    st.sampled_from(GAPS),
    st.sampled_from(ODD_TIMES),
    st.integers(0, 9).map(lambda number: number == 0),
    st.integers(0, 9),
)


@st.composite
def ledgers_with_runs(draw: st.DrawFn) -> list[AnyEvent]:
    """Events of a history between runs of calls; some events come twice, and some numbers don't rise."""
    events: list[AnyEvent] = []
    moment = 0
    for event in [*draw(ledgers(max_size=6))]:
        events.append(event)
        moment = max(moment, parse_time(event.time) or 0)
        for source, gap, odd, is_odd, number in draw(st.lists(_call, max_size=8)):
            moment = max(0, moment + gap)
            made = measured if number in {3, 4, 5} else call
            events.append(made(source, odd if is_odd else format_time(moment), number))
        if draw(st.integers(0, 4)) == 0:
            events.append(draw(st.sampled_from(events)))
    renumbered = [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events)]
    return draw(st.sampled_from((renumbered, renumbered, events)))


def call(source: str, time: str | None, number: int) -> ToolCompleted:
    """A call that edits a file; its number names the file, the call and the event."""
    data = ToolCompletedData(f"call{number}", "edit", ToolArguments(path=f"src/{number}.ts"))
    return ToolCompleted(specversion="1.0", id=f"id{number}", source=source, time=time, seq=number, data=data)


def measured(source: str, time: str | None, number: int) -> SessionMeasured:
    """A measurement; its number names the event, so that some come twice."""
    data = SessionMeasuredData(requests=number)
    return SessionMeasured(specversion="1.0", id=f"id{number}", source=source, time=time, seq=number, data=data)
