# ruff: noqa: PTH105, PTH108, PTH113, PTH118 - os.path strings, as in ``ledger.log``
"""Whole copies of a log: made under the writers' lock, and put back in its place by one rename."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from typing import IO

from msgspec import Struct

from ledger.errors import LedgerNotFound, SequenceConflict, storage_error
from ledger.files import (
    close_file,
    is_there,
    make_private_folder,
    open_private_new,
    open_regular,
    require_no_link,
    sync_folder,
)
from ledger.locks import default_lock
from ledger.log import LOCK_SUFFIX, LOG_NAME
from ledger.tail import read_tail

__all__ = ["RESTORE_NAME", "LogCopy", "copy_log", "digest_log", "log_at", "replace_log"]

_CHUNK = 1 << 20
RESTORE_NAME = f".{LOG_NAME}.restore"
"""The copy while it is put in place; what a kill leaves of it is in nobody's use."""

_PATIENCE = 10.0
"""Seconds to wait for the lock; a person is waiting too, and nothing is lost by waiting longer than a host can."""


class LogCopy(Struct, frozen=True):
    """What was copied: bytes, and their SHA-256 in hex."""

    size: int
    digest: str


def copy_log(directory: str, target: str, *, locked: bool = False) -> LogCopy:
    """Copy a ledger's log to a new file, which is private and synced; no append falls into the middle of it.

    Args:
        directory: the ledger's folder.
        target: the file to make.
        locked: whether the caller holds the lock already.

    Raises:
        LedgerNotFound: if there is no log.
        LockTimeout: if another process held the lock all the time.
        StorageError: if the system refused; then no half copy stays behind.
    """
    path = _log_path(directory)
    if not is_there(path):  # the lock of a log that isn't there would be made all the same
        raise LedgerNotFound(path)
    with nullcontext() if locked else _locked(directory):
        return _copy(path, target)


def digest_log(directory: str) -> LogCopy:
    """Size and digest of the log in a folder, or of a log, without the lock.

    Raises:
        LedgerNotFound: if there is none.
        StorageError: if the system refused.
    """
    return _copy(log_at(directory), None)


def replace_log(directory: str, source: str, copy: LogCopy, *, expect: int, first: Callable[[], None]) -> None:
    """Put a copy in the place of a ledger's log, or make the log where there is none.

    Args:
        directory: the ledger's folder.
        source: the folder of the copy, or its log.
        copy: what it must be.
        expect: the seq that must be next in the log that is replaced; 0 where there is none.
        first: called under the lock before anything changes, to keep what is replaced; what it raises ends it all.

    Raises:
        SequenceConflict: if the log has gone on meanwhile, or the copy is another one; nothing has changed.
        LockTimeout: if another process held the lock all the time.
        StorageError: if the system refused, or the log is a link; the log is then as it was.
    """
    path, beside = _log_path(directory), os.path.join(directory, RESTORE_NAME)
    try:
        make_private_folder(directory)
        require_no_link(path)
    except OSError as error:
        raise storage_error(error, directory) from error
    with _locked(directory):
        actual = _next_seq(path)
        if actual != expect:
            raise SequenceConflict(expect, actual)
        first()
        try:
            with suppress(FileNotFoundError):  # left by a kill
                os.unlink(beside)
            made = _copy(log_at(source), beside)
            if made != copy:
                os.unlink(beside)
                raise SequenceConflict(copy.size, made.size)
            # Writers compare the file with their descriptor after they have the lock, so none writes to the old one.
            os.replace(beside, path)
            sync_folder(directory)
        except OSError as error:
            raise storage_error(error, path) from error


@contextmanager
def _locked(directory: str) -> Generator[None]:
    lock = default_lock(_log_path(directory) + LOCK_SUFFIX, _PATIENCE)
    try:
        with lock.hold():
            yield
    finally:
        lock.close()


def _log_path(directory: str) -> str:
    return os.path.join(directory, LOG_NAME)


def log_at(copy: str) -> str:
    """The log of a copy, which may lie alone and under any name."""
    return copy if os.path.isfile(copy) else _log_path(copy)


def _next_seq(path: str) -> int:
    try:
        descriptor = open_regular(path)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise storage_error(error, path) from error
    try:
        return read_tail(descriptor, os.fstat(descriptor).st_size).next_seq
    except OSError as error:
        raise storage_error(error, path) from error
    finally:
        close_file(descriptor)


def _copy(path: str, target: str | None) -> LogCopy:
    """Copy a file to a new one, or only look at it; no half copy stays behind."""
    try:
        source = open(path, "rb", opener=open_regular)  # noqa: SIM115 - as above; closed below
    except (FileNotFoundError, NotADirectoryError):
        raise LedgerNotFound(path) from None
    except OSError as error:
        raise storage_error(error, path) from error
    with source:
        if target is None:
            return _pour(source, None, path)
        try:
            output = open(target, "xb", opener=open_private_new)  # noqa: SIM115 - as above; closed below
        except OSError as error:
            raise storage_error(error, target) from error
        try:
            with output:
                return _pour(source, output, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(target)
            raise


def _pour(source: IO[bytes], output: IO[bytes] | None, path: str) -> LogCopy:
    digest, size = hashlib.sha256(), 0
    try:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if output is not None:
                output.write(chunk)
        if output is not None:
            output.flush()
            os.fsync(output.fileno())
    except OSError as error:
        raise storage_error(error, path) from error
    return LogCopy(size, digest.hexdigest())
