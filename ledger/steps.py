"""Which breaks in the numbers of a log are accounted for: by a later repair, or by what came again."""

from __future__ import annotations

from bisect import bisect_left

import msgspec

from ledger.events import AnyEvent, LedgerErased, LedgerRepaired, LedgerSealed
from ledger.problems import STEPS, Kind, Problem
from ledger.reader import scan
from ledger.recovery import Record
from ledger.sequence import can_be

__all__ = ["Steps", "open_steps"]

_NOTED = "nothing to do: a repair has noted it"
_CAME_AGAIN = "nothing to do: what was missing came again further down, as by an import"
_OWN = (LedgerErased, LedgerRepaired, LedgerSealed)
"""What a log notes about itself, and no import brings: whatever its ids are, nothing has come again with it."""


class Steps:
    """Takes in the records of a scan, and then says of each break in the numbers whether it is accounted for.

    A ``ledger.repaired`` accounts for all breaks before it: a person has looked. A gap is also accounted for when as
    many events as are missing follow somewhere behind it, with ids from between those of its neighbours: an import
    keeps ids, and writers make them in the order of time. Memory grows with the number of gaps.
    """

    def __init__(self) -> None:
        self._repaired = -1
        self._next_seq = 0
        self._before = ""
        self._highest = ""
        self._opening: Problem | None = None
        # Of each gap, in rising order: the id before it, the one behind it, how many are missing, where it is.
        self._from: list[str] = []
        self._to: list[str] = []
        self._missing: list[int] = []
        self._places: dict[int, int] = {}

    def take(self, record: Record) -> None:
        """Take in the next record."""
        item = record.item
        if isinstance(item, Problem):
            if item.kind is Kind.SEQ_GAP:
                self._opening = item
            return
        if type(item) is LedgerRepaired:
            self._repaired = record.byte
        event_id = item.id
        if self._opening is not None:
            self._open(self._opening.byte, item)
            self._opening = None
        elif self._from and event_id < self._highest and not isinstance(item, _OWN):
            self._fill(event_id)
        if can_be(item.seq, record.byte + record.length):
            self._next_seq = item.seq + 1
        self._before = event_id
        self._highest = max(self._highest, event_id)

    def settled(self, problem: Problem) -> Problem:
        """The problem; as a known one, if it is accounted for. When all records were taken in."""
        if problem.kind not in STEPS:
            return problem
        if problem.byte <= self._repaired:  # its own number may be the next break
            return msgspec.structs.replace(problem, known=True, fix=_NOTED)
        gap = self._places.get(problem.byte)
        if problem.kind is Kind.SEQ_GAP and gap is not None and self._missing[gap] <= 0:
            return msgspec.structs.replace(problem, known=True, fix=_CAME_AGAIN)
        return problem

    def _open(self, byte: int, event: AnyEvent) -> None:
        """A gap before an event; one whose neighbours are out of order can't be filled."""
        if self._before < event.id and (not self._to or self._to[-1] <= self._before):
            self._places[byte] = len(self._from)
            self._from.append(self._before)
            self._to.append(event.id)
            self._missing.append(event.seq - self._next_seq)

    def _fill(self, event_id: str) -> None:
        gap = bisect_left(self._from, event_id) - 1
        if gap >= 0 and self._from[gap] < event_id < self._to[gap]:
            self._missing[gap] -= 1


def open_steps(path: str) -> list[Problem]:
    """The breaks in the numbers of a log that nothing accounts for yet. One pass over the log.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    steps, found = Steps(), list[Problem]()
    for record in scan(path):
        steps.take(record)
        if isinstance(record.item, Problem) and record.item.kind in STEPS:
            found.append(record.item)
    return [one for one in map(steps.settled, found) if not one.known]
