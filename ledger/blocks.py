"""Stretches of the log that are known by their checksum: what they hold, without decoding what nobody asks for.

Nine events in ten are tool calls, of which most folds need the time alone. A **block** is up to 256 KiB of whole lines;
where blocks begin and end follows from the bytes alone, since the log only grows. Its **outline** is a pure function of
its bytes: where the other events stand, and of each run of calls between them who called last, and when. So an outline
may be kept anywhere under the checksum of the block: a byte that changes makes another, and the block is decoded line
by line like any other. Reading by outlines gives the same events as a plain read, with runs standing for calls
(``tests/laws/test_blocks.py``), at the cost of one CRC-32 instead of one decoding.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import IO, NamedTuple, final

from msgspec import Struct

from ledger.codec import UNREADABLE, decode_known
from ledger.events import AnyEvent, Event, SessionMeasured, ToolCompleted
from ledger.reader import START, Cursor, IdsBefore, events_of, reading
from ledger.sequence import Sequence
from ledger.times import parse_time

__all__ = [
    "BLOCK",
    "NO_OUTLINE",
    "Block",
    "BlockReader",
    "Outline",
    "Outlines",
    "Run",
    "checksum",
    "one_by_one",
    "outline_of",
    "runs_of",
    "whole_blocks",
]

BLOCK = 1 << 18
"""Bytes of a block, at most; a longer line is a block of its own."""


class Stretch(Struct, frozen=True, array_like=True, gc=False):
    """A run of calls and measurements in one block, each as late as the one before it or later.

    Attributes:
        begin: its first byte in the block.
        end: the byte behind its last one.
        count: its events.
        last: the seq of its last event.
        since: the time of its first event, in milliseconds since the epoch.
        until: the time of its last event.
        sources: by source, the time of its last event here.
        measured: ids of the measurements, which a fold keeps.
    """

    begin: int
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
        runs: its runs of calls; what stands between them are lines of other events.
    """

    first: int
    count: int
    runs: tuple[Stretch, ...]


NO_OUTLINE = Outline(-1, 0, ())
"""What is kept of a block that isn't healthy, so that nobody looks at it again: no number is expected at its place."""


@final
class Run:
    """Calls and measurements that stand together, as one thing; ``events`` decodes them for whoever needs more.

    Attributes:
        begin: where its block begins in the log.
        checksum: that of its block.
        place: which of the runs of its block it is, from 0.

    The others are those of ``Stretch``.
    """

    __slots__ = (
        "_data",
        "_stretch",
        "begin",
        "checksum",
        "count",
        "last",
        "measured",
        "place",
        "since",
        "sources",
        "until",
    )

    def __init__(self, block: Block, stretch: Stretch, place: int) -> None:
        self.begin, self.checksum, self._data = block
        self.place = place
        self._stretch = stretch
        self.count = stretch.count
        self.last = stretch.last
        self.since = stretch.since
        self.until = stretch.until
        self.sources = stretch.sources
        self.measured = stretch.measured

    def events(self) -> Iterator[Event]:
        """The events themselves."""
        return _decoded(self._data, self._stretch.begin, self._stretch.end)


def one_by_one(events: Iterable[AnyEvent | Run]) -> Iterator[AnyEvent]:
    """Every event by itself, those of runs decoded."""
    for event in events:
        if type(event) is Run:
            yield from event.events()
        else:
            yield event


Outlines = Callable[[int, int], Outline | None]
"""The outline kept for the block at a byte with this checksum; None if there is none that can be trusted."""


class BlockReader:
    """One pass over a log by outlines: events, and ``Run`` objects in the place of calls that nobody need decode.

    Args:
        path: the log file.
        kept: where outlines come from.
        cursor: where to begin; the start, or what an earlier pass over the same file ended with. Blocks are counted
            from the file's first byte, so a pass that begins elsewhere meets no outline.
        skipped: takes the byte of each damaged piece that the pass skips.
        size: bytes of a block, as for ``whole_blocks``.
    """

    def __init__(
        self,
        path: str,
        kept: Outlines,
        cursor: Cursor = START,
        *,
        skipped: set[int] | None = None,
        size: int = BLOCK,
    ) -> None:
        self.cursor = cursor
        self._skipped = skipped
        self._size = size
        self._path = path
        self._kept = kept

    def __iter__(self) -> Iterator[AnyEvent | Run]:
        """What the log holds, in file order, streaming.

        Raises:
            LedgerNotFound: if the file isn't there.
            StorageError: if the system can't read it.
        """
        cursor = self.cursor
        sequence = Sequence(cursor.seq, cursor.highest, cursor.lowest_far)
        with reading(self._path) as file, reading(self._path) as earlier:
            ids = IdsBefore(earlier)
            file.seek(cursor.byte)
            begin = cursor.byte
            for data in blocks(file, self._size):
                block = Block(begin, checksum(data), data)
                outline = self._kept(begin, block.checksum)
                if outline is not None and outline.first == sequence.next_seq and outline.count <= sequence.rising:
                    yield from _pieces(block, outline)
                    sequence.advance_to(outline.first + outline.count)
                else:
                    yield from events_of(io.BytesIO(data), sequence, ids, begin, self._skipped)
                begin += len(data)
            file.seek(begin)
            stop = yield from events_of(file, sequence, ids, skipped=self._skipped)
            self.cursor = Cursor(stop, sequence.next_seq, sequence.highest, sequence.lowest_far)


