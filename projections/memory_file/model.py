"""What MEMORY.md is made of: entries, other people's text around them, and what was read of a file (SPEC 16.1)."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["UNTITLED", "FileEntry", "Frame", "Parsed"]

UNTITLED = "Untitled"
"""The title of an entry that has neither title nor content (SPEC 16.3)."""


class FileEntry(Struct, frozen=True, gc=False):
    """One entry of the file. Days are UTC days, ``2026-01-01``, or None; ``number`` is that of ``MEM-<number>``."""

    number: int
    title: str
    content: str = ""
    added: str | None = None
    updated: str | None = None
    tags: tuple[str, ...] = ()
    archived: bool = False


class Frame(Struct, frozen=True, gc=False):
    """Text in the file that is not ours and is kept byte for byte (SPEC 16.4).

    Attributes:
        before: all that stands before the title line.
        intro: between the title line and the first section, but for the counter and blank lines.
        active_note: between the heading of Active and its first entry; empty if only blank lines stand there.
        archived_note: the same of Archived.
        after: all behind the end line.
    """

    before: str = ""
    intro: str = ""
    active_note: str = ""
    archived_note: str = ""
    after: str = ""


class Parsed(Struct, frozen=True, gc=False):
    """What was read of a file.

    Attributes:
        entries: in file order; two may have one number (``duplicate_id``).
        next_number: the counter, lifted above the highest number of an entry.
        reports: sorted codes of what is odd: ``untitled_entry``, ``bad_date``, ``duplicate_id``, ``conflict_marker``,
            ``not_text`` (NUL bytes, as in UTF-16).
        frame: other people's text.
        lines: the line of each entry's head, from 1.
        counter: as it stands there; 0 where there is none.
        found: whether there is anything of ours: the title line, or an entry.
    """

    entries: tuple[FileEntry, ...] = ()
    next_number: int = 1
    reports: tuple[str, ...] = ()
    frame: Frame = Frame()
    lines: tuple[int, ...] = ()
    counter: int = 0
    found: bool = False
