"""Stretches of the log of which it is known what they hold, so that what nobody asks for is neither read nor decoded.

Nearly all events are tool calls, of which most folds need the time alone. A **block** is up to 256 KiB of whole lines;
where blocks begin and end follows from the bytes alone, since the log only grows. Its **outline** is a pure function of
its bytes: where the other events stand, and of each run of calls between them who called last, and when. A reader that
has the outline of a block reads the other events, and the last line of each run. If their checksum is that in the
outline, the runs count as what they were; else the block is decoded line by line like any other. So an outline is
trusted as a checkpoint is, which looks at the last line before it alone (DESIGN 6): a call that somebody changes in the
middle of a run, byte for byte at its place, counts as what it was until ``verify`` compares outlines with their blocks.

Reading by outlines gives the same events as a plain read, with runs standing for calls (``tests/laws/test_blocks.py``).
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import IO

from msgspec import Struct

from ledger.codec import UNREADABLE
from ledger.errors import storage_error
from ledger.events import AnyEvent, Event
from ledger.files import close_file
from ledger.outlines import Outline, checksum, is_sound, looked_at
from ledger.reader import START, Cursor, IdsBefore, events_of, reading, reading_twice
from ledger.runs import Run, decoded
from ledger.sequence import Sequence

__all__ = ["BLOCK", "Block", "BlockReader", "OutlinedBlock", "Outlines", "whole_blocks"]

BLOCK = 1 << 18
"""Bytes of a block, at most; a longer line is a block of its own."""


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
        with reading_twice(self._path) as (file, earlier):
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
    return outline.first == sequence.next_seq and 0 < outline.count <= sequence.rising


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

    def pieces(self) -> list[Event | Run] | None:
        """Its runs, and the events between them, in file order; None if those aren't what they were.

        Raises:
            StorageError: if the system can't read the log.
        """
        outline = self._outline
        if not (is_sound(outline) and self.begin + outline.size <= self._log.size):
            return None
        seen = [self.read(begin, end) for begin, end in looked_at(outline.runs, outline.size)]
        if checksum(*seen) != outline.looked_at:
            return None
        try:
            return self._pieces(seen)
        except UNREADABLE:  # the outline is of another release, say, which knew more kinds of events
            return None

    def _pieces(self, seen: list[bytes]) -> list[Event | Run]:
        pieces: list[Event | Run] = []
        lines, at = seen[0], 0
        for place, stretch in enumerate(self._outline.runs):
            if at < len(lines):
                pieces += decoded(lines, at, len(lines))
            pieces.append(Run(self, stretch, place))
            lines, at = seen[place + 1], stretch.end - stretch.tail
        if at < len(lines):
            pieces += decoded(lines, at, len(lines))
        return pieces


class _OpenLog:
    """The log, open until nobody holds a block of it, whatever stands under its name by then.

    ``size`` is what it had when it was opened, in bytes.
    """

    _descriptor = -1

    def __init__(self, path: str, file: IO[bytes]) -> None:
        self._path = path
        self.size = os.fstat(file.fileno()).st_size
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


class Block(Struct, frozen=True, gc=False):
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
