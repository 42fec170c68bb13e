"""Outlines: what a block of the log holds, so that a reader need look at little of it.

A pure function of the block's bytes: where the lines of other events stand, and of each run of calls between them who
called last, and when.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zlib import crc32

from msgspec import Struct

from ledger.codec import UNREADABLE, decode_known
from ledger.events import Event, SessionMeasured, ToolCompleted
from ledger.runs import decoded
from ledger.times import parse_time

__all__ = ["NO_OUTLINE", "Outline", "Stretch", "checksum", "is_sound", "looked_at", "outline_of", "runs_of"]

_QUIET = (ToolCompleted, SessionMeasured)


class Stretch(Struct, frozen=True, array_like=True, gc=False):
    """A run of calls and measurements in one block, each as late as the one before it or later.

    Attributes:
        begin: its first byte in the block.
        tail: the byte at which its last line begins.
        end: the byte behind its last one.
        count: its events.
        last: the seq of its last event.
        since: the time of its first event, in milliseconds since the epoch.
        until: the time of its last event.
        sources: by source, the time of its last event here.
        measured: ids of the measurements, which a fold keeps.
    """

    begin: int
    tail: int
    end: int
    count: int
    last: int
    since: int
    until: int
    sources: dict[str, int]
    measured: tuple[str, ...]


class Outline(Struct, frozen=True, array_like=True, gc=False):
    """What a healthy block holds: dense numbers from ``first`` on, runs, and lines between them, in file order.

    Attributes:
        first: the seq of its first event.
        count: its events.
        size: its bytes.
        looked_at: checksum of what a reader looks at (``looked_at``).
        runs: its runs of calls; what stands between them are lines of other events.
    """

    first: int
    count: int
    size: int
    looked_at: int
    runs: tuple[Stretch, ...]


NO_OUTLINE = Outline(-1, 0, 0, 0, ())
"""What is kept of a block that isn't healthy, so that nobody looks at it again: no number is expected at its place."""


def outline_of(block: bytes) -> Outline | None:
    """What whole lines hold; None unless all are known events in dense numbers. One decoding of the block.

    A call whose time is missing or can't be read stands for itself; one that is earlier than the one before it begins a
    run, as does one whose id was measured in its run.
    """
    runs: list[_Open] = []
    first = expected = -1
    at, open_ = 0, None
    for line in block.split(b"\n")[:-1]:
        try:
            event = decode_known(line)
        except UNREADABLE:
            return None
        if expected < 0:
            first = expected = event.seq
        if event.seq != expected or expected < 0:
            return None
        expected += 1
        end = at + len(line) + 1
        time = parse_time(event.time) if type(event) in _QUIET else None
        if time is None:
            open_ = None
        elif open_ is None or not open_.take(event, time, at, end):
            open_ = _Open(event, time, at, end)
            runs.append(open_)
        at = end
    closed = tuple(one.closed() for one in runs)
    seen = checksum(*(block[begin:end] for begin, end in looked_at(closed, len(block))))
    return Outline(first, expected - first, len(block), seen, closed)


class _Open:
    """A run that is being made."""

    def __init__(self, event: Event, time: int, begin: int, end: int) -> None:
        self._begin = begin
        self._since = self._until = time
        self._sources: dict[str, int] = {}
        self._measured: dict[str, None] = {}
        self._count = 0
        self.take(event, time, begin, end)

    def take(self, event: Event, time: int, begin: int, end: int) -> bool:
        """Take in the next event, unless it is too early or measured twice."""
        if time < self._until or event.id in self._measured:
            return False
        if type(event) is SessionMeasured:
            self._measured[event.id] = None
        self._until = self._sources[event.source] = time
        self._tail, self._end, self._last = begin, end, event.seq
        self._count += 1
        return True

    def closed(self) -> Stretch:
        measured = tuple(self._measured)
        return Stretch(
            self._begin,
            self._tail,
            self._end,
            self._count,
            self._last,
            self._since,
            self._until,
            self._sources,
            measured,
        )


def looked_at(runs: Iterable[Stretch], size: int) -> Iterator[tuple[int, int]]:
    """The pieces of a block that a reader looks at: all but the runs, and the last line of each.

    Args:
        runs: its runs.
        size: its bytes.
    """
    begin = 0
    for run in runs:
        yield begin, run.begin
        begin = run.tail
    yield begin, size


def is_sound(outline: Outline) -> bool:
    """Whether its runs lie behind each other in its block: one that was read from a file need not be one of ours."""
    at = 0
    for run in outline.runs:
        if not at <= run.begin <= run.tail < run.end:
            return False
        at = run.end
    return at <= outline.size > 0


def checksum(*parts: bytes) -> int:
    """CRC-32 of bytes in pieces, a fifth of what decoding them costs.

    It tells every damage apart that is shorter than its 32 bits, and of all others all but one in four billion. It
    doesn't tell apart what somebody makes so that it has the same one. Neither does a checkpoint, which looks at the
    last line before it alone (DESIGN 6): whoever suspects that asks ``verify``, which reads the lines.
    """
    so_far = 0
    for part in parts:
        so_far = crc32(part, so_far)
    return so_far


def runs_of(block: bytes, outline: Outline) -> Iterator[Iterator[Event]]:
    """The events of each run of a block."""
    return (decoded(block, stretch.begin, stretch.end) for stretch in outline.runs)
