"""Outlines of the log's blocks, kept in ``derived/blocks.jsonl``: disposable, and worth nothing but time.

One line per healthy block, in the order of the log: where it begins, its checksum, and its outline with a digest of
its own. A line that is torn, damaged or of other bytes is not used, and its block is decoded. The file is read
alongside the log, so that it takes no memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec
from msgspec import Raw, Struct

from ledger.blocks import BlockReader, Outline, checksum, outlines
from ledger.digests import blake2b
from ledger.files import write_all
from ledger.log import FileLog
from ledger.reader import START, Cursor
from ledger.trust import DERIVED, open_own, open_own_new

__all__ = ["BLOCKS_NAME", "KeptOutlines", "blocks_path", "by_blocks", "keep_outlines"]

BLOCKS_NAME = "blocks.jsonl"
_VERSION = 2
"""Rises when the same bytes would give another outline."""


_TAIL = 1 << 18
"""Bytes in which the last line is looked for: an outline is a hundredth of its block."""


class _Line(Struct, frozen=True, array_like=True, gc=False):
    version: int
    begin: int
    checksum: int
    check: str
    outline: Raw


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_outline = msgspec.json.Decoder(Outline).decode


class KeptOutlines:
    """What ``BlockReader`` asks for an outline; for one pass over a log, from its beginning.

    Args:
        directory: the ledger's folder; a missing or unreadable file holds no outlines.
    """

    def __init__(self, directory: str) -> None:
        self._lines = _lines(blocks_path(directory))
        self._next = next(self._lines, None)

    def __call__(self, begin: int, block: bytes) -> Outline | None:
        """The outline of the block at a byte, if one is kept of just these bytes; blocks are asked for in order."""
        while self._next is not None and self._next.begin < begin:
            self._next = next(self._lines, None)
        line = self._next
        if line is None or line.begin != begin or line.checksum != checksum(block):
            return None
        body = bytes(line.outline)
        if _check(body) != line.check:
            return None
        try:
            return _decode_outline(body)
        except msgspec.MsgspecError:
            return None


def by_blocks(log: FileLog, cursor: Cursor = START) -> BlockReader:
    """A pass over a log by the outlines kept beside it; for folds that take runs."""
    return log.by_blocks(KeptOutlines(log.directory), cursor)


def blocks_path(directory: str) -> str:
    """Where a ledger's outlines are kept."""
    return os.path.join(directory, DERIVED, BLOCKS_NAME)  # noqa: PTH118 - as in ``kept``


def keep_outlines(directory: str, path: str) -> int:
    """Add the outlines of whole blocks behind the last one that is kept; how many. O(what is new).

    Writers that do so at once write lines twice, of which readers use one.

    Args:
        directory: the ledger's folder.
        path: its log.

    Raises:
        LedgerError: if the log can't be read.
        OSError: if the system doesn't say how long it is.
    """
    begin = _last_begin(blocks_path(directory))
    if begin > os.path.getsize(path):  # noqa: PTH202 - as above
        os.unlink(blocks_path(directory))  # noqa: PTH108 - of a longer log, which was replaced
        begin = 0
    added = [_line(at, sum_, outline) for at, sum_, outline in outlines(path, begin) if at > begin or not begin]
    if added:
        _add(blocks_path(directory), b"".join(added))
    return len(added)


def _line(begin: int, sum_: int, outline: Outline) -> bytes:
    body = msgspec.json.encode(outline)
    return msgspec.json.encode(_Line(_VERSION, begin, sum_, _check(body), Raw(body))) + b"\n"


def _add(path: str, lines: bytes) -> None:
    try:
        descriptor = open_own_new(path, os.O_WRONLY | os.O_APPEND)
        try:
            write_all(descriptor, lines)
        finally:
            os.close(descriptor)
    except OSError:
        return


def _last_begin(path: str) -> int:
    """Where the last block begins whose outline is kept; 0 if there is none that can be read."""
    try:
        with open(path, "rb", opener=open_own) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
        return _decode_line(last).begin
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return 0


def _lines(path: str) -> Iterator[_Line]:
    try:
        with open(path, "rb", opener=open_own) as file:
            for raw in file:
                try:
                    line = _decode_line(raw)
                except (msgspec.MsgspecError, UnicodeDecodeError):
                    continue
                if line.version == _VERSION:
                    yield line
    except OSError:
        return


def _check(body: bytes) -> str:
    return blake2b(body, digest_size=8).hexdigest()
