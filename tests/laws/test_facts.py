"""Facts that are kept change the time a fold takes and nothing else (DESIGN 5, law 8)."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ledger.events import AnyEvent
from projections.facts import Facts, Judged, facts_key, facts_of
from projections.memory.fold import WorkspaceMemory
from projections.protocol import fold
from projections.world import World
from replay.kept import KeptFacts, facts_path, keep_all
from tests.support.streams import ledgers


def facts_in(events: list[AnyEvent]) -> dict[str, Facts]:
    """The facts of all events, each under the context in force."""
    memory, known = WorkspaceMemory(), dict[str, Facts]()
    state = memory.initial()
    for event in events:
        if isinstance(event, Judged):
            known[facts_key(event, state.context)] = facts_of(event, state.context)
        memory.step(state, event)
    return known


@given(events=ledgers(), data=st.data())
def test_a_fold_with_some_facts_at_hand_gives_the_same_state(events: list[AnyEvent], data: st.DataObject) -> None:
    """All of them, none, or any part."""
    known = facts_in(events)
    some = {key: facts for key, facts in known.items() if data.draw(st.booleans())}
    plain = fold(World(), events)
    assert fold(World(known=known), events) == plain
    assert fold(World(known=some), events) == plain


@given(events=ledgers(max_size=12))
def test_facts_survive_being_written(events: list[AnyEvent]) -> None:
    """What is read back is what was judged."""
    for facts in facts_in(events).values():
        assert msgspec.json.decode(msgspec.json.encode(facts), type=Facts) == facts


@given(events=ledgers(max_size=12), data=st.data())
def test_damaged_facts_are_not_trusted(events: list[AnyEvent], data: st.DataObject) -> None:
    """Any byte changed, the file cut anywhere, or a piece cut out of it: the state is the same."""
    with tempfile.TemporaryDirectory() as folder:
        kept = keep_all(folder, events)
        path = Path(facts_path(folder))
        if not kept:
            assert not path.exists()
            return
        content = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        accident = data.draw(st.sampled_from(["flip", "cut", "glue"]))
        if accident == "flip":
            content[place] ^= 1 << data.draw(st.integers(0, 7))
        elif accident == "cut":
            del content[place:]
        else:  # between two fields, so that what is left of two lines may be one
            seams = [seam.start() for seam in re.finditer(rb'^|,"', bytes(content), re.MULTILINE)]
            begin, end = sorted((data.draw(st.sampled_from(seams)), data.draw(st.sampled_from(seams))))
            del content[begin:end]
        path.write_bytes(content)
        assert fold(World(known=KeptFacts(folder)), events) == fold(World(), events)


@given(events=ledgers(max_size=12), data=st.data())
def test_facts_are_found_in_any_order(events: list[AnyEvent], data: st.DataObject) -> None:
    """Of lines in any order, some of them twice, asked for in any order and again: each is found, and no other."""
    with tempfile.TemporaryDirectory() as folder:
        keep_all(folder, events)
        path = Path(facts_path(folder))
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        lines += data.draw(st.lists(st.sampled_from(lines), max_size=3)) if lines else []
        if lines:
            path.write_bytes(b"".join(data.draw(st.permutations(lines))))
        expected = facts_in(events)
        kept = KeptFacts(folder)
        asked = data.draw(st.lists(st.sampled_from([*expected, "0" * 32]), max_size=20))
        assert [kept.get(key) for key in asked] == [expected.get(key) for key in asked]
