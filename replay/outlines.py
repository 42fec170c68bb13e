"""Outlines of the log's blocks, kept in ``derived/blocks.jsonl``."""

from __future__ import annotations

import msgspec

from ledger.blocks import BlockReader, whole_blocks
from ledger.codec import UNREADABLE
from ledger.log import FileLog
from ledger.outlines import NO_OUTLINE, Outline, checksum, is_sound, looked_at, outline_of
from ledger.reader import START, Cursor
from replay.blocklines import BlockLines, append, new_blocks

__all__ = ["BLOCKS_NAME", "KeptOutlines", "are_right", "by_blocks", "keep_outlines"]

BLOCKS_NAME = "blocks.jsonl"
_VERSION = 4
"""Rises when the same bytes would give another outline."""

_decode = msgspec.json.Decoder(Outline).decode


class KeptOutlines:
    """What ``BlockReader`` asks for an outline; for one pass over a log, from its beginning.

    Args:
        directory: the ledger's folder.
    """

    def __init__(self, directory: str) -> None:
        self._kept = BlockLines(directory, BLOCKS_NAME, _VERSION)

    @property
    def is_empty(self) -> bool:
        """Whether none is left to be asked for."""
        return self._kept.is_empty

    def __call__(self, begin: int) -> Outline | None:
        """The outline that is kept of the block at a byte; blocks are asked for in order."""
        body = self._kept.find(begin)
        try:
            return None if body is None else _decode(body)
        except UNREADABLE:
            return None


def by_blocks(log: FileLog, cursor: Cursor = START) -> BlockReader:
    """A pass over a log by the outlines kept beside it; for folds that take runs."""
    return log.by_blocks(KeptOutlines(log.directory), cursor)


def are_right(log: FileLog) -> bool:
    """Whether all outlines that would count are those of the blocks as they are now. One decoding of the log.

    Args:
        log: the log.

    Raises:
        LedgerNotFound: if the log isn't there.
        StorageError: if the system can't read it.
    """
    kept = KeptOutlines(log.directory)
    if kept.is_empty:
        return True
    for block in whole_blocks(log.path):
        outline = kept(block.begin)
        if outline is not None and _would_count(outline, block.data) and outline != outline_of(block.data):
            return False
    return True


def _would_count(outline: Outline, data: bytes) -> bool:
    """Whether a reader would take an outline for that of a block."""
    if not is_sound(outline):
        return False
    pieces = looked_at(outline.runs, outline.size)
    return checksum(*(data[begin:end] for begin, end in pieces)) == outline.looked_at


def keep_outlines(directory: str, path: str) -> int:
    """Add the outlines of whole blocks behind the last one that is kept; of how many. O(what is new).

    Args:
        directory: the ledger's folder.
        path: its log.

    Raises:
        LedgerError: if the log can't be read.
        OSError: if the system doesn't say how long it is.
    """
    blocks = new_blocks(directory, BLOCKS_NAME, path)
    found = ((block.begin, block.checksum, outline_of(block.data) or NO_OUTLINE) for block in blocks)
    return append(directory, BLOCKS_NAME, _VERSION, found)
