"""Which active memory a new text resembles: told to whoever adds one, and decides nothing (SPEC 9.1)."""

from __future__ import annotations

import re

from projections.memory.model import Entry, MemoryState
from projections.text.canonical import text_key
from projections.text.characters import is_wide_letter

__all__ = ["SIMILAR_PERCENT", "can_resemble", "most_similar", "shared", "words_of"]

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
    words = words_of(text_key(text, memory.context.root))
    best: Entry | None = None
    most = SIMILAR_PERCENT - 1
    for entry in sorted(memory.entries.values(), key=lambda one: one.number):
        if can_resemble(entry, but) and (percent := shared(words, words_of(entry.proposal.key))) > most:
            best, most = entry, percent
    return best


def can_resemble(entry: Entry, but: Entry | None) -> bool:
    """Whether an entry is active, has a text, and isn't ``but``."""
    return entry.state == "promoted" and not entry.proposal.erased and (but is None or entry.ref != but.ref)


def shared(words: frozenset[str], theirs: frozenset[str]) -> int:
    """Of 100 words of both texts together how many they share; none for a text of too few."""
    both = len(words & theirs)
    return 100 * both // (len(words) + len(theirs) - both) if len(words) >= _FEWEST else 0


def words_of(key: str) -> frozenset[str]:
    """The words of a text key (SPEC 8.2)."""
    found: set[str] = set()
    for word in _WORD.findall(key):
        if not word.isascii() and len(word) > 1 and any(map(is_wide_letter, word)):
            found.update(word[index : index + 2] for index in range(len(word) - 1))
        else:
            found.add(word)
    return frozenset(found)
