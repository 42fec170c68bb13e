"""What a person has changed in the file: told from what was last written, not from what the log says now."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from projections.memory.model import HIGHEST_NUMBER, Entry, MemoryState, Ref
from projections.memory_file.entries import file_entry
from projections.memory_file.model import UNTITLED, FileEntry, Parsed
from projections.text.canonical import text_key
from projections.text.entry import entry_text
from projections.text.fields import take_in_content, take_in_tags, take_in_title

__all__ = ["UNREADABLE", "Edits", "Update", "find_edits"]

_GONE = frozenset({"deleted", "superseded"})
UNREADABLE = frozenset({"conflict_marker", "not_text"})
"""Reports of reading for which nothing may be taken from a file, and it stays as it is."""
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
        updated: memories whose title, content or tags were changed, each behind the one whose text it takes.
        archived: memories that were changed and moved to Archived.
        added: new entries; the number is one that is free, or 0. One under Archived is to be deleted at once.
        reports: ``conflict_marker``, ``not_text`` (nothing is taken), ``mass_removal``, ``archived_edit`` (a text under
            Archived can't be changed), and those of reading.
    """

    deleted: tuple[Ref, ...] = ()
    restored: tuple[Ref, ...] = ()
    updated: tuple[Update, ...] = ()
    archived: tuple[Ref, ...] = ()
    added: tuple[FileEntry, ...] = ()
    reports: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to record."""
        return not (self.deleted or self.restored or self.updated or self.archived or self.added)


def find_edits(base: Sequence[FileEntry], theirs: Parsed, memory: MemoryState) -> Edits:
    """What a person changed between two versions of the file.

    Args:
        base: the entries that were last written.
        theirs: what stands in the file.
        memory: what the log says now. An edit that it shows already, as after a kill, is left out.

    O(entries of the three), but for what was edited.
    """
    if not UNREADABLE.isdisjoint(theirs.reports):
        return Edits(reports=theirs.reports)
    if theirs.counter:
        # An older version that was saved or checked out again: it never held what came after its counter.
        base = [entry for entry in base if entry.number < theirs.counter]
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
    # A file that holds nothing of ours was emptied, or is seen while an editor is still writing it.
    if vanished and (not theirs.found or (active >= _MASS and 2 * len(vanished) > active)):
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
        self._updated: dict[Ref, Update] = {}
        self._archived: list[Ref] = []
        self._added: list[FileEntry] = []
        self._reports: set[str] = set()

    def edits(self, reports: set[str]) -> Edits:
        """All that was collected."""
        return Edits(
            tuple(self._deleted),
            tuple(self._restored),
            tuple(self._in_order()),
            tuple(self._archived),
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
        if entry is None or (before.archived == after.archived and _fields(before) == _fields(after)):
            return
        after, now = self._taken(after), file_entry(entry)
        update = Update(
            entry.ref,
            title=after.title if after.title not in (before.title, now.title) else None,
            content=after.content if after.content not in (before.content, now.content) else None,
            tags=after.tags if after.tags not in (before.tags, now.tags) else None,
        )
        is_changed, is_active = update != Update(entry.ref), entry.state == "promoted"
        if after.archived and not is_active:
            if is_changed:
                self._reports.add("archived_edit")
            return
        if is_changed:
            self._updated[entry.ref] = update
        if after.archived and not before.archived:
            (self._archived if is_changed else self._deleted).append(entry.ref)
        elif not is_active and (before.archived or is_changed):
            self._restored.append(entry.ref)

    def add(self, entry: FileEntry) -> None:
        """An entry that wasn't in the file: its number is kept if nobody has it."""
        known = self._entry(entry.number)
        if known is not None and known.proposal.erased:
            return  # an editor's copy from before a purge
        entry = self._taken(entry)
        if self._says(entry):
            return
        taken = known is not None or any(entry.number == one.number for one in self._added)
        number = 0 if taken or entry.number > HIGHEST_NUMBER else entry.number
        self._added.append(FileEntry(number, entry.title, entry.content, tags=entry.tags, archived=entry.archived))

    def _taken(self, entry: FileEntry) -> FileEntry:
        """The entry as it would be stored: what is compared must be what is kept."""
        policy = self._memory.context.policy
        title = take_in_title(entry.title, policy) or UNTITLED
        return replace(
            entry,
            title=title,
            content=take_in_content(entry.content, policy, above=title),
            tags=take_in_tags(entry.tags, policy),
        )

    def _says(self, entry: FileEntry) -> bool:
        """Whether the memory has an entry of that text, in the section where the person put it, and keeps it."""
        going = {*self._deleted, *self._archived, *self._updated}
        if any(ref not in going for ref in self._memory.texts.get(self._key(entry.title, entry.content), ())):
            return True
        return entry.archived and any(
            _fields(file_entry(one)) == _fields(entry) for one in self._memory.entries.values() if one.state in _GONE
        )

    def _in_order(self) -> list[Update]:
        """The updates, each behind the one of the memory whose text it takes: a text that is active is refused."""
        ordered: list[Update] = []
        begun: set[Ref] = set()
        for ref in self._updated:
            chain: list[Ref] = []
            here: Ref | None = ref
            while here is not None and here not in begun:
                begun.add(here)
                chain.append(here)
                here = self._holder(self._updated[here])
            ordered += (self._updated[one] for one in reversed(chain))
        return ordered

    def _holder(self, update: Update) -> Ref | None:
        """The memory that has the text of an update now, and is itself updated."""
        now = file_entry(self._memory.entries[update.target])
        key = self._key(
            now.title if update.title is None else update.title,
            now.content if update.content is None else update.content,
        )
        holders = (ref for ref in self._memory.texts.get(key, ()) if ref in self._updated and ref != update.target)
        return next(holders, None)

    def _key(self, title: str, content: str) -> str:
        context = self._memory.context
        return text_key(entry_text(title, content, context.policy), context.root)

    def _entry(self, number: int) -> Entry | None:
        ref = self._memory.numbers.get(number)
        return None if ref is None else self._memory.entries[ref]


def _fields(entry: FileEntry) -> tuple[str, str, tuple[str, ...]]:
    return entry.title, entry.content, entry.tags
