# ruff: noqa: PTH117, PTH118, PTH123 - os.path strings, as in ``memfold.paths``
"""The note of a ledger's copies in other places: their folders, a line each, so that damage costs one of them."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import cast

from msgspec import Struct

from ledger.files import open_regular
from ledger.locks import default_lock
from memfold.hosts.installs import replace_file

__all__ = ["NOTE_NAME", "Note", "add_to_note", "read_note"]

NOTE_NAME = "elsewhere.json"
_LIMIT = 1 << 20
_PRIVATE = 0o600
_PATIENCE = 2.0


class Note(Struct, frozen=True):
    """The folders that the note names, and what is wrong with it; empty if nothing is."""

    folders: tuple[str, ...] = ()
    trouble: str = ""


def read_note(own: str) -> Note:
    """The note of copies in other places; only one that isn't there names none.

    Args:
        own: the folder of the ledger's backups.
    """
    try:
        data = _read(os.path.join(own, NOTE_NAME))
    except (FileNotFoundError, NotADirectoryError):
        return Note()
    except OSError as error:
        return Note(trouble=f"can't be read ({error.strerror or error})")
    try:
        folders = json.loads(data)["folders"]
        if isinstance(folders, list) and all(isinstance(one, str) for one in cast("list[object]", folders)):
            return Note(tuple(cast("list[str]", folders)))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return Note(tuple(_readable(data)), "is damaged")


def add_to_note(own: str, folder: str) -> None:
    """Note a copy in another place, before it is made. Those that aren't there now may only be unplugged.

    Args:
        own: the folder of the ledger's backups.
        folder: that of the copy.

    Raises:
        OSError: if the system refuses, or the note is damaged: what it said would be lost.
        LockTimeout: if another process held its lock all the time.
    """
    path = os.path.join(own, NOTE_NAME)
    lock = default_lock(f"{path}.lock", _PATIENCE)
    try:
        with lock.hold():
            note = read_note(own)
            if note.trouble:
                raise OSError(errno.EIO, f"it {note.trouble}", path)
            folders = sorted({*note.folders, folder})
            # As json escapes them: a folder's name may hold bytes that are no text.
            replace_file(path, json.dumps({"folders": folders}, indent=2).encode() + b"\n", mode=_PRIVATE)
    finally:
        lock.close()


def _readable(data: bytes) -> Iterator[str]:
    """The folders in those lines of a damaged note that can be read."""
    for line in data.splitlines():
        with suppress(ValueError, RecursionError):
            one = json.loads(line.strip().removesuffix(b","))
            if isinstance(one, str) and os.path.isabs(one):
                yield one


def _read(path: str) -> bytes:
    with open(open_regular(path), "rb") as file:
        return file.read(_LIMIT)
