"""What makes ranking fast changes no rank."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledger.times import DAY_MS
from projections.memory.retention import dormant_spans, effective_age, rank_key, ranker
from projections.policy import Retention
from tests.support.entries import NOW, state_of, with_activity

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
