"""Outlines of the log's blocks, kept in ``derived/blocks.jsonl``."""

from __future__ import annotations

import msgspec

from ledger.blocks import BlockReader
from ledger.codec import UNREADABLE
from ledger.log import FileLog
from ledger.outlines import NO_OUTLINE, Outline, outline_of
from ledger.reader import START, Cursor
from replay.blocklines import BlockLines, append, new_blocks

__all__ = ["BLOCKS_NAME", "KeptOutlines", "by_blocks", "keep_outlines"]

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
