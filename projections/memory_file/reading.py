"""MEMORY.md is read, whatever a person or another program made of it; nothing raises (SPEC 16.3, 16.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ledger.times import parse_time
from projections.headers import FILE_END, FILE_TITLE
from projections.memory_file.lines import (
    ACTIVE,
    ARCHIVED,
    COUNTER,
    Head,
    head_of,
    is_conflict,
    metadata_of,
    unescape,
)
from projections.memory_file.model import UNTITLED, FileEntry, Frame, Parsed
from projections.text.clean import decode, single_line, stored_content
from projections.text.cut import cut
from projections.text.limits import TITLE_LIMIT

__all__ = ["decode_file", "encode_file", "read_file"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_NO_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Half characters that stand for no byte of a file."""
_BOM = "\ufeff"
_DAY = len("2026-01-01")


def decode_file(data: bytes) -> str:
    """The text of a file, from which ``encode_file`` makes the same bytes again."""
    return data.decode("utf-8", "surrogateescape")


def encode_file(text: str) -> bytes:
    """The bytes of a text that ``decode_file`` or ``write_file`` gave. Never raises."""
    return _NO_BYTES.sub("\ufffd", text).encode("utf-8", "surrogateescape")


def read_file(text: str) -> Parsed:
    """Read a file.

    Args:
        text: of ``decode_file``, or any other.

    Returns:
        Its entries in file order, the next number, what was odd, and other people's text. Linear; never raises.
    """
    bom, body = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    lines = _LINE.findall(body)
    bare = [decode(line.rstrip("\r\n")) for line in lines]
    begin = _our_begin(bare)
    if begin == len(lines):
        return Parsed(
            next_number=max(1, _counter(bare, len(lines))),
            reports=tuple(sorted(_oddities(bare))),
            frame=Frame(before=text),
        )
    has_title = bare[begin].rstrip() == FILE_TITLE
    reader = _Reader(lines, bare)
    reader.read(begin + has_title)
    first = reader.heads[0] if reader.heads else reader.end
    before = lines[:begin] if has_title else [line for line in lines[:begin] if not _is_counter(line)]
    numbers = [entry.number for entry in reader.entries]
    reports = {*reader.reports, *_oddities(bare)}
    if len(set(numbers)) < len(numbers):
        reports.add("duplicate_id")
    counter = _counter(bare[begin if has_title else 0 :], first - (begin if has_title else 0))
    return Parsed(
        entries=tuple(reader.entries),
        next_number=max(1, counter, *(number + 1 for number in numbers)),
        reports=tuple(sorted(reports)),
        frame=Frame(
            before=bom + "".join(before),
            intro=reader.note(None),
            active_note=reader.note(ACTIVE),
            archived_note=reader.note(ARCHIVED),
            after="".join(lines[reader.end + 1 :]),
        ),
        lines=tuple(line + 1 for line in reader.heads),
        counter=counter,
        found=True,
    )


def _our_begin(bare: Sequence[str]) -> int:
    """Index of the title line; without one, of the first section or head if there is a head; else the end."""
    section: int | None = None
    head: int | None = None
    for index, line in enumerate(bare):
        shown = line.rstrip()
        if shown == FILE_TITLE:
            return index
        if section is None and shown in (ACTIVE, ARCHIVED):
            section = index
        if head is None and head_of(line) is not None:
            head = index
    if head is None:
        return len(bare)
    return head if section is None else min(section, head)


def _oddities(bare: Sequence[str]) -> set[str]:
    """What makes a file one that nothing may be taken from."""
    found = {"conflict_marker"} if any(map(is_conflict, bare)) else set[str]()
    return found | {"not_text"} if any("\0" in line for line in bare) else found


def _counter(bare: Sequence[str], end: int) -> int:
    """The first counter before the first entry; 0 where there is none."""
    for line in bare[:end]:
        if match := COUNTER.search(line):
            return int(match[1])
    return 0


def _is_counter(line: str) -> bool:
    """Whether a line holds nothing but counters: then it is ours."""
    return COUNTER.search(line) is not None and not COUNTER.sub("", line).strip()


class _Reader:
    """Goes through the lines of our part once.

    Attributes:
        entries: the entries that were read.
        heads: the index of the line of each entry's head.
        reports: codes of what was odd.
        end: the index of the end line, or the number of lines.
    """

    def __init__(self, lines: Sequence[str], bare: Sequence[str]) -> None:
        self._lines = lines
        self._bare = bare
        self._notes: dict[str | None, list[str]] = {None: [], ACTIVE: [], ARCHIVED: []}
        self.entries: list[FileEntry] = []
        self.heads: list[int] = []
        self.reports: list[str] = []
        self.end = len(lines)

    def read(self, begin: int) -> None:
        """Read from a line on."""
        section: str | None = None
        index = begin
        while index < len(self._lines):
            line = self._bare[index]
            shown = line.rstrip()
            if shown == FILE_END:
                self.end = index
                return
            if shown in (ACTIVE, ARCHIVED):
                section = shown
            elif (head := head_of(line)) is not None:
                stop = self._entry_end(index + 1)
                self.heads.append(index)
                self.entries.append(self._entry(head, self._bare[index + 1 : stop], archived=section == ARCHIVED))
                index = stop
                continue
            elif section is not None or not _is_counter(line):
                self._notes[section].append(self._lines[index])
            index += 1

    def note(self, section: str | None) -> str:
        """Other people's text in front of the entries of a section; blank lines alone are ours."""
        lines = self._notes[section]
        if section is None:  # the blank line behind the counter is ours
            while lines and not lines[-1].strip():
                lines.pop()
            while lines and not lines[0].strip():
                lines.pop(0)
        text = "".join(lines)
        return text if text.strip() else ""

    def _entry_end(self, index: int) -> int:
        while index < len(self._bare):
            line = self._bare[index]
            if line.rstrip() in (ACTIVE, ARCHIVED, FILE_END) or head_of(line) is not None:
                break
            index += 1
        return index

    def _entry(self, head: Head, lines: Sequence[str], *, archived: bool) -> FileEntry:
        fields: dict[str, str] = {}
        count = 0
        for count, line in enumerate([*lines, ""]):  # noqa: B007 - where the run ends is what is asked for
            found = metadata_of(line)
            if found is None:
                break
            if found[1]:
                fields[found[0]] = found[1]
        content = _content(lines[count:])
        title = head.title
        if not title:
            self.reports.append("untitled_entry")
            first_line = single_line(content.partition("\n")[0])
            title = cut(first_line, TITLE_LIMIT) or UNTITLED
        tags = (tag.strip() for tag in fields.get("tags", "").split(","))
        return FileEntry(
            number=head.number,
            title=title,
            content=content,
            added=self._day(fields.get("added")),
            updated=self._day(fields.get("updated")),
            tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
            archived=archived,
        )

    def _day(self, text: str | None) -> str | None:
        if text is None:
            return None
        if len(text) == _DAY and parse_time(text) is not None:
            return text
        self.reports.append("bad_date")
        return None


def _content(lines: Sequence[str]) -> str:
    """The lines of a content, the escapes of the writer undone."""
    read: list[str] = []
    first = True
    for line in lines:
        read.append(unescape(line, first=first))
        first = first and not line.strip()
    return stored_content("\n".join(read))
