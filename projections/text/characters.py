"""Closed tables that rules for text share: quotes, brackets, sentence ends, East Asian letters."""

from __future__ import annotations

from bisect import bisect_right

__all__ = [
    "APOSTROPHES",
    "CLOSING_BRACKETS",
    "OPENING_BRACKETS",
    "PAIRED_QUOTES",
    "QUOTES",
    "SENTENCE_ENDS",
    "is_wide_letter",
    "word_set",
]

APOSTROPHES = "'’"
PAIRED_QUOTES = (("“", "”"), ("‘", "’"), ("「", "」"), ("『", "』"), ("«", "»"))
"""Quotation marks whose opening and closing sign differ; ``"``, ``'`` and the backtick are their own partners."""
QUOTES = "\"'`" + "".join(a + b for a, b in PAIRED_QUOTES) + "‚‛„‟‹›〝〞〟"
OPENING_BRACKETS = "([{<（［｛【〔〈《"
CLOSING_BRACKETS = ")]}>）］｝】〕〉》"
SENTENCE_ENDS = ".,;:!?…。，、；：！？"

# Letters of the scripts Han, Hiragana, Katakana and Hangul as of Unicode 14, the shared prolonged sound marks
# included. Ranges rather than `unicodedata`, so that every Python version counts alike (SPEC 24, I1).
_WIDE_RANGES = (
    (0x1100, 0x11FF),  # Hangul jamo
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3038, 0x303C),
    (0x3041, 0x3096),  # Hiragana
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),  # Katakana
    (0x30FC, 0x30FF),
    (0x3131, 0x318E),  # Hangul compatibility jamo
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97C),
    (0xAC00, 0xD7A3),  # Hangul syllables
    (0xD7B0, 0xD7FB),
    (0xF900, 0xFAD9),
    (0xFF66, 0xFF9D),  # half-width Katakana
    (0xFFA0, 0xFFDC),
    (0x16FE3, 0x16FE3),
    (0x1AFF0, 0x1AFFE),
    (0x1B000, 0x1B167),
    (0x20000, 0x3134A),
)
_WIDE_STARTS = [start for start, _ in _WIDE_RANGES]


def is_wide_letter(char: str) -> bool:
    """Whether a character is a letter of the scripts Han, Hiragana, Katakana or Hangul (SPEC 1.4)."""
    code = ord(char)
    index = bisect_right(_WIDE_STARTS, code) - 1
    return index >= 0 and code <= _WIDE_RANGES[index][1]


def word_set(words: str) -> frozenset[str]:
    """The words of a closed list, written with spaces between them."""
    return frozenset(words.split())
