"""Whether an event continues the log: dense numbers from 0, each id once."""

from __future__ import annotations

from collections.abc import Callable

from ledger.events import AnyEvent
from ledger.problems import Kind

__all__ = ["Sequence"]


class Sequence:
    """Judges events in file order, and keeps two numbers.

    A copy of a line carries its old seq, and a writer never writes an id that stands in the log already. So an event
    above the highest seq so far can't be a duplicate, and only another is worth a look at the ids before it. Hence a
    healthy log is read without keeping ids, and a read in pieces gives what a read in one gives.

    Args:
        next_seq: the number expected next: one above the last event that counted, so that one wrong number is
            named where it stands and not at each line behind it.
        highest: the highest number so far.
    """

    def __init__(self, next_seq: int = 0, highest: int = -1) -> None:
        self.next_seq = next_seq
        self.highest = highest

    @property
    def rising(self) -> bool:
        """Whether the expected number is a new one; if it comes, its event needs no further look."""
        return self.next_seq > self.highest

    def advance_to(self, next_seq: int) -> None:
        """Take in events that came as expected, while rising."""
        self.next_seq = next_seq
        self.highest = max(self.highest, next_seq - 1)

    def judge(self, event: AnyEvent, came_before: Callable[[str], bool]) -> Kind | None:
        """Take in the next event: what is wrong with it, or None.

        ``DUPLICATE_ID`` means that it doesn't count (SPEC 21). ``came_before`` tells whether an id did.
        """
        if event.seq <= self.highest and came_before(event.id):
            return Kind.DUPLICATE_ID
        expected = self.next_seq
        self.advance_to(event.seq + 1)
        if event.seq == expected:
            return None
        return Kind.SEQ_GAP if event.seq > expected else Kind.SEQ_BACK
