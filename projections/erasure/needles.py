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
from projections.text.canonical import bare
from projections.text.characters import is_wide_letter
from projections.text.clean import clean, single_line
from projections.text.cut import weighted_length
from projections.text.erased import ERASED

__all__ = ["SHORTEST", "SHORTEST_NAMED", "Needles", "named_needles", "needles_of"]

SHORTEST = 8
"""Weight (SPEC 1.4) of a text that is looked for inside of others; a lighter one may stand there by chance. No explicit
memory is lighter (SPEC 4.6)."""

SHORTEST_NAMED = 5
"""The same for a text that a person has named: it is meant, wherever it stands."""

_TORN = 8
"""Bytes of a beginning or an end that tell a text where the rest of it is cut off."""

_Text = TypeVar("_Text", str, bytes)
_AROUND = 4
_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")


class Needles(Struct, frozen=True):
    """What is looked for.

    Attributes:
        parts: texts that are looked for inside of others, the longest first, each in all forms it may have there.
        wholes: short texts, which are found only where they are the whole string.
        raw: the forms of ``parts`` as bytes of a file.
        marked: short texts and titles, which are found in bytes of any kind only between the marks of a quotation or
            as a whole value of JSON.
        loose: short texts that a person has named, or that are all a memory says: what holds one among other words
            keeps it, and may be told of.
    """

    parts: tuple[str, ...] = ()
    wholes: frozenset[str] = frozenset()
    raw: tuple[bytes, ...] = ()
    marked: tuple[bytes, ...] = ()
    loose: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.parts or self.wholes)

    def joined(self, others: Needles) -> Needles:
        """These and others."""
        return Needles(
            tuple(sorted({*self.parts, *others.parts}, key=_longest_first)),
            self.wholes | others.wholes,
            tuple(sorted({*self.raw, *others.raw}, key=_longest_first)),
            tuple(sorted({*self.marked, *others.marked}, key=_longest_first)),
            tuple(sorted({*self.loose, *others.loose}, key=_longest_first)),
        )

    @property
    def longest(self) -> int:
        """Bytes that have to be looked at in one piece to find any of them."""
        loose = (len(form.encode("utf-8", "replace")) for form in self.loose)
        # Besides the text, the marks around it, and a character on both sides.
        return max((*map(len, self.raw), *map(len, self.marked), *loose), default=0) + 2 * _AROUND

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

    def may_be_in(self, text: str) -> bool:
        """Whether a string holds a short text among other words, where nobody can tell whether it is meant."""
        return any(form in text and re.search(_alone(form), text) for form in self.loose)

    def may_be_in_bytes(self, data: bytes) -> bool:
        """The same for bytes of any kind."""
        return bool(self.loose) and self.may_be_in(data.decode("utf-8", "replace"))

    def are_in_bytes(self, data: bytes) -> bool:
        """Whether bytes of any kind hold one, as it is or as JSON writes it."""
        return any(part in data for part in self.raw)

    def erased_bytes(self, data: bytes) -> bytes:
        """The bytes with the mark in the place of each."""
        for part in self.raw:
            data = data.replace(part, ERASED.encode())
        return data

    def erased_torn(self, data: bytes) -> bytes:
        """The same for bytes that were cut at their ends: there a beginning or an end of a text is enough.

        A short text goes where marks stand around it.
        """
        data = self.erased_bytes(data)
        for one in self.marked:
            data = re.sub(_between_marks(one), ERASED.encode(), data)
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
    titles: set[str] = set()
    loose: set[str] = set()
    for wording in wordings:
        if wording.erased is not None:
            continue
        texts, names = _with_bare(wording.text), _with_bare(wording.title)
        said = texts | _with_bare(wording.content) | _with_bare(wording.rationale)
        wholes |= set(filter(_is_short, said))
        titles |= set(filter(_is_short, names))
        loose |= set(filter(_is_short, texts))
        pieces = said.union(names, *map(_with_bare, wording.content.split("\n")))
        parts |= {piece for piece in pieces if weighted_length(piece) >= SHORTEST}
    return _needles(parts, wholes, titles, loose)


def named_needles(texts: Iterable[str]) -> Needles:
    """What to look for to find texts that a person has named: as they were typed, as they would be stored, and bare."""
    typed = {form for text in texts for form in (text.strip(), clean(text).text.strip(), single_line(clean(text).text))}
    forms = {form for text in typed for form in _with_bare(text)}
    parts = {form for form in forms if weighted_length(form) >= SHORTEST_NAMED}
    short = forms - parts - {""}
    return _needles(parts, short, set(), short)


def _with_bare(text: str) -> set[str]:
    """A text, and the same without the punctuation at its ends: that is the same text (SPEC 8.1).

    One that was cut stands elsewhere with its end, a question that was refused without its mark.
    """
    return {text, text.strip(), bare(text)} - {""}


def _is_short(text: str) -> bool:
    return 0 < weighted_length(text) < SHORTEST


def _needles(parts: set[str], wholes: set[str], titles: set[str], loose: set[str]) -> Needles:
    forms = _all_forms(parts)
    return Needles(
        parts=tuple(sorted(forms, key=_longest_first)),
        wholes=frozenset(wholes),
        raw=_bytes_of(forms),
        marked=_bytes_of(_all_forms(wholes | titles)),
        loose=tuple(sorted(_all_forms(loose), key=_longest_first)),
    )


def _all_forms(texts: Iterable[str]) -> set[str]:
    """All forms of texts; what the mark itself holds would be found for ever."""
    return {form for text in texts if (one := text.strip()) not in ERASED for form in _forms(one)}


def _bytes_of(forms: Iterable[str]) -> tuple[bytes, ...]:
    raw = {escaped.encode("utf-8", "replace") for form in forms for escaped in _escapes(form)}
    return tuple(sorted(raw, key=_longest_first))


def _between_marks(one: bytes) -> bytes:
    """A text between the marks of a quotation of ours, or as a value of JSON; no name of a field is one."""
    text = re.escape(one)
    value = rb'(?:(?<=[:,\[]")|(?<=[:,\[] "))%s(?="(?!\s*:))' % text
    return rb"(?<=%s)%s(?=%s)|%s" % ("“".encode(), text, "”".encode(), value)


def _alone(form: str) -> str:
    """A text that isn't part of a longer word; letters that are written without spaces may be of any word."""
    before = r"(?:(?<!\w)|(?<=\\[nrt]))" if _is_of_a_word(form[0]) else ""
    return before + re.escape(form) + (r"(?!\w)" if _is_of_a_word(form[-1]) else "")


def _is_of_a_word(char: str) -> bool:
    return char.isalnum() and not is_wide_letter(char)


def _torn_end(data: bytes, part: bytes) -> int:
    """Where the longest beginning of a text stands at the end of bytes; -1 if none does. It may repeat itself there."""
    begin = data.find(part[:_TORN], max(0, len(data) - len(part)))
    while begin >= 0 and not part.startswith(data[begin:]):
        begin = data.find(part[:_TORN], begin + 1)
    return begin


def _torn_begin(data: bytes, part: bytes) -> int:
    """Where the longest end of a text stops at the beginning of bytes; -1 if none stands there."""
    begin = data.rfind(part[-_TORN:], 0, len(part))
    while begin >= 0 and not part.endswith(data[: begin + _TORN]):
        begin = data.rfind(part[-_TORN:], 0, begin + _TORN - 1)
    return begin + _TORN if begin >= 0 else -1


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
