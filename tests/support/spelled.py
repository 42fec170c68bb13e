"""What a pattern of words matches, spelled out from the pattern itself: a word that is added to it is in there too."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import product
from typing import Any

__all__ = ["spelled"]

_parse: Any = import_module("re._parser").parse
_FEW = 8
"""Members of a class that are all spelled; a larger one stands for a body, and gives one character."""


def spelled(pattern: str) -> set[str]:
    """The words of a pattern, each part that repeats as often as it must, and what may be missing there and not.

    What only looks around is passed over: some of the words need certain surroundings to match.
    """
    return set(_row(_parse(pattern)))


def _row(parts: Any) -> Iterator[str]:
    return map("".join, product(*(list(_part(str(name), value)) for name, value in parts)))


def _part(name: str, value: Any) -> Iterator[str]:
    match name:
        case "LITERAL":
            yield chr(value)
        case "IN":
            yield from _members(value)
        case "BRANCH":
            for branch in value[1]:
                yield from _row(branch)
        case "SUBPATTERN":
            yield from _row(value[-1])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, _, inside = value
            if least == 0:
                yield ""
            yield from (word * max(least, 1) for word in _row(inside))
        case "ASSERT" | "ASSERT_NOT" | "AT":
            yield ""
        case _:
            raise NotImplementedError(name)


def _members(parts: Any) -> list[str]:
    """All of a few, of many one: a letter if there is one."""
    found: list[str] = []
    for name, value in parts:
        if str(name) == "RANGE":
            found += map(chr, range(value[0], value[1] + 1))
        elif str(name) == "LITERAL":
            found.append(chr(value))
        else:
            raise NotImplementedError(str(name))
    return found if len(found) <= _FEW else [max(found, key=str.isalpha)]
