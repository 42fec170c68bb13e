"""What must hold of everything that memfold shows, whatever the texts in it say (SPEC 3.2, 11.3).

Said in plain words of its own rather than with the rules that make it so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from projections.headers import FILE_END, FILE_TITLE, OWN_HEADERS
from projections.rules.own_blocks import remove_foreign
from tests.support.hostile import RESERVED

__all__ = ["assert_block", "assert_inert", "assert_known", "assert_lines", "assert_printable"]

_HIDDEN = re.compile("[\u00ad\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f")
_TAGS = re.compile("[\U000e0000-\U000e007f]")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}")
_ELEMENT = re.compile(rf"</?(?:{'|'.join(RESERVED)})(?![\w-])|<\|\S*\|>|\[/?inst\]|<</?sys>>", re.ASCII)
_STYLES = re.compile("\x1b\\[(?:[012]|3[1236])m")


def assert_inert(text: str, *, but: str = "\n") -> None:
    """No control but line feeds, nothing hidden or turned around, no element or control word of a chat template."""
    assert not [char for char in text if unicodedata.category(char) in ("Cc", "Cs") and char not in but], ascii(text)
    assert not _HIDDEN.search(text), ascii(text)
    assert not _TAGS.search(_FLAG.sub("", text)), ascii(text)
    assert not _SELECTORS.search(text), ascii(text)
    assert not _ELEMENT.search(_as_read(text)), ascii(text)


def assert_block(text: str, header: str, headings: Collection[str], leads: str = "- ") -> list[str]:
    """A block has its header once, headings in order, and else nothing but lines that begin as ours do.

    Args:
        text: the block; an empty one has no lines.
        header: its first line.
        headings: lines that stand alone, each at most once, in this order.
        leads: a pattern for the beginning of every other line.

    Returns:
        The lines that show something, without their beginnings.
    """
    if not text:
        return []
    assert_inert(text)
    assert text.split("\n") == text.splitlines(), ascii(text)
    first, *lines = text.split("\n")
    assert first == header
    assert not {line.strip() for line in lines} & {*OWN_HEADERS, FILE_TITLE, FILE_END, ""}
    alone = [line for line in lines if line in headings]
    assert alone == [heading for heading in headings if heading in alone]
    shown = [line for line in lines if line not in headings]
    assert_lines(shown, leads)
    assert_known(text)
    return [re.sub(leads, "", line, count=1) for line in shown]


def assert_lines(lines: Iterable[str], leads: str) -> None:
    """Each line begins as ours do, with something behind it."""
    for line in lines:
        assert re.match(rf"(?:{leads})\S", line), ascii(line)


def assert_known(text: str) -> None:
    """A block that comes back between words of a person is taken out as a whole, and nothing else is (I17)."""
    assert remove_foreign(f"words before\n{text}\n\nwords behind").split() == ["words", "before", "words", "behind"]


def assert_printable(printed: str) -> None:
    """Nothing but text, line feeds and our own colours reaches a terminal."""
    plain = _STYLES.sub("", printed)
    assert not [char for char in plain if unicodedata.category(char) in ("Cc", "Cs") and char != "\n"], ascii(plain)
    assert not _HIDDEN.search(plain), ascii(plain)
    assert not _TAGS.search(plain), ascii(plain)


def _as_read(text: str) -> str:
    """What is left for the eye: styled letters plain, unseen characters gone, small letters."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(char for char in plain if unicodedata.category(char) not in ("Cf", "Mn")).lower()
