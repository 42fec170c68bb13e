# ruff: noqa: N818, PTH116, PTH120 - the names say what happened; pathlib costs more than an append
"""The exceptions of the ledger: a caller's mistake or the disk's; damaged data are values (``ledger.problems``).

LedgerError
├── LedgerNotFound      there is no ledger here
├── LockTimeout         another process holds the lock (also a TimeoutError)
├── SequenceConflict    the log is not where the caller expected it to be
├── NewerFormat         a newer release wrote this ledger; this one must not append to it
├── InvalidDraft        what was to be written could not be read back
└── StorageError        the operating system refused
    ├── NotWritable     no permission, or a read-only file system
    └── UntrustedLedger another user owns it, or anyone may write to it
"""

from __future__ import annotations

import errno
import os

__all__ = [
    "InvalidDraft",
    "LedgerError",
    "LedgerNotFound",
    "LockTimeout",
    "NewerFormat",
    "NotWritable",
    "SequenceConflict",
    "StorageError",
    "UntrustedLedger",
    "storage_error",
]


class LedgerError(Exception):
    """Root of all exceptions that the ledger raises on purpose."""


class LedgerNotFound(LedgerError):
    """There is no ledger at ``path``."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"no ledger at {path}: it is created with the first event, or check the data folder")


class LockTimeout(LedgerError, TimeoutError):
    """``path``, the lock's file, was held by another process for ``seconds``."""

    def __init__(self, path: str, seconds: float) -> None:
        self.path = path
        self.seconds = seconds
        super().__init__(f"{path} is held by another process, gave up after {seconds:g} s: try again later")


class SequenceConflict(LedgerError):
    """The caller expected the next seq to be ``expected``; it is ``actual``, and nothing was written."""

    def __init__(self, expected: int, actual: int) -> None:
        self.expected = expected
        self.actual = actual
        super().__init__(f"expected seq {expected} to be next, but it is {actual}: read the new events, then retry")


class NewerFormat(LedgerError):
    """The ledger at ``path`` has format ``found``; this release writes up to ``supported``. It can be read."""

    def __init__(self, path: str, found: int, supported: int) -> None:
        self.path = path
        self.found = found
        self.supported = supported
        super().__init__(f"{path} has format {found}, this release writes {supported}: upgrade memfold")


class InvalidDraft(LedgerError):
    """A draft whose event could not be read back, so nothing was written; ``reason`` says why."""

    def __init__(self, type_name: str, reason: str) -> None:
        self.type_name = type_name
        self.reason = reason
        super().__init__(f"a {type_name} event could not be read back: {reason}; nothing was written")


class StorageError(LedgerError):
    """The operating system refused to read or write ``path``.

    Attributes:
        path: the file or folder concerned.
        errno: the error number, such as ``errno.ENOSPC``, or None.
        stored: events of a failed append that stand whole in the log all the same; a second delivery with the
            same ids adds none of them again.
    """

    def __init__(self, path: str, errno: int | None, reason: str, stored: int = 0) -> None:
        self.path = path
        self.errno = errno
        self.reason = reason
        self.stored = stored
        super().__init__(f"{path}: {reason}")


class NotWritable(StorageError):
    """No permission to write ``path``, or its file system is read-only."""


class UntrustedLedger(StorageError):
    """Another user owns ``path``, or anyone may write to it: what is read there would speak for this user.

    Attributes:
        fix: what to do about it.
    """

    def __init__(self, path: str, reason: str, fix: str) -> None:
        super().__init__(path, errno.EPERM, reason)
        self.fix = fix
        self.args = (f"{path}: {reason}: {fix}",)


_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def storage_error(error: OSError, path: str, stored: int = 0) -> StorageError:
    """The exception that stands for an ``OSError`` on ``path``."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.errno in _REFUSED:
        return NotWritable(path, error.errno, f"{reason}{_owner(path)}", stored)
    return StorageError(path, error.errno, reason, stored)


def _owner(path: str) -> str:
    """Whose it is, for a message that can be acted on; the folder's owner where the file isn't there."""
    for place in (path, os.path.dirname(path)):
        try:
            return f" (owner: user id {os.stat(place).st_uid})"
        except OSError:
            continue
    return ""
