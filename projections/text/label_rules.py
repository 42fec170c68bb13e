"""What each kind of label takes for its secret (SPEC 7.4, and the kinds beyond it)."""

from __future__ import annotations

import re
from collections.abc import Callable

from projections.text.characters import QUOTES
from projections.text.label_words import LABELS, MORE_LABELS, PASSWORD_LABEL, SCHEMES
from projections.text.looks import has_digit, has_mixed_letters, is_key_like, is_secret_like, is_small_number
from projections.text.more_labels import begins_a_word, is_of_an_account, is_variable, stands_as_key
from projections.text.programs import glued_password, login_secret
from projections.text.shapes import MARK
from projections.text.values import (
    CLOSE,
    FILLER,
    GAP,
    RUN,
    SEPARATOR,
    UNCLOSED,
    any_value,
    digits_at,
    loose_value,
    run_at,
    second_label,
    value_at,
)
from projections.text.views import BLANK, JOINT, Span

__all__ = ["RULES"]

_SPACE = BLANK
_SCHEME = re.compile(rf"(?:bearer|basic){_SPACE}++(?:{FILLER}{_SPACE}*+)*+(?=\S)", re.IGNORECASE)
_MORE_WORDS = re.compile(r"(?:[ \t]++[\w'’-]++){0,11}+")
"""The words of a pass phrase behind the first."""
_CLOSE_SIGN = 2
"""Characters of a separator that stands close: ``=``, maybe behind a quote."""
_ESCAPED_BREAK = re.compile(r"\\[nrt]")
_VALUE_ENDS = re.compile(rf"\\{{0,3}}[\"'`]?[ \t]*(?:[\n{JOINT},;，；}}\])]|\\[nrt]|\Z)")
_COMMA = re.compile(rf"\\{{0,3}}+[\"'`”’」』»]?{_SPACE}*+[,，]{_SPACE}*+\\{{0,3}}+[\"'`“‘「『«]?")
_AUTHORIZATION = re.compile(rf"authorization{CLOSE}{_SPACE}*+[=:：＝]{_SPACE}*+[\"'`]?\Z", re.IGNORECASE)
_LONGEST_HEADER_BEFORE = 40
_TELLING = 100
_LONGEST_NAME = 256

_HEADER_VALUE = re.compile(
    rf"\\{{0,3}}+[\"'`]?(?!bearer\b)(?:(?P<known>{SCHEMES}){_SPACE}++|[a-z][\w-]{{0,31}}+{_SPACE}++)?(?=\S)",
    re.IGNORECASE,
)


def _password(text: str, label: re.Match[str]) -> list[Span]:
    if separator := SEPARATOR.match(text, label.end()):
        return any_value(text, separator.end())
    return loose_value(text, label.end(), is_secret_like)


def _phrase(text: str, label: re.Match[str]) -> list[Span]:
    """As a password; one of words goes on up to the end of the line or sentence, or to the next label."""
    spans = _password(text, label)
    separator = SEPARATOR.match(text, label.end())
    if separator is None or len(spans) != 1 or spans[0].start != separator.end():
        return spans
    start, end = spans[0]
    first = text[start:end]
    if MARK in first or has_digit(first):
        return spans
    more = _MORE_WORDS.match(text, end)
    stop = more.end() if more else end
    for labels in (LABELS, MORE_LABELS):
        if inside := labels.search(text, end, stop):
            stop = inside.start()
    return [Span(start, start + len(text[start:stop].rstrip()))]


def _told(text: str, label: re.Match[str]) -> list[Span]:
    """A password in one of more languages: as the others, but a mere ``是`` may begin a sentence about passwords."""
    separator = SEPARATOR.match(text, label.end())
    if separator is None:
        return loose_value(text, label.end(), is_secret_like)
    if _is_sign(separator):
        return any_value(text, separator.end())
    return _value_like(text, separator.end(), is_secret_like)


def _vague(text: str, label: re.Match[str]) -> list[Span]:
    separator = SEPARATOR.match(text, label.end())
    if separator is None:
        return loose_value(text, label.end(), is_key_like)
    return _value_like(text, separator.end(), is_key_like)


def _pass(text: str, label: re.Match[str]) -> list[Span]:
    """``DB_PASS=`` takes any value; ``ACME_PASS=``, ``pass=`` and a setting ``pass:`` take one like a secret.

    ``PASS:`` begins the lines of test runners, and "first pass:" those of people.
    """
    start, end = label.span()
    separator = SEPARATOR.match(text, end)
    if separator is None or not _is_sign(separator):
        return []
    at = separator.end()
    if is_of_an_account(text, start):
        return any_value(text, at)
    if "=" in separator.group():
        is_close = at - end <= _CLOSE_SIGN and begins_a_word(text, start)
        is_set = is_close or is_variable(text, start, end)
    else:
        is_set = label.group() != "PASS" and stands_as_key(text, start) and _stands_alone(text, at)
    return _value_like(text, at, is_secret_like) if is_set else []


