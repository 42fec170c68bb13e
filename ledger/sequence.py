"""Whether an event continues the log: dense numbers from 0, each id once, and no number that can't be."""

from __future__ import annotations

from collections.abc import Callable

from ledger.codec import SEQ_LIMIT
from ledger.events import AnyEvent
from ledger.problems import Kind

__all__ = ["Sequence", "can_be"]


def can_be(seq: int, end: int) -> bool:
    """Whether an event that ends at byte ``end`` of its file can have this number.

    Each event before it takes more than one byte, so a number above ``end`` was not given by counting. Judged by
    place and not by the size of the file, so that a verdict doesn't change when the file grows.
    """
    return seq <= end


class Sequence:
    """Judges events in file order, and keeps two numbers.

    A copy of a line carries its old seq, and a writer never writes an id that stands in the log already. So an event
    above the highest seq so far can't be a duplicate, and only another is worth a look at the ids before it. Hence a
    healthy log is read without keeping ids, and a read in pieces gives what a read in one gives.

    A number that can't be (``can_be``) moves neither: one foreign line must not make every later event worth a look.

    Args:
        next_seq: the number expected next: one above the last event that counted, so that one wrong number is
            named where it stands and not at each line behind it.
        highest: the highest number so far.
        lowest_far: the lowest so far of those that can't be. From there on a number says nothing about its id, for
            the copy of such a line may stand where the number can be.
    """

    def __init__(self, next_seq: int = 0, highest: int = -1, lowest_far: int = SEQ_LIMIT) -> None:
        self.next_seq = next_seq
        self.highest = highest
        self.lowest_far = lowest_far

    @property
    def rising(self) -> int:
        """How many events need no further look if they come as expected, since their numbers are new."""
        return self.lowest_far - self.next_seq if self.highest < self.next_seq < self.lowest_far else 0

    @property
    def not_new(self) -> int | None:
        """How many events come as expected before numbers are new again; None if they never will be. Not for rising."""
        return self.highest + 1 - self.next_seq if self.next_seq < self.lowest_far else None

    def advance_to(self, next_seq: int) -> None:
        """Take in events that came as expected and count."""
        self.next_seq = next_seq
        self.highest = max(self.highest, next_seq - 1)

    def judge(self, event: AnyEvent, end: int, came_before: Callable[[str], bool]) -> Kind | None:
        """Take in the next event, which ends at byte ``end``: what is wrong with it, or None.

        ``DUPLICATE_ID`` means that it doesn't count (SPEC 21). ``came_before`` tells whether an id did.
        """
        far = not can_be(event.seq, end)
        if (far or not self.highest < event.seq < self.lowest_far) and came_before(event.id):
            return Kind.DUPLICATE_ID
        if far:
            self.lowest_far = min(self.lowest_far, event.seq)
            return Kind.SEQ_FAR
        expected = self.next_seq
        self.advance_to(event.seq + 1)
        if event.seq == expected:
            return None
        return Kind.SEQ_GAP if event.seq > expected else Kind.SEQ_BACK
