"""Builders for tests of the log: small events, and logs made of raw bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ledger.codec import encode
from ledger.events import AnyEvent, Draft, Event, MemoryAdded, MemoryAddedData
from ledger.ids import uuid7
from ledger.log import LOG_NAME, FileLog
from ledger.problems import Problem
from ledger.recovery import Record

TIME = "2026-01-01T00:00:00.000Z"
ROOT, KEY = "/w/app", "0123456789abcdef"


def draft(title: str, event_id: str | None = None) -> Draft:
    """A memory to write."""
    return Draft(source="test/s", time=TIME, data=MemoryAddedData(title=title), id=event_id)


def event_id(number: int) -> str:
    """A UUIDv7 that depends on the number alone."""
    return uuid7(1_767_225_600_000 + number, number.to_bytes(10, "big"))


def memory(seq: int, title: str = "", number: int | None = None) -> MemoryAdded:
    """A small event; ``number`` makes its id, the seq if it isn't given."""
    made = event_id(seq if number is None else number)
    return MemoryAdded(
        specversion="1.0", id=made, source="test/s", time=TIME, seq=seq, data=MemoryAddedData(title or f"m{seq}")
    )


def line_of(seq: int, title: str = "", number: int | None = None) -> bytes:
    """The line of a small event, line feed included."""
    return encode(memory(seq, title, number))


def counting_ids() -> Callable[[], str]:
    """An id source that counts."""
    numbers = iter(range(10**9))
    return lambda: event_id(next(numbers))


def new_log(folder: Path) -> FileLog:
    """A ledger in a folder that isn't there yet, with a clock and ids that don't depend on the machine."""
    return FileLog.create(
        folder, root=ROOT, key=KEY, clock=lambda: 1_767_225_600_000, new_id=counting_ids(), durability="never"
    )


def raw_log(folder: Path, content: bytes) -> FileLog:
    """A ledger whose file holds exactly these bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    (folder / LOG_NAME).write_bytes(content)
    (folder / LOG_NAME).chmod(0o600)
    return FileLog.open(folder, durability="never")


def titles(events: Iterable[AnyEvent]) -> list[str]:
    """The titles of the memories among some events."""
    return [event.data.title for event in events if isinstance(event, MemoryAdded)]


def events_of(records: Iterable[Record]) -> list[AnyEvent]:
    """The events among some records."""
    return [record.item for record in records if not isinstance(record.item, Problem)]


def problems_of(records: Iterable[Record]) -> list[Problem]:
    """The problems among some records."""
    return [record.item for record in records if isinstance(record.item, Problem)]


def of_kind(found: AnyEvent | Problem) -> str:
    """What came out of a decode, in a word: the problem's kind, or ``event``."""
    return str(found.kind) if isinstance(found, Problem) else "event"


def as_written(event: Event) -> dict[str, object]:
    """The attributes of an event that a draft decides."""
    return {"source": event.source, "time": event.time, "data": event.data, "subject": event.subject}
