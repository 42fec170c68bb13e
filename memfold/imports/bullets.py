"""Reads the bullet lists of instruction files, such as CLAUDE.md and AGENTS.md; only where a person asks for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memfold.imports.json_text import text_of
from memfold.imports.model import Import, Sheet
from projections.policy import Policy
from projections.rules.kinds import type_of
from projections.text.clean import decode
from projections.text.redact import withhold

__all__ = ["read_bullets"]

_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|[0-9]{1,9}[.)])[ \t]+(?P<text>\S.*)")
_HEADING = re.compile(r"(?P<level>#{1,6})[ \t]+(?P<text>\S.*)")
_FENCE = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?P<mark>`{3,}|~{3,})")
_TASK = re.compile(r"\[[ xX]\](?:\s|$)")
_COLONS = (":", "：")
_TAB = 4


class _Context:
    """What stands above a bullet and may turn its meaning: its headings end where the next one begins."""

    def __init__(self) -> None:
        self._heading = ""
        self._is_first = True
        self._leads: list[tuple[int, str]] = []

    def heading(self, level: int, text: str) -> None:
        """A heading; one that is the title of the whole file says nothing about a bullet."""
        is_title = self._is_first and level == 1
        self._heading, self._is_first, self._leads = ("" if is_title else text), False, []

    def paragraph(self, text: str) -> None:
        """A line outside of lists; what ends in a colon belongs to the list behind it."""
        self._leads = [(-1, text)] if text.endswith(_COLONS) else []

    def bullet(self, indent: int, text: str) -> str:
        """What a bullet says in its place; empty for one that only leads to those below it."""
        while self._leads and self._leads[-1][0] >= indent:
            self._leads.pop()
        above = self._leads[-1][1] if self._leads else self._heading
        if text.endswith(_COLONS):
            self._leads.append((indent, text))
            return ""
        above = _plain(above)
        return f"{above}: {text}" if above else text


def read_bullets(name: str, data: bytes, policy: Policy) -> Import:
    """The file as events: each bullet one memory, behind the heading or the line that its list stands under.

    That goes along because it may turn the meaning ("Never:"). Code, comments and tasks are no memories, nor is text
    outside of lists.
    """
    sheet = Sheet(name, data, "bullets", policy)
    try:
        # Before it is parted: a private span may hold many bullets.
        lines = withhold(decode(text_of(data)), keep_lines=True).split("\n")
    except ValueError as error:
        return sheet.damaged(str(error))
    context = _Context()
    index = 0
    while index < len(lines):
        index = _read(sheet, context, lines, index)
    return sheet.done()


def _read(sheet: Sheet, context: _Context, lines: Sequence[str], index: int) -> int:
    """Read what begins at a line; the index of the line behind it."""
    line = lines[index]
    if fence := _FENCE.match(line):
        return _behind_fence(lines, index, fence["mark"])
    if _is_comment(line):
        return _behind_comment(lines, index)
    if heading := _HEADING.match(line):
        context.heading(len(heading["level"]), _unclosed(heading["text"]))
    elif bullet := _BULLET.match(line):
        end = _end_of_bullet(lines, index + 1)
        text = " ".join(part.strip() for part in [bullet["text"], *lines[index + 1 : end]])
        if _TASK.match(text):
            sheet.skip(index + 1, "it is a task")
        elif said := context.bullet(len(bullet["indent"].expandtabs(_TAB)), text):
            sheet.add(index + 1, text=said, type=type_of(said))
        return end
    elif line.strip():
        context.paragraph(line.strip())
    return index + 1


def _end_of_bullet(lines: Sequence[str], index: int) -> int:
    """A bullet goes on until a blank line or what begins something else, as a line does that leads to a list."""
    while index < len(lines):
        line = lines[index]
        begins = any(form.match(line) for form in (_FENCE, _HEADING, _BULLET)) or _is_comment(line)
        if not line.strip() or begins or (not line[0].isspace() and line.rstrip().endswith(_COLONS)):
            break
        index += 1
    return index


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("<!--")


def _behind_fence(lines: Sequence[str], index: int, mark: str) -> int:
    """The line behind a fenced block; one that isn't closed ends with the file."""
    for end in range(index + 1, len(lines)):
        shown = lines[end].strip()
        if shown.startswith(mark) and not shown.strip(mark[0]):
            return end + 1
    return len(lines)


def _behind_comment(lines: Sequence[str], index: int) -> int:
    """The line behind an HTML comment; one that isn't closed ends with the file."""
    for end in range(index, len(lines)):
        if "-->" in lines[end]:
            return end + 1
    return len(lines)


def _unclosed(text: str) -> str:
    """The text of a heading without the signs that may close it; those of a word stay, as in C#."""
    shown = text.rstrip()
    bare = shown.rstrip("#")
    return bare.rstrip() if bare.endswith((" ", "\t")) else shown


def _plain(text: str) -> str:
    """A heading without emphasis and the colon at its end."""
    return text.strip("*_ \t").rstrip(":： ").strip("*_ \t")
