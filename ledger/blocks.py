"""Stretches of the log of which it is known what they hold, so that what nobody asks for is neither read nor decoded.

Nine events in ten are tool calls, of which most folds need the time alone. A **block** is up to 256 KiB of whole lines;
where blocks begin and end follows from the bytes alone, since the log only grows. Its **outline** is a pure function of
its bytes: where the other events stand, and of each run of calls between them who called last, and when. A reader that
has the outline of a block reads the other events, and the last line of each run. If their checksum is that in the
outline, the runs count as what they were; else the block is decoded line by line like any other. So an outline is
trusted as a checkpoint is, which looks at the last line before it alone (DESIGN 6): whoever changes a call in the
middle of a run, byte for byte at its place, is seen by ``check`` and ``verify``, which read all lines.

Reading by outlines gives the same events as a plain read, with runs standing for calls (``tests/laws/test_blocks.py``).
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import IO, NamedTuple, final

from msgspec import Struct

from ledger.codec import UNREADABLE, decode_known
from ledger.errors import storage_error
from ledger.events import AnyEvent, Event, SessionMeasured, ToolCompleted
from ledger.files import close_file
from ledger.problems import Problem
from ledger.reader import START, Cursor, IdsBefore, events_of, reading
from ledger.recovery import recover
from ledger.sequence import Sequence
from ledger.times import parse_time

__all__ = [
    "BLOCK",
    "NO_OUTLINE",
    "Block",
    "BlockReader",
    "Outline",
    "OutlinedBlock",
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
        looked_at: checksum of what a reader looks at: all but the runs, and the last line of each.
        runs: its runs of calls; what stands between them are lines of other events.
    """

    first: int
    count: int
    size: int
    looked_at: int
    runs: tuple[Stretch, ...]


NO_OUTLINE = Outline(-1, 0, 0, 0, ())
"""What is kept of a block that isn't healthy, so that nobody looks at it again: no number is expected at its place."""


@final
class Run:
    """Calls and measurements that stand together, as one thing; ``events`` decodes them for whoever needs more.

    Attributes:
        block: the block that holds them.
        place: which of the runs of its block it is, from 0.

    The others are those of ``Stretch``.
    """

    __slots__ = ("_stretch", "block", "count", "last", "measured", "place", "since", "sources", "until")

    def __init__(self, block: OutlinedBlock, stretch: Stretch, place: int) -> None:
        self.block = block
        self.place = place
        self._stretch = stretch
        self.count = stretch.count
        self.last = stretch.last
        self.since = stretch.since
        self.until = stretch.until
        self.sources = stretch.sources
        self.measured = stretch.measured

    def events(self) -> Iterator[AnyEvent]:
        """The events themselves, as they stand in the log.

        Where somebody has changed a line by hand, what can be read of it.

        Raises:
            StorageError: if the system can't read the log.
        """
        data = self.block.read(self._stretch.begin, self._stretch.end)
        try:
            return iter(list(_decoded(data, 0, len(data))))
        except UNREADABLE:
            return _recovered(data)


class OutlinedBlock:
    """A block that is read as far as it is asked for; the log stays open as long as one of its blocks is held.

    Attributes:
        begin: the byte at which it begins in the log.
    """

    def __init__(self, log: _OpenLog, begin: int, outline: Outline) -> None:
        self.begin = begin
        self._log = log
        self._outline = outline

    @cached_property
    def checksum(self) -> int:
        """Of all of its bytes.

        Raises:
            StorageError: if the system can't read the log.
        """
        return checksum(self.read(0, self._outline.size))

    def read(self, begin: int, end: int) -> bytes:
        """Its bytes from one to another.

        Raises:
            StorageError: if the system can't read the log.
        """
        return self._log.read(self.begin + begin, end - begin)

    def pieces(self) -> Iterator[Event | Run] | None:
        """Its runs, and the events between them, in file order; None if those aren't what they were.

        Raises:
            StorageError: if the system can't read the log.
        """
        outline = self._outline
        looked_at = [self.read(begin, end) for begin, end in _looked_at(outline.runs, outline.size)]
        return self._pieces(looked_at) if _checksum_of(looked_at) == outline.looked_at else None

    def _pieces(self, looked_at: list[bytes]) -> Iterator[Event | Run]:
        lines, at = looked_at[0], 0
        for place, stretch in enumerate(self._outline.runs):
            if at < len(lines):
                yield from _decoded(lines, at, len(lines))
            yield Run(self, stretch, place)
            lines, at = looked_at[place + 1], stretch.end - stretch.tail
        if at < len(lines):
            yield from _decoded(lines, at, len(lines))


