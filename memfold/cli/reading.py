"""Texts that a person hands to a command, in a file that is named or on stdin: read whole, but never without end."""

from __future__ import annotations

import sys

from ledger.files import open_regular
from memfold.errors import DataError, NotFoundError
from projections.text.clean import decode, utf8

__all__ = ["STDIN", "given_file", "given_stdin"]

STDIN = "-"
"""The name that stands for stdin."""

_LIMIT = 1_000_000
"""Characters of a text, or bytes of a file; a head, a proof and a memory are a small part of that."""


def given_file(name: str) -> str:
    """The text of a file, or of stdin.

    Raises:
        NotFoundError: if there is no such file.
        DataError: if it is too large.
        OSError: if it can't be read, or is no file: a pipe or a device might never end.
    """
    if name == STDIN:
        return given_stdin()
    try:
        with open(name, "rb", opener=open_regular) as file:
            data = file.read(_LIMIT + 1)
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {decode(name)}") from error
    _require_bounded(len(data), decode(name))
    return utf8(data)


def given_stdin() -> str:
    """The text on stdin.

    Raises:
        DataError: if it is too long.
    """
    text = sys.stdin.read(_LIMIT + 1)
    _require_bounded(len(text), "the text on stdin")
    return decode(text)


def _require_bounded(length: int, what: str) -> None:
    if length > _LIMIT:
        raise DataError(f"{what} is longer than {_LIMIT:,} bytes", "a file that memfold wrote, or a shorter text")
