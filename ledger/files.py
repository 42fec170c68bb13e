# ruff: noqa: PTH101, PTH102, PTH112, PTH120 - pathlib costs more at start-up than an append
"""Private files and folders: readable and writable by their owner alone, under any umask."""

from __future__ import annotations

import os
from contextlib import suppress

__all__ = ["make_private_folder", "open_private", "sync_folder"]

_FILE_MODE = 0o600
_FOLDER_MODE = 0o700


def open_private(path: str, flags: int) -> int:
    """Open a file, creating it with mode 0600 if it isn't there; the descriptor is not inherited.

    Raises:
        OSError: as ``os.open``.
    """
    flags |= os.O_CLOEXEC
    while True:
        with suppress(FileNotFoundError):
            return os.open(path, flags)
        # O_EXCL tells who made the file: a mode that its owner changed later is not ours to change back.
        with suppress(FileExistsError):
            descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, _FILE_MODE)
            os.fchmod(descriptor, _FILE_MODE)  # the umask may have taken the owner's bits too
            return descriptor


def make_private_folder(path: str) -> None:
    """Make a folder and its missing parents with mode 0700; one that is there stays as it is.

    Raises:
        OSError: as ``os.mkdir``; FileExistsError if something else than a folder is there.
    """
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_private_folder(parent)
    try:
        os.mkdir(path, _FOLDER_MODE)
    except FileExistsError:
        if not os.path.isdir(path):  # else another process made it just now, and gives it its mode
            raise
        return
    os.chmod(path, _FOLDER_MODE)
    with suppress(PermissionError):  # a parent that isn't ours to read can't be synced
        sync_folder(parent or ".")


def sync_folder(path: str) -> None:
    """Make a new entry of a folder durable: else a power cut may lose the file, however well it was synced."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
