"""Laws of epochs, of what a session asks for itself, and of late parents (SPEC 12, 14.1, 3.4)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ledger.events import AnyEvent, SessionCompacted, SessionDeleted, SessionLinked, SessionLinkedData
from ledger.source import make_source
from projections.accounting import Record
from projections.hot.session import HotState
from projections.hot.view import hot_view
from projections.memory.model import Ref
from projections.prompts import Epoch, current_epoch, hot_pending
from projections.protocol import fold
from projections.render import workspace_block
from projections.text.canonical import exact_key
from projections.world import World, WorldState
from replay.state import state_at
from replay.views import frozen_text
from tests.support.harness import HOST
from tests.support.streams import SESSIONS, ledgers

SOURCES = tuple(make_source(HOST, session) for session in SESSIONS)
CHILD = make_source(HOST, "C")
_STANDS = frozenset({"deleted", "superseded", "expired"})


@given(ledgers(max_size=30))
def test_i12_one_block_for_the_whole_epoch(events: list[AnyEvent]) -> None:
    """Only a session's own compaction or deletion changes its block, which is that of the offset it was frozen at."""
    projection = World()
    world = projection.initial()
    for event in events:
        epochs = {source: current_epoch(world.prompts, source) for source in SOURCES}
        projection.step(world, event)
        for source, before in epochs.items():
            if before is not None and not _may_end(event, source):
                assert current_epoch(world.prompts, source) == before
                assert frozen_text(world, source) == before.text
    for source in SOURCES:
        epoch = current_epoch(world.prompts, source)
        if epoch is not None:
            assert epoch.text == workspace_block(state_at(events, epoch.offset).memory).text


@given(ledgers(max_size=30))
def test_an_epoch_that_has_ended_keeps_its_digests_alone(events: list[AnyEvent]) -> None:
    """The log gives its text again, so no state holds it; all else of the epoch stays what it was."""
    projection = World()
    world = projection.initial()
    opened: dict[int, Epoch] = {}
    for event in events:
        projection.step(world, event)
        for epochs in world.prompts.epochs.values():
            opened |= {epoch.offset: epoch for epoch in epochs if epoch.open}
            assert not any(epoch.open for epoch in epochs[:-1])
            for epoch in epochs:
                if not epoch.open:
                    assert epoch == replace(opened[epoch.offset], text="", segment="", open=False)


def _may_end(event: AnyEvent, source: str) -> bool:
    return event.source == source and isinstance(event, SessionCompacted | SessionDeleted)


@given(ledgers(max_size=30, links=False))
def test_i13_own_requests_are_hot_until_a_block_holds_them(events: list[AnyEvent]) -> None:
    """A session's own request is in no earlier block of it, and until one holds it, in what its hot block may show."""
    projection = World()
    world = projection.initial()
    otherwise: set[Ref] = set()
    for event in events:
        projection.step(world, event)
        otherwise |= {move.proposal.ref for move in world.memory.moves if move.after in _STANDS | {"rejected"}}
        if isinstance(event, SessionDeleted):
            otherwise |= {ref for ref, record in _records(world) if record.proposal.session == event.source}
        for ref, record in _records(world):
            if _is_request(record) and ref not in otherwise:
                _assert_eligible(world, ref, record)


def _records(world: WorldState) -> list[tuple[Ref, Record]]:
    return list(world.accounts.records.items())


def _is_request(record: Record) -> bool:
    return record.proposal.session is not None and record.proposal.origin in {"message", "tool"}


def _assert_eligible(world: WorldState, ref: Ref, record: Record) -> None:
    source = str(record.proposal.session)
    held = {one for epoch in world.prompts.epochs.get(source, ()) for one in epoch.shown}
    for epoch in world.prompts.epochs.get(source, ()):
        assert epoch.offset > record.proposal.order[0] or ref not in epoch.shown
    into = record.into if record.into is not None else ref
    entry = world.memory.entries.get(into)
    if into in held or (entry is not None and entry.state != "promoted"):
        return
    root = world.memory.context.root
    listed = {exact_key(type_, text, root) for type_, text in hot_pending(world.memory, world.prompts, source)}
    current = current_epoch(world.prompts, source)
    shown = listed if current is None else listed | current.keys
    present = record.proposal.exact if entry is None else entry.proposal.exact
    assert shown & {record.proposal.exact, present}


def _linked(events: list[AnyEvent], place: int) -> list[AnyEvent]:
    link = SessionLinked(specversion="1.0", id="link", source=CHILD, time=None, seq=0, data=SessionLinkedData("C", "A"))
    return [replace(event, seq=seq) for seq, event in enumerate([*events[:place], link, *events[place:]])]


def _fates(world: WorldState) -> dict[Ref, tuple[str, tuple[str, ...]]]:
    return {ref: (one.state, one.reasons) for ref, one in _records(world) if one.proposal.session == CHILD}


@given(ledgers(max_size=30, links=False), st.data())
def test_i16_what_a_sub_agent_proposed_ends_the_same(events: list[AnyEvent], data: st.DataObject) -> None:
    """Wherever the parent link stands, nothing the session proposed is left, for the same reasons; no hot state.

    What was deleted, replaced or expired before the link is gone by a decision that stands (SPEC 3.4, 9.6). A REINFORCE
    that was applied before it is no candidate, and the clock it moved stands (SPEC 2.4, 3.4).
    """
    first = fold(World(), _linked(events, 1))
    late = fold(World(), _linked(events, data.draw(st.integers(1, len(events)))))
    expected, found = _fates(first), _fates(late)
    for ref in expected.keys() - found.keys():
        assert first.accounts.records[ref].proposal.text == ""
        del expected[ref]
    assert {state for state, _ in expected.values()} <= {"rejected"}
    assert {ref: fate for ref, fate in found.items() if fate[0] not in _STANDS} == {
        ref: fate for ref, fate in expected.items() if found.get(ref, fate)[0] not in _STANDS
    }
    assert late.sessions == first.sessions
    assert late.sessions.hot(CHILD) == HotState()
    assert hot_view(late, CHILD).text == hot_view(first, CHILD).text == ""
