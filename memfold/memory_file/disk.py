# ruff: noqa: PTH101, PTH102, PTH105, PTH108, PTH114, PTH116, PTH118, PTH120 - os calls, whose order prevents losses
"""One file that people edit too: read without following links, replaced at once or not at all."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import NamedTuple

from ledger.files import close_file, sync_folder, write_all

__all__ = [
    "FILE_LIMIT",
    "FOLDER",
    "MEMORY_NAME",
    "SUMMARY_NAME",
    "FileTrouble",
    "Look",
    "Replaced",
    "Signature",
    "memory_path",
    "read",
    "replace",
    "signature",
]

_FOLDERS = (".opencode", "memory")
FOLDER = os.path.join(*_FOLDERS)
MEMORY_NAME = "MEMORY.md"
SUMMARY_NAME = "memory_summary.md"

FILE_LIMIT = 4 * 1024 * 1024
"""Bytes; a file of thousands of memories is smaller, and reading must not fill the memory."""
_MODE = 0o644
"""A project's file, which people commit."""

Signature = tuple[int, int, int]
"""What changes when a file does: time in nanoseconds, size, number."""


class FileTrouble(Exception):  # noqa: N818 - it is reported, and never ends anything
    """The file can't be used; the message says why, and it is left untouched."""


class Look(NamedTuple):
    """A file as it stood when it was read; None for one that isn't there."""

    data: bytes
    signature: Signature
    mode: int


class Replaced(NamedTuple):
    """What came of a replacement.

    Attributes:
        signature: of the new file, as it was written.
        displaced: the old file, if somebody wrote into it meanwhile: that must not be lost. Else None.
    """

    signature: Signature
    displaced: Look | None


def memory_path(root: str) -> str:
    """Where MEMORY.md of a workspace is, or would be."""
    return os.path.join(root, FOLDER, MEMORY_NAME)


def signature(path: str) -> Signature | None:
    """What tells whether a file has changed, from one look at it."""
    try:
        return _signature(os.stat(path, follow_symlinks=False))
    except (OSError, ValueError):
        return None


def read(root: str, name: str) -> Look | None:
    """The file of a workspace, None where there is none.

    Raises:
        FileTrouble: if it, or a folder above it, is a link or no regular file, or is too large, or can't be read.
    """
    path = _safe_path(root, name)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileTrouble(f"{path} can't be read: {error.strerror}") from error
    try:
        return _look(descriptor, path)
    finally:
        close_file(descriptor)


def _look(descriptor: int, path: str) -> Look:
    """What an open file holds now.

    Raises:
        FileTrouble: if it is no regular file, too large, or can't be read.
    """
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileTrouble(f"{path} is no regular file")
        if status.st_size > FILE_LIMIT:
            raise FileTrouble(f"{path} is larger than {FILE_LIMIT:,} bytes")
        data = _read_all(descriptor)
    except OSError as error:
        raise FileTrouble(f"{path} can't be read: {error.strerror}") from error
    return Look(data, _signature(status), stat.S_IMODE(status.st_mode))


def _read_all(descriptor: int) -> bytes:
    """All bytes, however few come at a time: half a file would look as if a person had deleted the rest."""
    pieces: list[bytes] = []
    size = 0
    while size <= FILE_LIMIT and (piece := os.pread(descriptor, FILE_LIMIT + 1 - size, size)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def replace(root: str, name: str, data: bytes, before: Look | None) -> Replaced:
    """Put another content in place of what was read, in one step.

    Args:
        root: the workspace.
        name: of the file.
        data: the new content.
        before: the file as it was read.

    Raises:
        FileTrouble: if the file isn't what was read any more, or the system refuses; nothing was changed.
    """
    path = _safe_path(root, name)
    folder = os.path.dirname(path)
    # One name, under the lock: what a killed process leaves in a project is taken by the next write.
    temporary = os.path.join(folder, f".{name}.tmp")
    old = -1
    try:
        _make_folders(root)
        written = _write(temporary, data, _MODE if before is None else before.mode)
        if before is not None:
            # Kept open over the rename: an editor that writes in place holds this file too, and what it wrote between
            # our look and our rename can be read from here and nowhere else.
            old = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        _require_same(path, None if old < 0 else old, before)
        os.replace(temporary, path)
        sync_folder(folder)
        return Replaced(written, None if before is None else _displaced(old, path, before))
    except OSError as error:
        raise FileTrouble(f"{path} can't be written: {error.strerror}") from error
    finally:
        if old >= 0:
            close_file(old)
        with suppress(OSError):
            os.unlink(temporary)


def _make_folders(root: str) -> None:
    """Make the folders that are missing, for whom the umask says and for their owner in any case.

    A root that is gone isn't made again: a project that was deleted or renamed stays so.
    """
    path = root
    for part in _FOLDERS:
        path = os.path.join(path, part)
        with suppress(FileExistsError):
            os.mkdir(path)
            os.chmod(path, os.stat(path).st_mode | stat.S_IRWXU)


def _require_same(path: str, old: int | None, before: Look | None) -> None:
    """Refuse to replace what isn't what was read: somebody has saved meanwhile."""
    is_there = old is not None or os.path.lexists(path)
    now = None if old is None else _signature(os.fstat(old))
    if is_there != (before is not None) or (before is not None and now != before.signature):
        raise FileTrouble(f"{path} is being edited")


def _displaced(old: int, path: str, before: Look) -> Look | None:
    """What stands in the old file by now, if that isn't what was read."""
    after = _look(old, path)
    return None if after.data == before.data else after


def _write(path: str, data: bytes, mode: int) -> Signature:
    """Write and sync a file; its signature, which a rename doesn't change."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    # O_EXCL: a file of ours. What stood there may have been a link, or a pipe, which holds a writer for ever.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        os.fchmod(descriptor, mode)
        write_all(descriptor, data)
        os.fsync(descriptor)
        return _signature(os.fstat(descriptor))
    finally:
        close_file(descriptor)


def _safe_path(root: str, name: str) -> str:
    """The path of the file, no folder of which is a link: whoever made one could lead us anywhere.

    Raises:
        FileTrouble: if one is.
    """
    path = root
    for part in (*_FOLDERS, name):
        path = os.path.join(path, part)
        if os.path.islink(path):
            raise FileTrouble(f"{path} is a symbolic link, which isn't followed")
    return path


def _signature(status: os.stat_result) -> Signature:
    return status.st_mtime_ns, status.st_size, status.st_ino