def _is_sign(separator: re.Match[str]) -> bool:
    """Whether a separator is a sign, and not a mere "is" of Chinese."""
    return any(sign in separator.group() for sign in "=:：＝")


def _head(text: str, at: int) -> re.Match[str] | None:
    """What a value begins with, which tells what it is: one read to its end only to be kept would be read again."""
    opening = UNCLOSED.match(text, at)
    start = opening.end() if opening else at
    return RUN.match(text, start, start + _TELLING)


def _value_like(text: str, at: int, is_secret: Callable[[str], bool]) -> list[Span]:
    """A value if it looks like a secret, or if it is a label itself and what follows it looks like one."""
    head = _head(text, at)
    if head is None:
        return []
    if is_secret(head.group().replace(MARK, "")):
        return any_value(text, at)
    row = any_value(text, at) if second_label(text, Span(*head.span())) else []
    return row if len(row) > 1 else []


def _stands_alone(text: str, at: int) -> bool:
    """Whether nothing more of a sentence follows a value."""
    head = _head(text, at)
    return head is not None and bool(_ESCAPED_BREAK.search(head.group()) or _VALUE_ENDS.match(text, head.end()))


def _key(text: str, label: re.Match[str]) -> list[Span]:
    if separator := SEPARATOR.match(text, label.end()):
        scheme = _SCHEME.match(text, separator.end())
        spans = any_value(text, scheme.end() if scheme else separator.end())
        return [] if spans and is_small_number(text[spans[0].start : spans[0].end]) else spans
    return loose_value(text, label.end(), is_key_like)


def _bearer(text: str, label: re.Match[str]) -> list[Span]:
    if SEPARATOR.match(text, label.end()):
        return _key(text, label)
    start = label.start()
    header = text[max(0, start - _LONGEST_HEADER_BEFORE) : start]
    if header.endswith(tuple(QUOTES)) or _AUTHORIZATION.search(header):
        return loose_value(text, label.end(), bool)
    return loose_value(text, label.end(), lambda value: has_digit(value) or has_mixed_letters(value))


def _header(text: str, label: re.Match[str]) -> list[Span]:
    """``Authorization`` with any scheme; Bearer has a rule of its own. Prose behind the colon is no credential."""
    separator = SEPARATOR.match(text, label.end())
    value = _HEADER_VALUE.match(text, separator.end()) if separator else None
    if value is None:
        return []
    head = RUN.match(text, value.end(), value.end() + _TELLING)  # see ``_head``
    if head is None:
        return []
    found = head.group()
    padded = len(found) < _TELLING and found.endswith("=")
    if not (value["known"] or padded or is_key_like(found)):
        return []
    run = run_at(text, value.end())
    return [run] if run else []


def _flag(text: str, label: re.Match[str]) -> list[Span]:
    gap = SEPARATOR.match(text, label.end()) or GAP.match(text, label.end())
    return [] if gap is None or text.startswith("-", gap.end()) else any_value(text, gap.end())


def _pin(text: str, label: re.Match[str]) -> list[Span]:
    before = SEPARATOR.match(text, label.end())
    if before is None and label.group() == "PIN":
        before = GAP.match(text, label.end())
    return digits_at(text, before.end()) if before else []


def _user(text: str, label: re.Match[str]) -> list[Span]:
    """A user name is a secret only together with the password that follows it after a comma.

    Most names are kept, so what follows them is read again: one run may hold the label a thousand times over. A run
    that is longer than any name is therefore not read to its end.
    """
    separator = SEPARATOR.match(text, label.end())
    if separator is None:
        return []
    start = separator.end()
    head = RUN.match(text, start, start + _LONGEST_NAME)
    name = value_at(text, start) if head is None or head.end() < start + _LONGEST_NAME else None
    comma = _COMMA.match(text, name.end) if name else None
    if name is None or comma is None:
        return []
    second = PASSWORD_LABEL.match(text, comma.end())
    between = SEPARATOR.match(text, second.end()) if second else None
    return [name, *any_value(text, between.end())] if between else []


RULES: dict[str, Callable[[str, re.Match[str]], list[Span]]] = {
    "flag": _flag,
    "user": _user,
    "password": _password,
    "bearer": _bearer,
    "key": _key,
    "pin": _pin,
    "header": _header,
    "phrase": _phrase,
    "told": _told,
    "vague": _vague,
    "pass": _pass,
    "azure": _password,
    "login": lambda text, label: login_secret(text, label.start(), label.end()),
    "glued": lambda text, label: glued_password(text, label.start(), label.end()),
}
