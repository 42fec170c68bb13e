"""What torture writers write: memories whose content follows from the title, so that any reader sees they are whole."""

from __future__ import annotations

from random import Random

from ledger.events import AnyEvent, Draft, MemoryAdded, MemoryAddedData

__all__ = ["LARGEST", "SMALLEST", "draft_of", "is_whole", "new_title"]

SMALLEST, LARGEST = 500, 1_000_000
"""Bytes of a content: small ones are many, as in real ledgers, and large ones tear."""

_STEEP = 10


def new_title(writer: str, number: int, random: Random) -> str:
    """The title of a writer's next memory; it tells the size of the content."""
    size = SMALLEST + int((LARGEST - SMALLEST) * random.random() ** _STEEP)
    return f"{writer}-{number}-{size}"


def draft_of(title: str, event_id: str | None = None) -> Draft:
    """The memory to write."""
    data = MemoryAddedData(title=title, content=_content(title))
    return Draft(source="torture/s", time=None, data=data, id=event_id)


def is_whole(event: AnyEvent) -> bool:
    """Whether an event is what its writer meant; events of others are."""
    return not isinstance(event, MemoryAdded) or event.data.content == _content(event.data.title)


def _content(title: str) -> str:
    """Text of about the size that the title tells, with the title all over it and letters of one to four bytes."""
    piece = f'{title} 海 ü 𝄞 \\ " '
    return piece * (int(title.rpartition("-")[2]) // len(piece.encode()) + 1)
