"""How a value looks: what tells a secret from a word, a name or a size where its label alone doesn't (SPEC 7.4)."""

from __future__ import annotations

import re

__all__ = ["has_digit", "has_mixed_letters", "is_key_like", "is_secret_like", "is_small_number"]

_SMALL_NUMBER = re.compile(r"\d+(?:\.\d+)?\Z")


def is_small_number(value: str) -> bool:
    """A number of at most six digits: a size, a port, a count."""
    return _SMALL_NUMBER.match(value) is not None and sum(map(str.isdecimal, value)) <= 6


def is_secret_like(value: str) -> bool:
    """A letter and a digit, six or more characters."""
    return len(value) >= 6 and has_digit(value) and any(map(str.isalpha, value))


def is_key_like(value: str) -> bool:
    """A value that looks like a password or like a key without digits."""
    return is_secret_like(value) or has_mixed_letters(value)


def has_mixed_letters(value: str) -> bool:
    """16 or more letters with both a run of two capitals and a lower-case letter."""
    return (
        sum(map(str.isalpha, value)) >= 16 and re.search("[A-Z]{2}", value) is not None and any(map(str.islower, value))
    )


def has_digit(value: str) -> bool:
    """Whether a digit of any script stands in it."""
    return any(map(str.isdigit, value))
