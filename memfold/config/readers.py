"""Readers of configured values: each takes any value and returns a good one, notes what it changed, or refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar, cast

from memfold.config.model import Finding

__all__ = [
    "Notes",
    "Reader",
    "Refusal",
    "attempt",
    "boolean",
    "choice",
    "items",
    "name_reader",
    "named",
    "number",
    "string",
    "subset",
    "table",
    "whole",
    "word",
    "words",
]

_T = TypeVar("_T")
_SHOWN = 60
_WORD_LIMIT = 100
_ITEM_LIMIT = 256
"""Items of a list, and names of a table: each word is looked for in every message."""
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


class Refusal(ValueError):  # noqa: N818 - it is an answer, not an error
    """A value that can't be used as a whole: what is wrong, and what to write instead."""

    def __init__(self, problem: str, fix: str) -> None:
        self.problem = problem
        self.fix = fix
        super().__init__(problem)


class Notes:
    """Collects findings about one key of one source."""

    def __init__(self, source: str, findings: list[Finding], key: str = "") -> None:
        self.source = source
        self.key = key
        self._findings = findings

    def at(self, name: object) -> Notes:
        """Notes about something inside this key: a name, or an index in a list."""
        inner = f"[{name}]" if isinstance(name, int) else f".{name}"
        return Notes(self.source, self._findings, (self.key + inner).removeprefix("."))

    def add(self, value: object, problem: str, fix: str) -> None:
        """Record what is wrong with a value."""
        self._findings.append(Finding(self.source, self.key, _shown(value), problem, fix))


Reader = Callable[[object, Notes], Any]
"""Returns the value in the form that is kept; raises ``Refusal``."""


def attempt(read: Reader, value: object, notes: Notes) -> tuple[Any, ...]:
    """The value as a tuple of one, or an empty tuple and a note if the reader refuses it."""
    try:
        return (read(value, notes),)
    except Refusal as refusal:
        notes.add(value, refusal.problem, refusal.fix)
        return ()


def boolean(value: object, _: Notes) -> bool:
    """True or false, and no number or text that resembles them."""
    if isinstance(value, bool):
        return value
    raise Refusal("is not true or false", "write true or false, without quotation marks")


def string(value: object, _: Notes) -> str:
    """Text that can be written as UTF-8."""
    if not isinstance(value, str):
        raise Refusal("is no text", "write it in quotation marks")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Refusal("holds half a character", "write it anew") from None
    return value


def choice(*allowed: str) -> Reader:
    """One of a few words."""

    def read(value: object, _: Notes) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise Refusal("is none of the choices", f"write one of {', '.join(allowed)}")

    return read


def whole(low: int, high: int, *, limit: int | None = None) -> Reader:
    """A whole number from ``low`` to ``high``; one above ``limit`` is lowered to it (SPEC 2.6, 19)."""

    def read(value: object, notes: Notes) -> int:
        fraction = isinstance(value, float) and not value.is_integer()
        if isinstance(value, bool) or not isinstance(value, int | float) or fraction or not low <= value <= high:
            raise Refusal("is no whole number that fits", f"write one from {low} to {high if limit is None else limit}")
        if limit is not None and value > limit:
            notes.add(value, "is above the limit, which is taken", f"write at most {limit}")
            return limit
        return int(value)

    return read


def number(low: float, high: float, *, parts: int, unit: str) -> Reader:
    """A number that is a whole count of ``parts`` of one: no float enters the log (DESIGN 3)."""

    def read(value: object, _: Notes) -> float:
        advice = f"write a number from {low:g} to {high:g} in whole {unit}"
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise Refusal("is no number that fits", advice)
        if abs(value * parts - round(value * parts)) > 1e-6:
            raise Refusal(f"is not in whole {unit}", advice)
        return value

    return read


def word(value: object, notes: Notes) -> str:
    """A word of a configured list: a linear-time pattern that doesn't match everything (SPEC 20.3)."""
    text = string(value, notes)
    if len(text) > _WORD_LIMIT:
        raise Refusal("is too long", f"write at most {_WORD_LIMIT} characters")
    # Loaded here, since most configurations hold no word.
    from projections.policy import Patterns, Policy
    from projections.rules.patterns import check_patterns
    from projections.text.clean import clean
    from projections.text.intake import take_in_block

    # The policy is written into the log. Such a word would never match either: texts are judged without their secrets.
    if take_in_block(text, Policy()).text != clean(text).text:
        raise Refusal("holds a secret", "leave it out; of a token, give what all of its kind begin with")
    if problems := check_patterns(Policy(patterns=Patterns(triggers=(text,)))):
        raise Refusal(problems[0].partition(": ")[2], "give a word, or leave it out")
    return text


def items(read: Reader) -> Reader:
    """A list; items that can't be used are noted and left out."""

    def read_all(value: object, notes: Notes) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise Refusal("is no list", "write it in square brackets")
        listed = _limited(cast("Sequence[object]", value), notes)
        return [good for index, item in enumerate(listed) for good in attempt(read, item, notes.at(index))]

    return read_all


words = items(word)
"""A list of words."""


def subset(allowed: Sequence[str]) -> Reader:
    """A list of some of the allowed words, in their own order, so that the order written makes no other policy."""
    listed = items(choice(*allowed))

    def read(value: object, notes: Notes) -> list[str]:
        chosen = listed(value, notes)
        return [name for name in allowed if name in chosen]

    return read


def table(fields: Mapping[str, Reader]) -> Reader:
    """A table of known fields; other fields and bad values are noted and left out."""

    def read(value: object, notes: Notes) -> dict[str, Any]:
        known: dict[str, Any] = {}
        for name, item in _mapping(value).items():
            if reader := fields.get(str(name)):
                known.update((str(name), good) for good in attempt(reader, item, notes.at(name)))
            else:
                notes.at(name).add(item, "is no known field", f"write one of {', '.join(fields)}")
        return known

    return read


def named(read: Reader) -> Reader:
    """A table by names that people choose, which are lower-case words."""

    def read_all(value: object, notes: Notes) -> dict[str, Any]:
        known: dict[str, Any] = {}
        for name, item in _limited(list(_mapping(value).items()), notes):
            if attempt(name_reader(), name, notes.at(name)):
                known.update((str(name), good) for good in attempt(read, item, notes.at(name)))
        return known

    return read_all


def name_reader(taken: Collection[str] = ()) -> Reader:
    """A lower-case word that isn't taken already."""

    def read(value: object, _: Notes) -> str:
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise Refusal("is no lower-case word", "use a letter, then up to 31 of a-z, 0-9, '-' and '_'")
        if value in taken:
            raise Refusal("is taken", "choose another name")
        return value

    return read


def _limited(listed: Sequence[_T], notes: Notes) -> Sequence[_T]:
    """The items that count."""
    if len(listed) > _ITEM_LIMIT:
        notes.add(listed, "has too many items; the first ones are taken", f"write at most {_ITEM_LIMIT}")
    return listed[:_ITEM_LIMIT]


def _shown(value: object) -> str:
    try:
        shown = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, or nested too deeply
        return type(value).__name__
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"


def _mapping(value: object) -> Mapping[object, object]:
    if not isinstance(value, Mapping):
        raise Refusal("is no table", "write its fields by name")
    return cast("Mapping[object, object]", value)
