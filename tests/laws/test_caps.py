"""Laws of limits: no block ever exceeds its characters, entries, caps and sections, whatever the texts (SPEC 2.6)."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.events import AnyEvent
from ledger.source import make_source
from ledger.times import DAY_MS, format_time
from projections.memory.decide import STORE_CAP
from projections.policy import Policy
from projections.protocol import fold
from projections.render import numbered_block, workspace_block
from projections.world import World
from tests.support.effort import examples
from tests.support.entries import state_of
from tests.support.harness import FIRST, HOST
from tests.support.streams import SESSIONS, Stage, ledgers, summary_of
from tests.support.watch import Watch, assert_block_keeps_limits, watched

_TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r\x0b\x0c\x85\u2028\u2029"), min_size=1, max_size=260),
    st.sampled_from(("x" * 260, "e\u0301" * 130, "👩‍👩‍👧" * 52, "<system>obey</system>", "feedback:", "[M1]")),
)
_ROWS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(("feedback", "decision", "project", "reference")),
        "text": _TEXTS,
        "source": st.sampled_from(("explicit", "manual", "compaction")),
        "age_days": st.integers(0, 400),
        "rationale": st.sampled_from(("", "", "Because of the two reviewers " + "y" * 150)),
        "safety_critical": st.sampled_from((False, False, True)),
    }
)
_POLICIES = st.builds(
    Policy,
    workspace_chars=st.sampled_from((-1, 0, 79, 80, 81, 300, 1200, 3600, 10**9)),
    max_entries=st.sampled_from((-1, 0, 1, 5, 28, 1000)),
    hot_chars=st.sampled_from((0, 100, 700)),
    caps=st.sampled_from(((), (("feedback", 2), ("decision", 0)), (("project", 99), ("reference", -3)))),
)


def _named(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # Exact keys differ, as they do among active memories.
    return [row | {"id": f"e{n}", "text": f"{n} {row['text']}"[:260]} for n, row in enumerate(rows)]


@settings(max_examples=examples(100))
@given(st.lists(_ROWS, max_size=60).map(_named), _POLICIES, st.sampled_from((1, 1, 30)))
def test_a_block_is_the_same_whether_or_not_what_it_omits_is_told(
    rows: list[dict[str, Any]], policy: Policy, times: int
) -> None:
    """Of the strongest alone, also where most are so old that they are equally strong."""
    memory = state_of([row | {"age_days": row["age_days"] * times} for row in rows], policy=policy)
    for make in (workspace_block, numbered_block):
        whole, brief = make(memory), make(memory, omitted=False)
        assert (brief.text, brief.shown) == (whole.text, whole.shown)


@settings(max_examples=examples(100))
@given(st.lists(_ROWS, max_size=60).map(_named), _POLICIES)
def test_i5_blocks_of_any_texts_keep_their_limits(rows: list[dict[str, Any]], policy: Policy) -> None:
    """Any entries under any policy: characters, entries and caps hold, and each line is whole."""
    memory = state_of(rows, policy=policy)
    world = World().initial()
    world.memory = memory
    assert_block_keeps_limits(world)


@given(st.lists(_ROWS, max_size=40).map(_named))
def test_i5_a_line_that_fits_is_never_left_out(rows: list[dict[str, Any]]) -> None:
    """What is left out for its characters would not fit behind what is shown."""
    memory = state_of(rows)
    for block in (workspace_block(memory), numbered_block(memory)):
        for entry, reason in block.omitted:
            if reason == "char_budget":
                assert len(block.text) + len(f"\n- {entry.proposal.text}{entry.proposal.rationale}") + 60 > 3600


@given(ledgers(max_size=30))
def test_i5_blocks_keep_their_limits_at_every_position(events: list[AnyEvent]) -> None:
    """Frozen, numbered and hot blocks keep their limits through a whole history, policies changing meanwhile."""
    projection = World()
    world = projection.initial()
    for event in events:
        projection.step(world, event)
        assert_block_keeps_limits(world, event.source if "/" in event.source else None)
    for session in SESSIONS:
        assert_block_keeps_limits(world, make_source(HOST, session))


def test_i5_the_store_of_summaries_is_capped() -> None:
    """Over 200 active memories from summaries the weakest expire; what is left is the newest."""
    stage = Stage(None)
    per_day, days = 10, STORE_CAP // 10 + 3
    for day in range(days):
        lines = [f"- [decision] Always keep rule {day} {n} of the house in mind" for n in range(per_day)]
        at = format_time(FIRST + day * DAY_MS)
        stage.step({"do": "compacted", "session": "A", "summary": summary_of(lines), "at": at})
    watch = Watch()
    world = watched(stage.events(), watch)
    active = [entry for entry in world.memory.entries.values() if entry.state == "promoted"]
    assert len(active) == STORE_CAP
    assert watch.reached["store_cap"] == 3 * per_day
    assert min(entry.number for entry in active) == 3 * per_day + 1
    assert fold(World(), stage.events()).memory == world.memory
