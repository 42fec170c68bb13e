"""Area ``consolidation``: entries folded into one another (SPEC 9)."""

from __future__ import annotations

from typing import Any

from projections.memory import decide, merging
from projections.memory.model import MemoryState
from projections.memory.turn import Turn
from tests.conformance.runner import UnknownKey
from tests.support.entries import add_entry, empty_state, proposal


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Fold each entry in as a newcomer to those before it."""
    state = empty_state()
    absorbed: list[dict[str, Any]] = []
    for order, row in enumerate(given["entries"]):
        newcomer = proposal(row, order)
        state.now = newcomer.time
        match = decide.find_duplicate(state, newcomer)
        if match is None:
            add_entry(state, row, order)
        else:
            turn = Turn(state=state, event=row["id"], offset=order, moves=[])
            merging.absorb(turn, newcomer, *match)
            absorbed.append({"id": row["id"], "into": match[0].event, "reason": match[1]})
    results = {
        "kept": [
            {"id": one.ref.event, "text": one.proposal.text, "source": one.proposal.source}
            for one in state.entries.values()
        ],
        "absorbed": absorbed,
        "reinforcements": _reinforcements(state),
    }
    for key in wanted - results.keys():
        raise UnknownKey(key)
    return {key: results[key] for key in wanted}


def compare(key: str, expected: Any, actual: Any) -> bool:
    """Reinforcements are named for some entries only."""
    if key == "reinforcements":
        return all(actual.get(id_) == count for id_, count in expected.items())
    return bool(expected == actual)


def _reinforcements(state: MemoryState) -> dict[str, int]:
    return {one.ref.event: one.reinforcements for one in state.entries.values()}
