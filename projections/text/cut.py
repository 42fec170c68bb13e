"""Texts are cut to a limit without parting a character from what belongs to it (SPEC 1.4, 1.5)."""

from __future__ import annotations

import unicodedata

from projections.text.characters import is_wide_letter

__all__ = ["CUT_MARK", "cut", "weighted_length"]

CUT_MARK = "…"
_WIDE_WEIGHT = 3
_JOINER = "\u200d"
_MODIFIERS = ("\U0001f3fb", "\U0001f3ff")
_TAGS = ("\U000e0020", "\U000e007f")
_FLAG_HALVES = ("\U0001f1e6", "\U0001f1ff")


def weighted_length(text: str) -> int:
    """Length in characters, each Han, Hiragana, Katakana and Hangul letter counted as 3 (SPEC 1.4). Linear."""
    if text.isascii():
        return len(text)
    return len(text) + (_WIDE_WEIGHT - 1) * sum(map(is_wide_letter, text))


def cut(text: str, limit: int) -> str:
    """Shorten a text to at most ``limit`` characters, the mark ``…`` included (SPEC 1.5).

    Args:
        text: any text; whole texts within the limit are returned as they are.
        limit: in code points; nothing fits a limit below 1.

    Returns:
        The longest prefix that ends between two whole characters, trailing whitespace removed, and the mark.
        Takes O(limit), whatever the length of the text.
    """
    if len(text) <= limit:
        return text
    if limit < 1:
        return ""
    end = limit - len(CUT_MARK)
    while end > 0 and not _may_part(text, end):
        end -= 1
    return text[:end].rstrip() + CUT_MARK


def _may_part(text: str, at: int) -> bool:
    """Whether the characters on both sides of a position are separate ones."""
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii():
        return True
    if _JOINER in (before, after) or _extends(after):
        return False
    if _within(before, _FLAG_HALVES) and _within(after, _FLAG_HALVES):
        return _flag_halves_before(text, at) % 2 == 0
    return not _same_syllable(before, after)


def _extends(char: str) -> bool:
    """Combining marks (variation selectors are marks too), emoji modifiers and tags belong to what precedes them."""
    return unicodedata.category(char)[0] == "M" or _within(char, _MODIFIERS) or _within(char, _TAGS)


def _flag_halves_before(text: str, at: int) -> int:
    """How many flag halves stand in a row before a position: an even number means that a new flag begins."""
    start = at
    while start > 0 and _within(text[start - 1], _FLAG_HALVES):
        start -= 1
    return at - start


def _same_syllable(before: str, after: str) -> bool:
    """Hangul jamo join: L with L, V and syllables; V and open syllables with V and T; all closed ones with T."""
    left, right = _jamo(before), _jamo(after)
    return right in {"L": ("L", "V", "LV", "LVT"), "V": ("V", "T"), "LV": ("V", "T"), "T": ("T",), "LVT": ("T",)}.get(
        left, ()
    )


def _jamo(char: str) -> str:
    """The Hangul syllable type of a character, empty if it is none."""
    code = ord(char)
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "L"
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return "V"
    if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB:
        return "T"
    if 0xAC00 <= code <= 0xD7A3:
        return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
    return ""


def _within(char: str, ends: tuple[str, str]) -> bool:
    return ends[0] <= char <= ends[1]
