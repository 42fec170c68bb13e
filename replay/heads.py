# ruff: noqa: PTH118, PTH202 - os.path strings, as in the rest of the package
"""Heads of a log's hash tree. The present one is kept in ``derived/``, so that the next costs only what is new."""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec
from msgspec import Struct

from ledger.leaves import Leaves
from ledger.log import FileLog
from ledger.reader import START, Cursor
from ledger.trust import DERIVED, open_own, open_own_new
from projections.merkle import EMPTY, Frontier, MerkleTree
from replay.places import digest_before

__all__ = ["TREE_NAME", "present_head"]

TREE_NAME = "tree.json"
_LIMIT = 1 << 16


class _Kept(Struct, frozen=True):
    """The tree of the lines before a cursor, and the digest of the bytes right before it."""

    cursor: Cursor = START
    before: str = ""
    size: int = 0
    roots: tuple[str, ...] = ()


_NOTHING = _Kept()


def present_head(log: FileLog, most: int | None = None) -> Frontier | None:
    """The tree over all valid event lines of a log as it is now.

    Costs as much as what was appended since the last time, or all of the log where nothing is kept. What is kept may
    be deleted at any time; it isn't read when a log is verified.

    Args:
        log: the log.
        most: bytes that may be read; None for as many as there are.

    Returns:
        The tree; None if more would have to be read.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    kept = _load(log)
    if most is not None and os.path.getsize(log.path) - kept.cursor.byte > most:
        return None
    leaves = Leaves(log.path, kept.cursor)
    start = Frontier(kept.size, tuple(map(bytes.fromhex, kept.roots)))
    tree = MerkleTree().run(start if kept.size else EMPTY, (leaf.data for leaf in leaves))
    if tree.size != kept.size:
        _save(log, leaves.cursor, tree)
    return tree


def _load(log: FileLog) -> _Kept:
    """What is kept, if the log still has the bytes before its cursor: repair, purge and restore replace it."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, ValueError):
        with open(_path(log), "rb", opener=open_own) as file:
            kept = msgspec.json.decode(file.read(_LIMIT), type=_Kept)
        is_tree = [len(bytes.fromhex(root)) for root in kept.roots] == [32] * kept.size.bit_count()
        if is_tree and kept.before and kept.before == digest_before(log.path, kept.cursor.byte):
            return kept
    return _NOTHING


def _save(log: FileLog, cursor: Cursor, tree: Frontier) -> None:
    """Keep it, best effort. Two that do so at once may mix their bytes: then nothing is read from it, and no more."""
    kept = _Kept(cursor, digest_before(log.path, cursor.byte), tree.size, tuple(root.hex() for root in tree.roots))
    with suppress(OSError):
        descriptor = open_own_new(_path(log), os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(descriptor, msgspec.json.encode(kept))
        finally:
            os.close(descriptor)


def _path(log: FileLog) -> str:
    return os.path.join(log.directory, DERIVED, TREE_NAME)
