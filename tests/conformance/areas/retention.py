"""Area ``retention``: strength, reinforcement, selection (SPEC 10, 11.1)."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import msgspec

from ledger.times import DAY_MS, HOUR_MS
from projections.memory import indexes, merging
from projections.memory.model import MemoryState
from projections.memory.retention import (
    dormant_spans,
    effective_age,
    half_life_days,
    initial_strength,
    strength,
)
from projections.memory.selection import ranked, select
from projections.memory.turn import Turn
from projections.policy import BUILT_IN_TYPES
from tests.conformance.runner import UnknownKey
from tests.support.entries import NOW, add_entry, empty_state, state_of, with_activity


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Run one of the three operations."""
    operations = {"strength": _strength, "reinforce": _reinforce, "select": _select}
    if given["op"] not in operations:
        raise UnknownKey(given["op"])
    results = operations[given["op"]](given)
    for key in wanted - results.keys():
        raise UnknownKey(key)
    return {key: results[key] for key in wanted}


def compare(key: str, expected: Any, actual: Any) -> bool:
    """Numbers to a relative 1e-5, everything else exactly."""
    if isinstance(expected, float | int) and not isinstance(expected, bool):
        return math.isclose(expected, actual, rel_tol=1e-5, abs_tol=1e-9)
    return bool(expected == actual)


def _active(state: MemoryState, given: dict[str, Any]) -> MemoryState:
    days = given.get("activity_days_ago")
    return state if days is None else with_activity(state, days)


def _strength(given: dict[str, Any]) -> dict[str, Any]:
    state = empty_state()
    entry = add_entry(state, {"id": "e", "text": "the only entry"} | given["entry"], 0)
    _active(state, given)
    policy, dormant = state.context.policy, dormant_spans(state)
    return {
        "initial": initial_strength(entry, policy),
        "half_life_days": half_life_days(entry.reinforcements, policy.retention),
        "effective_age_days": effective_age(entry.clock, state.now, dormant, policy.retention) / DAY_MS,
        "strength": strength(entry, state.now, dormant, policy),
    }


def _reinforce(given: dict[str, Any]) -> dict[str, Any]:
    row, state = given["entry"], empty_state()
    entry = add_entry(state, {"id": "e", "type": "decision", "source": "compaction", "text": "the entry"}, 0)
    since = row["hours_since_reinforced"]
    before, entry = (
        entry,
        msgspec.structs.replace(
            entry,
            reinforcements=row["reinforcements"],
            sessions=tuple(row["sessions"]),
            created=NOW - round(row["hours_since_created"] * HOUR_MS),
            clock=NOW - round(row["hours_since_created"] * HOUR_MS),
            reinforced_at=None if since is None else NOW - round(since * HOUR_MS),
        ),
    )
    indexes.refile(state, before, entry)
    turn = Turn(state=state, event="attempt", offset=1, moves=[])
    outcome = merging.reinforce(turn, entry.ref, NOW, given["attempt"]["session"])
    after = state.entries[entry.ref]
    return {"outcome": outcome, "reinforcements": after.reinforcements, "clock_reset": after.clock == NOW}


def _select(given: dict[str, Any]) -> dict[str, Any]:
    state = _active(state_of(given["entries"]), given)
    selection = select(ranked(state), state.context.policy)
    return {
        "selected": [entry.ref.event for entry in selection.chosen],
        "selected_count": len(selection.chosen),
        "selected_by_type": dict.fromkeys(BUILT_IN_TYPES, 0)
        | Counter(entry.proposal.type for entry in selection.chosen),
        "omitted": {entry.ref.event: reason for entry, reason in selection.omitted},
    }
