"""The state of a log that others write too, kept current by reading its tail (SPEC 1.2)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from ledger.errors import LedgerNotFound, storage_error
from ledger.events import AnyEvent
from ledger.files import open_regular
from ledger.log import FileLog
from ledger.reader import START
from projections.memory.model import MemoryState
from projections.world import World, WorldState
from replay.kept import KeptFacts

__all__ = ["Live"]


_LOOK_BACK = 4096
"""Bytes before the cursor that are compared: the last line that was read, or the end of a long one."""


class _File(Struct, frozen=True):
    """Which file a path leads to, its size in bytes, and the last bytes before the cursor."""

    device: int = 0
    inode: int = 0
    size: int = 0
    before: bytes = b""


class Live:
    """What a log means now, for a process that asks again and again.

    The states it returns are its own and change with the next question: read them and let go. Not for several threads.

    Args:
        log: the log; any number of processes may append to it meanwhile. It need not be there yet.
    """

    def __init__(self, log: FileLog) -> None:
        self._log = log
        self._sources: set[str] = set()
        self._seen: set[str] = set()
        self._state = World(self._sources).initial()
        self._file_read = _File()
        self._cursor = START
        self._facts_end = 0

    def world(self, source: str | None = None) -> WorldState:
        """The state at the end of the log, with the blocks, deliveries and hot state of a session.

        Args:
            source: the session's source; those of earlier questions stay. None where no session matters.

        Costs as much as the events that are new since the last question. A session that had events before it was first
        asked for costs one fold of the whole log.

        Raises:
            LedgerNotFound: if the log isn't there.
            StorageError: if the system can't read it.
        """
        if source is not None and source not in self._sources:
            self._sources.add(source)
            if source in self._seen or source in self._state.memory.subagents:
                self._start_anew()  # what it did was passed over
        file = self._file()
        if not self._is_known(file):
            self._start_anew()
        if file != self._file_read:
            self._read_on()
            after = self._file()
            self._file_read = replace(file, before=after.before)
            if not self._is_known(after):  # replaced between the look and the reading
                self._start_anew()
                return self.world()
        return self._state

    def memory(self) -> MemoryState:
        """Workspace memory at the end of the log; as ``world``."""
        return self.world().memory

    def _start_anew(self) -> None:
        self._seen = set()
        self._state = World(self._sources).initial()
        self._file_read = _File()
        self._cursor = START
        self._facts_end = 0

    def _read_on(self) -> None:
        """Take in the events behind the cursor; if anything goes wrong in the middle, nothing that was read counts."""
        known = KeptFacts(self._log.directory, self._facts_end)
        reader = self._log.reader(self._cursor)
        try:
            World(self._sources, known).run(self._state, self._noted(reader))
        except BaseException:
            self._start_anew()
            raise
        self._cursor, self._facts_end = reader.cursor, known.end

    def _is_known(self, file: _File) -> bool:
        """Whether it is the file that was read, reaches as far as it did, and wasn't written over (DESIGN 6)."""
        read = self._file_read
        same = (file.device, file.inode, file.before) == (read.device, read.inode, read.before)
        return same and file.size >= self._cursor.byte

    def _noted(self, events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
        """The events; their sources are seen from now on."""
        source = ""
        for event in events:
            if event.source != source:
                source = event.source
                self._seen.add(source)
            yield event

    def _file(self) -> _File:
        path, end = self._log.path, self._cursor.byte
        try:
            with open(path, "rb", buffering=0, opener=open_regular) as file:
                status = os.fstat(file.fileno())
                file.seek(max(0, end - _LOOK_BACK))
                before = file.read(min(end, _LOOK_BACK))
        except (FileNotFoundError, NotADirectoryError):
            self._start_anew()
            raise LedgerNotFound(path) from None
        except OSError as error:
            raise storage_error(error, path) from error
        return _File(status.st_dev, status.st_ino, status.st_size, before)
