"""``projections.similar`` for a process that asks for one new text after another: an index of words."""

from __future__ import annotations

from projections.memory.model import Entry, MemoryState
from projections.similar import SIMILAR_PERCENT, can_resemble, shared, words_of
from projections.text.canonical import text_key

__all__ = ["SimilarTexts"]

_MOST_NEW = 100
"""Numbers that are looked up one by one; beyond them all memories are looked at, since a number may be any."""

_NONE: frozenset[int] = frozenset()


class SimilarTexts:
    """Finds what ``most_similar`` finds, in a state that grows between the questions. Not for several threads.

    The first question reads all active memories, each later one those that are new. After any other change than
    additions it looks at all, and reads those whose text has changed.
    """

    def __init__(self) -> None:
        self._memory: MemoryState | None = None
        self._revision = self._next = 0
        self._keys: dict[int, str] = {}
        self._words: dict[int, frozenset[str]] = {}
        self._having: dict[str, set[int]] = {}

    def most_similar(self, memory: MemoryState, text: str, *, but: Entry | None = None) -> Entry | None:
        """As the function of this name. O(memories that have a rare word of the text)."""
        self._follow(memory)
        words = words_of(text_key(text, memory.context.root))
        # What shares so many of the words can't lack all of the rest and one more: the rarest are enough to find it.
        needed = -(-len(words) * SIMILAR_PERCENT // 100)
        rarest = sorted(words, key=lambda word: (len(self._having.get(word, _NONE)), word))[: len(words) - needed + 1]
        numbers = _NONE.union(*(self._having.get(word, _NONE) for word in rarest))
        near = [(-percent, one) for one in numbers if (percent := shared(words, self._words[one])) >= SIMILAR_PERCENT]
        entries = (memory.entries[memory.numbers[number]] for _, number in sorted(near))
        return next((entry for entry in entries if can_resemble(entry, but)), None)

    def _follow(self, memory: MemoryState) -> None:
        """Take in what has changed: each addition, change of words and retirement raises the revision by one or two."""
        begin, risen = self._next, memory.revision - self._revision
        if memory is self._memory and not risen:
            return
        self._revision, self._next = memory.revision, memory.next_number
        if memory is self._memory and memory.next_number - begin <= _MOST_NEW:
            new = [memory.entries[memory.numbers[one]] for one in range(begin, self._next) if one in memory.numbers]
            added = [entry for entry in new if entry.state == "promoted"]
            if len(added) == risen:  # so nothing else has happened
                for entry in added:
                    self._take(entry)
                return
        self._memory = memory
        there = {entry.number: entry for entry in memory.entries.values() if entry.state == "promoted"}
        for number in self._keys.keys() - there.keys():
            self._drop(number)
        for entry in there.values():
            self._take(entry)

    def _take(self, entry: Entry) -> None:
        if self._keys.get(entry.number) == entry.proposal.key:
            return
        self._drop(entry.number)
        words = words_of(entry.proposal.key)
        self._keys[entry.number], self._words[entry.number] = entry.proposal.key, words
        for word in words:
            self._having.setdefault(word, set()).add(entry.number)

    def _drop(self, number: int) -> None:
        self._keys.pop(number, None)
        for word in self._words.pop(number, ()):
            having = self._having[word]
            having.discard(number)
            if not having:
                del self._having[word]
