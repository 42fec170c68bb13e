"""A text as a reader sees it: rules that look for words read such a view, and what they find is mapped back."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import NamedTuple

from projections.text.lazily import lazily

__all__ = ["BLANK", "CONTINUATION", "JOINT", "Span", "View", "as_seen", "continued", "joined", "splice"]

BLANK = r"[^\S\n\v\f\r\x1c-\x1e\x85\u2028\u2029]"
"""Whitespace within a line, as pattern source."""

JOINT = "\x1f"
"""What a line break is in a joined view: a blank that no cleaned text holds, so that rules can tell it from one."""

CONTINUATION = "\\\n"
"""A backslash at the end of a line: the shell, and a reader, go on in the next one."""

# Unicode's default ignorable code points; ranges rather than `unicodedata`, so that every Python version sees alike.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Other forms of ASCII characters: small, full-width, styled, in circles and squares. The full-width punctuation of
# Chinese and Japanese prose stays: the rules know it, and most such text needs no view then.
_STYLED = (
    "\u2070-\u209c\u2100-\u214f\u2460-\u24e9\ufe50-\ufe6b\uff02-\uff07\uff0a\uff0b\uff0d-\uff19\uff1c\uff1e"
    "\uff20-\uff5a\uff5c\uff5e\U0001d400-\U0001d7ff\U0001f130-\U0001f149"
)
# Letters of other scripts that look like these. Only where they stand in a word with ASCII letters, up to a few apart:
# no word of a language mixes them, and texts that are written in these scripts stay as they are.
_TWINS = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u0261\u04bb\u051b\u051d\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425"
    "\u0406\u0408\u0405\u03bf\u03bd\u03b1\u03c1\u03b9\u03c5\u03ba\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0578\u057d\u0585",
    "aeopcyxijsdghqwABEKMHOPCTXIJSovapiukABEHIKMNOPTYXnuo",
)
_TWIN = f"[{''.join(map(chr, _TWINS))}]"
_UNPLAIN = lazily(
    f"[{_IGNORABLE}{_STYLED}]|(?<=[A-Za-z]){_TWIN}|(?<=[A-Za-z]{_TWIN}){_TWIN}|{_TWIN}(?={_TWIN}{{0,3}}[A-Za-z])"
)
_IS_IGNORABLE = lazily(f"[{_IGNORABLE}]")

_CONTINUED = lazily(r"\\\n")
_SPACED = lazily(rf"\\\n{BLANK}*+")
_BREAK = r"[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]"
# With the marks of lists and quotes behind a break, and a backslash before it: an item and the line before its list
# belong together.
_MARKS = rf"(?:[>＞]{BLANK}*+)*+(?:(?:[-*+•]|\d{{1,3}}+[.)]){BLANK}++)?+"
# A fence too: what stands in it belongs to what stands above.
_FENCE = rf"(?:(?:`{{3,8}}+|~{{3,8}}+)[a-z+#]{{0,16}}+{BLANK}*+(?={_BREAK}|\Z))?+"
_JOINED = lazily(rf"{BLANK}{{0,4}}+{_FENCE}(?:\\?+{_BREAK}{BLANK}*+{_MARKS}{_FENCE})++")


class Span(NamedTuple):
    """A part of a text: from ``start`` up to ``end``."""

    start: int
    end: int


class View(NamedTuple):
    """A text in which some parts were replaced by at most one character each, and where the rest had stood."""

    text: str
    ends: list[int]
    origins: list[int]

    def origin(self, span: Span) -> Span:
        """The span of the original that a span of the view shows. O(log replacements)."""
        return Span(self._origin(span.start), self._origin(span.end))

    def _origin(self, position: int) -> int:
        index = bisect_right(self.ends, position) - 1
        return self.origins[index] + position - self.ends[index]


def as_seen(text: str) -> View:
    """The text without characters that nobody sees; styled forms and twins of ASCII characters are plain. Linear."""
    if text.isascii():
        return View(text, [0], [0])
    return _view(text, _UNPLAIN(), _plain)


def continued(text: str, *, spaced: bool) -> View:
    """The text with its continuations taken out, as the shell reads it, or each made a space, as people do."""
    return _view(text, _SPACED(), lambda _: " ") if spaced else _view(text, _CONTINUED(), lambda _: "")


def joined(text: str) -> View:
    """The text as one line: each row of line breaks, with the list marks behind them, is a ``JOINT``. Linear."""
    return _view(text, _JOINED(), lambda _: JOINT)


def splice(text: str, spans: Iterable[Span], instead: str) -> str:
    """The text with spans, given in order and apart from each other, replaced."""
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += (text[done : span.start], instead)
        done = span.end
    return "".join([*pieces, text[done:]])


def _view(text: str, parts: re.Pattern[str], replace: Callable[[str], str]) -> View:
    pieces: list[str] = []
    ends, origins = [0], [0]
    for part in parts.finditer(text):
        instead = replace(part.group())
        before = text[origins[-1] : part.start()]
        pieces += (before, instead)
        ends.append(ends[-1] + len(before) + len(instead))
        origins.append(part.end())
    return View("".join([*pieces, text[origins[-1] :]]), ends, origins)


def _plain(char: str) -> str:
    if _IS_IGNORABLE().match(char):
        return ""
    if ord(char) in _TWINS:
        return char.translate(_TWINS)
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and plain.isascii() else char
