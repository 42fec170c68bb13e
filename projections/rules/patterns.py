"""Word lists as linear-time patterns: the one dialect of our own tables and of configured words (SPEC 20.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from projections.policy import Policy

__all__ = ["GAP", "anywhere", "at_end", "at_start", "check_patterns", "source_of"]

GAP = r"[^\S\n]{1,8}"
"""Whitespace between two words of a form; bounded, so that no run of spaces is read twice."""

_LEFT, _RIGHT = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
_STAR = r"\S{0,40}"
_APOSTROPHE = "['’]"


def source_of(words: Iterable[str]) -> str:
    """Alternatives for the words, longest first; a word that is empty or only ``*`` is left out.

    Words match whole where they begin or end in an ASCII letter or digit, and anywhere else (CJK). A space
    matches any short gap, an apostrophe both of its forms, ``*`` the fewest of up to 40 non-space characters.
    """
    usable = sorted({word.strip() for word in words if word.strip(" *")}, key=lambda word: (-len(word), word))
    # Neighbours share their edges: where the left one fails, as at most places, one look spares all of them.
    runs = groupby(usable, key=lambda word: (_edge(word[0], _LEFT), _edge(word[-1], _RIGHT)))
    return "(?:" + "|".join(_run(words, *edges) for edges, words in runs) + ")" if usable else r"(?!)"


def _run(words: Iterable[str], left: str, right: str) -> str:
    alternatives = "|".join(map(_word, words))
    return f"{left}(?:{alternatives}){right}" if left or right else alternatives


def _edge(character: str, edge: str) -> str:
    """What must hold beside a word that begins or ends in this character."""
    return edge if character.isascii() and (character.isalnum() or character == "_") else ""


def _word(word: str) -> str:
    first, *others = re.split(r"\*+", word)
    # Atomic: a star that has found its end is never tried again, so a pattern costs at most 40 steps a star.
    stars = "".join(rf"(?>{_STAR}?{_literal(part)})" if part else rf"(?>{_STAR})" for part in others)
    return _literal(first) + stars


def _literal(text: str) -> str:
    escaped = re.escape(" ".join(text.split())) if text.strip() else ""
    lead = GAP if text[:1].isspace() and escaped else ""
    tail = GAP if text[-1:].isspace() else ""
    return lead + escaped.replace(r"\ ", GAP).replace("'", _APOSTROPHE) + tail


def anywhere(*words: str) -> re.Pattern[str]:
    """A pattern that finds one of the words, whole and in any case."""
    return re.compile(source_of(words), re.IGNORECASE)


def at_start(*words: str) -> re.Pattern[str]:
    """A pattern for ``match``: the text begins with one of the words."""
    return re.compile(r"\s{0,8}" + source_of(words), re.IGNORECASE)


def at_end(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds one of the words before the end of the text, end punctuation aside."""
    return re.compile(source_of(words) + r"(?=[\s.!?。！？…]{0,8}\Z)", re.IGNORECASE)


def check_patterns(policy: Policy) -> list[str]:
    """What is wrong with the configured words, one sentence each; empty if nothing is (SPEC 20.3).

    Every word list is a linear-time pattern; only one that would match everything is refused.
    """
    groups = [
        ("patterns.triggers", policy.patterns.triggers),
        ("patterns.negations", policy.patterns.negations),
        ("patterns.time_words", policy.patterns.time_words),
        *((f"patterns.gate.{gate.name}", gate.words) for gate in policy.patterns.gate),
    ]
    return [
        f"{name}: {word!r} would match any text; give at least one letter beside '*'"
        for name, words in groups
        for word in words
        if not word.strip(" *\t\n")
    ]
