"""Purged texts: what left the ledger keeps its place and doesn't come back from a summary (SPEC 15.4)."""

from __future__ import annotations

from ledger.events import LedgerErased
from projections.memory import decide
from projections.memory.turn import Turn

__all__ = ["on_erased"]


def on_erased(turn: Turn, event: LedgerErased) -> None:
    """Retire what was purged and is still there; a memory that has another wording by now stays."""
    state, data = turn.state, event.data
    state.erasures[data.key] = state.erasures.get(data.key, frozenset()) | frozenset(data.digests)
    for ref in data.targets:
        state.purged[ref] = None
        entry = state.entries.get(ref)
        if ref in state.pending:
            decide.drop(turn, state.pending[ref], "erased")
        elif entry is not None and entry.state == "promoted" and entry.proposal.erased is not None:
            decide.retire(turn, entry, "deleted", "erased")
