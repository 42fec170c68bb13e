"""Reads MEMORY.md of the four-tool plugin, or one of ours (SPEC 16.3, 17)."""

from __future__ import annotations

from memfold.imports.model import Import, Sheet
from projections.memory.model import HIGHEST_NUMBER
from projections.memory_file.reading import decode_file, read_file
from projections.policy import Policy
from projections.rules.kinds import type_of
from projections.text.entry import entry_text
from projections.text.fields import take_in_content, take_in_title

__all__ = ["read_reference_b"]

_DAMAGE = {
    "conflict_marker": "it has merge conflict markers: resolve them first",
    "not_text": "it is no UTF-8 text",
}


def read_reference_b(name: str, data: bytes, policy: Policy) -> Import:
    """The file as events: ids where they are free, dates, tags, archive state and counter are kept."""
    sheet = Sheet(name, data, "reference_b", policy)
    parsed = read_file(decode_file(data))
    for report in parsed.reports:
        if report in _DAMAGE:
            return sheet.damaged(_DAMAGE[report])
    given: set[int] = set()
    for entry, line in zip(parsed.entries, parsed.lines, strict=True):
        title = take_in_title(entry.title, policy)
        text = entry_text(title, take_in_content(entry.content, policy, above=title), policy)
        is_own = 0 < entry.number <= HIGHEST_NUMBER and entry.number not in given
        given.add(entry.number)
        sheet.add(
            line,
            title=entry.title,
            content=entry.content,
            type=type_of(text),
            tags=entry.tags,
            state="deleted" if entry.archived else "active",
            created=entry.added,
            updated=entry.updated,
            number=entry.number if is_own else None,
        )
    return sheet.done(counter=parsed.next_number)
