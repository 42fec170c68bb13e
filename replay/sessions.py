"""All sessions of a log, and what ``status`` warns about: deliveries that came twice (SPEC 3.5)."""

from __future__ import annotations

from collections import Counter

from ledger.log import FileLog
from projections.hot.state import SessionStates, States
from projections.memory.model import MemoryState
from projections.protocol import fold
from replay.calls import KeptCalls
from replay.kept import KeptFacts
from replay.outlines import by_blocks
from replay.positions import events_until

__all__ = ["all_sessions", "warnings_of"]


def all_sessions(log: FileLog, offset: int | None = None) -> States:
    """What is known of every session at a position; no memory is folded for it, and no block rendered.

    Args:
        log: the log.
        offset: the position; None for the end.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    events = by_blocks(log) if offset is None else events_until(log.read(), offset)
    return fold(SessionStates(None, KeptFacts(log.directory), KeptCalls(log.directory)), events)


def warnings_of(memory: MemoryState, sessions: States) -> dict[str, int]:
    """What ``status`` warns about, by reason code: deliveries and conflicts of messages, summaries and calls."""
    found = Counter(memory.warnings)
    for one in sessions.sessions.values():
        found["duplicate_delivery"] += one.duplicate_deliveries
        found["id_conflict"] += one.id_conflicts
    return {code: count for code, count in sorted(found.items()) if count}
