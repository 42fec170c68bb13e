"""Purged texts: what left the ledger keeps its place and doesn't come back from a summary (SPEC 15.4)."""

from __future__ import annotations

from ledger.events import LedgerErased
from projections.memory.turn import Turn

__all__ = ["on_erased"]


def on_erased(turn: Turn, event: LedgerErased) -> None:
    """Retire what was purged."""
