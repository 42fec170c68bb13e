"""Which lines of a message may be read, and which parts of a line stand in a quotation (SPEC 4.1)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Literal

from msgspec import Struct

__all__ = ["LIST_MARKER", "Line", "Quotations", "Zone", "lines_of", "quotations_of"]

Zone = Literal["", "code_block", "quoted", "log_line"]
"""Empty for a readable line, else the reason code why it isn't."""

LIST_MARKER = r"(?:[-*+•]|\d{1,3}[.)])[^\S\n]+"
"""One list marker with the whitespace behind it (SPEC 4.2, 5.2), as pattern source."""


class Line(Struct, frozen=True):
    """One line (they end at LF only): its text, where it starts, and its zone.

    ``fence`` marks a fence itself, ``fenced`` also what stands inside; other code blocks are indented lines.
    """

    text: str
    start: int
    zone: Zone
    fence: bool = False
    fenced: bool = False


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,}|｀{3,})(.*)", re.DOTALL)
_LEVELS = "TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL"
_DATES = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}",
    r"\d{1,2}[-/]\d{1,2}[-/]\d{2,4}",
    r"\d{1,2}\.\d{1,2}\.\d{4}",
    r"\d{4}年\d{1,2}月\d{1,2}日",
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s{1,2}\d{1,2}",
    r"\d{1,2}:\d{2}",
)
_LOG_LINE = re.compile(
    rf"\s{{0,3}}[\[(]?(?:(?:{'|'.join(_DATES)})(?!\w)|(?:{'|'.join(_DATES[:1])})T|(?:{_LEVELS})(?!\w))"
)
_CODE_COLUMNS = 4


def lines_of(text: str) -> tuple[Line, ...]:
    """Split a text at LF and say of each line whether it is readable; O(length)."""
    lines: list[Line] = []
    start = 0
    opened = ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if opened:
            closes = fence is not None and fence[1].startswith(opened) and not fence[2].strip()
            lines.append(Line(line, start, "code_block", closes, fenced=True))
            opened = "" if closes else opened
        elif fence and not (fence[1][0] == "`" and "`" in fence[2]):  # ```x``` is code within a line
            lines.append(Line(line, start, "code_block", fence=True, fenced=True))
            opened = fence[1]
        else:
            lines.append(Line(line, start, _zone_of(line)))
        start += len(line) + 1
    return tuple(lines)


def _zone_of(line: str) -> Zone:
    if _is_indented(line):
        return "code_block"
    if line.lstrip().startswith((">", "＞")):
        return "quoted"
    return "log_line" if _LOG_LINE.match(line) else ""


def _is_indented(line: str) -> bool:
    """Whether a line stands four or more columns in, where a tab leads from any column; a blank line doesn't."""
    words = line.lstrip(" \t")
    space = line[: len(line) - len(words)]
    return words != "" and ("\t" in space or len(space) >= _CODE_COLUMNS)


class Quotations(Struct, frozen=True):
    """The quotations and backtick spans of one line, in order: where the words inside start and end."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    marks: tuple[str, ...]

    def around(self, position: int) -> int:
        """The index of the quotation that the position stands in, or -1."""
        index = bisect_right(self.starts, position) - 1
        return index if index >= 0 and position < self.ends[index] else -1

    def behind(self, position: int) -> int:
        """The position itself, or the one behind the closing mark of the quotation that it stands in or closes."""
        index = bisect_right(self.starts, position) - 1
        if index < 0 or position > self.ends[index]:
            return position
        return self.ends[index] + len(self.marks[index])

    def starts_between(self, start: int, end: int) -> tuple[int, ...]:
        """Where the quotations begin that are opened between two positions."""
        return self.starts[bisect_left(self.starts, start) : bisect_left(self.starts, end)]


_PAIRS = {"“": "”", "„": "“”", "«": "»", "‹": "›", "「": "」", "『": "』", "＂": "＂", '"': '"', "‘": "’", "'": "'"}
_APOSTROPHES = frozenset("'’")
_MARK = re.compile(r"`+|[\"'“”„«»‹›「」『』＂‘’]")


def quotations_of(line: str) -> Quotations:
    """Find the outermost quotations of a line; one that isn't closed runs to the end of the line. O(length).

    A straight mark opens only where no letter or digit stands before it (an inch sign doesn't), and a single
    mark only if one further on closes it (an apostrophe doesn't).
    """
    marks = [(found.start(), found.group()) for found in _MARK.finditer(line)]
    last_single = {
        quote: max((at for at, mark in marks if mark == quote and _may_close(line, at)), default=-1)
        for quote in _APOSTROPHES
    }
    found: list[tuple[int, int, str]] = []
    opened, closers, inside = "", "", 0
    for at, mark in marks:
        if opened:
            if (
                mark in closers
                and (mark[0] != "`" or mark == opened)
                and (mark not in _APOSTROPHES or _may_close(line, at))
            ):
                found.append((inside, at, opened))
                opened = ""
        elif _may_open(line, at, mark, last_single):
            opened, closers, inside = mark, _PAIRS.get(mark, mark), at + len(mark)
    if opened:
        found.append((inside, len(line) + 1, opened))
    return Quotations(
        tuple(start for start, _, _ in found), tuple(end for _, end, _ in found), tuple(mark for _, _, mark in found)
    )


def _may_open(line: str, at: int, mark: str, last_single: dict[str, int]) -> bool:
    if mark[0] == "`":
        return True
    if mark not in _PAIRS:
        return False
    if mark in {'"', "'"} and line[max(at - 1, 0) : at].isalnum() and line[at - 1].isascii():
        return False
    if mark in {"'", "‘"}:
        return last_single["'" if mark == "'" else "’"] > at and not line[at + 1 : at + 2].isspace()
    return True


def _may_close(line: str, at: int) -> bool:
    """Whether an apostrophe-like mark can end a quotation: nothing of a word follows it."""
    return not line[at + 1 : at + 2].isalnum()
