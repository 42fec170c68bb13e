"""Which active memory a new text resembles: told to whoever adds one, and decides nothing (SPEC 9.1)."""

from __future__ import annotations

import re

from projections.memory.model import Entry, MemoryState
from projections.text.canonical import canonical
from projections.text.characters import is_wide_letter

__all__ = ["SIMILAR_PERCENT", "most_similar"]

SIMILAR_PERCENT = 60
"""Part of the words of both texts together that they must share."""
_FEWEST = 3
"""Words that a text needs to resemble another: two words alone say too little."""
_WORD = re.compile(r"\w+")


def most_similar(memory: MemoryState, text: str, *, but: Entry | None = None) -> Entry | None:
    """The active memory that shares most words with a text, or None if none shares enough.

    Args:
        memory: the state.
        text: the new text.
        but: an entry that isn't looked at: the new one itself.

    Words are those of the canonical form; letters of scripts without spaces count in pairs. Of equals the lowest id.
    O(characters of all active memories).
    """
    words = _words(text)
    if len(words) < _FEWEST:
        return None
    best: Entry | None = None
    most = SIMILAR_PERCENT
    for entry in sorted(memory.entries.values(), key=lambda one: one.number):
        if entry.state != "promoted" or entry.proposal.erased or (but is not None and entry.ref == but.ref):
            continue
        theirs = _words(entry.proposal.text)
        percent = 100 * len(words & theirs) // len(words | theirs) if theirs else 0
        if percent > most or (percent == most and best is None):
            best, most = entry, percent
    return best


def _words(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in _WORD.findall(canonical(text)):
        if any(map(is_wide_letter, word)) and len(word) > 1:
            found.update(word[index : index + 2] for index in range(len(word) - 1))
        else:
            found.add(word)
    return frozenset(found)
