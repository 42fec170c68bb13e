# ruff: noqa: PTH118 - pathlib costs more than the look at the file
"""MEMORY.md and the log are brought together: hand edits first, then the file, under one lock (SPEC 16.5).

The order of the steps is what keeps both sides whole; docs/explanation/changing-memory.md tells which kill it survives.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress

from msgspec import Struct

from ledger.errors import LedgerError, LedgerNotFound
from ledger.events import Draft, Event, FileWrittenData
from ledger.locks import Lock, default_lock
from ledger.log import FileLog
from ledger.source import OWN_SOURCE
from ledger.times import format_time
from memfold.clock import now_ms
from memfold.config import Config
from memfold.imports.apply import record_import
from memfold.imports.reference_b import read_reference_b
from memfold.memory_file import disk, kept
from memfold.memory_file.disk import FOLDER, MEMORY_NAME, SUMMARY_NAME, FileTrouble, Look, memory_path
from memfold.memory_file.hand_edits import drafts_of, not_told_yet
from memfold.paths import is_project
from memfold.workspace import Workspace
from projections.memory.model import MemoryState
from projections.memory_file.edits import UNREADABLE, Edits, find_edits
from projections.memory_file.entries import file_entries
from projections.memory_file.model import FileEntry, Parsed
from projections.memory_file.projection import file_text
from projections.memory_file.reading import decode_file, encode_file, read_file
from projections.memory_file.summary import summary_file
from projections.memory_file.writing import part_digest, write_file
from replay.live import Live

__all__ = ["LOCK_NAME", "REPORTS", "MemoryFileKeeper", "Synced", "keeper_of"]

LOCK_NAME = "memory_file.lock"
_TRIES = 5
"""How often a file that is being edited is looked at anew."""

REPORTS = {
    "conflict_marker": "it has merge conflict markers: nothing is taken, and it stays as it is until they are gone",
    "not_text": "it is no UTF-8 text: nothing of it is taken, and it stays as it is",
    "mass_removal": "more than half of its memories vanished at once: none was deleted (memfold forget deletes one)",
    "archived_edit": "the text of an archived memory can't be changed: restore it first",
    "duplicate_id": "an id stood there twice: the later memory got a new one",
    "refused": "a text was refused, or another memory has it, see: memfold list --state rejected",
}
"""What a person is told of a report of reading or comparing; of other reports nothing."""


class Synced(Struct, frozen=True):
    """What came of bringing file and log together.

    Attributes:
        events: the hand edits that were recorded.
        wrote: whether the file was written.
        reports: what a person should know: sentences that name the file.
    """

    events: tuple[Event, ...] = ()
    wrote: bool = False
    reports: tuple[str, ...] = ()


class MemoryFileKeeper:
    """Keeps one workspace's MEMORY.md; of several threads, one at a time works in it.

    Args:
        root: real path of the workspace.
        folder: the ledger's folder.
        project: False for places that are no project: they have no file.
        config: the settings in force.
        report: told each sentence once, as it comes.
        timeout: seconds to wait for another process.
        most: bytes by which the file may have grown to be taken in at once; None where nobody waits for an answer.
    """

    def __init__(
        self,
        root: str,
        folder: str,
        *,
        project: bool,
        config: Config,
        report: Callable[[str], None] | None = None,
        timeout: float = 2.0,
        most: int | None = None,
    ) -> None:
        self._root, self._folder, self._project = root, folder, project
        self._path = memory_path(root)
        self._most = most
        self._report = report
        self._told: set[str] = set()
        self._log = FileLog(folder, lock_timeout=timeout)
        self._lock: Lock = default_lock(os.path.join(folder, LOCK_NAME), timeout)
        self._threads = threading.Lock()
        self._workspace = Workspace(self._log, root, config.policy, host=OWN_SOURCE, live=Live(self._log))
        self._seen: disk.Signature | None = None
        self._revision = -1
        self.configure(config)

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    def configure(self, config: Config) -> None:
        """Go on under other settings."""
        self._config = config
        self._workspace.configure(config.policy, enabled=config.enabled)

    def is_kept(self) -> bool:
        """Whether there is to be a file: switched on, or there already, or written once (SPEC 19 ``memoryFile``)."""
        mode = self._config.memory_file
        if mode == "off" or not self._project or not self._config.enabled:
            return False
        return mode == "on" or os.path.lexists(self._path) or self._was_written()

    def is_edited(self) -> bool:
        """Whether the file isn't what it was when it was seen last; costs one look."""
        now = disk.signature(self._path)
        if now is None:
            return False
        if self._seen is None:
            self._seen = kept.load(self._folder).signature
        return now != self._seen

    def follow(self, revision: int) -> Synced:
        """Write the file if the memory has moved on since the last time; costs nothing otherwise."""
        if revision == self._revision and not self.is_edited():
            return Synced()
        return self.sync()

    def sync(self, *, begin: bool = False) -> Synced:
        """Record hand edits, then write what the log says.

        Args:
            begin: write the file even where none is kept yet.

        Trouble of disk and lock is reported, never raised.
        """
        if (not begin and not self.is_kept()) or not self._has_ledger():
            return Synced()  # a ledger that isn't there yet says nothing, and the lock would have no place
        with self._threads:
            try:
                with self._lock.hold():
                    return self._told_of(self._sync())
            except LedgerNotFound:
                return Synced()
            except (FileTrouble, LedgerError) as trouble:
                return self._told_of(Synced(reports=(str(trouble),)))

    def replacing(self, replace: Callable[[], None]) -> Synced:
        """Replace the log, and write the file anew: what only the old log says is no hand edit.

        Args:
            replace: puts another log in place; what it raises is passed on.

        Raises:
            LedgerError: if another process holds the file's lock all the time.
        """
        if not self.is_kept():
            replace()
            return Synced()
        with self._threads, self._lock.hold():
            self._sync()
            replace()
            try:
                look = disk.read(self._root, MEMORY_NAME)
                theirs = Parsed() if look is None else read_file(decode_file(look.data))
                wrote, _ = self._write(look, theirs)
                self._write_summary()
            except FileTrouble as trouble:
                return self._told_of(Synced(reports=(str(trouble),)))
            return Synced(wrote=wrote)

    def close(self) -> None:
        """Let go of the files."""
        self._log.close()
        self._lock.close()

    def _sync(self) -> Synced:
        events: list[Event] = []
        reports: list[str] = []
        for _ in range(_TRIES):
            look = disk.read(self._root, MEMORY_NAME)
            self._require_few(look)
            theirs = Parsed() if look is None else read_file(decode_file(look.data))
            if not UNREADABLE.isdisjoint(theirs.reports):
                return Synced(tuple(events), reports=(*reports, *self._sentences(theirs.reports)))
            taken, told = self._absorb(look, theirs)
            events += taken
            reports += told
            try:
                wrote, displaced = self._write(look, theirs)
            except FileTrouble as trouble:
                if disk.signature(self._path) == (None if look is None else look.signature):
                    return Synced(tuple(events), reports=(*reports, str(trouble)))
                continue  # somebody saved it between our look and our rename: theirs first
            if displaced is not None:
                events += self._record(
                    find_edits(theirs.entries, read_file(decode_file(displaced.data)), self._memory())
                )
                continue
            self._write_summary()
            return Synced(tuple(events), wrote, tuple(reports))
        raise FileTrouble(f"{self._path} is edited all the time; it is looked at again later")

    def _require_few(self, look: Look | None) -> None:
        """Each new text is searched for secrets, which takes a while: no hook waits for that.

        Raises:
            FileTrouble: if the file has grown by more than may be taken in at once.
        """
        if self._most is None or look is None:
            return
        seen = kept.load(self._folder).signature
        new = len(look.data) - (0 if seen is None else seen[1])
        if new > self._most:
            raise FileTrouble(f"{self._path} has {new:,} new bytes, too many for a running client: run memfold sync")

    # -- from the file into the log -------------------------------------------------------------------------------

    def _absorb(self, look: Look | None, theirs: Parsed) -> tuple[Sequence[Event], list[str]]:
        """Record what a person changed since the file was written last."""
        memory = self._memory()
        if look is None:
            return (), []
        if memory.written is None:
            if not theirs.entries:
                return (), self._sentences(theirs.reports)
            found = read_reference_b(f"{FOLDER}/{MEMORY_NAME}", look.data, self._config.policy)
            return record_import(self._workspace, found, time=_now()), self._sentences(theirs.reports)
        begun = kept.load(self._folder)
        digest = part_digest(write_file(theirs.entries, theirs.next_number))
        if digest == memory.written[1]:
            return (), []
        if digest == begun.digest:
            # Its event is missing. Now, since what is kept of it goes when the next write begins.
            self._note_written(begun.position, digest)
            return (), []
        edits = find_edits(self._base(memory.written[0], begun.position, theirs), theirs, memory)
        events = self._record(edits)
        return events, self._sentences((*edits.reports, *self._refusals(events)))

    def _base(self, written: int, begun: int, theirs: Parsed) -> Sequence[FileEntry]:
        """The entries that the person has begun from: those that were written last, which the log tells.

        A kill may have parted a file from its event: then it is that of the write that was begun, if it has the counter
        of that one, or else more of its entries.
        """
        positions = (written, begun) if begun > written else (written,)
        states = [self._workspace.state(position, only=frozenset()).memory for position in positions]
        standing = set(theirs.entries)
        bases = [(state.next_number == theirs.counter, file_entries(state)) for state in states]
        return max(bases, key=lambda one: (one[0], len(standing.intersection(one[1])) - len(one[1])))[1]

    def _record(self, edits: Edits) -> tuple[Event, ...]:
        """The edits as events, in one piece."""
        drafts = drafts_of(edits, self._workspace.capture, _now())
        if drafts:
            written = self._memory().written
            drafts = not_told_yet(drafts, self._log.read(0 if written is None else written[0] + 1))
        return self._workspace.record(drafts)

    def _refusals(self, events: Sequence[Event]) -> list[str]:
        """Whether the fold has refused one of the edits: it changed nothing then."""
        changes = self._memory().changes
        return [] if all(event.id in changes for event in events) else ["refused"]

    # -- from the log into the file -------------------------------------------------------------------------------

    def _write(self, look: Look | None, theirs: Parsed) -> tuple[bool, Look | None]:
        """Write the file unless it says already what the log says; and what was displaced, if anything was."""
        memory = self._memory()
        digest = part_digest(file_text(memory))
        data = encode_file(write_file(file_entries(memory), memory.next_number, theirs.frame))
        displaced = None
        changed = look is None or look.data != data
        if look is None or changed:
            self._begin(kept.Kept(None, memory.offset, digest))
            seen, displaced = disk.replace(self._root, MEMORY_NAME, data, look)
        else:
            seen = look.signature
        if memory.written is None or memory.written[1] != digest:
            self._note_written(memory.offset, digest)
        # As it was written or read, not as it is by now: somebody may have saved it since.
        self._seen = seen
        self._revision = memory.revision
        with suppress(OSError):  # the event tells the same
            kept.save(self._folder, kept.Kept(seen, memory.offset, digest))
        return changed, displaced

    def _begin(self, write: kept.Kept) -> None:
        """Keep what is about to be written.

        Before the rename: a kill behind it, or a full disk under the log, leaves a file that no event names, and this
        tells whose it is. Without it a memory that stands there would be taken for one that a person has added.

        Raises:
            FileTrouble: if it can't be kept; then the file must stay as it is.
        """
        try:
            kept.save(self._folder, write)
        except OSError as error:
            raise FileTrouble(f"{self._path} isn't written: {self._folder}: {error.strerror}") from error

    def _note_written(self, position: int, digest: str) -> None:
        written = FileWrittenData(position, digest)
        self._workspace.record([Draft(source=OWN_SOURCE, time=_now(), data=written)])

    def _write_summary(self) -> None:
        """The summary beside it, which nobody edits; what stands there is replaced."""
        data = encode_file(summary_file(file_entries(self._memory()), self._config.max_summary_chars))
        look = disk.read(self._root, SUMMARY_NAME)
        if look is None or look.data != data:
            disk.replace(self._root, SUMMARY_NAME, data, look)

    # -- the rest -------------------------------------------------------------------------------------------------

    def _memory(self) -> MemoryState:
        return self._workspace.world().memory

    def _has_ledger(self) -> bool:
        try:
            return self._log.has_begun()
        except LedgerError:
            return True  # what is wrong with it is told by who reads it

    def _was_written(self) -> bool:
        try:
            return self._memory().written is not None
        except LedgerError:
            return False

    def _sentences(self, codes: Sequence[str]) -> list[str]:
        return [f"{self._path}: {REPORTS[code]}" for code in codes if code in REPORTS]

    def _told_of(self, synced: Synced) -> Synced:
        """Tell each sentence once; one that no longer holds may come again."""
        for sentence in synced.reports:
            if self._report is not None and sentence not in self._told:
                self._report(sentence)
        self._told = set(synced.reports)
        return synced


@contextmanager
def keeper_of(
    root: str, folder: str, config: Config, report: Callable[[str], None] | None = None
) -> Generator[MemoryFileKeeper]:
    """A keeper for one command.

    Args:
        root: real path of the workspace.
        folder: the ledger's folder.
        config: the settings in force.
        report: told each sentence that a person should know.
    """
    keeper = MemoryFileKeeper(root, folder, project=is_project(root, os.environ), config=config, report=report)
    try:
        yield keeper
    finally:
        keeper.close()


def _now() -> str:
    return format_time(now_ms())
