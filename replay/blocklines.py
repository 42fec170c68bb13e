"""A file in ``derived/`` with one line for each block of the log, in its order: disposable, worth nothing but time.

A line has a head, a tab, and what is kept, both as JSON. The head says where the block begins, its checksum, and that
of the line. A line that is torn, damaged, glued from two or of other bytes is not used. The file is read alongside the
log, so that it takes no memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ledger.blocks import Block, whole_blocks
from ledger.codec import UNREADABLE
from ledger.files import short_lines, write_all
from ledger.outlines import checksum as checksum_of
from ledger.trust import DERIVED, open_own, open_own_new

if TYPE_CHECKING:
    from ledger.pin import Pin

__all__ = ["BlockLines", "append", "new_blocks", "path_of"]

_LONGEST = 1 << 20
"""Bytes of a line: what is kept of a block is less than the block. The last one is looked for in as many."""


class _Head(Struct, frozen=True, array_like=True, gc=False):
    version: int
    begin: int
    checksum: int
    line: int


_UNREADABLE = (UnicodeDecodeError, *UNREADABLE)
_decode_head = msgspec.json.Decoder(_Head).decode


class BlockLines:
    """What is kept, for one pass over a log from its beginning.

    Args:
        directory: the ledger's folder; a missing or unreadable file holds nothing.
        name: the file's.
        version: of what is kept; lines of others are passed over.
    """

    def __init__(self, directory: str, name: str, version: int) -> None:
        self._lines = _lines(path_of(directory, name), version)
        self._next = next(self._lines, None)

    @property
    def is_empty(self) -> bool:
        """Whether no line is left."""
        return self._next is None

    def find(self, begin: int, checksum: int | None = None) -> bytes | None:
        """What is kept of the block at a byte; with a checksum, only if it is of just its bytes.

        Blocks are asked for in order.
        """
        while self._next is not None and self._next[0].begin < begin:
            self._next = next(self._lines, None)
        if self._next is None:
            return None
        head, kept = self._next
        is_it = head.begin == begin and checksum in (None, head.checksum)
        return kept if is_it and _line_sum(head.version, begin, head.checksum, kept) == head.line else None


def path_of(directory: str, name: str) -> str:
    """Where such a file is kept."""
    return os.path.join(directory, DERIVED, name)  # noqa: PTH118 - as in ``kept``


def append(
    directory: str, name: str, version: int, kept: Iterable[tuple[int, int, Struct]], pin: Pin | None = None
) -> int:
    """Add lines, each of where a block begins, its checksum and what is kept; how many.

    A failure loses nothing but time. Writers that do so at once write lines twice, of which readers use one.

    Args:
        directory: the ledger's folder.
        name: the file's.
        version: of what is kept.
        kept: the lines.
        pin: the log, taken before it was read; None where what is kept is no text, or nobody else can write to it.
    """
    count = 0
    for begin, checksum, what in kept:
        body = msgspec.json.encode(what)
        head = msgspec.json.encode(_Head(version, begin, checksum, _line_sum(version, begin, checksum, body)))
        with nullcontext(True) if pin is None else pin.unchanged() as is_its:
            if not is_its or not _added(path_of(directory, name), b"%b\t%b\n" % (head, body)):
                break
        count += 1
    return count


def _line_sum(version: int, begin: int, checksum: int, kept: bytes) -> int:
    """Of the whole line: what is kept of one block must not count for another."""
    return checksum_of(b"%d %d %d " % (version, begin, checksum), kept)


def _added(path: str, line: bytes) -> bool:
    try:
        descriptor = open_own_new(path, os.O_WRONLY | os.O_APPEND)
        try:
            write_all(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError:
        return False
    return True


def new_blocks(directory: str, name: str, path: str) -> Iterator[Block]:
    """The whole blocks of a log behind the last one of which something is kept; all where nothing is.

    Args:
        directory: the ledger's folder.
        name: the file's.
        path: the log.

    Raises:
        LedgerError: if the log can't be read.
        OSError: if the system doesn't say how long it is.
    """
    last = _begin_of_last(path_of(directory, name), os.path.getsize(path))  # noqa: PTH202 - as above
    return (block for block in whole_blocks(path, last or 0) if last is None or block.begin > last)


def _begin_of_last(path: str, size: int) -> int | None:
    """Where the last block begins of which something is kept. A file of a longer log is of one that was replaced."""
    try:
        with open(path, "rb", opener=open_own) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LONGEST))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
        begin = _decode_head(last.partition(b"\t")[0]).begin
        if not 0 <= begin <= size:
            os.unlink(path)  # noqa: PTH108 - as above
            return None
    except (OSError, *_UNREADABLE):
        return None
    return begin


def _lines(path: str, version: int) -> Iterator[tuple[_Head, bytes]]:
    try:
        with open(path, "rb", opener=open_own) as file:
            for line in short_lines(file, _LONGEST):
                head, _, kept = line.partition(b"\t")
                try:
                    found = _decode_head(head)
                except _UNREADABLE:
                    continue
                if found.version == version:
                    yield found, kept.removesuffix(b"\n")
    except OSError:
        return
