"""JSON of other programs, with the line on which each element of a list stands; nothing in it raises."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import cast

from projections.text.clean import decode

__all__ = ["array", "elements", "load", "mapping", "text_of", "texts", "word"]

_LARGEST = 50_000_000
"""Bytes of a file; the stores of other programs are a thousand times smaller."""
_LONGEST = 30
"""Digits of a whole number."""


def text_of(data: bytes) -> str:
    """The text of a file.

    Raises:
        ValueError: if there is none; the message says why, and quotes nothing.
    """
    if len(data) > _LARGEST:
        raise ValueError(f"it has more than {_LARGEST:,} bytes")
    if not data.strip():
        raise ValueError("it is empty")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no UTF-8 text, at byte {error.start}") from None


def load(text: str) -> object:
    """The value of a JSON text; NaN, Infinity and endless numbers are None.

    Raises:
        ValueError: if there is none; the message says why, and quotes nothing.
    """
    try:
        return cast("object", json.loads(text, parse_constant=_no_number, parse_int=_whole_number))
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON, at line {error.lineno}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def elements(text: str, key: str, listed: list[object]) -> list[tuple[int, object]]:
    """The elements of the list under a key, each with its line; with the first one where that can't be told.

    Args:
        text: the file's.
        key: of the list in the outermost object; empty if the file itself is the list.
        listed: the list as it was loaded.
    """
    opening = re.search(rf'"{re.escape(key)}"\s*:\s*\[' if key else r"\[", text)
    lines = None if opening is None else _lines(text, opening.end(), listed)
    return list(zip(lines or [1] * len(listed), listed, strict=True))


def texts(value: object) -> tuple[str, ...]:
    """The strings of a list, or none where there is something else."""
    return tuple(decode(one) for one in array(value) if isinstance(one, str))


def array(value: object) -> list[object]:
    """A JSON array, or an empty one where there is something else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def mapping(value: object) -> Mapping[str, object]:
    """A JSON object, or an empty one where there is something else."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def word(fields: Mapping[str, object], name: str) -> str:
    """A string field, or the empty string."""
    value = fields.get(name)
    return decode(value) if isinstance(value, str) else ""


def _lines(text: str, begin: int, listed: list[object]) -> list[int] | None:
    """The line of each element, or None if the text read from there isn't the list."""
    decoder = json.JSONDecoder(parse_constant=_no_number, parse_int=_whole_number)
    lines: list[int] = []
    position, counted, line = begin, 0, 1
    for expected in listed:
        while position < len(text) and text[position] in " \t\r\n,":
            position += 1
        line += text.count("\n", counted, position)
        counted = position
        try:
            value, position = cast("tuple[object, int]", decoder.raw_decode(text, position))
            if value != expected:
                return None
        except (ValueError, RecursionError):
            return None
        lines.append(line)
    return lines


def _no_number(_text: str) -> None:
    """NaN and Infinity are no numbers (SPEC 21)."""


def _whole_number(text: str) -> int | None:
    """A whole number; one without end is none, and must not cost the rest of the file."""
    return int(text) if len(text) <= _LONGEST else None
