"""Runs: calls and measurements that stand together in the log, one thing to a fold that asks for none of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, final

from ledger.codec import UNREADABLE, decode_known
from ledger.events import AnyEvent, Event
from ledger.problems import Problem
from ledger.recovery import recover

if TYPE_CHECKING:
    from ledger.blocks import OutlinedBlock
    from ledger.outlines import Stretch

__all__ = ["Run", "decoded", "one_by_one"]


@final
class Run:
    """Calls and measurements that stand together, as one thing; ``events`` decodes them for whoever needs more.

    Attributes:
        block: the block that holds them.
        stretch: what is known of them without reading them.
        place: which of the runs of its block it is, from 0.
    """

    __slots__ = ("block", "place", "stretch")

    def __init__(self, block: OutlinedBlock, stretch: Stretch, place: int) -> None:
        self.block = block
        self.stretch = stretch
        self.place = place

    def events(self) -> Iterator[AnyEvent]:
        """The events themselves, as they stand in the log.

        Where somebody has changed a line by hand, what can be read of it.

        Raises:
            StorageError: if the system can't read the log.
        """
        data = self.block.read(self.stretch.begin, self.stretch.end)
        try:
            return iter(list(decoded(data, 0, len(data))))
        except UNREADABLE:
            return _recovered(data)


def one_by_one(events: Iterable[AnyEvent | Run]) -> Iterator[AnyEvent]:
    """Every event by itself, those of runs decoded."""
    for event in events:
        if type(event) is Run:
            yield from event.events()
        else:
            yield event


def decoded(block: bytes, begin: int, end: int) -> Iterator[Event]:
    """The events of whole healthy lines between two bytes.

    Raises:
        MsgspecError: at one that isn't, or RecursionError (``UNREADABLE``).
    """
    return map(decode_known, block[begin : end - 1].split(b"\n"))


def _recovered(lines: bytes) -> Iterator[AnyEvent]:
    records = (record for line in lines.split(b"\n") for record in recover(line))
    return (record.item for record in records if not isinstance(record.item, Problem))
