# ruff: noqa: PTH101, PTH102, PTH112, PTH114, PTH120, PTH202 - pathlib costs more at start-up than an append
"""Private files and folders: readable and writable by their owner alone, under any umask."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

__all__ = [
    "PATH_LIMIT",
    "close_file",
    "is_empty",
    "is_there",
    "make_private_folder",
    "open_private",
    "open_private_new",
    "open_regular",
    "require_no_link",
    "require_regular",
    "short_lines",
    "sync_folder",
    "write_all",
]

PATH_LIMIT = 4096
"""Characters of a path; no system takes more."""

_FILE_MODE = 0o600
_FOLDER_MODE = 0o700
_ROUNDS = 16
"""How often a file may vanish and come back while it is opened."""


def open_private(path: str, flags: int) -> int:
    """Open a file, creating it with mode 0600 if it isn't there; the descriptor is not inherited.

    Raises:
        OSError: as ``os.open``.
    """
    flags |= os.O_CLOEXEC
    for _ in range(_ROUNDS):
        with suppress(FileNotFoundError):
            return os.open(path, flags)
        with suppress(FileExistsError):
            return open_private_new(path, flags)
    # Neither there nor free: a file that others make and remove would have been met in one of the rounds. Following
    # the link would make a file wherever it points to.
    raise OSError(errno.EEXIST, "a symbolic link that leads nowhere stands in the way", path)


def open_private_new(path: str, flags: int) -> int:
    """Create a file with mode 0600; the descriptor is not inherited.

    Raises:
        OSError: as ``os.open``; FileExistsError if something is there.
    """
    # O_EXCL tells who made the file: a mode that its owner changed later is not ours to change back.
    descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE)
    try:
        os.fchmod(descriptor, _FILE_MODE)  # the umask may have taken the owner's bits too
    except OSError:
        close_file(descriptor)
        raise
    return descriptor


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it: a system that has little room, or is far away, takes less than it is given, and says no error.

    Raises:
        OSError: as ``os.write``, with a part written.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def short_lines(file: IO[bytes], longest: int) -> Iterator[bytes]:
    """The lines of a file from its position on, each with its line feed; longer ones are passed over.

    So is what no line feed ends. A file without any takes no more memory than one line.

    Args:
        file: opened for reading bytes.
        longest: bytes of a line, at most.
    """
    while line := file.readline(longest):
        if line.endswith(b"\n"):
            yield line
        else:
            while (rest := file.readline(longest)) and not rest.endswith(b"\n"):
                pass


def close_file(descriptor: int) -> None:
    """Let go of a descriptor: the system does so whatever it says.

    An error here would hide what came before, and tell nothing that matters: what counts was synced, or read.
    """
    with suppress(OSError):
        os.close(descriptor)


def open_regular(path: str, flags: int = os.O_RDONLY) -> int:
    """Open a file that is there, and never wait: a pipe or device in its place could hold a reader for ever.

    Raises:
        OSError: as ``os.open``, and for whatever is no regular file.
    """
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        require_regular(os.fstat(descriptor), path)
    except OSError:
        close_file(descriptor)
        raise
    return descriptor


def is_there(path: str) -> bool:
    """Whether something is there; also where the system doesn't let us look: whoever opens it is told why.

    ``os.path.lexists`` says no then, and what can't be read would be taken for what was never there.
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def is_empty(path: str) -> bool:
    """Whether a file is there without a byte in it."""
    try:
        return os.path.getsize(path) == 0
    except OSError:
        return False


def require_regular(status: os.stat_result, path: str) -> None:
    """Refuse folders, pipes, sockets and devices.

    Raises:
        OSError: with a sentence as its reason.
    """
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", path)


def require_no_link(path: str) -> None:
    """Refuse a symbolic link where a file will be replaced: what the link leads to would stay as it is.

    Raises:
        OSError: with a sentence as its reason.
    """
    if os.path.islink(path):
        raise OSError(errno.ELOOP, "it is a symbolic link, which is not followed to replace a file", path)


def make_private_folder(path: str) -> None:
    """Make a folder and its missing parents with mode 0700; one that is there stays as it is.

    Raises:
        OSError: as ``os.mkdir``; FileExistsError if something else than a folder is there.
    """
    if len(path) > PATH_LIMIT:  # no system takes it, and looking at each of its parents would take long
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
    missing: list[str] = []
    while path and not os.path.isdir(path):
        missing.append(path)
        parent = os.path.dirname(path)
        path = "" if parent == path else parent
    for folder in reversed(missing):
        _make_folder(folder)


def _make_folder(path: str) -> None:
    try:
        os.mkdir(path, _FOLDER_MODE)
    except FileExistsError:
        if not os.path.isdir(path):  # else another process made it just now, and gives it its mode
            raise
        return
    os.chmod(path, _FOLDER_MODE)
    with suppress(PermissionError):  # a parent that isn't ours to read can't be synced
        sync_folder(os.path.dirname(path) or ".")


def sync_folder(path: str) -> None:
    """Make a new entry of a folder durable: else a power cut may lose the file, however well it was synced."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        close_file(descriptor)
