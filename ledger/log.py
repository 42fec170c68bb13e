# ruff: noqa: PTH116, PTH118 - pathlib costs more at start-up than an append
"""The log: what any log offers, and the file that is one."""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Protocol, Self, Unpack

from ledger.codec import UNREADABLE, decode_known
from ledger.errors import LedgerNotFound, NewerFormat, SequenceConflict, storage_error
from ledger.events import AnyEvent, Draft, Event, LedgerCreated, LedgerCreatedData
from ledger.files import close_file, make_private_folder, open_private, open_regular, require_regular, sync_folder
from ledger.reader import START, Cursor, Health, Reader, health_of, scan
from ledger.recovery import Record
from ledger.source import OWN_SOURCE
from ledger.times import format_time
from ledger.trust import require_own, require_place

if TYPE_CHECKING:
    from ledger.blocks import BlockReader, Outlines
    from ledger.drafts import Stamped
    from ledger.writer import Options

__all__ = [
    "FORMAT",
    "LOCK_SUFFIX",
    "LOG_NAME",
    "Cursor",
    "FileLog",
    "Health",
    "Log",
    "Reader",
    "Record",
]

FORMAT = 1
"""Version of the file format that this release writes (``docs/format.md``)."""

LOG_NAME = "events.jsonl"
LOCK_SUFFIX = ".lock"
_FIRST_LINE = 1 << 16


class Log(Protocol):
    """An append-only sequence of events; ``ledger.testing`` holds the laws of every implementation."""

    def append(
        self, drafts: Sequence[Draft], *, expect: int | None = None, durable: bool | None = None
    ) -> tuple[Event, ...]:
        """Append a batch, all of it in one piece.

        Args:
            drafts: what to write. One with an id that stands in the log already is not written again.
            expect: the seq that must be next; None to write wherever the log stands.
            durable: whether it must outlive a power cut before this returns; None lets the log decide.

        Returns:
            The events as written, in order, with their seq.

        Raises:
            SequenceConflict: if another seq than ``expect`` is next; nothing was written.
            InvalidDraft: if a draft can't be read back; nothing was written.
            LedgerError: if it couldn't be stored; see the implementation.
        """
        ...

    def read(self, start: int = 0) -> Iterator[AnyEvent]:
        """Events whose seq is at least ``start``, in file order, each id once."""
        ...

    def scan(self) -> Iterator[Record]:
        """All events and problems with their places, in file order."""
        ...

    def size(self) -> int:
        """The next seq: the number of events of a healthy log."""
        ...


class _Pen:
    """What only writers need, and import: most processes read."""

    def __init__(self, path: str, options: Options) -> None:
        from ledger.drafts import given_ids, stamp
        from ledger.ids import MonotonicIds, now_ms
        from ledger.locks import default_lock
        from ledger.writer import Writer

        self.given_ids, self.stamp = given_ids, stamp
        self.clock = options.get("clock", now_ms)
        self.new_id = options.get("new_id") or MonotonicIds(self.clock)
        lock = options.get("lock") or default_lock(path + LOCK_SUFFIX, options.get("lock_timeout", 2.0))
        self.writer = Writer(path, lock, options.get("durability", "memories"))


