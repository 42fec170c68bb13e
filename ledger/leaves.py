"""The valid event lines of a log as the exact bytes that its hash tree is made of (docs/format.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ledger.events import AnyEvent
from ledger.problems import DAMAGE, Kind, Problem
from ledger.reader import START, Cursor, end_of_events, judged_lines, reading_twice
from ledger.recovery import Record
from ledger.sequence import Sequence as Order

__all__ = ["Leaf", "Leaves"]

_NOT_WHOLE = DAMAGE | {Kind.FUSED_LINE, Kind.DUPLICATE_ID}
"""What a line holds beside the one event that counts."""


class Leaf(Struct, frozen=True):
    """A valid event line.

    Attributes:
        event: what stands in it.
        line: its number, from 1 where the pass began at the start of the file.
        data: its bytes, without the line end.
    """

    event: AnyEvent
    line: int
    data: bytes


class Leaves:
    """One pass over the valid event lines behind a cursor, as the exact bytes that the hash tree is made of.

    Leaf i is the i-th event that counts, in file order: its line without the line end (LF, an optional CR before it).
    Where more than one event stands in a line, or damage beside it, it is the event's own bytes, so that a repair,
    which takes the damage out, keeps every leaf. Duplicates are none (docs/format.md).

    After the pass ``cursor`` says where the next one goes on, as that of a ``Reader`` does.

    Args:
        path: the log file.
        cursor: where to begin; from an earlier pass over the same file.
    """

    def __init__(self, path: str, cursor: Cursor = START) -> None:
        self.cursor = cursor
        self._path = path

    def __iter__(self) -> Iterator[Leaf]:
        """The leaves, streaming.

        Raises:
            LedgerNotFound: if the file isn't there.
            StorageError: if the system can't read it.
        """
        start = self.cursor
        order = Order(start.seq, start.highest, start.lowest_far)
        stop = start.byte
        with reading_twice(self._path) as (file, earlier):
            file.seek(start.byte)
            for line, records in judged_lines(file, earlier, order, start.byte):
                yield from _leaves_in(line, records, stop)
                whole = line.endswith(b"\n")
                stop = stop + len(line) if whole else end_of_events(records, stop)
        self.cursor = Cursor(stop, order.next_seq, order.highest, order.lowest_far)


def _leaves_in(line: bytes, records: Sequence[Record], begin: int) -> Iterator[Leaf]:
    """The leaves of the line that begins at a byte."""
    problems = {record.item.kind for record in records if isinstance(record.item, Problem)}
    is_whole = problems.isdisjoint(_NOT_WHOLE)
    for record in records:
        if not isinstance(record.item, Problem):
            start = record.byte - begin
            data = line.removesuffix(b"\n").removesuffix(b"\r") if is_whole else line[start : start + record.length]
            yield Leaf(record.item, record.line, data)
