"""What makes ranking fast changes no rank."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledger.events import AnyEvent
from ledger.times import DAY_MS
from projections.memory import decide
from projections.memory.decide import Turn
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import Cohort, MemoryState
from projections.memory.retention import MAX_REINFORCEMENTS, dormant_spans, effective_age, rank_key, ranker
from projections.memory.selection import ranked, select, weakest
from projections.policy import DEFAULT_POLICY, Context, CustomType, Policy, Retention
from projections.protocol import fold
from tests.support.entries import NOW, proposal, state_of, with_activity
from tests.support.streams import ledgers

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
AGES = (0, 0, 0, 1 / DAY_MS, 2 / DAY_MS, 3 / DAY_MS, 1, 5, 14, 14 + 1 / DAY_MS, 15, 40, 40 + 1 / DAY_MS, 400, 3000, -1)
"""Days, of which many give strengths that are equal to nine decimals."""
CROWDS = st.integers(0, 70).flatmap(
    lambda size: st.lists(
        st.fixed_dictionaries(
            {
                "type": st.sampled_from(["feedback", "decision", "decision", "project", "reference", "lore", "gone"]),
                "source": st.sampled_from(["explicit", "manual", "compaction", "compaction"]),
                "age_days": st.sampled_from(AGES),
                "reinforcements": st.sampled_from([0, 0, 0, 1, 6, 8]),
                "importance": st.sampled_from(["low", "normal", "normal", "high"]),
                "safety_critical": st.sampled_from([False, False, False, True]),
            }
        ),
        min_size=size,
        max_size=size,
    )
)
POLICIES = st.sampled_from(
    [
        DEFAULT_POLICY,
        Policy(types=(CustomType("lore", cap=3, factor_percent=250), CustomType("empty", cap=0))),
        Policy(caps=(("feedback", 0), ("decision", 2)), max_entries=5, types=(CustomType("lore", factor_percent=0),)),
        Policy(max_entries=0),
        Policy(retention=Retention(half_life_days=1, dormant_after_days=0, dormant_rate_percent=0)),
        Policy(retention=Retention(half_life_days=10**9, dormant_rate_percent=100)),
    ]
)


def crowd(rows: list[dict[str, object]], active: list[int], policy: Policy) -> MemoryState:
    """A state with these entries that was active on these days ago; the policy came last."""
    state = with_activity(state_of({**row, "id": f"entry {number}"} for number, row in enumerate(rows)), active)
    state.context = Context(policy, state.context.root)
    return state


@given(CROWDS, DAYS, POLICIES, st.sampled_from(["feedback", "decision", "project", "lore"]), st.sampled_from(AGES))
def test_room_is_where_the_selection_would_have_it(
    rows: list[dict[str, object]], active: list[int], policy: Policy, type_: str, age: float
) -> None:
    """A newcomer has room if the caps let it through once it is active (SPEC 9.4, 11.1)."""
    state = crowd(rows, active, policy)
    newcomer = proposal({"id": "newcomer", "type": type_, "age_days": age}, len(rows))
    after = WorkspaceMemory().copy(state)
    entry = decide.promote(Turn(state=after, event="newcomer", offset=len(rows), moves=[]), newcomer)
    assert decide.has_room(state, newcomer) == (entry in select(ranked(after), policy).chosen)


@given(CROWDS, DAYS, POLICIES)
def test_the_weakest_is_the_last_in_rank_order(
    rows: list[dict[str, object]], active: list[int], policy: Policy
) -> None:
    """What a full store lets go first is the last of all that came from summaries (SPEC 9.5)."""
    state = crowd([*rows, {"type": "project", "source": "compaction"}], active, policy)
    from_summaries = [entry for entry in ranked(state) if entry.proposal.source == "compaction"]
    assert weakest(state, "compaction") == from_summaries[-1]


@given(ledgers())
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
