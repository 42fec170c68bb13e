"""Laws of delivery: what a session was told is what it knows, and what it knows becomes true (SPEC 12.3)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.events import AnyEvent, SessionStarted
from ledger.source import make_source
from projections.headers import DELTA_HEADER
from projections.hot.block import HotLine
from projections.hot.delivery import DELTA_CHARS, HotPart, hot_due
from projections.hot.view import hot_view, true_lines
from projections.prompts import current_epoch
from projections.protocol import fold
from projections.receipts import hot_receipt
from projections.world import World, WorldState
from tests.support.effort import examples
from tests.support.harness import HOST
from tests.support.streams import SESSIONS, Stage, Step, histories, ledgers

SOURCES = tuple(make_source(HOST, session) for session in SESSIONS)
_TOLD = ("pending_memories", "open_errors", "recent_decisions")


@settings(max_examples=examples(60))
@given(histories(max_size=20), st.data())
def test_a_session_knows_what_it_was_told(history: list[Step], data: st.DataObject) -> None:
    """Whoever only reads the parts that were given knows the lines that the receipts say; each part keeps its limits.

    What isn't told any more, once no more is due, wouldn't fit into a change.
    """
    stage, session = Stage(None), data.draw(st.sampled_from(SESSIONS))
    source, read = make_source(HOST, session), set[HotLine]()
    steps: list[Step] = [{"do": "session_start", "session": session, "at": "2026-01-01T00:00:00Z"}, *history]
    for step in steps:
        if step["do"] not in ("give", "odd_receipt"):
            stage.step(step)
        for _ in range(data.draw(st.integers(0, 2))):
            read = _given(stage, session, source, read)
    for _ in range(30):
        read = _given(stage, session, source, read)
    world = stage.state()
    if source in world.given and hot_due(world, source, "i") is None:
        left = {line for line in hot_view(world, source).lines if line.section in _TOLD} - read
        stale = {line for line in read if line.section in _TOLD} - set(true_lines(world, source))
        assert all(_is_long(line) or _has_twin(line, left | stale) for line in left | stale)


def _given(stage: Stage, session: str, source: str, read: set[HotLine]) -> set[HotLine]:
    """Give what is due to somebody who has read some lines; the lines that are known then."""
    world = stage.state()
    part = hot_due(world, source, "i")
    if part is None:
        return read if source in world.given else set()
    after = _after(part, world, source, read)
    stage.step({"do": "odd_receipt", "session": session, "receipt": hot_receipt(part, "i")})
    assert set(stage.state().given[source].lines.values()) == after
    return after


def _after(part: HotPart, world: WorldState, source: str, read: set[HotLine]) -> set[HotLine]:
    if part.kind == "hot":
        assert part.text == hot_view(world, source).text
        return set(hot_view(world, source).lines)
    assert len(part.text) <= DELTA_CHARS
    header, *lines = part.text.split("\n")
    assert header == DELTA_HEADER
    assert lines
    true, places = set(true_lines(world, source)), list[int]()
    after = set(read)
    for line in lines:
        sign, section, entry = line[0], *line[2:].split(": ", 1)
        told = HotLine(section, entry)
        places.append(_TOLD.index(section))
        if sign == "+":
            assert told in true - after
            after.add(told)
        else:
            assert (sign, told in after - true) == ("-", True)
            after.remove(told)
    assert places == sorted(places)
    return after


def _is_long(line: HotLine) -> bool:
    return len(f"{DELTA_HEADER}\n+ {line.section}: {line.entry}") > DELTA_CHARS


def _has_twin(line: HotLine, others: set[HotLine]) -> bool:
    """Whether it changes together with another line, so that both are too long."""
    bare = line.entry.removesuffix(" (maybe fixed)")
    return any(one != line and one.entry.removesuffix(" (maybe fixed)") == bare for one in others)


@given(ledgers(max_size=30))
def test_an_epoch_keeps_the_settings_of_the_latest_start_before_it(events: list[AnyEvent]) -> None:
    """Later starts of the session change nothing before its next epoch; a start delivered again changes nothing."""
    projection = World()
    world, latest, seen = projection.initial(), dict[str, SessionStarted](), set[str]()
    for event in events:
        epochs = {source: current_epoch(world.prompts, source) for source in SOURCES}
        if isinstance(event, SessionStarted) and event.id not in seen:
            latest[event.source] = event
        seen.add(event.id)
        projection.step(world, event)
        for source, before in epochs.items():
            epoch = current_epoch(world.prompts, source)
            if epoch is not None and epoch != before:
                start = latest.get(source)
                assert start is None or epoch.delivery == start.data.delivery


@given(ledgers(max_size=30))
def test_a_new_process_knows_the_same(events: list[AnyEvent]) -> None:
    """What is due follows from the log alone: a fold of one session at any position gives what one of all does."""
    projection = World()
    world = projection.initial()
    for event in events:
        projection.step(world, event)
    for source in SOURCES:
        alone = fold(World({source}), events)
        assert alone.given.get(source) == world.given.get(source)
        for instance in ("i1", "i2"):
            assert hot_due(alone, source, instance) == hot_due(world, source, instance)
