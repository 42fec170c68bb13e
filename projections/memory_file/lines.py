"""Which lines of MEMORY.md are structure, and how a content that looks like one is escaped (SPEC 16.2, 16.3).

Reader and writer ask the same question here, so that what is escaped is just what would be read otherwise.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from projections.headers import FILE_END, FILE_TITLE

__all__ = [
    "ACTIVE",
    "ARCHIVED",
    "COUNTER",
    "Head",
    "escape",
    "head_of",
    "is_conflict",
    "metadata_of",
    "unescape",
]

ACTIVE = "## Active"
ARCHIVED = "## Archived"

COUNTER = re.compile(r"<!-- nextSeq: ([0-9]{1,4000}) -->")
"""The next number. Python reads no number of more than 4,300 digits, and nobody counts that far."""

_HEAD = re.compile(r"### \[MEM-([0-9]{1,4000})\](?:\s(.*))?", re.DOTALL)
_METADATA = re.compile(r"- (added|updated|tags|archived):(.*)", re.DOTALL)
_CONFLICTS = ("<<<<<<< ", ">>>>>>> ")
_FIXED = frozenset({FILE_TITLE, ACTIVE, ARCHIVED, FILE_END})


class Head(NamedTuple):
    """The head of an entry: its number, and its title, which may be missing."""

    number: int
    title: str


def head_of(line: str) -> Head | None:
    """The head that a line is, or None."""
    match = _HEAD.fullmatch(line)
    return Head(int(match[1]), (match[2] or "").strip()) if match else None


def metadata_of(line: str) -> tuple[str, str] | None:
    """Key and value of a metadata line, or None."""
    match = _METADATA.fullmatch(line)
    return (match[1], match[2].strip()) if match else None


def is_conflict(line: str) -> bool:
    """Whether a line is the marker of an unresolved merge."""
    return line.startswith(_CONFLICTS)


def escape(line: str, *, first: bool) -> str:
    """A content line as it is written; ``first`` if no line of the content came before it."""
    return f"\\{line}" if _is_structure(line.lstrip("\\"), first=first) else line


def unescape(line: str, *, first: bool) -> str:
    """A content line as it was before it was written."""
    return line[1:] if line.startswith("\\") and _is_structure(line.lstrip("\\"), first=first) else line


def _is_structure(line: str, *, first: bool) -> bool:
    """Whether a line at column one would be read as something else than content."""
    if line.rstrip() in _FIXED or is_conflict(line) or head_of(line) is not None:
        return True
    return first and metadata_of(line) is not None
