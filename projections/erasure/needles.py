"""The texts to look for wherever a purged one may stand: in strings of events, and in bytes of any file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec import Struct

from projections.inert import inert, inert_quote
from projections.memory.model import Proposal
from projections.text.clean import clean, single_line
from projections.text.erased import ERASED

__all__ = ["SHORTEST", "SHORTEST_NAMED", "Needles", "named_needles", "needles_of"]

SHORTEST = 8
"""Characters of a text that is looked for inside of others; a shorter one may stand there by chance."""

SHORTEST_NAMED = 5
"""The same for a text that a person has named: it is meant, wherever it stands."""

_Text = TypeVar("_Text", str, bytes)
_CUT = "…"
_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")


class Needles(Struct, frozen=True):
    """What is looked for.

    Attributes:
        parts: texts that are looked for inside of others, the longest first, each in all forms it may have there.
        wholes: short texts, which are found only where they are the whole string.
        raw: the forms of ``parts`` as bytes of a file.
    """

    parts: tuple[str, ...] = ()
    wholes: frozenset[str] = frozenset()
    raw: tuple[bytes, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.parts or self.wholes)

    def joined(self, others: Needles) -> Needles:
        """These and others."""
        return Needles(
            tuple(sorted({*self.parts, *others.parts}, key=_longest_first)),
            self.wholes | others.wholes,
            tuple(sorted({*self.raw, *others.raw}, key=_longest_first)),
        )

    def are_in(self, text: str) -> bool:
        """Whether a string holds one. Linear, for each needle once; as are the others."""
        return text in self.wholes or any(part in text for part in self.parts)

    def erased(self, text: str) -> str:
        """The string with the mark in the place of each."""
        if text in self.wholes:
            return ERASED
        for part in self.parts:
            text = text.replace(part, ERASED)
        return text

    def are_in_bytes(self, data: bytes) -> bool:
        """Whether bytes of any kind hold one, as it is or as JSON writes it."""
        return any(part in data for part in self.raw)

    def erased_bytes(self, data: bytes) -> bytes:
        """The bytes with the mark in the place of each."""
        for part in self.raw:
            data = data.replace(part, ERASED.encode())
        return data

    def erased_torn(self, data: bytes) -> bytes:
        """The same for bytes that were cut at their ends: there a beginning or an end of a text is enough."""
        data = self.erased_bytes(data)
        for part in self.raw:
            begin = _torn_end(data, part)
            if begin >= 0:
                data = data[:begin] + ERASED.encode()
            end = _torn_begin(data, part)
            if end >= 0:
                data = ERASED.encode() + data[end:]
        return data


def needles_of(wordings: Iterable[Proposal]) -> Needles:
    """What to look for to find these wordings: text, content and rationale as a whole, title, and lines of content."""
    parts: set[str] = set()
    wholes: set[str] = set()
    for wording in wordings:
        if wording.erased is not None:
            continue
        for text in (wording.text, wording.content, wording.rationale):
            if 0 < len(text) < SHORTEST:
                wholes.add(text)
        # A text that was cut stands elsewhere with its end: what is left of it there is no longer the text.
        lines = (wording.text, wording.text.removesuffix(_CUT), wording.title, wording.rationale)
        pieces = (*lines, wording.content, *wording.content.split("\n"))
        parts.update(stripped for piece in pieces if len(stripped := piece.strip()) >= SHORTEST)
    return _needles(parts, wholes)


def named_needles(texts: Iterable[str]) -> Needles:
    """What to look for to find texts that a person has named: as they were typed, and as they would be stored."""
    forms = {form for text in texts for form in (text.strip(), clean(text).text.strip(), single_line(clean(text).text))}
    parts = {form for form in forms if len(form) >= SHORTEST_NAMED}
    return _needles(parts, forms - parts - {""})


def _needles(parts: set[str], wholes: set[str]) -> Needles:
    # What the mark itself holds would be found for ever.
    forms = {form for part in parts if part not in ERASED for form in _forms(part)}
    raw = {escaped.encode("utf-8", "replace") for form in forms for escaped in _escapes(form)}
    return Needles(tuple(sorted(forms, key=_longest_first)), frozenset(wholes), tuple(sorted(raw, key=_longest_first)))


def _torn_end(data: bytes, part: bytes) -> int:
    """Where the longest beginning of a text stands at the end of bytes; -1 if none does. It may repeat itself there."""
    begin = data.find(part[:SHORTEST], max(0, len(data) - len(part)))
    while begin >= 0 and not part.startswith(data[begin:]):
        begin = data.find(part[:SHORTEST], begin + 1)
    return begin


def _torn_begin(data: bytes, part: bytes) -> int:
    """Where the longest end of a text stops at the beginning of bytes; -1 if none stands there."""
    begin = data.rfind(part[-SHORTEST:], 0, len(part))
    while begin >= 0 and not part.endswith(data[: begin + SHORTEST]):
        begin = data.rfind(part[-SHORTEST:], 0, begin + SHORTEST - 1)
    return begin + SHORTEST if begin >= 0 else -1


def _longest_first(text: _Text) -> tuple[int, _Text]:
    """A text that holds another goes before it, or what is left of it would be found no more."""
    return -len(text), text


def _forms(part: str) -> Iterator[str]:
    """A text as another text may quote it: as a prompt or an answer shows it, and as JSON writes it."""
    for form in {part, inert(part), inert_quote(part)}:
        yield from _escapes(form)


def _escapes(text: str) -> Iterator[str]:
    """A text, and the ways in which JSON writes it."""
    yield text
    yield msgspec.json.encode(text).decode()[1:-1]
    plain = json.dumps(text)[1:-1]
    yield plain
    yield _ESCAPE.sub(lambda match: match[0].upper().replace("U", "u"), plain)
