"""Whether an event continues the log: dense numbers from 0, each id once."""

from __future__ import annotations

from collections.abc import Callable

from ledger.events import AnyEvent
from ledger.problems import Kind

__all__ = ["Sequence"]


class Sequence:
    """Judges events in file order.

    A copy of a line carries its old seq, and a writer never writes an id that stands in the log already, so while
    numbers rise nothing can be a duplicate and no id is kept. The first number that doesn't rise is the sign of a
    foreign hand: then the ids so far are collected once, and every id is looked at from there on.

    Args:
        next_seq: the number expected first.
    """

    def __init__(self, next_seq: int = 0) -> None:
        self.next_seq = next_seq
        self._ids: set[str] | None = None

    @property
    def rising(self) -> bool:
        """Whether every number so far rose, so that a dense one needs no look at its id."""
        return self._ids is None

    def judge(self, event: AnyEvent, ids_before: Callable[[], set[str]]) -> Kind | None:
        """Take in the next event: what is wrong with it, or None.

        ``DUPLICATE_ID`` means that it doesn't count (SPEC 21). ``ids_before`` gives the ids of all events before
        it, and is called at most once in the life of this object.
        """
        if self._ids is None:
            if event.seq >= self.next_seq:
                return self._advance(event.seq)
            self._ids = ids_before()
        if event.id in self._ids:
            return Kind.DUPLICATE_ID
        self._ids.add(event.id)
        return self._advance(event.seq)

    def _advance(self, seq: int) -> Kind | None:
        expected = self.next_seq
        self.next_seq = max(expected, seq + 1)
        if seq == expected:
            return None
        return Kind.SEQ_GAP if seq > expected else Kind.SEQ_BACK