class FileLog:
    """A log in a folder of its own: ``events.jsonl``, its lock, and ``quarantine/`` for damaged bytes.

    Any number of processes may write; each append locks. Reading needs no lock. One object may be used by several
    threads. Use ``create`` or ``open`` rather than the constructor.

    Args:
        directory: the ledger's folder.
        **options: see ``Options``.

    Attributes:
        directory: the ledger's folder.
        path: the log file.
        skipped: the bytes at which its reads met damaged pieces and passed over them; None to keep no account.
    """

    def __init__(self, directory: str | os.PathLike[str], **options: Unpack[Options]) -> None:
        self.directory = os.fspath(directory)
        self.path = os.path.join(self.directory, LOG_NAME)
        self.skipped: set[int] | None = None
        self._options = options
        self._pen: _Pen | None = None
        self._making = allocate_lock()
        self._own = options.get("own", True)
        self._format_checked = False

    @classmethod
    def create(
        cls,
        directory: str | os.PathLike[str],
        *,
        root: str,
        key: str,
        project: bool = True,
        **options: Unpack[Options],
    ) -> Self:
        """Open a ledger, making it first if it isn't there; processes that do so at once make one.

        Args:
            directory: the ledger's folder; missing parents are made too.
            root: real path of the workspace (SPEC 1.6).
            key: the workspace's key.
            project: False for places that are no project.
            **options: see ``Options``.

        Raises:
            LockTimeout: if another process held the lock all the time.
            StorageError: if the system refused.
        """
        log = cls(directory, **options)
        if not os.path.lexists(log.directory):
            require_place(log.directory)
        try:
            ledger = log._write().new_id()
            log._begin(LedgerCreatedData(format=FORMAT, ledger=ledger, root=root, key=key, project=project))
        except BaseException:
            log.close()
            raise
        return log

    @classmethod
    def open(cls, directory: str | os.PathLike[str], **options: Unpack[Options]) -> Self:
        """Open a ledger that is there, and touch nothing.

        Raises:
            LedgerNotFound: if there is no log in ``directory``.
            StorageError: if the system doesn't let us look, or what is there is no file.
        """
        log = cls(directory, **options)
        try:
            require_regular(os.stat(log.path), log.path)
        except (FileNotFoundError, NotADirectoryError):
            raise LedgerNotFound(log.path) from None
        except OSError as error:
            raise storage_error(error, log.path) from error
        log._require_own()
        return log

    def append(
        self, drafts: Sequence[Draft], *, expect: int | None = None, durable: bool | None = None
    ) -> tuple[Event, ...]:
        """Append a batch with one write under the lock; see ``Log.append``.

        A torn last line is closed off first. Memories and what decides about them are synced unless the log was
        opened with another durability. A failed append may leave the first events of its batch (``stored``), never
        harms the next one, and can be tried again with the same ids.

        Raises:
            SequenceConflict: if another seq than ``expect`` is next.
            InvalidDraft: if a draft can't be read back.
            NewerFormat: if a newer release wrote this ledger.
            LedgerNotFound: if the file is gone.
            LockTimeout: if another process held the lock all the time.
            StorageError: if the system refused to write or sync, or the log isn't this user's own.
        """
        if not self._format_checked:
            self._check_format()  # reads, and so looks whose the log is
        pen = self._pen or self._write()
        ids = pen.given_ids(drafts)

        def batch(next_seq: int) -> Stamped:
            if expect is not None and expect != next_seq:
                raise SequenceConflict(expect, next_seq)
            # Looked up under the lock: else another process could deliver the same event between look and write.
            stored = frozenset(event.id for event in Reader(self.path) if event.id in ids) if ids else ids
            return pen.stamp(drafts, next_seq, pen.new_id, stored)

        return tuple(pen.writer.append(batch, durable=durable))

    def read(self, start: int = 0) -> Iterator[AnyEvent]:
        """Events whose seq is at least ``start``; see ``Log.read`` and ``Reader``.

        Raises:
            UntrustedLedger: if the log isn't this user's own; so do ``reader`` and ``scan``.
        """
        self._require_own()
        events = iter(Reader(self.path, skipped=self.skipped))
        return (event for event in events if event.seq >= start) if start > 0 else events

    def reader(self, cursor: Cursor = START) -> Reader:
        """One pass that begins at a cursor of an earlier one: a follower pays for new events only."""
        self._require_own()
        return Reader(self.path, cursor, self.skipped)

    def by_blocks(self, kept: Outlines, cursor: Cursor = START) -> BlockReader:
        """One pass as ``reader`` gives, by outlines: with runs in the place of calls that nobody need decode."""
        from ledger.blocks import BlockReader

        self._require_own()
        return BlockReader(self.path, kept, cursor, skipped=self.skipped)

    def created(self) -> LedgerCreated | None:
        """The first event, which tells whose the ledger is; None where another one comes first, or none.

        Costs its line where that is whole.

        Raises:
            LedgerNotFound: if the log isn't there.
            StorageError: if the system can't read it, or it isn't this user's own.
        """
        self._require_own()
        with suppress(OSError, *UNREADABLE), open(self.path, "rb", opener=open_regular) as file:
            event = decode_known(file.readline(_FIRST_LINE))
            if isinstance(event, LedgerCreated) and event.seq == 0:
                return event
        first = next(self.read(), None)
        return first if isinstance(first, LedgerCreated) else None

    def scan(self) -> Iterator[Record]:
        """All events and problems with their places; see ``Log.scan`` and ``ledger.reader.scan``."""
        self._require_own()
        return scan(self.path)

    def size(self) -> int:
        """The next seq, from the end of the file; costs the same at any length."""
        return self._write().writer.peek().next_seq

    def hold(self) -> AbstractContextManager[None]:
        """Keep all other writers out for a ``with`` block in which nothing is appended; see ``ledger.pin``.

        Raises:
            LockTimeout: if another process held the lock all the time.
            StorageError: if the sidecar can't be made or opened.
        """
        return self._write().writer.hold()

    def has_begun(self) -> bool:
        """Whether the first event is there.

        A file alone doesn't say so: another process may have made it a moment ago, or have been killed before it wrote.
        What is appended then stands before the event that tells whose ledger this is, so ``create`` comes first.

        Raises:
            StorageError: if the system can't read it.
        """
        try:
            return self.size() > 0
        except LedgerNotFound:
            return False

    def health(self) -> Health:
        """Read the whole log and count what is damaged, duplicate or unknown (SPEC 21)."""
        return health_of(self.scan())

    def close(self) -> None:
        """Let go of the descriptors; the log can be used again all the same."""
        if self._pen is not None:
            self._pen.writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self) -> _Pen:
        """What it takes to write, made when it is first asked for."""
        with self._making:
            if self._pen is None:
                self._pen = _Pen(self.path, self._options)
            return self._pen

    def _require_own(self) -> None:
        if self._own:
            require_own(self.directory, self.path)

    def _begin(self, data: LedgerCreatedData) -> None:
        """Make the file and write the first event, as far as that isn't done."""
        try:
            make_private_folder(self.directory)
            self._require_own()
            close_file(open_private(self.path, os.O_RDWR))
            if self.size() > 0:
                return
            sync_folder(self.directory)
        except OSError as error:
            raise storage_error(error, error.filename or self.directory) from error
        # Under the lock seq 0 is free for one creator only; the other one finds the event there.
        with suppress(SequenceConflict):
            self.append(
                [Draft(source=OWN_SOURCE, time=format_time(self._write().clock()), data=data)], expect=0, durable=True
            )

    def _check_format(self) -> None:
        """An older release must not write to a newer ledger: it wouldn't know what its lines promise."""
        first = next(self.read(), None)
        if isinstance(first, LedgerCreated) and first.data.format > FORMAT:
            raise NewerFormat(self.path, first.data.format, FORMAT)
        self._format_checked = first is not None
