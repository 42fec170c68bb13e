"""Heads of the hash tree are logged: after a compaction, a deleted session, an import, and every thousand events."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.errors import LedgerError
from ledger.events import Draft, Event, FileImported, LedgerSealedData, SessionCompacted, SessionDeleted
from ledger.log import FileLog
from ledger.source import OWN_SOURCE
from replay.heads import present_head

__all__ = ["SEAL_EVERY", "Sealer"]

SEAL_EVERY = 1000
"""Events from one head to the next: between two heads a change can't be placed any closer."""


class Sealer:
    """Notes when a head is due, and writes it when there is time; who waits for an answer doesn't wait for it.

    Args:
        log: the log. One that is no file needs no heads: nobody else can change it.
    """

    def __init__(self, log: object) -> None:
        self._log = log if isinstance(log, FileLog) else None
        self._due: Event | None = None

    def note(self, events: Sequence[Event]) -> None:
        """Look at what was appended just now."""
        if self._log is not None and any(_is_end(event) for event in events):
            self._due = events[-1]

    def seal(self, most: int | None = None) -> None:
        """Write the head that is due, if one is. What can't be written now is made up for by the next one.

        Others may append between the reading and the writing: the event names the number of lines that it covers.

        Args:
            most: bytes of the log that may be read for it, where somebody may be waiting; it stays due then.
        """
        if self._log is None or self._due is None:
            return
        try:
            tree = present_head(self._log, most)
            if tree is not None:
                # The time of the last event: a head is no activity, and what is recorded may be older than the clock.
                data = LedgerSealedData(tree.size, tree.root.hex())
                self._log.append([Draft(source=OWN_SOURCE, time=self._due.time, data=data)], durable=False)
                self._due = None
        except (LedgerError, OSError):
            self._due = None


def _is_end(event: Event) -> bool:
    """Whether a batch ends with it, behind which there is time. A change by hand is none: each would get a head."""
    return isinstance(event, SessionCompacted | SessionDeleted | FileImported) or (event.seq + 1) % SEAL_EVERY == 0
