"""What a log holds, by type of event: how many, and the last of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ledger.events import AnyEvent, UnknownEvent, type_name
from ledger.source import is_from_client

__all__ = ["Arrivals"]


class Arrivals:
    """Takes in the events of a log, one by one.

    Attributes:
        from_client: the last event that a client has reported; None if none has.
    """

    def __init__(self) -> None:
        self.from_client: AnyEvent | None = None
        self._counts: Counter[object] = Counter()
        self._last: dict[object, AnyEvent] = {}
        self._source, self._is_client = "", False

    def take(self, event: AnyEvent) -> None:
        """Take in the next event."""
        kind = event.type if isinstance(event, UnknownEvent) else type(event)
        self._counts[kind] += 1
        self._last[kind] = event
        if event.source != self._source:  # calls come many at a time
            self._source, self._is_client = event.source, is_from_client(event.source)
        if self._is_client:
            self.from_client = event

    def by_type(self) -> Iterator[tuple[str, int, AnyEvent]]:
        """The types that came, latest first: the name, how many, and the last one."""
        for kind, event in sorted(self._last.items(), key=lambda item: -item[1].seq):
            yield type_name(event), self._counts[kind], event
