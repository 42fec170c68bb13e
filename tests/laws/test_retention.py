"""What makes ranking fast changes no rank."""

from __future__ import annotations

from math import ceil, floor, isfinite, isinf

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.events import AnyEvent
from ledger.times import DAY_MS, format_time
from projections.memory import decide
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import Cohort, MemoryState
from projections.memory.retention import (
    MAX_REINFORCEMENTS,
    Curve,
    ages_beside,
    cohort_strengths,
    dormant_spans,
    effective_age,
    rank_key,
    ranker,
)
from projections.memory.selection import ranked, select, strongest, weakest
from projections.memory.turn import Turn
from projections.policy import Context, CustomType, Policy, Retention
from projections.protocol import fold
from tests.support.effort import examples
from tests.support.entries import NOW, proposal, state_of, with_activity
from tests.support.harness import FIRST
from tests.support.streams import IMPORTS, events_of, ledgers

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["feedback", "decision", "project", "reference"]),
            "source": st.sampled_from(["explicit", "manual", "compaction"]),
            "age_days": st.integers(0, 400),
            "reinforcements": st.integers(0, 8),
            "importance": st.sampled_from(["low", "normal", "high"]),
            "safety_critical": st.booleans(),
        }
    ),
    max_size=8,
)
DAYS = st.lists(st.integers(0, 500), max_size=6)
AGES = (0, 0, 0, 1 / DAY_MS, 2 / DAY_MS, 5, 14, 3000, 3001, -1)
"""Days, of which many give strengths that are equal to nine decimals."""
_KINDS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["decision", "decision", "project", "lore", "gone"]),
        "source": st.sampled_from(["compaction", "compaction", "compaction", "manual", "explicit"]),
        "reinforcements": st.sampled_from([0, 0, 0, 1, 8]),
        "importance": st.sampled_from(["normal", "normal", "normal", "high"]),
        "safety_critical": st.sampled_from([False, False, False, True]),
    }
)
CROWDS = st.lists(_KINDS, min_size=1, max_size=3).flatmap(
    lambda few: st.lists(
        st.builds(lambda kind, age: kind | {"age_days": age}, st.sampled_from(few), st.sampled_from(AGES)), max_size=30
    )
)
"""Entries of a few kinds, so that many are equally strong."""
NEWCOMERS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["decision", "decision", "project", "lore"]),
        "age_days": st.sampled_from(AGES),
        "like_the_first": st.sampled_from([True, True, False]),
        "proposed_before": st.booleans(),
    }
)
_LORE = CustomType("lore", cap=3, factor_percent=250)
POLICIES = st.sampled_from(
    [
        Policy(types=(_LORE,)),
        Policy(caps=(("decision", 2),), max_entries=4, types=(_LORE,)),
        Policy(caps=(("decision", 1), ("project", 0)), max_entries=2, types=(CustomType("lore", factor_percent=0),)),
        Policy(caps=(("decision", 3),), retention=Retention(half_life_days=10**9, dormant_rate_percent=100)),
        Policy(max_entries=0),
        Policy(max_entries=5, retention=Retention(half_life_days=1, dormant_after_days=0, dormant_rate_percent=0)),
    ]
)


def crowd(rows: list[dict[str, object]], active: list[int], policy: Policy) -> MemoryState:
    """A state with these entries that was active on these days ago; the policy came last."""
    state = with_activity(state_of({**row, "id": f"entry {number}"} for number, row in enumerate(rows)), active)
    state.context = Context(policy, state.context.root)
    return state


def imports() -> st.SearchStrategy[list[AnyEvent]]:
    """Ledgers into which old stores were imported, with what reinforcements their entries had."""
    at = format_time(FIRST)
    return st.lists(IMPORTS, max_size=6).map(lambda steps: events_of([step | {"at": at} for step in steps]))


@settings(max_examples=examples(500))
@given(CROWDS, DAYS, POLICIES, NEWCOMERS)
def test_room_is_where_the_selection_would_have_it(
    rows: list[dict[str, object]], active: list[int], policy: Policy, drawn: dict[str, object]
) -> None:
    """A newcomer has room if the caps let it through once it is active (SPEC 9.4, 11.1)."""
    state = crowd(rows, active, policy)
    like = rows[0] if rows and drawn["like_the_first"] else drawn
    order = -1 if drawn["proposed_before"] else len(rows)
    newcomer = proposal({"id": "newcomer", "type": like["type"], "age_days": like["age_days"]}, order)
    after = WorkspaceMemory().copy(state)
    entry = decide.promote(Turn(state=after, event="newcomer", offset=len(rows), moves=[]), newcomer)
    assert decide.has_room(state, newcomer) == (entry in select(ranked(after), policy).chosen)


