"""Laws of the fold as a whole: what it says at each position, and that it says so for good (SPEC 24)."""

from __future__ import annotations

from typing import Any

from hypothesis import event as note
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ledger.events import AnyEvent, MemoryImported, MemoryImportedData
from ledger.source import make_source
from projections.hot.view import hot_view
from projections.memory import decide
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState, Ref
from projections.memory.turn import Turn
from projections.protocol import fold
from projections.render import numbered_block, workspace_block
from projections.text.identity import same_identity
from projections.world import World, WorldState
from replay.views import frozen_text, next_block, present_block
from tests.support.effort import examples
from tests.support.harness import HOST
from tests.support.streams import SESSIONS, ledgers
from tests.support.watch import Watch, active_texts, watched

SOURCES = tuple(make_source(HOST, session) for session in SESSIONS)


def blocks(world: WorldState) -> list[str]:
    """Every block that this state shows."""
    whole = [present_block(world).text, numbered_block(world.memory).text, next_block(world).text]
    return whole + [text for one in SOURCES for text in (frozen_text(world, one), hot_view(world, one).text)]


@given(ledgers())
def test_i1_the_same_events_give_the_same_blocks(events: list[AnyEvent]) -> None:
    """Two folds of the same events show the same bytes, in every block there is."""
    first = [text.encode() for text in blocks(fold(World(), events))]
    assert [text.encode() for text in blocks(fold(World(), list(events)))] == first


@given(ledgers(), st.data())
def test_i3_a_state_depends_on_its_prefix_only(events: list[AnyEvent], data: st.DataObject) -> None:
    """State and blocks at an offset are the same whether the log ends there or goes on."""
    projection = World()
    at = data.draw(st.integers(0, len(events) - 1))
    prefix = fold(projection, events[: at + 1])
    shown = blocks(prefix)
    passing = projection.initial()
    for event in events[: at + 1]:
        projection.step(passing, event)
    assert passing == prefix
    assert blocks(passing) == shown
    fold(projection, events[at + 1 :], prefix)
    assert passing == prefix
    assert blocks(prefix) == shown


@settings(max_examples=examples(60))
@given(ledgers(max_size=35))
def test_i4_every_candidate_is_in_one_state(events: list[AnyEvent]) -> None:
    """At each position the seven counts add up, each decision has a reason and a cause, only allowed moves occur."""
    watch = Watch()
    watched(events, watch)
    for state in ("absorbed", "superseded", "expired", "deleted", "rejected_capacity", "subagent_session"):
        if state in watch.reached:
            note(state)


@given(ledgers(), st.lists(st.integers(-5, 2**62), max_size=6), st.data())
def test_i7_a_number_names_one_memory_for_ever(events: list[AnyEvent], numbers: list[int], data: st.DataObject) -> None:
    """Whatever numbers an import wants, none is given twice and the counter never falls."""
    mixed = list(events)
    for index, number in enumerate(numbers):
        line = MemoryImportedData("old.md", "d9", index, f"Imported rule {index} stands alone", number=number)
        imported = MemoryImported(
            specversion="1.0", id=f"import-{index}", source="memfold", time=None, seq=0, data=line
        )
        mixed.insert(data.draw(st.integers(1, len(mixed))), imported)
    watched(numbered(mixed))


@given(ledgers(max_size=30))
def test_i18_no_merge_removes_the_last_copy(events: list[AnyEvent]) -> None:
    """What is absorbed lives on in an active memory of the same text or the same identity."""
    projection = WorkspaceMemory()
    state = projection.initial()
    for event in events:
        keys = len(state.exact)
        projection.step(state, event)
        merged = [move for move in state.moves if move.after == "absorbed"]
        if merged and len(merged) == len(state.moves):
            assert len(state.exact) == keys
        gone = {move.proposal.ref for move in state.moves if move.before == "promoted"}
        for move in merged:
            if move.into not in gone:
                assert _lives_on(state, move.proposal, move.into)


def _lives_on(state: MemoryState, lost: Any, into: Ref | None) -> bool:
    """Whether the entry a candidate went into, or another active one, says what it said when it was merged."""
    root = state.context.root
    active = [entry for entry in state.entries.values() if entry.state == "promoted"]
    assert into in {entry.ref for entry in active}
    return any(
        entry.proposal.key == lost.key
        or (entry.proposal.type == lost.type and same_identity(lost.type, entry.proposal.text, lost.text, root))
        for entry in active
    )


@given(ledgers(max_size=30))
def test_i18_consolidating_what_is_there_changes_nothing(events: list[AnyEvent]) -> None:
    """Every active memory that comes again goes into itself; a second time too."""
    projection = WorkspaceMemory()
    state = projection.copy(fold(projection, events))
    before = {ref: entry.proposal for ref, entry in state.entries.items() if entry.state == "promoted"}
    for turn_number in range(2):
        turn = Turn(state=state, event=f"again-{turn_number}", offset=len(events), moves=[])
        for index, (ref, wording) in enumerate(before.items()):
            decide.decide(turn, replace(wording, ref=Ref(turn.event, index)))
            assert turn.moves[-1].reasons == ("absorbed_exact",)
            assert turn.moves[-1].into == ref
        assert active_texts(state) == {wording.text for wording in before.values()}
        assert set(state.exact.values()) == set(before)


_TIMES = st.one_of(
    st.none(),
    st.sampled_from(("", "yesterday", "2026-13-45", "1969-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00")),
    st.datetimes().map(lambda moment: moment.isoformat()),
)


@given(ledgers(max_size=20), st.data())
def test_i20_now_never_runs_backwards(events: list[AnyEvent], data: st.DataObject) -> None:
    """With any times, readable or not, ages are never negative, strengths finite and the order total."""
    odd: list[AnyEvent] = [replace(event, time=data.draw(_TIMES)) for event in events]
    world = watched(odd)
    assert [entry.number for entry in workspace_block(world.memory).shown] == [
        entry.number for entry in present_block(world).shown
    ]


def numbered(events: list[AnyEvent]) -> list[AnyEvent]:
    """The events as a log would hold them: dense offsets."""
    return [replace(event, seq=seq) for seq, event in enumerate(events)]
