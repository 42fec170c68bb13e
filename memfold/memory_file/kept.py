# ruff: noqa: PTH105, PTH108, PTH118, PTH120 - a path costs more than the look at the file
"""What is kept beside the log of the last writes: disposable, it spares a fold and survives a kill (DESIGN 6)."""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec
from msgspec import Struct

from ledger.files import close_file, make_private_folder, open_private_new, write_all
from ledger.trust import DERIVED, open_own
from memfold.memory_file.disk import Signature

__all__ = ["Kept", "load", "save"]

_NAME = "memory_file.json"
_LIMIT = 10_000


class Kept(Struct, frozen=True):
    """The file as it was last seen without edits, and a write that was begun.

    Attributes:
        signature: of the file; None if it was never seen so.
        position: the position that the write shows.
        digest: the digest of our part in it; written down before the file is replaced.
    """

    signature: Signature | None = None
    position: int = -1
    digest: str = ""


def load(folder: str) -> Kept:
    """What is kept in a ledger's folder; nothing where it is missing or damaged."""
    with suppress(OSError, msgspec.MsgspecError), open(_path(folder), "rb", opener=open_own) as file:
        return msgspec.json.decode(file.read(_LIMIT), type=Kept)
    return Kept()


def save(folder: str, kept: Kept) -> None:
    """Keep it, in place of what was kept. Whoever does so holds the memory file's lock.

    Raises:
        OSError: if the system refuses; what was kept before is then kept still.
    """
    path, beside = _path(folder), _path(folder) + ".tmp"
    make_private_folder(os.path.dirname(path))
    with suppress(FileNotFoundError):  # left by a kill, or something of others
        os.unlink(beside)
    descriptor = open_private_new(beside, os.O_WRONLY)
    try:
        write_all(descriptor, msgspec.json.encode(kept))
    finally:
        close_file(descriptor)
    os.replace(beside, path)


def _path(folder: str) -> str:
    return os.path.join(folder, DERIVED, _NAME)
