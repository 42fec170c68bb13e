"""Secrets that show by their shape alone: private keys, credentials in URLs, provider tokens (SPEC 7.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from projections.text.characters import QUOTES

__all__ = ["MARK", "hide_shapes"]

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
_TOKENS = (
    r"gh[pousr]_[A-Za-z0-9_]{16,}+",
    r"github_pat_[A-Za-z0-9_]{16,}+",
    r"glpat-[A-Za-z0-9_-]{16,}+",
    r"xox[bpas]-[A-Za-z0-9-]{10,}+",
    r"sk-[A-Za-z0-9_-]{16,}+",
    r"[spr]k_live_[A-Za-z0-9]{16,}+",
    r"AIza[A-Za-z0-9_-]{30,}+",
    r"npm_[A-Za-z0-9]{20,}+",
    r"hf_[A-Za-z0-9]{20,}+",
    r"pypi-[A-Za-z0-9_-]{16,}+",
    r"A(?:KIA|SIA)[A-Z0-9]{16,}+",
)
_EXTRA_BODY = r"[A-Za-z0-9_-]{10,}+"  # SPEC 20.3 names no length; the shortest of 7.3 is taken.
# What begins like a web token is always read whole, and only then judged: a match that could fail after a long
# way would be tried again from each `eyJ` on the way.
_WEB_TOKEN = re.compile(_WORD_START + r"eyJ[A-Za-z0-9_-]*+((?:\.[A-Za-z0-9_-]++){0,4}+)(?![A-Za-z0-9_])")


def hide_shapes(text: str, prefixes: tuple[str, ...] = ()) -> str:
    """Replace all secrets that need no label by the mark, in the order of SPEC 7.3.

    Args:
        text: a decoded text.
        prefixes: further token prefixes (SPEC 20.3).

    Returns:
        The text with each secret replaced. Linear in its length.
    """
    text = _hide_private_keys(text)
    # The parts between marks are looked at alone, so that a mark put somewhere never completes a shape elsewhere.
    tokens = _token_pattern(prefixes)
    return MARK.join(_hide_in_part(part, tokens) for part in text.split(MARK))


def _hide_in_part(part: str, tokens: re.Pattern[str]) -> str:
    if "://" in part:
        part = _URL_RUN.sub(_hide_credentials, part)
    return _WEB_TOKEN.sub(_hide_web_token, tokens.sub(MARK, part))


def _hide_private_keys(text: str) -> str:
    pieces: list[str] = []
    at = 0
    while header := _KEY_HEADER.search(text, at):
        pieces += (text[at : header.start()], MARK)
        footer = f"-----END {header[1]}-----"
        found = text.find(footer, header.end())
        at = len(text) if found < 0 else found + len(footer)
    return "".join([*pieces, text[at:]])


def _hide_credentials(run: re.Match[str]) -> str:
    """Hide ``user:secret@`` behind each ``://`` of a run; a secret may itself hold ``@``, ``/``, ``?`` and ``#``."""
    pieces: list[str] = []
    word, at = run.group(), 0
    for start in _after_schemes(word):
        if start < at or not (user := _USER.match(word, start)):
            continue
        secret = user.end()
        authority = _AUTHORITY.match(word, secret)
        last = word.rfind("@", secret, authority.end() if authority else secret)
        end = last if last >= 0 else word.find("@", secret)
        if end < 0:
            break  # No sign follows that could end credentials.
        if end > secret:
            pieces += (word[at:start], MARK)
            at = end
    return "".join([*pieces, word[at:]])


def _after_schemes(word: str) -> Iterator[int]:
    for match in re.finditer("(?<=[A-Za-z0-9+.-])://", word):
        yield match.end()


@lru_cache(maxsize=16)
def _token_pattern(prefixes: tuple[str, ...]) -> re.Pattern[str]:
    extra = tuple(re.escape(prefix) + _EXTRA_BODY for prefix in prefixes if prefix)
    return re.compile(f"{_WORD_START}(?:{'|'.join(_TOKENS + extra)})(?![A-Za-z0-9_])")


def _hide_web_token(match: re.Match[str]) -> str:
    return MARK if match[1].count(".") >= 2 else match.group()
