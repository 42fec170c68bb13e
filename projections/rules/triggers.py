"""Finds remember forms in a line: where a clause may hold one, negated or not (SPEC 4.2-4.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from projections.policy import Policy
from projections.rules.patterns import GAP, source_of
from projections.rules.trigger_forms import (
    FORMS,
    NEGATIONS,
    OPENERS,
    POINTERS,
    REFUSING,
    TRAILING,
)
from projections.rules.zones import LIST_MARKER

__all__ = [
    "Families",
    "Trigger",
    "Triggers",
    "clause_start",
    "sentence_end",
    "skip_separator",
    "skip_spaces",
    "triggers_of",
]

Families = Literal["all", "preferences", "requests"]
"""Which families count: all, only G-I, or all but these."""

_BOUNDARY = r"(?=\s|[:：,，、]|\Z)"
_BOUNDARY_HERE = re.compile(_BOUNDARY)
_WORD_START = r"(?:(?<![A-Za-z0-9_])|(?=[^\x00-\x7f]))"
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_PREFERENCES = frozenset("GHI")
_SENTENCE_END = re.compile(r"[.!?;](?=\s|\Z)|[。！？；]")
_LINE_START = re.compile(rf" {{0,3}}(?:{LIST_MARKER})?")
_SPACES = re.compile(r"\s*")
_COMMA = re.compile(r"[,，、:：]")
_SEPARATOR = r"[:：,，、]|(?<=\s)[-–—](?=\s)"
_SKIPPED = re.compile(
    rf"\s*+(?:{POINTERS.replace(' ', GAP)}(?=\s*+(?:{_SEPARATOR}|\Z))\s*+)?(?:{_SEPARATOR})?\s*+", re.IGNORECASE
)
_OPENING = re.compile(rf"(?:{OPENERS.replace(' ', GAP)}(?:{GAP})?(?:[,，]{GAP}|[,，]|{GAP})){{0,6}}", re.IGNORECASE)
_FINAL = "。.!！"


class Trigger(Struct, frozen=True):
    """A form found: its span in its line, and whether it is negated or stands behind its body."""

    start: int
    end: int
    kind: Literal["leading", "negated", "trailing"] = "leading"


class Triggers(Struct, frozen=True):
    """The tables compiled for one policy."""

    forms: tuple[tuple[str, re.Pattern[str]], ...]
    all_forms: re.Pattern[str]
    requests: re.Pattern[str]
    negated: re.Pattern[str]
    refusing: re.Pattern[str]
    trailing: tuple[str, ...]

    def at(self, line: str, position: int, only: Families = "all") -> Trigger | None:
        """The longest form that starts exactly here."""
        if not self.all_forms.match(line, position):
            return None
        matches = (
            pattern.match(line, position)
            for family, pattern in self.forms
            if only == "all" or (family in _PREFERENCES) == (only == "preferences")
        )
        ends = [match.end() for match in matches if match]
        return Trigger(position, max(ends)) if ends else None

    def at_clause(self, line: str, position: int) -> Trigger | None:
        """The form at a clause start, with or without opening words before it."""
        for start in dict.fromkeys((position, _end_of(_OPENING, line, position))):
            found = self.at(line, start) or self.refusing_at(line, start)
            if found:
                return found
        return None

    def after_comma(self, line: str, start: int, end: int) -> Iterator[Trigger]:
        """The preference forms (G-I) behind a comma or colon between two positions, in order."""
        for comma in _COMMA.finditer(line, start, end):
            if found := self.at(line, _end_of(_SPACES, line, comma.end()), "preferences"):
                yield found

    def negated_in(self, line: str, start: int, end: int) -> Iterator[Trigger]:
        """The negated forms between two positions, in order."""
        for match in self.negated.finditer(line, start, end):
            yield Trigger(match.start(), match.end(), "negated")

    def negated_at(self, line: str, position: int) -> Trigger | None:
        """The negated form that starts exactly here."""
        if match := self.negated.match(line, position):
            return Trigger(match.start(), match.end(), "negated")
        return self.refusing_at(line, position)

    def refusing_at(self, line: str, position: int) -> Trigger | None:
        """The form that is negated by itself (覚えないで) and starts exactly here, before a boundary."""
        match = self.refusing.match(line, position)
        if match and _BOUNDARY_HERE.match(line, match.end()):
            return Trigger(match.start(), match.end(), "negated")
        return None

    def ending(self, line: str, start: int, end: int) -> Trigger | None:
        """The trailing form (Japanese, Korean) that ends the sentence between two positions."""
        stop = start + len(line[start:end].rstrip().rstrip(_FINAL).rstrip())
        for match in self.refusing.finditer(line, start, stop):
            if match.end() == stop:
                return Trigger(match.start(), stop, "negated")
        if not line.endswith(self.trailing, start, stop):
            return None
        form = next(form for form in self.trailing if line.endswith(form, start, stop))
        return Trigger(stop - len(form), stop, "trailing")

    def anywhere(self, line: str) -> Trigger | None:
        """The first form of families A-F that stands anywhere in a line (SPEC 4.1)."""
        match = self.requests.search(line)
        return Trigger(match.start(), match.end()) if match else None


@lru_cache(maxsize=32)
def triggers_of(policy: Policy) -> Triggers:
    """Compile the packs that are on and the configured words (SPEC 20.3); memoised by the policy."""
    packs = frozenset(policy.languages)
    sources = [
        (form.family, f"(?:{form.source.replace(' ', GAP)})" + ("" if form.free_end else _BOUNDARY))
        for form in FORMS
        if form.pack in packs
    ]
    sources.extend(
        ("request", source_of((word,)) + ("" if _HAN.search(word[-1:]) else _BOUNDARY))
        for word in policy.patterns.triggers
    )
    return Triggers(
        forms=tuple((family, _compile(source)) for family, source in sources),
        all_forms=_compile(_alternatives(source for _, source in sources)),
        requests=_compile(
            _WORD_START + _alternatives(source for family, source in sources if family not in _PREFERENCES)
        ),
        negated=_compile(_negation_source(policy, packs) + _alternatives(source for _, source in sources)),
        refusing=_compile(_alternatives(source for pack, source in REFUSING if pack in packs)),
        trailing=tuple(form for pack in TRAILING if pack in packs for form in TRAILING[pack]),
    )


def _negation_source(policy: Policy, packs: frozenset[str]) -> str:
    configured = source_of(policy.patterns.negations) + rf"(?:{GAP})?"
    return _alternatives([configured, *(source.replace(" ", GAP) for pack, source in NEGATIONS if pack in packs)])


def _alternatives(sources: Iterable[str]) -> str:
    return "(?:" + ("|".join(sources) or r"(?!)") + ")"


def _compile(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


def clause_start(line: str) -> int:
    """Where the words of a line start: behind up to three spaces and one list marker (SPEC 4.2)."""
    return _end_of(_LINE_START, line, 0)


def sentence_end(line: str, start: int, stop: int | None = None) -> int:
    """Where the sentence that holds this position ends, its end mark included (SPEC 4.2); at most at ``stop``."""
    stop = len(line) if stop is None else stop
    match = _SENTENCE_END.search(line, start, stop)
    return match.end() if match else stop


def skip_spaces(line: str, position: int) -> int:
    """The first position from here on that holds no whitespace."""
    return _end_of(_SPACES, line, position)


def skip_separator(line: str, position: int) -> int:
    """Where the words behind a form start: pointer, one separator and whitespace are skipped (SPEC 4.3)."""
    return _end_of(_SKIPPED, line, position)


def _end_of(pattern: re.Pattern[str], line: str, position: int) -> int:
    match = pattern.match(line, position)
    return match.end() if match else position
