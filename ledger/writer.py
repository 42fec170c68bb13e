# ruff: noqa: PTH116, PTH118, PTH120 - pathlib costs more at start-up than an append
"""Appends to a log file: lock, look at the tail, one write, sync."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Literal, TypedDict

from ledger.codec import TYPE_NAMES
from ledger.drafts import Stamped
from ledger.errors import LedgerNotFound, storage_error
from ledger.events import Event
from ledger.files import close_file, make_private_folder, open_private, open_regular
from ledger.locks import Lock
from ledger.problems import DAMAGE, Problem
from ledger.reader import reading
from ledger.recovery import recover
from ledger.tail import Tail, read_tail

__all__ = ["QUARANTINE", "Durability", "Options", "Writer", "quarantine_name"]

Durability = Literal["always", "memories", "never"]
"""Which appends are synced before they return: all, those that memory depends on (DESIGN 4), or none."""

QUARANTINE = "quarantine"
_SYNCED = frozenset(
    cls
    for cls, name in TYPE_NAMES.items()
    if name.startswith("memory.") or name in {"session.compacted", "session.deleted"}
)


class Options(TypedDict, total=False):
    """How a ``FileLog`` works; each has a default.

    Attributes:
        clock: milliseconds since the Unix epoch; by default the system's.
        new_id: source of event ids; by default rising UUIDv7 of the clock.
        durability: which appends are synced to the disk before they return; by default ``memories``.
        lock: the writers' lock; by default the cheapest of this platform.
        lock_timeout: seconds to wait for another writer, if ``lock`` isn't given; by default 2.
        own: whether the log must be this user's own (``ledger.trust``); by default it must. A copy that a person
            names may lie on a disk that knows no owners.
    """

    clock: Callable[[], int]
    new_id: Callable[[], str]
    durability: Durability
    lock: Lock
    lock_timeout: float
    own: bool


class Writer:
    """The writing end of one log file; keeps its descriptor and what it knows of the tail between appends.

    Args:
        path: the log file.
        lock: what keeps other processes out.
        durability: which appends are synced.
    """

    def __init__(self, path: str, lock: Lock, durability: Durability) -> None:
        self._path = path
        self._lock = lock
        self._durability: Durability = durability
        self._threads = threading.Lock()  # a file lock belongs to the process and doesn't part its threads
        self._descriptor = -1
        self._status: os.stat_result  # of the descriptor
        self._tail: Tail | None = None

    def append(self, batch: Callable[[int], Stamped], *, durable: bool | None) -> list[Event]:
        """Write a batch behind the tail, and say what was written.

        Args:
            batch: makes the events and their lines from the next seq, under the lock. What it raises is passed on,
                and nothing is written.
            durable: whether to sync; None for what the log's durability says.

        Raises:
            LedgerNotFound: if the file is gone.
            LockTimeout: if another process held the lock all the time.
            StorageError: if the system refused, with the number of events that are stored all the same.
        """
        # The tail is read under the lock: else two writers would take the same seq, or one would close off a line
        # that the other is still writing.
        with self._threads, self._lock.hold():
            try:
                tail = self._current_tail()
            except (FileNotFoundError, NotADirectoryError):
                raise LedgerNotFound(self._path) from None
            except OSError as error:
                raise storage_error(error, self._path) from error
            events, lines = batch(tail.next_seq)
            if events:
                self._write(tail, lines)
                if self._must_sync(events, durable=durable):
                    # Synced before unlocking: a repair must not replace the file between our write and our sync.
                    try:
                        _sync(self._descriptor)
                    except OSError as error:
                        raise storage_error(error, self._path, len(lines)) from error
            return events

    @contextmanager
    def hold(self) -> Generator[None]:
        """Keep all other writers out for a ``with`` block in which nothing is appended.

        Raises:
            LockTimeout: if another process held the lock all the time.
        """
        with self._threads, self._lock.hold():
            yield

    def peek(self) -> Tail:
        """The tail as it stands now, read without the lock.

        Raises:
            LedgerNotFound: if the file isn't there.
            StorageError: if the system can't read it.
        """
        with reading(self._path) as file:
            return read_tail(file.fileno(), os.fstat(file.fileno()).st_size)

    def close(self) -> None:
        """Let go of all descriptors; the next append opens them again."""
        self._close_file()
        self._lock.close()

    def __del__(self) -> None:
        """Let go of the descriptors where nobody has closed the log, as Python's own files do."""
        self.close()

    def _current_tail(self) -> Tail:
        now = os.stat(self._path)
        # Checked after locking: a repair or purge may have replaced the file while we waited, and an append to the
        # old one would be lost with it. The open descriptor keeps the old file's number from being given again.
        if self._descriptor < 0 or not os.path.samestat(now, self._status):
            self._close_file()
            descriptor = open_regular(self._path, os.O_RDWR | os.O_APPEND)
            try:
                now = self._status = os.fstat(descriptor)
            except OSError:
                close_file(descriptor)
                raise
            self._descriptor = descriptor
        if self._tail is not None and self._tail.size == now.st_size:
            return self._tail  # nobody wrote since: every append changes the size
        return read_tail(self._descriptor, now.st_size)

    def _write(self, tail: Tail, lines: list[bytes]) -> None:
        data = b"".join(lines)
        heal = b""
        if tail.rest:
            # Copied before the line is closed off: afterwards nothing would tell that it has to be.
            self._set_aside(tail)
            # Closed off by our own write: a write of its own would be one more that can tear.
            heal = b"\n"
            data = heal + data
        self._tail = None  # until all of it is written, what is known of the tail is wrong
        written, refusal = _write_all(self._descriptor, data)
        if refusal is not None:
            raise storage_error(refusal, self._path, _whole_lines(lines, written - len(heal))) from refusal
        self._tail = Tail(tail.size + len(data), tail.next_seq + len(lines))

    def _set_aside(self, tail: Tail) -> None:
        """Copy the torn pieces of the tail to quarantine, by their byte offset.

        The bytes also stay in the log, so a quarantine that can't be written doesn't stop the append.
        """
        folder = os.path.join(os.path.dirname(self._path), QUARANTINE)
        start = tail.size - len(tail.rest)
        for record in recover(tail.rest):
            if isinstance(record.item, Problem) and record.item.kind in DAMAGE:
                name = quarantine_name(start + record.byte, record.length)
                with suppress(OSError):
                    make_private_folder(folder)
                    descriptor = open_private(os.path.join(folder, name), os.O_WRONLY | os.O_TRUNC)
                    try:
                        _write_all(descriptor, tail.rest[record.byte : record.byte + record.length])
                    finally:
                        close_file(descriptor)

    def _must_sync(self, events: list[Event], *, durable: bool | None) -> bool:
        if durable is not None:
            return durable
        if self._durability == "memories":
            return not _SYNCED.isdisjoint(map(type, events))
        return self._durability == "always"

    def _close_file(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        self._tail = None
        if descriptor >= 0:
            close_file(descriptor)


def quarantine_name(byte: int, length: int) -> str:
    """The file in ``quarantine/`` that holds ``length`` damaged bytes from offset ``byte`` of the log."""
    return f"{byte}-{length}.bytes"


def _write_all(descriptor: int, data: bytes) -> tuple[int, OSError | None]:
    """Write everything; how many bytes were written, and what stopped it.

    One write is what the system gets; only what it leaves over is written again.
    """
    written = 0
    while written < len(data):
        try:
            count = os.write(descriptor, data[written:])  # no copy the first time
        except InterruptedError:
            continue
        except OSError as error:
            return written, error
        if count == 0:
            return written, OSError("the system writes nothing and says no reason")
        written += count
    return written, None


def _whole_lines(lines: list[bytes], written: int) -> int:
    """How many lines lie within the first ``written`` bytes; a last line only lacking its line feed counts."""
    stored = 0
    for line in lines:
        written -= len(line)
        if written < -1:
            break
        stored += 1
    return stored


def _sync(descriptor: int) -> None:
    """Bring the data to the disk; where there is no ``fdatasync`` (macOS), ``fsync`` does more than is needed."""
    getattr(os, "fdatasync", os.fsync)(descriptor)
