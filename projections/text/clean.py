"""Text from outside is decoded and freed of what nobody can see (SPEC 1.3, steps 1, 2 and 4)."""

from __future__ import annotations

import re
from typing import NamedTuple

from projections.text.lazily import lazily
from projections.text.plain import is_plain

__all__ = ["INVISIBLE_REMOVED", "Cleaned", "clean", "decode", "single_line", "stored_content", "utf8"]

INVISIBLE_REMOVED = "invisible_removed"
"""The note of a text that was changed by cleaning (SPEC 1.3)."""

_REPLACEMENT = "\ufffd"
_SURROGATES = lazily("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")

# Every part is possessive and bounded by the next sign that opens a string, so that no input is read twice. A string
# sequence without its end loses only its first signs: hiding the rest of a text would lose more than it protects.
_UNSEEN = lazily(
    r"""
      (\U0001F3F4[\U000E0030-\U000E0039\U000E0061-\U000E007A]{1,6}\U000E007F)     # kept: the tags of a flag
    | (?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])                  # OSC, DCS, SOS, PM, APC …
      [^\x07\x1b\x90\x98\x9c-\x9f\n]*+ (?:\x07|\x1b\\|\x9c)              # … up to their end
    | (?:\x1b\[|\x9b) [0-?]*+ [\ -/]*+ [@-~]?               # CSI: colours, cursor
    | \x1b [\ -/]*+ [0-~]?                                  # any other escape sequence
    | [\x00-\x08\x0d-\x1f\x7f-\x84\x86-\x9f]                # controls
    | [\u00ad\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000E0000-\U000E007F]
    """,
    re.VERBOSE,
)
# A character takes one variation selector. Rows of them, as of tags, carry texts that a model reads and nobody sees.
_SELECTORS = "[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_FURTHER_SELECTORS = lazily(f"(?<={_SELECTORS}){_SELECTORS}+")
_JOINERS_IN_ASCII = lazily("(?<=[A-Za-z0-9])[\u200c\u200d]++(?=[A-Za-z0-9])")


class Cleaned(NamedTuple):
    """A text after steps 1 and 2, and the notes it carries."""

    text: str
    notes: tuple[str, ...]


def utf8(data: bytes) -> str:
    """Decode bytes; what is no UTF-8 becomes U+FFFD, then as ``decode`` (SPEC 1.3, step 1)."""
    return decode(data.decode("utf-8", errors="replace"))


def decode(text: str) -> str:
    """Replace lone surrogates by U+FFFD, make line ends LF and drop a leading BOM (SPEC 1.3, step 1). Linear."""
    if not text.isascii():
        text = _SURROGATES().sub(_whole_character, text)
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


def clean(text: str) -> Cleaned:
    """Decode, then remove escape sequences, control and invisible characters (SPEC 1.3, steps 1 and 2).

    LF, TAB, VT, FF and U+0085 stay; ``single_line`` turns them into spaces. Idempotent and linear. A text that
    step 2 changes carries the note ``invisible_removed``.
    """
    if is_plain(text):
        return Cleaned(text, ())
    decoded = decode(text)
    cleaned = _JOINERS_IN_ASCII().sub("", _FURTHER_SELECTORS().sub("", _UNSEEN().sub(r"\1", decoded)))
    return Cleaned(cleaned, () if cleaned == decoded else (INVISIBLE_REMOVED,))


def single_line(text: str) -> str:
    """Make each run of whitespace and line breaks one space and trim both ends (SPEC 1.3, step 4)."""
    return " ".join(text.split())


def stored_content(text: str) -> str:
    """A content as MEMORY.md gives it back: without blank lines at both ends and end spaces of its last line.

    The indentation of the first line is kept (SPEC 16.3). Idempotent, linear.
    """
    lines = text.split("\n")
    filled = [index for index, line in enumerate(lines) if single_line(line)]
    if not filled:
        return ""
    return "\n".join(lines[filled[0] : filled[-1] + 1]).rstrip()


def _whole_character(match: re.Match[str]) -> str:
    """A pair of surrogates is the character it stands for; a lone one is none."""
    found = match.group()
    if len(found) == 1:
        return _REPLACEMENT
    return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
