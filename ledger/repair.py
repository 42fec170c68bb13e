# ruff: noqa: PTH118 - os.path strings, as in the rest of the package
"""Damaged bytes are set aside from a log, and every event stands on a line of its own again (SPEC 21).

What is taken out was no event before, for reading skipped it. So no state changes, and no leaf of the hash tree. The
bytes go to ``quarantine/`` first, and the event that records the repair comes with the new file, by one rename.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from msgspec import Struct

from ledger.errors import LedgerError, storage_error
from ledger.events import Draft, Event, LedgerRepairedData
from ledger.files import make_private_folder, open_private, sync_folder
from ledger.leaves import Leaves
from ledger.log import LOG_NAME
from ledger.problems import DAMAGE, Problem
from ledger.reader import reading
from ledger.recovery import Record, recover
from ledger.rewrite import rewrite
from ledger.source import OWN_SOURCE
from ledger.steps import open_steps
from ledger.writer import QUARANTINE, quarantine_name

__all__ = ["find_damage", "repair"]


def find_damage(directory: str) -> list[Problem]:
    """What a repair would set aside, and which lines it would split; nothing is written. One pass over the log.

    Returns:
        Problems in file order: each of a kind of ``DAMAGE`` is a piece that goes, ``fused_line`` one that is split.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    problems = (problem for line in _lines(os.path.join(directory, LOG_NAME)) for problem in line.problems)
    return sorted(problems, key=lambda one: one.byte)


def repair(directory: str, *, time: str | None, new_id: Callable[[], str]) -> tuple[Event, ...]:
    """Set damaged bytes aside, and note that the breaks in the numbers are known; healthy lines stay, byte for byte.

    Args:
        directory: the ledger's folder.
        time: when, for the event that records it.
        new_id: source of its id.

    Returns:
        That event; nothing where there was nothing to repair.

    Raises:
        LedgerNotFound: if there is no log.
        NewerFormat: if a newer release wrote it.
        LockTimeout: if another process held the lock all the time.
        StorageError: if the system refused; the log is as it was then.
    """
    return rewrite(os.path.join(directory, LOG_NAME), _Repair(directory, time), new_id=new_id)


class _Repair:
    """A repair while it runs (``ledger.rewrite.Change``)."""

    def __init__(self, directory: str, time: str | None) -> None:
        self._path = os.path.join(directory, LOG_NAME)
        self._quarantine = os.path.join(directory, QUARANTINE)
        self._time = time
        self._pieces = 0
        self._changed = False

    def begin(self) -> None:
        """Nothing to look at before."""

    def content(self, path: str) -> Iterator[bytes]:
        """The events of a damaged line, each with a line end; any other line as it is."""
        for line in _lines(path):
            if not line.problems:
                yield line.data
                continue
            self._changed = True
            for record in line.records:
                data = line.piece(record)
                if not isinstance(record.item, Problem):
                    yield data + b"\n"
                elif record.item.kind in DAMAGE:
                    # On the disk before the log that lacks them is: a power cut must not take both.
                    self._set_aside(record, data)
                    self._pieces += 1
        if self._pieces:
            sync_folder(self._quarantine)

    def drafts(self, path: str) -> Sequence[Draft]:
        """The record of the repair, which also says that the numbers that are missing by now are known to be."""
        steps = len(open_steps(path))
        data = LedgerRepairedData(self._pieces, QUARANTINE if self._pieces else "", steps)
        return [Draft(source=OWN_SOURCE, time=self._time, data=data)] if self._changed or steps else []

    def approve(self, path: str) -> None:
        """Refuse a file that doesn't hold every event of the old one, byte for byte and in order."""
        old, new = Leaves(self._path), Leaves(path)
        for before, after in zip_longest(old, new):
            if before is None:
                return  # the record of the repair
            if after is None or before.data != after.data:
                raise LedgerError(f"the repair would change an event in line {before.line}, so nothing was done")

    def _set_aside(self, record: Record, data: bytes) -> None:
        make_private_folder(self._quarantine)
        path = os.path.join(self._quarantine, quarantine_name(record.byte, record.length))
        try:
            descriptor = open_private(path, os.O_WRONLY | os.O_TRUNC)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(descriptor, view) :]
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise storage_error(error, path) from error


class _Line(Struct, frozen=True):
    """A line as it stands, and what a repair would change of it."""

    begin: int
    data: bytes
    records: tuple[Record, ...]
    problems: tuple[Problem, ...]

    def piece(self, record: Record) -> bytes:
        start = record.byte - self.begin
        return self.data[start : start + record.length]


def _lines(path: str) -> Iterator[_Line]:
    byte = 0
    with reading(path) as file:
        for number, data in enumerate(file, 1):
            records = tuple(recover(data, line=number, byte=byte))
            yield _Line(byte, data, records, tuple(one.item for one in records if isinstance(one.item, Problem)))
            byte += len(data)
