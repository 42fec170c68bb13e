"""Secrets that show by their shape alone: private keys, credentials in URLs, provider tokens (SPEC 7.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from projections.text.characters import QUOTES
from projections.text.provider_tokens import BEYOND, PROMISED
from projections.text.views import Span

__all__ = ["MARK", "Finder", "shapes"]

Finder = Callable[[str], Iterator[Span]]
"""Finds the secrets of one kind in a text: their spans, in order and apart from each other."""

MARK = "[REDACTED]"
"""What stands for a secret (SPEC 7.1)."""

# Bounded and lazy: a header is short, and `-----BEGIN ` repeated must not be read to the end each time.
_KEY_HEADER = re.compile(r"-----BEGIN ([^\n-]{0,64}?PRIVATE KEY[^\n-]{0,32})-----")

_URL_RUN = re.compile(rf"[^\s{re.escape(QUOTES)}<>]++")
# A user name ends at the colon; a port with a path behind it is none of this.
_USER = re.compile(r"[^/?#@:\[\]]*+:(?!\d{1,5}(?:[/?#]|\Z))")
_AUTHORITY = re.compile(r"[^/?#]*+")

# A whole word begins after what is no letter, digit or underscore: also after an escaped line break or a
# percent-encoded sign, whose last character only looks like a letter of the word.
_WORD_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_EXTRA_BODY = r"[A-Za-z0-9_-]{10,}+"  # SPEC 20.3 names no length; the shortest of 7.3 is taken.
# What begins like a web token is always read whole, and only then judged: a match that could fail after a long
# way would be tried again from each `eyJ` on the way.
_WEB_TOKEN = re.compile(_WORD_START + r"eyJ[A-Za-z0-9_-]*+((?:\.[A-Za-z0-9_-]++){0,4}+)(?![A-Za-z0-9_])")


def shapes(prefixes: tuple[str, ...] = ()) -> tuple[Finder, ...]:
    """What finds the secrets that need no label, in the order of SPEC 7.3.

    Args:
        prefixes: further token prefixes (SPEC 20.3).

    Returns:
        One function a kind: from a decoded text to the spans of its secrets, in order. Each is linear.
    """
    return (_private_keys, _credentials, _token_finder(prefixes), _more_tokens, _web_tokens)


def _private_keys(text: str) -> Iterator[Span]:
    at = 0
    while header := _KEY_HEADER.search(text, at):
        footer = f"-----END {header[1]}-----"
        found = text.find(footer, header.end())
        at = len(text) if found < 0 else found + len(footer)
        yield Span(header.start(), at)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """The parts between marks, and where they start: a mark put somewhere never completes a shape elsewhere."""
    start = 0
    for part in text.split(MARK):
        yield start, part
        start += len(part) + len(MARK)


def _credentials(text: str) -> Iterator[Span]:
    for start, part in _parts(text):
        if "://" in part:
            for run in _URL_RUN.finditer(part):
                yield from _credentials_in(run.group(), start + run.start())


def _credentials_in(word: str, offset: int) -> Iterator[Span]:
    """``user:secret`` behind each ``://`` of a run; a secret may itself hold ``@``, ``/``, ``?`` and ``#``."""
    at = 0
    for start in _after_schemes(word):
        if start < at or not (user := _USER.match(word, start)):
            continue
        end = _end_of_credentials(word, user.end())
        if end < 0:
            break  # No sign follows that could end credentials.
        if end > user.end():
            yield Span(offset + start, offset + end)
            at = end


def _end_of_credentials(word: str, secret: int) -> int:
    """Where the ``@`` stands that ends a secret, -1 if none does.

    A ``?`` or ``#`` before it is either one of the secret's own or begins a query, which shows by its ``=``.
    """
    authority = _AUTHORITY.match(word, secret)
    end = authority.end() if authority else secret
    first = word.rfind("@", secret, end)
    if first < 0:
        first = word.find("@", secret)
        end = first
    if first < 0:
        return -1
    slash = word.find("/", first)
    last = word.rfind("@", end, slash if slash >= 0 else len(word))
    return last if last > first and "=" not in word[end:last] else first


def _after_schemes(word: str) -> Iterator[int]:
    for match in re.finditer("(?<=[A-Za-z0-9+.-])://", word):
        yield match.end()


@lru_cache(maxsize=16)
def _token_finder(prefixes: tuple[str, ...]) -> Finder:
    extra = tuple(re.escape(prefix) + _EXTRA_BODY for prefix in prefixes if prefix)
    return partial(_tokens, _whole_words(PROMISED + extra))


def _more_tokens(text: str) -> Iterator[Span]:
    # A pattern of many prefixes costs each place of a text more than one look for each of them costs the whole.
    return _tokens(_MORE, text) if any(prefix in text for prefix in BEYOND) else iter(())


def _whole_words(tokens: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"{_WORD_START}(?:{'|'.join(tokens)})(?![A-Za-z0-9_])")


_MORE = _whole_words(tuple(re.escape(prefix) + body for prefix, body in BEYOND.items()))


def _tokens(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    for start, part in _parts(text):
        for token in pattern.finditer(part):
            yield Span(start + token.start(), start + token.end())


def _web_tokens(text: str) -> Iterator[Span]:
    for start, part in _parts(text):
        for token in _WEB_TOKEN.finditer(part):
            if token[1].count(".") >= 2:
                yield Span(start + token.start(), start + token.end())
