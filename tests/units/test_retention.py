"""What a memory weighs, and which time it has slept through (SPEC 10)."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from zlib import crc32

import msgspec
import pytest

from ledger.blocks import BlockReader
from ledger.outlines import Outline, Stretch
from ledger.runs import Run
from ledger.times import DAY_MS
from projections.memory.activity import advance, calls_taken_in, touch
from projections.memory.model import Cohort
from projections.memory.retention import (
    MAX_REINFORCEMENTS,
    cohort_strengths,
    curve_of,
    effective_age,
    initial_strength,
    strength,
)
from projections.policy import CustomType, Policy, Retention
from tests.support.entries import NOW, add_entry, empty_state
from tests.support.logs import raw_log

POLICY = Policy(types=(CustomType("glossary", factor_percent=300), CustomType("recipe", factor_percent=50)))


@pytest.mark.parametrize(
    ("type_", "factor"),
    [
        ("glossary", 3.0),
        ("recipe", 0.5),
        ("unknown", 1.25),
        *(("reference", 1.0), ("project", 1.25), ("feedback", 2.25), ("decision", 2.5)),
    ],
)
def test_a_configured_type_weighs_what_it_was_given(type_: str, factor: float) -> None:
    """By its own name alone; built-in types keep their weight, and one that is gone weighs as any custom one."""
    entry = add_entry(empty_state(), {"id": "e", "type": type_, "text": "x"}, 0)
    assert initial_strength(entry, POLICY) == factor


def test_no_clock_makes_a_memory_stronger_than_a_new_one() -> None:
    """What bounds a cohort is the strength of a memory whose clock stands at now."""
    state = empty_state(policy=POLICY)
    strength = cohort_strengths(state)
    cohorts = (
        Cohort("compaction", "low", safety_critical=False, reinforcements=0),
        Cohort("manual", "normal", safety_critical=True, reinforcements=1),
        Cohort("explicit", "high", safety_critical=False, reinforcements=MAX_REINFORCEMENTS),
    )
    for type_, cohort in product(("glossary", "project"), cohorts):
        curve = curve_of(type_, cohort, POLICY)
        assert curve.greatest == strength(curve, NOW) > strength(curve, NOW - DAY_MS)


@pytest.mark.parametrize("days", [1, 9, 25, 40])
def test_a_cohort_sleeps_as_its_members_do(days: int) -> None:
    """Before, in, between and behind gaps, the strength of a clock is that of an entry with it (SPEC 10.4)."""
    state = empty_state()
    state.now = NOW
    state.dormant = ((NOW - 30 * DAY_MS, NOW - 20 * DAY_MS), (NOW - 10 * DAY_MS, NOW - 5 * DAY_MS))
    entry = add_entry(state, {"id": "e", "type": "project", "text": "x", "source": "compaction"}, 0)
    entry = msgspec.structs.replace(entry, clock=NOW - days * DAY_MS)
    policy = state.context.policy
    cohort = Cohort(entry.proposal.source, entry.proposal.importance, safety_critical=False, reinforcements=0)
    found = cohort_strengths(state)(curve_of("project", cohort, policy), entry.clock)
    assert found == round(strength(entry, NOW, state.dormant, policy), 9)


def test_an_equal_time_is_a_time_of_its_own() -> None:
    """Now stays where it is, and the event counts as one of now; only what lies before doesn't (SPEC 1.2)."""
    state = empty_state()
    state.now = DAY_MS
    assert advance(state, "1970-01-02T00:00:00Z")
    assert not advance(state, "1970-01-01T23:59:59.999Z")
    assert not advance(state, "some day")
    assert not advance(state, None)
    assert state.now == DAY_MS


def test_without_a_grace_gaps_join() -> None:
    """Where every gap is dormant from its first moment on, neighbours are one span; what lies apart stays apart."""
    state = empty_state(policy=Policy(retention=Retention(dormant_after_days=0)))
    state.dormant, state.last_activity = ((0, 5), (10, 20)), 20
    for state.now in (20, 30, 45):
        touch(state)
    assert (state.dormant, state.last_activity) == (((0, 5), (10, 45)), 45)
    assert effective_age(0, 45, state.dormant, Retention(dormant_rate_percent=0)) == 5


def test_a_gap_is_dormant_behind_its_grace() -> None:
    """Fourteen days exactly leave no span (SPEC 10.4)."""
    state = empty_state()
    state.last_activity = 0
    for state.now in (14 * DAY_MS, 28 * DAY_MS + 1, 43 * DAY_MS + 1):
        touch(state)
    assert state.dormant == ((28 * DAY_MS, 28 * DAY_MS + 1), (42 * DAY_MS + 1, 43 * DAY_MS + 1))


def test_an_age_counts_the_dormant_time_behind_its_clock() -> None:
    """Of each span the part between clock and now, whether the clock stands before, in or behind it."""
    retention = Retention(dormant_rate_percent=25)
    dormant = ((100, 200), (300, 400))
    ages = {clock: effective_age(clock, 500, dormant, retention) for clock in (0, 100, 150, 200, 250, 350, 400, 450)}
    assert ages == {0: 350, 100: 250, 150: 237.5, 200: 225, 250: 175, 350: 112.5, 400: 100, 450: 50}
    assert effective_age(600, 500, dormant, retention) == 0
    assert effective_age(250, 350, dormant, retention) == 100 - 50 * 0.75
    assert effective_age(0, 50, dormant, retention) == 50


def test_a_strength_does_not_depend_on_what_does_not_count() -> None:
    """Confidence plays no part (SPEC 10.1)."""
    entry = add_entry(empty_state(), {"id": "e", "type": "project", "text": "x"}, 0)
    sure = msgspec.structs.replace(entry, proposal=msgspec.structs.replace(entry.proposal, confidence=1))
    assert initial_strength(entry, POLICY) == initial_strength(sure, POLICY)


def test_a_quiet_run_of_calls_is_taken_in_whole(tmp_path: Path) -> None:
    """None of it is decoded or stepped: the memory needs the times alone, and the ids of what was measured."""
    state = empty_state()
    touch(state)
    later = NOW + DAY_MS
    stretch = Stretch(0, 0, 8, 2, 9, NOW, later, {"test/A": later}, ("m1",))
    log = raw_log(tmp_path, b"no event")
    (run,) = BlockReader(log.path, {0: Outline(0, 2, 8, crc32(b"no event"), (stretch,))}.get)
    assert type(run) is Run
    assert list(calls_taken_in(state, [run])) == []
    assert (state.now, state.last_activity, state.offset, list(state.events)) == (later, later, 9, ["m1"])
