"""Word lists as patterns: what words share in one pattern changes no match."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from projections.rules.patterns import source_of
from projections.text.canonical import canonical
from projections.text.paths import is_path

WORDS = st.lists(
    st.sampled_from(
        ["do", "done", "do it", "don't", "it", "完成", "完", "x完", "完x", "a*b", "*b", "a*", "-done", "done-", "b"]
    ),
    min_size=1,
    max_size=6,
)
TEXTS = st.lists(
    st.sampled_from(["do", "done", "don't", "don’t", "IT", "完成", "完", "x", "a", "b", "-", " ", "_"]),
    max_size=10,
).map("".join)


@given(WORDS, TEXTS)
def test_words_match_as_each_alone(words: list[str], text: str) -> None:
    """The alternatives of a list are its words, longest first, each with edges of its own (SPEC 20.3)."""
    longest_first = sorted(set(words), key=lambda word: (-len(word), word))
    apart = re.compile("|".join(source_of([word]) for word in longest_first), re.IGNORECASE)
    together = re.compile(source_of(words), re.IGNORECASE)
    assert [found.span() for found in together.finditer(text)] == [found.span() for found in apart.finditer(text)]


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.isalnum))
def test_words_without_signs_are_taken_whole(word: str) -> None:
    """A word of letters and digits alone is no path, and nothing around it changes what it is (SPEC 8.1, 8.3)."""
    assert not is_path(word)
    assert canonical(f"({word})") == canonical(word)
