"""The state of a log that others write too, kept current by reading its tail (SPEC 1.2)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from ledger.blocks import BlockReader
from ledger.errors import LedgerError, LedgerNotFound, storage_error
from ledger.events import AnyEvent
from ledger.files import open_regular
from ledger.log import FileLog
from ledger.pin import Pin
from ledger.reader import START, Reader
from ledger.runs import Run
from projections.memory.model import MemoryState
from projections.world import World, WorldState
from replay.archive import Archive, Damaged
from replay.calls import KeptCalls, keep_calls
from replay.checkpoints import find, is_covered, read_whole, save
from replay.kept import KeptFacts
from replay.outlines import by_blocks, keep_outlines
from replay.stored import Held, only_of, take_in, track

__all__ = ["CHECKPOINT_EVERY", "Live"]

CHECKPOINT_EVERY = 1000
"""Events behind the last checkpoint from which on the next is due: a start folds about as many."""
_BLOCKS = 8
"""Blocks whose calls are read at most behind a checkpoint; it is due about every second one."""
_REMEMBERED = 20
"""Sessions whose blocks and hot state a checkpoint holds: those that were asked for last."""
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

    Attributes:
        sources: the sessions whose blocks, deliveries and hot state are in the state: those that were asked for, and
            those that the checkpoint had from which the state was begun.
    """

    def __init__(self, log: FileLog) -> None:
        self._log = log
        self.sources: set[str] = set()
        self._asked: dict[str, None] = {}
        self._file_read = _File()
        self._archive: Archive | None = None
        self._events = self._last = self._next_try = 0
        self._start_anew()

    def world(self, source: str | None = None) -> WorldState:
        """The state at the end of the log, with the blocks, deliveries and hot state of a session.

        Args:
            source: the session's source; those of earlier questions stay. None where no session matters.

        Costs as much as the events that are new since the last question; the first question, those since a checkpoint.
        A session that had events before it was first asked for costs one fold of the whole log, if no checkpoint
        remembers it.

        Raises:
            LedgerNotFound: if the log isn't there.
            StorageError: if the system can't read it.
        """
        if source is not None:
            self._asked.pop(source, None)
            self._asked[source] = None
            if source not in self.sources:
                self.sources.add(source)
                if source in self._held.seen or source in self._held.world.memory.subagents:
                    self._start_anew()  # what it did was passed over
        file = self._file()
        if not self._is_known(file):
            self._begin()
        if file != self._file_read:
            self._read_on()
            after = self._file()
            self._file_read = replace(file, before=after.before)
            if not self._is_known(after):  # replaced between the look and the reading
                self._start_anew()
                return self.world()
        return self._held.world

    def memory(self) -> MemoryState:
        """Workspace memory at the end of the log; as ``world``."""
        return self.world().memory

    def keep(self, most: int | None = None, *, every: int = CHECKPOINT_EVERY) -> None:
        """Write a checkpoint if one is due, best effort: for the next process that starts.

        It costs about what has changed since the last one, and now and then the whole of workspace memory.

        Args:
            most: keys of tables that may be written, where somebody may be waiting; None for as many as there are.
            every: how many events must have come since the last one.
        """
        if self._events - self._last < every or (most is not None and self._events < self._next_try):
            return
        with Pin(self._log) as pin:
            # What the pin holds is the log that was read, if that stands there now: it was there before the look.
            archive = self._save(pin, most) if self._still() else None
        if archive is None:
            self._next_try = self._events + every  # a disk that is full is so for a while
            return
        self._last = self._events
        if archive is not self._archive:
            self._archive = archive
            track(self._held, archive)
        if most is None:  # nobody waits: without the files, all blocks are decoded for them
            with suppress(LedgerError, OSError):
                keep_outlines(self._log.directory, self._log.path)
                keep_calls(self._log, self._held.world.memory.context, _BLOCKS)

    def _save(self, pin: Pin, most: int | None) -> Archive | None:
        return save(
            self._log,
            only_of(self._held, tuple(self._asked)[-_REMEMBERED:]),
            cursor=self._cursor,
            events=self._events,
            facts=self._facts_end,
            archive=self._archive,
            pin=pin,
            most=most,
        )

    def _start_anew(self) -> None:
        self._held = Held(World(self.sources).initial(), (), {}, {}, {})
        self._file_read = _File()
        self._cursor = START
        self._facts_end = 0
        self._events = self._last = self._next_try = 0
        self._archive = None

    def _begin(self) -> None:
        """Start anew, from the latest checkpoint that has what is asked for, if there is one."""
        self._start_anew()
        for one in find(self._log):
            try:
                held = read_whole(one)
            except Damaged:
                continue
            if is_covered(self.sources, held.asked, held.seen, held.world.memory.subagents):
                self.sources.update(held.asked)
                self._asked = dict.fromkeys((*held.asked, *self._asked))
                self._held, self._archive = held, one.archive
                self._cursor, self._facts_end = one.cursor, one.facts
                self._events = self._last = one.events
                return

    def _read_on(self) -> None:
        """Take in the events behind the cursor; if anything goes wrong in the middle, nothing that was read counts."""
        known = KeptFacts(self._log.directory, self._facts_end)
        reader: Reader | BlockReader
        if self._cursor == START:
            reader, calls = by_blocks(self._log), KeptCalls(self._log.directory)
        else:
            reader, calls = self._log.reader(self._cursor), None
        try:
            take_in(self._held, World(self.sources, known, calls), self._counted(reader))
        except BaseException:
            self._start_anew()
            raise
        self._cursor, self._facts_end = reader.cursor, known.end

    def _still(self) -> bool:
        """Whether the log is the one that was read."""
        try:
            return self._is_known(self._file())
        except LedgerError:
            return False

    def _is_known(self, file: _File) -> bool:
        """Whether it is the file that was read, reaches as far as it did, and wasn't written over (DESIGN 6)."""
        read = self._file_read
        same = (file.device, file.inode, file.before) == (read.device, read.inode, read.before)
        return same and file.size >= self._cursor.byte

    def _counted(self, events: Iterable[AnyEvent | Run]) -> Iterator[AnyEvent | Run]:
        for event in events:
            self._events += event.stretch.count if type(event) is Run else 1
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
