"""Memory states built from rows such as ``{"id", "type", "text", "source", "age_days"}``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

import msgspec

from ledger.times import DAY_MS
from projections.facts import judge_line
from projections.memory import decide, indexes
from projections.memory.activity import touch
from projections.memory.model import CONFIDENCE, Entry, MemoryState, Proposal, Ref, Source
from projections.memory.turn import Turn
from projections.policy import DEFAULT_POLICY, Context, Policy

NOW = 2_000 * DAY_MS


def empty_state(root: str = "/w/app", policy: Policy = DEFAULT_POLICY) -> MemoryState:
    """A state without entries whose now is a fixed day."""
    return MemoryState(context=Context(policy, root), now=NOW)


def proposal(row: dict[str, Any], order: int, root: str = "/w/app") -> Proposal:
    """The candidate that a row describes."""
    source: Source = row.get("source", "compaction")
    if source not in get_args(Source):
        raise ValueError(f"no such source: {source!r}")
    text, type_ = row.get("text", row["id"]), row["type"]
    confidence = row.get("confidence")
    line = judge_line(Context(DEFAULT_POLICY, root), "written", type_, text)
    return Proposal(
        ref=Ref(row["id"], 0),
        order=(order, 0),
        time=NOW - round(row.get("age_days", 0) * DAY_MS),
        type=type_,
        text=text,
        source=source,
        confidence=CONFIDENCE[source] if confidence is None else round(confidence * 100),
        session=row.get("session"),
        rationale=row.get("rationale", ""),
        importance=row.get("importance", "normal"),
        safety_critical=row.get("safety_critical", False),
        exact=line.exact,
        key=line.key,
        identity=line.identity or line.exact,
    )


def add_entry(state: MemoryState, row: dict[str, Any], order: int) -> Entry:
    """Make a row's entry active, whatever it repeats and whatever caps say."""
    turn = Turn(state=state, event=row["id"], offset=order, moves=[])
    entry = decide.promote(turn, proposal(row, order, state.context.root))
    before, entry = entry, msgspec.structs.replace(entry, reinforcements=row.get("reinforcements", 0))
    indexes.refile(state, before, entry)
    if row.get("state", "active") != "active":
        entry = decide.retire(turn, entry, row["state"], row["state"])
    return entry


def state_of(rows: Iterable[dict[str, Any]], root: str = "/w/app", policy: Policy = DEFAULT_POLICY) -> MemoryState:
    """A state in which the rows' entries are there, in their order."""
    state = empty_state(root, policy)
    for order, row in enumerate(rows):
        add_entry(state, row, order)
    return state


def with_activity(state: MemoryState, days_ago: Iterable[float]) -> MemoryState:
    """Let the workspace have been active at the given times before now; now itself is activity."""
    for moment in sorted((NOW - round(days * DAY_MS) for days in days_ago), key=int):
        state.now = moment
        touch(state)
    state.now = NOW
    touch(state)
    return state
