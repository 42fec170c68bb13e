"""A person who edits MEMORY.md in a text editor: whole lines of the file, one edit and one save at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from projections.headers import FILE_END
from projections.memory.model import shown_id
from projections.memory_file.lines import ACTIVE, ARCHIVED
from projections.memory_file.model import FileEntry, Parsed
from projections.memory_file.reading import decode_file, encode_file, read_file

__all__ = ["Page"]

_METADATA = ("- added:", "- updated:", "- tags:", "- archived:")
_SECTIONS = (ACTIVE, ARCHIVED)


class Page:
    """The file as an editor shows it.

    Args:
        path: the file, which is there.

    Attributes:
        lines: its lines, without their ends; a byte order mark is the first character of the first one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        text = decode_file(path.read_bytes())
        self._end = "\r\n" if "\r\n" in text else "\n"
        self.lines = text.replace("\r\n", "\n").split("\n")

    @property
    def parsed(self) -> Parsed:
        """What the file says now."""
        return read_file("\n".join(self.lines))

    def add(self, number: int, title: str, content: str, *, archived: bool = False) -> None:
        """Type a new entry at the end of a section."""
        self._insert([f"### [{shown_id(number)}] {title}", *content.split("\n"), ""], archived=archived)

    def retitle(self, index: int, title: str) -> None:
        """Type another title over that of an entry."""
        start, _ = self._span(index)
        self.lines[start] = f"### [{shown_id(self.parsed.entries[index].number)}] {title}"

    def rewrite(self, index: int, content: str) -> None:
        """Type another content over that of an entry."""
        start, stop = self._span(index)
        self.lines[self._content(start, stop) : stop] = [*content.split("\n"), ""]

    def tag(self, index: int, tags: Sequence[str]) -> None:
        """Type other tags, or remove their line."""
        start, stop = self._span(index)
        head = [line for line in self.lines[start : self._content(start, stop)] if not line.startswith("- tags:")]
        self.lines[start : self._content(start, stop)] = [*head, *([f"- tags: {', '.join(tags)}"] if tags else [])]

    def remove(self, index: int) -> None:
        """Remove an entry."""
        start, stop = self._span(index)
        del self.lines[start:stop]

    def move(self, index: int, *, archived: bool) -> None:
        """Move an entry to the end of a section, perhaps of its own."""
        start, stop = self._span(index)
        moved = self.lines[start:stop]
        del self.lines[start:stop]
        self._insert(moved if moved[-1:] == [""] else [*moved, ""], archived=archived)

    def note(self, text: str, *, above: bool) -> None:
        """Write something of one's own, above our title or below the end line."""
        if above:
            mark, first = ("\ufeff", self.lines[0][1:]) if self.lines[0].startswith("\ufeff") else ("", self.lines[0])
            self.lines[:1] = [mark + text, first]
        elif FILE_END in self.lines:
            self.lines.insert(self.lines.index(FILE_END) + 1, text)
        else:
            self.lines += [FILE_END, text, ""]

    def encode(self, *, crlf: bool, bom: bool) -> None:
        """Let the editor use other line ends, or a byte order mark."""
        self._end = "\r\n" if crlf else "\n"
        self.lines[0] = ("\ufeff" if bom else "") + self.lines[0].removeprefix("\ufeff")

    def save(self, *, by_rename: bool) -> None:
        """Save the file, in place or as most editors do: beside it, then in its place."""
        data = encode_file(self._end.join(self.lines))
        if by_rename:
            beside = self._path.with_name(".MEMORY.md.swp")
            beside.write_bytes(data)
            beside.replace(self._path)
            return
        with self._path.open("r+b") as file:
            file.write(data)
            file.truncate()
            os.utime(file.fileno())

    def entry(self, index: int) -> FileEntry:
        """An entry as it stands in the file."""
        return self.parsed.entries[index]

    def _span(self, index: int) -> tuple[int, int]:
        """The lines of an entry, the blank ones behind it included."""
        parsed = self.parsed
        start = parsed.lines[index] - 1
        following = [line - 1 for line in parsed.lines[index + 1 : index + 2]]
        stops = [at for at in range(start + 1, len(self.lines)) if self.lines[at] in (*_SECTIONS, FILE_END)]
        return start, min([*following, *stops[:1], len(self.lines)])

    def _content(self, start: int, stop: int) -> int:
        """The first line of an entry's content."""
        at = start + 1
        while at < stop and self.lines[at].startswith(_METADATA):
            at += 1
        return at

    def _insert(self, block: list[str], *, archived: bool) -> None:
        """Put lines at the end of a section, whose heading is there."""
        begin = self.lines.index(ARCHIVED if archived else ACTIVE) + 1
        ends = [at for at in range(begin, len(self.lines)) if self.lines[at] in (*_SECTIONS, FILE_END)]
        at = min([*ends[:1], len(self.lines)])
        while at > begin and not self.lines[at - 1].strip():
            at -= 1
        self.lines[at:at] = ["", *block]
