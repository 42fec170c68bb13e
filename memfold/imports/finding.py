# ruff: noqa: PTH110, PTH112, PTH113, PTH118, PTH119, PTH123, PTH208 - os.path strings, as in ``memfold.paths``
"""Finds the files of an import: one that was named, or those of a store in a folder; nothing is changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from msgspec import Struct

from ledger.files import open_regular
from memfold.imports.formats import MEMORY_NAME, SESSIONS_FOLDER
from memfold.imports.reference_a import JOURNAL_NAME, STORE_NAME
from memfold.paths import workspace_key

__all__ = ["STDIN", "Found", "find_files", "known_stores"]

STDIN = "-"
"""A path that stands for what comes on stdin."""
_LARGEST = 64_000_000
"""Bytes that are read of a file: more than any reader takes, so that it is the reader who says so."""


class Found(Struct, frozen=True):
    """A file to import: its name below what was named, and its bytes."""

    name: str
    data: bytes


def find_files(path: str) -> Iterator[Found]:
    """The files behind a path: itself, or the memories, journal and sessions of a store, in this order.

    A folder without them gives none; ``-`` is what comes on stdin.

    Raises:
        OSError: if something can't be read, or is no file.
    """
    if path == STDIN:
        yield Found("stdin", sys.stdin.buffer.read(_LARGEST))
        return
    if not os.path.isdir(path):
        yield Found(os.path.basename(path), _read(path))
        return
    for name in (MEMORY_NAME, STORE_NAME, JOURNAL_NAME, *_sessions(path)):
        inside = os.path.join(path, name)
        if os.path.isfile(inside):
            yield Found(name, _read(inside))


def known_stores(root: str, data_home: str) -> list[str]:
    """Where other programs keep memories of a workspace, if they do."""
    folder = os.path.join(data_home, "opencode-working-memory", "workspaces", workspace_key(root))
    file = os.path.join(root, ".opencode", "memory", MEMORY_NAME)
    return [path for path in (folder, file) if os.path.exists(path)]


def _sessions(path: str) -> list[str]:
    folder = os.path.join(path, SESSIONS_FOLDER)
    if not os.path.isdir(folder):
        return []
    return [f"{SESSIONS_FOLDER}/{name}" for name in sorted(os.listdir(folder)) if name.endswith(".json")]


def _read(path: str) -> bytes:
    with open(open_regular(path), "rb") as file:
        return file.read(_LARGEST)
