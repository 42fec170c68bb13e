"""Now and activity: the only clock a fold has is the time of its events (SPEC 1.2, 10.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from ledger.events import AnyEvent, SessionMeasured, ToolCompleted
from ledger.runs import Run
from ledger.times import DAY_MS, instant, parse_time
from projections.memory.model import MemoryState

__all__ = ["advance", "calls_taken_in", "touch", "touches"]

_Quiet = ToolCompleted | SessionMeasured
_LONGEST_RUN = 1000
"""Calls of a run are held until it ends, and there may be as many as events."""


def advance(state: MemoryState, time: str | None) -> bool:
    """Move now to an event's time; a missing, unreadable or earlier time counts as the time before it.

    Returns whether the event's own time is now.
    """
    moment = parse_time(time)
    if moment is None or moment < state.now:
        return False
    state.now = moment
    return True


def touches(state: MemoryState, source: str) -> bool:
    """Whether events of a source are activity: those of root sessions are (SPEC 10.4)."""
    return "/" in source and source not in state.subagents


def touch(state: MemoryState) -> None:
    """Count the present event as activity; a gap of more than 14 days leaves a dormant span."""
    last, now = state.last_activity, state.now
    if last is not None:
        start = last + state.context.policy.retention.dormant_after_days * DAY_MS
        if start < now:
            spans = state.dormant
            if spans and spans[-1][1] == start:  # without a grace, gap follows gap: they are one span
                start, spans = spans[-1][0], spans[:-1]
            state.dormant = (*spans, (start, now))
    state.last_activity = now


def calls_taken_in(  # noqa: C901 - nine events in ten go through this loop: a call for each would cost half of it
    state: MemoryState, events: Iterable[AnyEvent | Run]
) -> Iterator[AnyEvent]:
    """Take tool calls and measurements into the state, many at once, and yield all other events for the caller to step.

    Nine events in ten are tool calls, of which the memory needs the last two times alone: the rest of a run changes
    nothing, as long as none lies before now, ends a dormant gap or lets something expire. Calls that might, or whose
    time has no zone or can't be read, are yielded too. Measurements are as quiet, but for their ids.

    Args:
        state: what the caller steps by each yielded event before asking for the next.
        events: what to fold; a ``Run`` stands for its events, which are decoded only if they have to be looked at.
    """
    read, known = datetime.fromisoformat, state.events
    now, until = _quiet_span(state)
    is_old = False
    source, root = "", False
    roots: dict[str, bool] = {}  # sessions take turns, and a table of a checkpoint is no quick one
    run: list[_Quiet] = []
    active: _Quiet | None = None
    for event in events:
        if type(event) is ToolCompleted or (type(event) is SessionMeasured and event.id not in known):
            if is_old:
                now, until = _quiet_span(state)
                is_old = False
            try:
                moment = read(event.time)  # type: ignore[arg-type] # a missing time is caught, not tested for
                quiet = now <= moment <= until and len(run) < _LONGEST_RUN
            except (TypeError, ValueError):
                moment, quiet = now, False  # it is yielded below
            if quiet:
                now = moment
                run.append(event)
                if event.source != source:
                    source = event.source
                    found = roots.get(source)
                    root = roots[source] = touches(state, source) if found is None else found
                if root:
                    active = event
                if type(event) is SessionMeasured:
                    known[event.id] = None
                continue
        if run:
            yield from _end_run(state, run, active)
            run.clear()
        if type(event) is not Run:
            yield event
        elif not _run_taken_in(state, event):
            yield from calls_taken_in(state, event.events())
        is_old, active = True, None  # what was stepped may have changed the span, and which sessions are roots
        source, root = "", False
        roots.clear()
    if run:
        yield from _end_run(state, run, active)


def _quiet_span(state: MemoryState) -> tuple[datetime, datetime]:
    """From now until a call would end a dormant gap or let something expire; ends before it begins if any may."""
    if state.last_activity is None:
        return instant(1), instant(0)
    return instant(state.now), instant(_quiet_until(state))


def _quiet_until(state: MemoryState) -> int:
    if state.last_activity is None:
        return -1
    until = state.last_activity + state.context.policy.retention.dormant_after_days * DAY_MS
    return until if state.expires is None else min(until, state.expires)


def _run_taken_in(state: MemoryState, run: Run) -> bool:
    """Change the state to that after a run, if its calls are as quiet together as each has to be alone."""
    stretch = run.stretch
    if not state.now <= stretch.since or not stretch.until <= _quiet_until(state):
        return False
    known = state.events
    for event in stretch.measured:
        if event in known:
            return False
    state.moves, state.touched, state.opened, state.fresh = (), (), None, True
    state.offset = max(state.offset, stretch.last)
    for event in stretch.measured:
        known[event] = None
    active = -1
    for source, time in stretch.sources.items():
        if time > active and touches(state, source):
            active = time
    if active >= 0:
        state.now = active
        touch(state)
    state.now = stretch.until
    return True


def _end_run(state: MemoryState, run: list[_Quiet], active: _Quiet | None) -> Iterator[AnyEvent]:
    """Change the state to that after a run of calls, of which ``active`` was the last activity, or yield them all.

    ``fromisoformat`` reads more than a fold may (``parse_time``). In the middle of a run that makes no difference.
    """
    last = run[-1]
    if parse_time(last.time) is None or (active is not None and parse_time(active.time) is None):
        for event in run:
            if type(event) is SessionMeasured:
                del state.events[event.id]
        yield from run
        return
    state.moves, state.touched, state.opened, state.fresh = (), (), None, True
    state.offset = max(state.offset, *(event.seq for event in run))
    if active is not None and advance(state, active.time):
        touch(state)
    if active is not last:
        advance(state, last.time)
