"""Render hot session state as its block of the prompt, under its limits and budget (SPEC 11.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from projections.hot.session import FileEntry
from projections.inert import inert
from projections.text.canonical import exact_key
from projections.text.clean import single_line
from projections.text.paths import relative_to

__all__ = ["ErrorEntry", "HotBlock", "hot_block"]

_HEADER = "Hot session state (current session):"
_SECTIONS = ("active_files", "open_errors", "recent_decisions", "pending_memories")
_NEWEST_FIRST = frozenset({"recent_decisions", "pending_memories"})
"""Sections that are filled from the newest line on and read from the oldest."""
_NO_ERRORS = "open_errors: (none)"

_SHOWN_FILES = 8
_SHOWN_ERRORS = 3
_SHOWN_DECISIONS = 8
_SHOWN_PENDING = 6


class ErrorEntry(Struct, frozen=True):
    """An open error as the block shows it."""

    category: str
    summary: str
    maybe_fixed: bool = False


class HotBlock(Struct, frozen=True):
    """The text of the block, empty if nothing is shown, and the number of lines in each section that is."""

    text: str
    sections: dict[str, int]


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
    budget.admit("open_errors", map(_error_line, errors[:_SHOWN_ERRORS]))

    shown: set[str] = set()
    for type_, text in reversed(pending[-_SHOWN_PENDING:]):
        if budget.admit("pending_memories", [f"- [{type_}] {text}"]):
            shown.add(exact_key(type_, text, root))

    budget.admit("active_files", (_file_line(file, root) for file in files[:_SHOWN_FILES]))

    recent = reversed(decisions[-_SHOWN_DECISIONS:])
    alone = (text for text in recent if exact_key("decision", text, root) not in shown)
    budget.admit("recent_decisions", (f"- {text}" for text in alone))
    return budget.block(no_errors=not errors)


def _file_line(file: FileEntry, root: str) -> str:
    return f"- {relative_to(file.path, root)} ({file.action}, {file.count}x)"


def _error_line(error: ErrorEntry) -> str:
    return f"- [{error.category}] {error.summary}{' (maybe fixed)' if error.maybe_fixed else ''}"


class _Budget:
    """Lines admitted so far, by section, and the characters they take."""

    def __init__(self, max_chars: int) -> None:
        self._left = max_chars - len(_HEADER)
        self._lines: dict[str, list[str]] = {section: [] for section in _SECTIONS}

    def admit(self, section: str, lines: Iterable[str]) -> int:
        """Take each line that fits, with the heading of its section if it is the first there; how many."""
        admitted = self._lines[section]
        before = len(admitted)
        for line in lines:
            shown = inert(single_line(line))
            cost = len(shown) + 1 + (0 if admitted else len(section) + 2)
            if cost <= self._left:
                self._left -= cost
                admitted.append(shown)
        return len(admitted) - before

    def block(self, *, no_errors: bool) -> HotBlock:
        """The sections in their order, oldest line first where the newest were admitted first."""
        sections = {section: len(lines) for section, lines in self._lines.items() if lines}
        if not sections:
            return HotBlock("", {})
        text = [_HEADER]
        for section, lines in self._lines.items():
            if lines:
                text += [f"{section}:", *(reversed(lines) if section in _NEWEST_FIRST else lines)]
            elif section == "open_errors" and no_errors and len(_NO_ERRORS) + 1 <= self._left:
                text.append(_NO_ERRORS)
        return HotBlock("\n".join(text), sections)
