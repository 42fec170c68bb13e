"""Purged texts: what left the ledger keeps its place and doesn't come back from a summary (SPEC 15.4)."""

from __future__ import annotations

from ledger.events import LedgerErased
from projections.memory import decide
from projections.memory.sameness import is_purged
from projections.memory.turn import Turn

__all__ = ["on_erased"]


def on_erased(turn: Turn, event: LedgerErased) -> None:
    """Retire what was purged and is still there; a memory that had another wording by then stays."""
    state, digests = turn.state, frozenset(event.data.digests)
    state.erasures[event.data.key] = state.erasures.get(event.data.key, frozenset()) | digests
    for ref in event.data.targets:
        state.purged[ref] = state.purged.get(ref, frozenset()) | digests
        entry = state.entries.get(ref)
        if ref in state.pending and is_purged(state, ref, state.pending[ref]):
            decide.drop(turn, state.pending[ref], "erased")
        elif entry is not None and entry.state == "promoted" and is_purged(state, ref, entry.proposal):
            decide.retire(turn, entry, "deleted", "erased")
