"""Laws of delivery: what a session was told is what it knows, and what it knows becomes true (SPEC 12.3)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.events import AnyEvent, SessionStarted
from ledger.source import make_source
from projections.headers import DELTA_HEADER
from projections.hot.block import MAYBE_FIXED, HotLine
from projections.hot.delivery import DELTA_CHARS, NOTHING_LEFT, HotPart, hot_due
from projections.hot.view import hot_view, true_lines
from projections.inert import inert
from projections.prompts import current_epoch
from projections.protocol import fold
from projections.receipts import hot_receipt
from projections.text.cut import CUT_MARK
from projections.world import World, WorldState
from tests.support.effort import examples
from tests.support.harness import HOST
from tests.support.streams import SESSIONS, Stage, Step, histories, ledgers

SOURCES = tuple(make_source(HOST, session) for session in SESSIONS)
_TOLD = ("pending_memories", "open_errors", "recent_decisions")


_FIRST_TIME = "2026-01-01T00:00:00Z"
_INSTANCES = st.sampled_from(("i",) * 7 + ("j",))
_WORDS = ("house " * 40, "家" * 230, "e\u0301" * 110, "<systematic " * 20)


_LONG = st.integers(0, len(_WORDS) - 1).map(lambda number: f"rule {number} of the {_WORDS[number]}".strip())
_CALL = st.integers(0, 40).map("c{}".format)
_REQUESTS: st.SearchStrategy[Step] = st.one_of(
    st.builds(
        lambda message, text: {"do": "user_message", "session": "A", "message": message, "text": f"Remember: {text}"},
        _CALL,
        _LONG,
    ),
    st.builds(lambda text: {"do": "memory_delete", "session": "A", "text": text}, _LONG),
)
_CALLS: st.SearchStrategy[Step] = st.builds(
    lambda call, ended: {"do": "tool", "session": "A", "call": call} | ended,
    _CALL,
    st.one_of(
        st.just({"tool": "edit", "args": {"filePath": "src/long.ts"}}),
        st.just({"tool": "bash", "args": {"command": "pytest"}, "exit": 0, "output": ""}),
        _LONG.map(
            lambda text: {
                "tool": "bash",
                "args": {"command": "pytest"},
                "exit": 1,
                "output": f"FAILED src/long.ts {text}",
            }
        ),
    ),
)


@settings(max_examples=examples(60))
@given(histories(max_size=20), st.data())
def test_a_session_knows_what_it_was_told(history: list[Step], data: st.DataObject) -> None:
    """Whoever only reads the parts that were given knows what the receipts say, and in the end what is true.

    Whichever process gives them, and whatever happens between an answer and its receipt.
    """
    reader = _Reader(data.draw(st.sampled_from(SESSIONS)), data)
    for step in history:
        if step["do"] not in ("give", "odd_receipt"):
            reader.see(step)
    reader.is_settled()


@settings(max_examples=examples(60))
@given(st.data())
def test_what_comes_and_goes_is_told_at_any_length(data: st.DataObject) -> None:
    """So it is with lines that a change can hardly hold, and where nothing is left to show."""
    reader = _Reader("A", data)
    steps = data.draw(st.sampled_from((_REQUESTS, _REQUESTS | _CALLS)))
    for step in data.draw(st.lists(steps, min_size=1, max_size=12)):
        reader.see(step)
    reader.is_settled()


class _Reader:
    """Somebody who knows a session by the parts that it is given: ``read`` are the lines that stand for now."""

    def __init__(self, session: str, data: st.DataObject) -> None:
        self.stage = Stage(None)
        self.source = make_source(HOST, session)
        self.read = set[HotLine]()
        self._session, self._draw = session, data.draw
        delivery = {"hot_delivery": self._draw(st.sampled_from(("delta", "delta", "full")))}
        self.stage.step({"do": "session_start", "session": session, "at": _FIRST_TIME, "delivery": delivery})

    def see(self, step: Step) -> None:
        """Something happens, perhaps between an answer and its receipt; then messages are sent."""
        if self._draw(st.integers(0, 3)) == 0:
            self._receive(self._draw(_INSTANCES), meanwhile=step)
        else:
            self.stage.step(step)
        for _ in range(self._draw(st.integers(0, 2))):
            self._receive(self._draw(_INSTANCES))

    def is_settled(self) -> None:
        """Once no more is due, what is shown is known and what is known is true, marks aside."""
        assert not all(self._receive("i") for _ in range(60))
        world = self.stage.state()
        if self.source in world.given:
            shown = {line for line in hot_view(world, self.source).lines if line.section in _TOLD}
            true = set(map(_bare, true_lines(world, self.source)))
            assert shown <= self.read
            assert {_bare(line) for line in self.read if line.section in _TOLD} <= true

    def _receive(self, instance: str, meanwhile: Step | None = None) -> bool:
        """Read what is due; whether there was anything."""
        world = self._world()
        part = hot_due(world, self.source, instance)
        if part is not None:
            self.read = _after(part, world, self.source, self.read)
        if meanwhile is not None:
            self.stage.step(meanwhile)
        if part is not None:
            receipt = hot_receipt(part, instance)
            self.stage.step({"do": "odd_receipt", "session": self._session, "receipt": receipt})
        given = self._world().given.get(self.source)
        if given is not None:
            known = set(given.lines.values())
            assert known <= self.read
            assert known == self.read or not given.complete
        return part is not None

    def _world(self) -> WorldState:
        """The state; in a new epoch the host has dropped what stood in the conversation."""
        world = self.stage.state()
        if self.source not in world.given:
            self.read = set()
        return world


def _after(part: HotPart, world: WorldState, source: str, read: set[HotLine]) -> set[HotLine]:
    """The lines that stand once a part was read."""
    if part.kind == "hot":
        block = hot_view(world, source)
        assert part.text == (block.text or (NOTHING_LEFT if read else ""))
        return set(block.lines)
    assert len(part.text) <= DELTA_CHARS
    assert part.text == inert(part.text)
    header, *lines = part.text.split("\n")
    assert header == DELTA_HEADER
    assert lines
    true, places = set(true_lines(world, source)), list[int]()
    after = set(read)
    for line in lines:
        sign, section, entry = line[0], *line[2:].split(": ", 1)
        places.append(_TOLD.index(section))
        if sign == "+":
            after.add(_meant(HotLine(section, entry), true - after))
        else:
            assert sign == "-"
            after.remove(_meant(HotLine(section, entry), after - true))
    assert places == sorted(places)
    return after


def _meant(told: HotLine, lines: set[HotLine]) -> HotLine:
    """The line that is told, perhaps cut."""
    if told in lines:
        return told
    subject = _bare(told).entry
    mark = told.entry[len(subject) :]
    assert subject.endswith(CUT_MARK)
    begin = subject.removesuffix(CUT_MARK).replace("\u2039", "<")
    (found,) = (
        line
        for line in lines
        if line.section == told.section
        and _bare(line).entry.replace("\u2039", "<").startswith(begin)
        and line.entry.removeprefix(_bare(line).entry) == mark
    )
    return found


def _bare(line: HotLine) -> HotLine:
    return line._replace(entry=line.entry.removesuffix(MAYBE_FIXED))


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
