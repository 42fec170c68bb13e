"""MEMORY.md is written: our part in one form, other people's text around it as it was (SPEC 16.1, 16.2, 16.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from projections.headers import FILE_END, FILE_TITLE
from projections.memory.model import shown_id
from projections.memory_file.lines import ACTIVE, ARCHIVED, escape
from projections.memory_file.model import FileEntry, Frame

__all__ = ["our_part", "part_digest", "write_file"]

_BLANK = "\n"
_BOM = "\ufeff"


def write_file(entries: Iterable[FileEntry], next_number: int, frame: Frame = Frame()) -> str:  # noqa: B008 - a frozen value
    """The text of the file. Linear.

    Args:
        entries: in any order; each section is written by number.
        next_number: the number that the next new memory gets.
        frame: other people's text.
    """
    listed = sorted(entries, key=lambda entry: entry.number)
    active = [entry for entry in listed if not entry.archived]
    archived = [entry for entry in listed if entry.archived]
    intro = _closed(frame.intro)
    # Blank lines alone are ours, wherever they stand.
    note, note_below = (text if text.strip() else "" for text in (frame.active_note, frame.archived_note))
    text = (
        f"{_closed(frame.before)}{FILE_TITLE}\n<!-- nextSeq: {next_number} -->\n{intro}\n"
        f"{_section(ACTIVE, note, active)}{'' if note and not active else _BLANK}"
        f"{_section(ARCHIVED, note_below, archived)}"
    )
    return f"{text}{FILE_END}\n{frame.after}" if frame.after else text


def our_part(entries: Iterable[FileEntry], next_number: int) -> str:
    """What the log alone says, without other people's text: the whole file where nobody has written beside us."""
    return write_file(entries, next_number)


def part_digest(part: str) -> str:
    """SHA-256 (hex) of our part: what ``file.written`` names."""
    return hashlib.sha256(part.encode("utf-8", "replace")).hexdigest()


def _section(heading: str, note: str, entries: Sequence[FileEntry]) -> str:
    """A section: its heading, a note of other people or one blank line, and its entries with blank lines between."""
    body = "\n\n".join("\n".join(_lines(entry)) for entry in entries)
    between = _closed(note) or ("\n" if body else "")
    return f"{heading}\n{between}{body}\n" if body else f"{heading}\n{between}"


def _lines(entry: FileEntry) -> Iterator[str]:
    yield f"### [{shown_id(entry.number)}] {entry.title}".rstrip()
    if entry.added:
        yield f"- added: {entry.added}"
    if entry.updated:
        yield f"- updated: {entry.updated}"
    if entry.tags:
        yield f"- tags: {', '.join(entry.tags)}"
    if entry.content:
        for index, line in enumerate(entry.content.split("\n")):
            yield escape(line, first=index == 0)


def _closed(text: str) -> str:
    """A text that isn't ours, ended by a line break so that our next line begins at column one."""
    return text if not text or text == _BOM or text.endswith("\n") else f"{text}\n"
