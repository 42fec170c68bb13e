"""The memories of a state as entries of the file (SPEC 16.1)."""

from __future__ import annotations

from ledger.times import utc_day
from projections.memory.model import Entry, MemoryState
from projections.memory_file.model import UNTITLED, FileEntry
from projections.text.clean import clean, single_line, stored_content

__all__ = ["file_entries", "file_entry", "is_in_file"]

_ARCHIVED = frozenset({"deleted", "superseded"})


def file_entries(memory: MemoryState) -> tuple[FileEntry, ...]:
    """Active memories, and deleted and superseded ones as archived, by number. O(memories)."""
    shown = [entry for entry in memory.entries.values() if is_in_file(entry)]
    return tuple(file_entry(entry) for entry in sorted(shown, key=lambda entry: entry.number))


def is_in_file(entry: Entry) -> bool:
    """Whether the file shows an entry: purged ones have no text left, expired ones were nobody's wish."""
    return (entry.state == "promoted" or entry.state in _ARCHIVED) and not entry.proposal.erased


def file_entry(entry: Entry) -> FileEntry:
    """One memory as an entry of the file; days are UTC days of the events.

    What a foreign writer has left in the log is no structure of the file either.
    """
    wording = entry.proposal
    return FileEntry(
        number=entry.number,
        title=_line(wording.title) or UNTITLED,
        content=stored_content(clean(wording.content).text),
        added=utc_day(entry.created),
        updated=None if entry.updated is None else utc_day(entry.updated),
        tags=tuple(map(_line, wording.tags)),
        archived=entry.state != "promoted",
    )


def _line(text: str) -> str:
    return single_line(clean(text).text)
