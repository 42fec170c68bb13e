# ruff: noqa: PTH105, PTH108, PTH116, PTH120 - os calls, whose order prevents losses
"""A log is replaced by another, at once and under the writers' lock: only repair and purge may do that (DESIGN 4).

The new file stands beside the old one until it is whole and on the disk; then one rename puts it in place. A kill at
any moment leaves the one or the other. Writers compare the file's number after locking, so none appends to the old one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from typing import Protocol

from ledger.drafts import stamp
from ledger.errors import LedgerError, NewerFormat, storage_error
from ledger.events import Draft, Event, LedgerCreated
from ledger.files import close_file, open_private, open_regular, require_no_link, sync_folder, write_all
from ledger.locks import default_lock
from ledger.log import FORMAT, LOCK_SUFFIX
from ledger.problems import DAMAGE, Kind, Problem
from ledger.reader import Reader, scan
from ledger.recovery import Record
from ledger.tail import read_tail

__all__ = ["REWRITE_SUFFIX", "Change", "pieces", "rewrite"]

REWRITE_SUFFIX = ".new"
_BUFFER = 1 << 20
_PATIENCE = 10.0
"""Seconds to wait for the lock: a person waits, and hosts hold it for a moment only."""


class Change(Protocol):
    """What a rewrite makes of a log; asked under the lock, in the order of its methods."""

    def begin(self) -> None:
        """Nobody can append any more: look at the log as it is now. What this raises ends the rewrite."""
        ...

    def content(self, path: str) -> Iterator[bytes]:
        """What to write in place of the log at ``path``."""
        ...

    def drafts(self, path: str) -> Sequence[Draft]:
        """What to append to it, now that it stands at ``path``."""
        ...

    def approve(self, path: str) -> None:
        """The new file is whole, synced and stands at ``path``: what this raises keeps the old one."""
        ...


def rewrite(path: str, change: Change, *, new_id: Callable[[], str], locked: bool = False) -> tuple[Event, ...]:
    """Replace the log at ``path``.

    Args:
        path: the log file.
        change: what is written in its place.
        new_id: ids for what is appended.
        locked: whether nobody else can write to it, as to a copy.

    Returns:
        The events that were appended.

    Raises:
        LedgerNotFound: if there is no log.
        NewerFormat: if a newer release wrote it.
        LockTimeout: if another process held the lock all the time.
        StorageError: if the log is a link, or the system refused. The old file is there as it was, unless the new one
            stands in its place and only its folder could not be synced.
    """
    lock = default_lock(path + LOCK_SUFFIX, _PATIENCE)
    try:
        with nullcontext() if locked else lock.hold():
            return _rewrite(path, change, new_id)
    finally:
        lock.close()


def _rewrite(path: str, change: Change, new_id: Callable[[], str]) -> tuple[Event, ...]:
    temporary = path + REWRITE_SUFFIX
    try:
        # Whoever left one was killed: the lock says that nobody is writing it.
        _remove(temporary)
        require_no_link(path)
        _require_known_format(path)
        change.begin()
        events = _write_new(path, temporary, change, new_id)
        change.approve(temporary)
        os.replace(temporary, path)
        # Without this a power cut could bring the old file back, and with it what a person was told is gone.
        sync_folder(os.path.dirname(path) or ".")
    except LedgerError:  # one of them is an OSError too
        raise
    except OSError as error:
        raise storage_error(error, path) from error
    finally:
        with suppress(OSError):
            _remove(temporary)
    return events


def _require_known_format(path: str) -> None:
    first = next(iter(Reader(path)), None)
    if isinstance(first, LedgerCreated) and first.data.format > FORMAT:
        raise NewerFormat(path, first.data.format, FORMAT)


def _write_new(path: str, temporary: str, change: Change, new_id: Callable[[], str]) -> tuple[Event, ...]:
    """Write and sync the new file; what was appended to it."""
    descriptor = open_private(temporary, os.O_RDWR)
    try:
        _write(descriptor, change.content(path))
        tail = read_tail(descriptor, os.fstat(descriptor).st_size)
        events, lines = stamp(change.drafts(temporary), tail.next_seq, new_id, frozenset())
        _write(descriptor, iter([b"\n", *lines] if tail.rest and lines else lines))
        os.fchmod(descriptor, os.stat(path).st_mode & 0o777)
        os.fsync(descriptor)
    finally:
        close_file(descriptor)
    return tuple(events)


def pieces(path: str, piece: Callable[[Record, bytes], bytes]) -> Iterator[bytes]:
    """The content of a log with other pieces; what stands between them is kept as it is.

    Args:
        path: the log.
        piece: what to write in place of an event, an event that doesn't count, or a damaged piece; the same to keep it.
    """
    with open(path, "rb", buffering=_BUFFER, opener=open_regular) as file:
        position = 0
        for record in scan(path):
            if isinstance(record.item, Problem) and not _is_piece(record.item):
                continue  # it says something of an event that comes as a record of its own
            yield file.read(record.byte - position)
            data = file.read(record.length)
            position = record.byte + record.length
            yield piece(record, data)
        while rest := file.read(_BUFFER):
            yield rest


def _is_piece(problem: Problem) -> bool:
    return problem.kind in DAMAGE or problem.kind is Kind.DUPLICATE_ID


def _write(descriptor: int, chunks: Iterator[bytes]) -> None:
    waiting: list[bytes] = []
    size = 0
    for chunk in chunks:
        waiting.append(chunk)
        size += len(chunk)
        if size >= _BUFFER:
            write_all(descriptor, b"".join(waiting))
            waiting, size = [], 0
    write_all(descriptor, b"".join(waiting))


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