def blocks(file: IO[bytes], size: int) -> Iterator[bytes]:
    """The whole blocks from the file's position on; what is left behind the last is no block yet.

    What a block leaves of its last line is read again with the next one: that costs less than to put it in front.
    """
    begin = file.tell()
    while True:
        data = file.read(size)
        if len(data) < size:
            return
        end = data.rfind(b"\n") + 1
        if not end:
            data += file.readline()
            end = len(data)
            if not data.endswith(b"\n"):
                return
        yield data if end == len(data) else data[:end]
        begin += end
        file.seek(begin)


class Block(NamedTuple):
    """Whole lines of a log: the byte they begin at, their checksum, and themselves."""

    begin: int
    checksum: int
    data: bytes


def whole_blocks(path: str, begin: int = 0, *, size: int = BLOCK) -> Iterator[Block]:
    """The whole blocks of a log from a byte on.

    Args:
        path: the log file.
        begin: the first byte of a block.
        size: bytes of a block, at most.

    Raises:
        LedgerNotFound: if the file isn't there.
        StorageError: if the system can't read it.
    """
    with reading(path) as file:
        file.seek(begin)
        for data in blocks(file, size):
            yield Block(begin, checksum(data), data)
            begin += len(data)


def checksum(block: bytes) -> int:
    """What names a block: CRC-32 of its bytes, a sixth of what decoding them costs.

    It tells every damage apart that is shorter than its 32 bits, and of all others all but one in four billion. It
    doesn't tell apart what somebody makes so that it has the same one. Neither does a checkpoint, which looks at the
    last line before it alone (DESIGN 6): whoever suspects that asks ``verify``, which reads the lines.
    """
    from zlib import crc32  # a start that reads no block need not load it

    return crc32(block)


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
        elif open_ is None or not open_.take(event, time, end):
            open_ = _Open(event, time, at, end)
            runs.append(open_)
        at = end
    return Outline(first, expected - first, tuple(one.closed() for one in runs))


class _Open:
    """A run that is being made."""

    def __init__(self, event: Event, time: int, begin: int, end: int) -> None:
        self._begin = begin
        self._since = self._until = time
        self._sources: dict[str, int] = {}
        self._measured: dict[str, None] = {}
        self._count = 0
        self.take(event, time, end)

    def take(self, event: Event, time: int, end: int) -> bool:
        """Take in the next event, unless it is too early or measured twice."""
        if time < self._until or event.id in self._measured:
            return False
        if type(event) is SessionMeasured:
            self._measured[event.id] = None
        self._until = self._sources[event.source] = time
        self._end, self._last = end, event.seq
        self._count += 1
        return True

    def closed(self) -> Stretch:
        measured = tuple(self._measured)
        return Stretch(
            self._begin, self._end, self._count, self._last, self._since, self._until, self._sources, measured
        )


_QUIET = (ToolCompleted, SessionMeasured)


def _pieces(block: Block, outline: Outline) -> Iterator[AnyEvent | Run]:
    at, data = 0, block.data
    for place, stretch in enumerate(outline.runs):
        if at < stretch.begin:
            yield from _decoded(data, at, stretch.begin)
        yield Run(block, stretch, place)
        at = stretch.end
    if at < len(data):
        yield from _decoded(data, at, len(data))


def runs_of(block: bytes, outline: Outline) -> Iterator[Iterator[Event]]:
    """The events of each run of a block."""
    return (_decoded(block, stretch.begin, stretch.end) for stretch in outline.runs)


def _decoded(block: bytes, begin: int, end: int) -> Iterator[Event]:
    return map(decode_known, block[begin : end - 1].split(b"\n"))