class _OpenLog:
    """The log, open until nobody holds a block of it, whatever stands under its name by then."""

    _descriptor = -1

    def __init__(self, path: str, file: IO[bytes]) -> None:
        self._path = path
        self._descriptor = os.dup(file.fileno())

    def read(self, begin: int, count: int) -> bytes:
        """So many bytes from one on, or fewer at the end.

        Raises:
            StorageError: if the system can't read it.
        """
        try:
            return os.pread(self._descriptor, count, begin)
        except OSError as error:
            raise storage_error(error, self._path) from error

    def __del__(self) -> None:
        if self._descriptor >= 0:
            close_file(self._descriptor)


def one_by_one(events: Iterable[AnyEvent | Run]) -> Iterator[AnyEvent]:
    """Every event by itself, those of runs decoded."""
    for event in events:
        if type(event) is Run:
            yield from event.events()
        else:
            yield event


Outlines = Callable[[int], Outline | None]
"""The outline that is kept of the block at a byte; None if there is none. Blocks are asked for in order."""


class BlockReader:
    """One pass over a log by outlines: events, and ``Run`` objects in the place of calls that nobody need decode.

    Args:
        path: the log file.
        kept: where outlines come from.
        cursor: where to begin; the start, or what an earlier pass over the same file ended with. Blocks are counted
            from the file's first byte, so a pass that begins elsewhere meets no outline.
        skipped: takes the byte of each damaged piece that the pass meets and skips.
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
            ids, log, begin = IdsBefore(earlier), _OpenLog(self._path, file), cursor.byte
            while True:
                outline = self._kept(begin)
                pieces = None
                if outline is not None and _continues(outline, sequence):
                    pieces = OutlinedBlock(log, begin, outline).pieces()
                if outline is not None and pieces is not None:
                    yield from pieces
                    sequence.advance_to(outline.first + outline.count)
                    begin += outline.size
                elif data := _block_at(file, begin, self._size):
                    yield from events_of(io.BytesIO(data), sequence, ids, begin, self._skipped)
                    begin += len(data)
                else:
                    break
            file.seek(begin)
            stop = yield from events_of(file, sequence, ids, skipped=self._skipped)
            self.cursor = Cursor(stop, sequence.next_seq, sequence.highest, sequence.lowest_far)


def _continues(outline: Outline, sequence: Sequence) -> bool:
    """Whether a block with this outline holds the next events of a log, none of which needs a further look."""
    return outline.size > 0 and outline.first == sequence.next_seq and 0 < outline.count <= sequence.rising


def _block_at(file: IO[bytes], begin: int, size: int) -> bytes:
    """The whole block at a byte; empty if what is there is no block yet.

    What it leaves of its last line is read again with the next one: that costs less than to put it in front.
    """
    file.seek(begin)
    data = file.read(size)
    if len(data) < size:
        return b""
    end = data.rfind(b"\n") + 1
    if not end:
        data += file.readline()
        end = len(data) if data.endswith(b"\n") else 0
    return data if end == len(data) else data[:end]


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
        while data := _block_at(file, begin, size):
            yield Block(begin, checksum(data), data)
            begin += len(data)


def checksum(data: bytes) -> int:
    """CRC-32 of bytes, a fifth of what decoding them costs.

    It tells every damage apart that is shorter than its 32 bits, and of all others all but one in four billion. It
    doesn't tell apart what somebody makes so that it has the same one. Neither does a checkpoint, which looks at the
    last line before it alone (DESIGN 6): whoever suspects that asks ``verify``, which reads the lines.
    """
    from zlib import crc32  # a start that reads no block need not load it

    return crc32(data)


def _checksum_of(parts: Iterable[bytes]) -> int:
    from zlib import crc32

    so_far = 0
    for part in parts:
        so_far = crc32(part, so_far)
    return so_far


def _looked_at(runs: Iterable[Stretch], size: int) -> Iterator[tuple[int, int]]:
    """What a reader looks at of a block: from the last line of each run, and from its begin, to the next run."""
    begin = 0
    for run in runs:
        yield begin, run.begin
        begin = run.tail
    yield begin, size


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
    looked_at = _checksum_of(block[begin:end] for begin, end in _looked_at(closed, len(block)))
    return Outline(first, expected - first, len(block), looked_at, closed)


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


_QUIET = (ToolCompleted, SessionMeasured)


def _recovered(lines: bytes) -> Iterator[AnyEvent]:
    records = (record for line in lines.split(b"\n") for record in recover(line))
    return (record.item for record in records if not isinstance(record.item, Problem))


def runs_of(block: bytes, outline: Outline) -> Iterator[Iterator[Event]]:
    """The events of each run of a block."""
    return (_decoded(block, stretch.begin, stretch.end) for stretch in outline.runs)


def _decoded(block: bytes, begin: int, end: int) -> Iterator[Event]:
    return map(decode_known, block[begin : end - 1].split(b"\n"))
