"""How one secret is written: a label, a flag, a URL or a file around a value of high entropy."""

from __future__ import annotations

import base64
from collections.abc import Callable

from tests.corpus.model import Chance

__all__ = ["Form", "capitals", "encoded", "key_file", "pair", "pin", "plain", "web_token", "words"]

Written = tuple[str, tuple[str, ...]]
Form = Callable[[Chance], Written]
"""Writes one secret: its text, and the values that must not be written."""

_LINE = 64


def words(text: str) -> tuple[str, ...]:
    """A list that is written with spaces between its words."""
    return tuple(text.split())


def plain(template: str, length: int = 0) -> Form:
    """One value in a template, at ``{}``."""

    def write(chance: Chance) -> Written:
        value = chance.value(length)
        return template.replace("{}", value), (value,)

    return write


def capitals(prefix: str) -> Form:
    """A prefix with sixteen capitals and digits."""

    def write(chance: Chance) -> Written:
        value = chance.value(16).upper()
        return prefix + value, (value,)

    return write


def key_file(name: str, line_end: str, *, ends: bool = True) -> Form:
    """A private key of four lines, in one line or several, with its END or without."""

    def write(chance: Chance) -> Written:
        lines = [chance.value(_LINE) for _ in range(4)]
        tail = [f"-----END {name}-----"] if ends else []
        return line_end.join([f"-----BEGIN {name}-----", *lines, *tail]), tuple(lines)

    return write


def web_token(template: str) -> Form:
    """A web token of three parts in a template."""

    def write(chance: Chance) -> Written:
        head = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
        body, signature = chance.value(), chance.value()
        return template.replace("{}", f"{head}.{body}.{signature}"), (body, signature)

    return write


def pin(template: str) -> Form:
    """Eight digits in a template."""

    def write(chance: Chance) -> Written:
        value = chance.digits(8)
        return template.replace("{}", value), (value,)

    return write


def pair(template: str) -> Form:
    """A user and a password, at the first and the second ``{}``."""

    def write(chance: Chance) -> Written:
        user, value = chance.value(14), chance.value()
        return template.replace("{}", user, 1).replace("{}", value, 1), (user, value)

    return write


def encoded(template: str) -> Form:
    """A value in base64, in a template."""

    def write(chance: Chance) -> Written:
        value = base64.b64encode(chance.value(30).encode()).decode()
        return template.replace("{}", value), (value,)

    return write
