# ruff: noqa: PTH105, PTH114, PTH116, PTH118, PTH120, PTH208 - pathlib costs more at start-up than an append
"""Whose a ledger is: memories stand in prompts, so only the user who is served, or root, may have written them."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator

from ledger.errors import UntrustedLedger
from ledger.files import close_file, make_private_folder, open_private, open_regular, write_all

__all__ = [
    "DERIVED",
    "PRIVATE",
    "SPOOL",
    "open_own",
    "open_own_new",
    "put_own",
    "require_own",
    "require_place",
    "untrusted",
]

DERIVED = "derived"
"""The folder beside the log for what can be computed from it."""
SPOOL = "spool"
"""The folder beside the log for events that wait."""
PRIVATE = "private"
"""The folder beside the log for the marks of sessions that are off the record."""

_NO_LINK = 0 if sys.platform == "win32" else os.O_NOFOLLOW


def require_own(folder: str, log: str) -> None:
    """Refuse a ledger whose folder or log belongs to another user, or may be written by anyone.

    What others may only read, or a group may write, is no reason to do without a memory: ``doctor`` warns of it.
    What isn't there, or can't be looked at, is for whoever opens it to say.

    Raises:
        UntrustedLedger: with the path, the owner or mode, and what to do.
    """
    for path in (folder, log):
        status = _status(path)
        if status is None:
            continue
        if reason := _distrust(status):
            raise UntrustedLedger(path, reason, _shut(folder) if _is_own(status) else _take_over(folder))


def require_place(folder: str) -> None:
    """Refuse to make a ledger in another user's folder, as root would where it serves with that user's ``HOME``.

    Raises:
        UntrustedLedger: if the nearest folder that is there belongs to neither this user nor root.
    """
    place = folder
    while (status := _status(place)) is None and place != os.path.dirname(place):
        place = os.path.dirname(place)
    # A ledger that root makes there is one that the folder's owner can't write to.
    if status is not None and status.st_uid != 0 and not _is_own(status):
        raise UntrustedLedger(place, _foreign(status), _take_over(place))


def open_own(path: str, flags: int = os.O_RDONLY) -> int:
    """Open a file in a folder beside the log to read it, if nobody else can have written what it says.

    Whatever is kept in ``derived/`` or ``spool/`` is opened here: it speaks as the log does. It never waits.

    Args:
        path: the file, in a folder below the ledger's.
        flags: as of ``os.open``, so that this may be the ``opener`` of ``open``.

    Raises:
        OSError: as ``open_regular``; PermissionError, with the reason, if the file or its folder belongs to another
            user or may be written by anyone; for a symbolic link too, which memfold never makes.
    """
    _require_own_folder(path)
    return _checked(open_regular(path, flags | _NO_LINK), path)


def open_own_new(path: str, flags: int) -> int:
    """Open a file in a folder beside the log to write it, made with its folder if it isn't there; else as ``open_own``.

    What is derived from memories is not added to a file that another user reads, or at the end of a link.

    Args:
        path: the file, in a folder below the ledger's.
        flags: as of ``os.open``, without those that make it; what it held goes if ``os.O_TRUNC`` is one of them.

    Raises:
        OSError: as ``open_own``.
    """
    make_private_folder(os.path.dirname(path))
    _require_own_folder(path)
    uncut = flags & ~os.O_TRUNC  # what it held goes only once it is known whose it is
    return _checked(open_private(path, uncut | os.O_NONBLOCK | _NO_LINK), path, cut=uncut != flags)


def put_own(path: str, beside: str, data: bytes) -> None:
    """Put a file in a folder beside the log at once, whole; a reader meets the old one or the new one.

    Args:
        path: the file, in a folder below the ledger's.
        beside: what it is made as, in the same folder: a name that no other writer takes.
        data: what it says.

    Raises:
        OSError: as ``open_own_new``, or as the system refuses to write or rename it.
    """
    descriptor = open_own_new(beside, os.O_WRONLY)
    try:
        write_all(descriptor, data)
    finally:
        close_file(descriptor)
    os.replace(beside, path)


def untrusted(folder: str) -> Iterator[tuple[str, str]]:
    """What ``open_own`` refuses of a ledger's folder: paths, and the reason for each, in the order of their names."""
    for name in (DERIVED, PRIVATE, SPOOL):
        for path in _with_all_in(os.path.join(folder, name)):
            status = _status(path)
            if status is not None and (reason := _distrust(status)):
                yield path, reason


def _with_all_in(place: str) -> Iterator[str]:
    """A folder, then what stands in it and in the folders below, by name; links are not followed."""
    yield place
    try:
        names = () if os.path.islink(place) else sorted(os.listdir(place))
    except OSError:  # a file, or nothing
        return
    for name in names:
        yield from _with_all_in(os.path.join(place, name))


def _require_own_folder(path: str) -> None:
    folder = os.path.dirname(path)
    # Of ``derived/checkpoints/`` the folder above it counts too: who may write there may put another one in its place.
    for place in (folder, os.path.dirname(folder)):
        if reason := _distrust(os.stat(place)):
            raise PermissionError(errno.EACCES, reason, place)


def _checked(descriptor: int, path: str, *, cut: bool = False) -> int:
    try:
        if reason := _distrust(os.fstat(descriptor)):
            raise PermissionError(errno.EACCES, reason, path)
        if cut:
            os.ftruncate(descriptor, 0)
    except OSError:
        close_file(descriptor)
        raise
    return descriptor


def _distrust(status: os.stat_result) -> str:
    """Why what a file or folder holds may be another's word; empty if it can't be."""
    if not _is_own(status):
        return _foreign(status)
    mode = stat.S_IMODE(status.st_mode)
    return f"anyone may write to it (mode {mode:04o})" if mode & stat.S_IWOTH else ""


def _is_own(status: os.stat_result) -> bool:
    return sys.platform == "win32" or status.st_uid == _me()


def _foreign(status: os.stat_result) -> str:
    return f"it belongs to user id {status.st_uid}, and you are user id {_me()}"


def _shut(folder: str) -> str:
    import shlex

    return f"look at what it holds, then chmod -R go-rwx {shlex.quote(folder)}"


def _take_over(folder: str) -> str:
    import shlex

    return f"chown -R {_me()} {shlex.quote(folder)}, or set dataDir to a folder that is yours"


def _me() -> int:
    return 0 if sys.platform == "win32" else os.geteuid()


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None
