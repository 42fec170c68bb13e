"""The in-memory twin of the file log: the same laws, no disk; for tests of folds and for dry runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ledger.drafts import given_ids, stamp
from ledger.errors import SequenceConflict
from ledger.events import AnyEvent, Draft, Event
from ledger.ids import MonotonicIds
from ledger.recovery import Record

__all__ = ["MemoryLog"]


class MemoryLog:
    """A ``Log`` that lives as long as the object does.

    Args:
        new_id: source of event ids; by default rising UUIDv7.
    """

    def __init__(self, new_id: Callable[[], str] | None = None) -> None:
        self._new_id = new_id or MonotonicIds()
        self._events: list[Event] = []
        self._lines: list[bytes] = []

    def append(
        self, drafts: Sequence[Draft], *, expect: int | None = None, durable: bool | None = None
    ) -> tuple[Event, ...]:
        """Append a batch; see ``Log.append``. There is nothing to sync, so ``durable`` has no effect."""
        del durable
        if expect is not None and expect != len(self._events):
            raise SequenceConflict(expect, len(self._events))
        wanted = given_ids(drafts)
        stored = frozenset(event.id for event in self._events if event.id in wanted)
        events, lines = stamp(drafts, len(self._events), self._new_id, stored)
        self._events.extend(events)
        self._lines.extend(lines)
        return tuple(events)

    def read(self, start: int = 0) -> Iterator[AnyEvent]:
        """Events from seq ``start`` on; see ``Log.read``. The position of an event is its seq."""
        return iter(self._events[max(0, start) :])

    def scan(self) -> Iterator[Record]:
        """All events where a file would have them; see ``Log.scan``."""
        byte = 0
        for number, (event, line) in enumerate(zip(self._events, self._lines, strict=True), 1):
            yield Record(event, number, byte, len(line) - 1)
            byte += len(line)

    def size(self) -> int:
        """The number of events."""
        return len(self._events)