@given(st.sampled_from([0.0, 1e-9, 0.7, 1.0, 2.5]), st.sampled_from([1.0, 1e9, 1e20]), st.floats(0, 4), st.data())
def test_ages_tell_strengths_beyond_doubt(first: float, half_life: float, own: float, data: st.DataObject) -> None:
    """Whatever is younger is stronger to nine decimals, whatever is older weaker; a clock may be ahead of now."""
    curve = Curve(round(first, 9), first, half_life)
    younger, older = ages_beside(curve, own)
    assert younger < older or isinf(younger)
    strength, state = cohort_strengths(state_of(())), state_of(())
    edges = [ceil(younger) - 1 if isfinite(younger) else 0, floor(older) + 1 if isfinite(older) else 0]
    for age in (-DAY_MS, 0, data.draw(st.integers(0, 10**21)), *edges):
        if age < younger:
            assert strength(curve, state.now - age) > round(own, 9)
        if age > older:
            assert strength(curve, state.now - age) < round(own, 9)


@settings(max_examples=examples(500))
@given(CROWDS, DAYS, POLICIES)
def test_the_strongest_are_those_that_the_caps_let_through(
    rows: list[dict[str, object]], active: list[int], policy: Policy
) -> None:
    """In rank order, as if all had been ranked: equals, those whose safety exempts them and old ones included."""
    state = crowd(rows, active, policy)
    assert strongest(state) == select(ranked(state), policy).chosen


def test_what_is_safety_critical_stands_behind_a_full_type() -> None:
    """However many of its type are stronger: caps of types don't count for it (SPEC 11.1)."""
    policy = Policy(caps=(("decision", 1),))
    rows: list[dict[str, object]] = [
        {"type": "decision", "age_days": age, "safety_critical": age > 9} for age in (0, 1, 400, 500)
    ]
    assert [entry.number for entry in strongest(crowd(rows, [], policy))] == [1, 3, 4]


def test_a_type_takes_no_more_room_than_its_cap() -> None:
    """Equals of another type count up to its cap: here three, and the fourth place is the newcomer's."""
    policy = Policy(max_entries=4, types=(_LORE,))
    state = crowd([{"type": "lore", "source": "compaction"}] * 6, [], policy)
    assert decide.has_room(state, proposal({"id": "newcomer", "type": "decision"}, -1))


@settings(max_examples=examples(500))
@given(CROWDS, DAYS, POLICIES)
def test_the_weakest_is_the_last_in_rank_order(
    rows: list[dict[str, object]], active: list[int], policy: Policy
) -> None:
    """What a full store lets go first is the last of all that came from summaries (SPEC 9.5)."""
    state = crowd([*rows, {"type": "project", "source": "compaction"}], active, policy)
    from_summaries = [entry for entry in ranked(state) if entry.proposal.source == "compaction"]
    assert weakest(state, "compaction") == from_summaries[-1]


@given(ledgers() | imports())
def test_cohorts_are_in_step_with_entries(events: list[AnyEvent]) -> None:
    """After any history the index of cohorts holds just the active entries, as they are now."""
    state = fold(WorkspaceMemory(), events)
    expected: dict[str, dict[Cohort, list[tuple[int, int]]]] = {}
    for entry in state.entries.values():
        if entry.state == "promoted":
            wording = entry.proposal
            count = min(entry.reinforcements, MAX_REINFORCEMENTS)
            cohort = Cohort(wording.source, wording.importance, wording.safety_critical, count)
            members = expected.setdefault(wording.type, {}).setdefault(cohort, [])
            members.append((entry.clock, entry.number))
            members.sort()
    assert state.cohorts == expected


@given(ROWS, DAYS)
def test_ranker_agrees_with_rank_key(rows: list[dict[str, object]], active: list[int]) -> None:
    """Many entries at once are ranked as each alone (SPEC 10.2)."""
    state = with_activity(state_of({**row, "id": f"entry {number}"} for number, row in enumerate(rows)), active)
    rank = ranker(state)
    for entry in state.entries.values():
        assert rank(entry) == rank_key(entry, state.now, dormant_spans(state), state.context.policy)


@given(st.integers(0, 500), DAYS)
def test_dormant_time_counts_a_quarter(age: int, bounds: list[int]) -> None:
    """An age is its days, of which those in dormant spans count 25 % (SPEC 10.4)."""
    days = sorted(set(bounds), reverse=True)
    spans = list(zip(days[::2], days[1::2], strict=False))
    dormant = tuple((NOW - start * DAY_MS, NOW - end * DAY_MS) for start, end in spans)
    idle = sum(end < day <= start for day in range(1, age + 1) for start, end in spans)
    assert effective_age(NOW - age * DAY_MS, NOW, dormant, Retention()) == (age - idle * 0.75) * DAY_MS
