"""Render hot session state as its block of the prompt, under its limits and budget (SPEC 11.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from projections.headers import HOT_HEADER
from projections.hot.session import FileEntry
from projections.inert import inert_line
from projections.text.canonical import exact_key
from projections.text.paths import relative_to

__all__ = ["MAYBE_FIXED", "ErrorEntry", "HotBlock", "HotLine", "hot_block", "hot_lines"]

_SECTIONS = ("active_files", "open_errors", "recent_decisions", "pending_memories")
_NEWEST_FIRST = frozenset({"recent_decisions", "pending_memories"})
"""Sections that are filled from the newest line on and read from the oldest."""
_NO_ERRORS = "open_errors: (none)"
MAYBE_FIXED = " (maybe fixed)"
"""What stands behind an error whose file was changed since (SPEC 13.5)."""

_SHOWN_FILES = 8
_SHOWN_ERRORS = 3
_SHOWN_DECISIONS = 8
_SHOWN_PENDING = 6


class ErrorEntry(Struct, frozen=True):
    """An open error as the block shows it."""

    category: str
    summary: str
    maybe_fixed: bool = False


class HotLine(NamedTuple):
    """A line as it is shown: its section, and what stands behind the dash."""

    section: str
    entry: str


class HotBlock(Struct, frozen=True):
    """The text of the block, empty if nothing is shown; its lines in order, and how many each section has."""

    text: str
    sections: dict[str, int]
    lines: tuple[HotLine, ...] = ()


def hot_block(
    files: Sequence[FileEntry],
    errors: Sequence[ErrorEntry],
    decisions: Sequence[str],
    pending: Sequence[tuple[str, str]],
    *,
    max_chars: int = 700,
    root: str = "",
) -> HotBlock:
    """The hot block of SPEC 11.5: section limits first, then whole lines as long as the budget holds.

    Args:
        files: best first.
        errors: open ones, newest first.
        decisions: texts, oldest first.
        pending: types and texts, oldest first.
        max_chars: budget in characters, header and line breaks included.
        root: the workspace root; paths under it are shown relative.

    Returns:
        A block of at most ``max_chars`` characters. Errors are admitted first, then pending memories (newest
        first), files and decisions (newest first); a line that doesn't fit is left out and the next is tried.
    """
    budget = _Budget(max_chars)
    budget.admit("open_errors", map(_error_entry, errors[:_SHOWN_ERRORS]))

    shown: set[str] = set()
    for type_, text in reversed(pending[-_SHOWN_PENDING:]):
        if budget.admit("pending_memories", [_pending_entry(type_, text)]):
            shown.add(exact_key(type_, text, root))

    budget.admit("active_files", (_file_entry(file, root) for file in files[:_SHOWN_FILES]))

    recent = reversed(decisions[-_SHOWN_DECISIONS:])
    budget.admit("recent_decisions", (text for text in recent if exact_key("decision", text, root) not in shown))
    return budget.block(no_errors=not errors)


def hot_lines(
    files: Sequence[FileEntry],
    errors: Sequence[ErrorEntry],
    decisions: Sequence[str],
    pending: Sequence[tuple[str, str]],
    *,
    root: str = "",
) -> tuple[HotLine, ...]:
    """Every line that the hot block of this state could show, whatever its limits leave out; as ``hot_block``."""
    entries = {
        "active_files": (_file_entry(file, root) for file in files),
        "open_errors": map(_error_entry, errors),
        "recent_decisions": decisions,
        "pending_memories": (_pending_entry(type_, text) for type_, text in pending),
    }
    return tuple(HotLine(section, _shown(entry)) for section in _SECTIONS for entry in entries[section])


def _file_entry(file: FileEntry, root: str) -> str:
    return f"{relative_to(file.path, root)} ({file.action}, {file.count}x)"


def _error_entry(error: ErrorEntry) -> str:
    return f"[{error.category}] {error.summary}{MAYBE_FIXED if error.maybe_fixed else ''}"


def _pending_entry(type_: str, text: str) -> str:
    return f"[{type_}] {text}"


def _shown(entry: str) -> str:
    return inert_line(entry)


class _Budget:
    """Entries admitted so far, by section, and the characters that their lines leave."""

    def __init__(self, max_chars: int) -> None:
        self._left = max_chars - len(HOT_HEADER)
        self._entries: dict[str, list[str]] = {section: [] for section in _SECTIONS}

    def admit(self, section: str, entries: Iterable[str]) -> int:
        """Take each entry whose line fits, with the heading of its section if it is the first there; how many."""
        admitted = self._entries[section]
        before = len(admitted)
        for entry in entries:
            shown = _shown(entry)
            cost = len(f"\n- {shown}") + (0 if admitted else len(f"\n{section}:"))
            if cost <= self._left:
                self._left -= cost
                admitted.append(shown)
        return len(admitted) - before

    def block(self, *, no_errors: bool) -> HotBlock:
        """The sections in their order, oldest line first where the newest were admitted first."""
        sections = {section: len(entries) for section, entries in self._entries.items() if entries}
        if not sections:
            return HotBlock("", {})
        text, lines = [HOT_HEADER], list[HotLine]()
        for section, entries in self._entries.items():
            if entries:
                ordered = entries[::-1] if section in _NEWEST_FIRST else entries
                text += [f"{section}:", *(f"- {entry}" for entry in ordered)]
                lines += [HotLine(section, entry) for entry in ordered]
            elif section == "open_errors" and no_errors and len(f"\n{_NO_ERRORS}") <= self._left:
                text.append(_NO_ERRORS)
        return HotBlock("\n".join(text), sections, tuple(lines))
