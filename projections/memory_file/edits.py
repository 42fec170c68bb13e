"""What a person has changed in the file: told from what was last written, not from what the log says now."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from projections.memory.model import Entry, MemoryState, Ref
from projections.memory_file.entries import file_entry
from projections.memory_file.model import FileEntry, Parsed
from projections.text.canonical import text_key
from projections.text.entry import entry_text

__all__ = ["Edits", "Update", "find_edits"]

_MASS = 5
"""From so many active entries on, the loss of more than half at once is taken for an accident."""


class Update(Struct, frozen=True):
    """New fields of a memory; None means that the person left the field alone."""

    target: Ref
    title: str | None = None
    content: str | None = None
    tags: tuple[str, ...] | None = None


class Edits(Struct, frozen=True):
    """What is to be recorded (SPEC 16.5), in the order of the fields; what the memory says already is left out.

    Attributes:
        deleted: memories that vanished from the file or moved to Archived.
        restored: memories that moved to Active, or were edited after somebody else had deleted them.
        updated: memories whose title, content or tags were changed.
        added: new entries; the number is one that is free, or 0. One under Archived is to be deleted at once.
        reports: ``conflict_marker``, ``mass_removal``, ``archived_edit`` (a text under Archived can't be changed), and
            those of reading.
    """

    deleted: tuple[Ref, ...] = ()
    restored: tuple[Ref, ...] = ()
    updated: tuple[Update, ...] = ()
    added: tuple[FileEntry, ...] = ()
    reports: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to record."""
        return not (self.deleted or self.restored or self.updated or self.added)


def find_edits(base: Sequence[FileEntry], theirs: Parsed, memory: MemoryState) -> Edits:
    """What a person changed between two versions of the file.

    Args:
        base: the entries that were last written.
        theirs: what stands in the file.
        memory: what the log says now. An edit that it shows already, as after a kill, is left out.

    O(entries of the three).
    """
    if "conflict_marker" in theirs.reports:
        return Edits(reports=theirs.reports)
    before = {entry.number: entry for entry in base}
    found: dict[int, FileEntry] = {}
    new: list[FileEntry] = []
    for entry in theirs.entries:
        if entry.number in before and entry.number not in found:
            found[entry.number] = entry
        else:
            new.append(entry)
    reports = set(theirs.reports)
    vanished = [number for number, entry in before.items() if not entry.archived and number not in found]
    active = sum(not entry.archived for entry in base)
    if active >= _MASS and 2 * len(vanished) > active:
        reports.add("mass_removal")
        vanished = []
    changes = _Changes(memory)
    for number in vanished:
        changes.delete(number)
    for number, entry in found.items():
        changes.compare(before[number], entry)
    for entry in new:
        changes.add(entry)
    return changes.edits(reports)


class _Changes:
    """Collects edits that the memory doesn't show yet."""

    def __init__(self, memory: MemoryState) -> None:
        self._memory = memory
        self._deleted: list[Ref] = []
        self._restored: list[Ref] = []
        self._updated: list[Update] = []
        self._added: list[FileEntry] = []
        self._reports: set[str] = set()

    def edits(self, reports: set[str]) -> Edits:
        """All that was collected."""
        return Edits(
            tuple(self._deleted),
            tuple(self._restored),
            tuple(self._updated),
            tuple(self._added),
            tuple(sorted(reports | self._reports)),
        )

    def delete(self, number: int) -> None:
        """An active entry vanished or moved to Archived."""
        entry = self._entry(number)
        if entry is not None and entry.state == "promoted":
            self._deleted.append(entry.ref)

    def compare(self, before: FileEntry, after: FileEntry) -> None:
        """An entry that was there stands there still, perhaps elsewhere and with other fields."""
        entry = self._entry(before.number)
        if entry is None:
            return
        now = file_entry(entry)
        update = Update(
            entry.ref,
            title=after.title if after.title not in (before.title, now.title) else None,
            content=after.content if after.content not in (before.content, now.content) else None,
            tags=after.tags if after.tags not in (before.tags, now.tags) else None,
        )
        is_changed = update != Update(entry.ref)
        if after.archived:
            if not before.archived:
                self.delete(before.number)
            if is_changed:
                self._reports.add("archived_edit")
            return
        if entry.state != "promoted" and (before.archived or is_changed):
            self._restored.append(entry.ref)
        if is_changed:
            self._updated.append(update)

    def add(self, entry: FileEntry) -> None:
        """An entry that wasn't in the file: its number is kept if nobody has it."""
        known = self._entry(entry.number)
        if known is not None and known.proposal.erased:
            return  # an editor's copy from before a purge
        if self._says(entry):
            return
        taken = known is not None or any(entry.number == one.number for one in self._added)
        number = 0 if taken else entry.number
        self._added.append(FileEntry(number, entry.title, entry.content, tags=entry.tags, archived=entry.archived))

    def _says(self, entry: FileEntry) -> bool:
        """Whether the memory has an entry of that text, in the section where the person put it."""
        context = self._memory.context
        if not entry.archived:
            text = entry_text(entry.title, entry.content, context.policy)
            return text_key(text, context.root) in self._memory.texts
        known = self._entry(entry.number)
        now = None if known is None else file_entry(known)
        return now is not None and now.archived and (now.title, now.content) == (entry.title, entry.content)

    def _entry(self, number: int) -> Entry | None:
        ref = self._memory.numbers.get(number)
        return None if ref is None else self._memory.entries[ref]
