"""Short texts of ordinary letters, known at a glance: nothing in them is hidden, styled or taken for another letter."""

from __future__ import annotations

__all__ = ["PLAIN", "is_plain"]

PLAIN = ((0x20, 0x7E), (0xC0, 0x24F), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3))
"""First and last code points: ASCII, Latin, kana, Chinese, Hangul. A law tries each of them."""
_SHORT = 300
"""Characters; a longer text is read faster by the patterns."""


def is_plain(text: str) -> bool:
    """Whether ``clean`` and ``as_seen`` leave a text as it is, as far as a glance tells: no is no verdict."""
    if text.isascii():
        return text.isprintable()
    return len(text) <= _SHORT and all(
        " " <= char <= "~"
        or "\u4e00" <= char <= "\u9fff"
        or "\u00c0" <= char <= "\u024f"
        or "\u3041" <= char <= "\u3096"
        or "\u30a1" <= char <= "\u30fa"
        or "\uac00" <= char <= "\ud7a3"
        for char in text
    )
