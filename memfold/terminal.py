"""What people see in a terminal: colours, tables and wrapped text by display width, and stored text made safe."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TextIO

from projections.text.lazily import lazily

__all__ = [
    "PLAIN",
    "Style",
    "clean",
    "clean_json",
    "clean_styled",
    "display_width",
    "fit",
    "is_dumb",
    "is_terminal",
    "style_for",
    "table",
    "terminal_width",
    "wrap",
]

_RESET = "\x1b[0m"
_MARK = "…"
_GAP = "  "
_NARROWEST = 4
"""Columns that a cell keeps when a table is squeezed."""

# C0 and C1 controls, what hides text or turns its direction, separators that would start a line, surrogates.
_UNSAFE = lazily(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)

_CODES = re.compile("(\x1b\\[(?:[012]|3[1236])m)")


class Style(NamedTuple):
    """Six escape codes, or none at all; the text inside must be clean already."""

    colour: bool = False

    def bold(self, text: str) -> str:
        """For headings and names."""
        return self._code("1", text)

    def dim(self, text: str) -> str:
        """For what matters less."""
        return self._code("2", text)

    def red(self, text: str) -> str:
        """For what failed."""
        return self._code("31", text)

    def green(self, text: str) -> str:
        """For what is well."""
        return self._code("32", text)

    def yellow(self, text: str) -> str:
        """For what needs a look."""
        return self._code("33", text)

    def cyan(self, text: str) -> str:
        """For ids and what can be typed."""
        return self._code("36", text)

    def _code(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}{_RESET}" if self.colour and text else text


PLAIN = Style()
"""No escape codes at all."""


def style_for(
    stream: TextIO | None, environ: Mapping[str, str], color: Literal["auto", "always", "never"] = "auto"
) -> Style:
    """Whether to colour what goes to a stream: the option, then NO_COLOR, FORCE_COLOR, and what the stream is."""
    if color != "auto":
        return Style(color == "always")
    if environ.get("NO_COLOR"):
        return Style(False)
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return Style(True)
    return Style(not is_dumb(environ) and is_terminal(stream))


def terminal_width(stream: TextIO | None, environ: Mapping[str, str]) -> int | None:
    """Columns of the terminal behind a stream; None where nothing need be cut, as in a pipe or file."""
    if stream is None or not is_terminal(stream):
        return None
    given = environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and int(given[:6]) > 0:
        return int(given[:6])
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def clean(text: str, *, lines: bool = False) -> str:
    r"""Stored text as it may be printed: nothing in it moves the cursor, hides or turns around what follows.

    Args:
        text: any text, lone surrogates included.
        lines: keep line breaks; otherwise they are shown as ``\n``, so that one value stays on one line.

    Returns:
        The text with control, bidi and invisible characters shown as escapes such as ``\u202e``, tabs as four
        spaces. Joiners stay, since scripts and emoji need them. Linear.
    """
    if lines:
        return "\n".join(clean(line) for line in text.split("\n"))
    return text if text.isprintable() else _UNSAFE().sub(_escape, text.replace("\t", "    "))


def clean_styled(text: str) -> str:
    """Lines for a terminal: the codes of a ``Style`` stay, all else is made safe as by ``clean``. Linear."""
    if text.isprintable():
        return text
    return "".join(part if code else clean(part, lines=True) for part, code in _codes_apart(text))


def clean_json(text: str) -> str:
    """A JSON text that means the same and holds no such character but its line breaks. Linear."""
    return _UNSAFE().sub(_escape_json, text)


def display_width(text: str) -> int:
    """Columns that a clean text takes: wide East Asian characters count 2, combining ones 0. Linear."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def fit(text: str, width: int) -> str:
    """The text, cut to at most ``width`` columns, the mark ``…`` included; no mark of a letter is parted from it."""
    if display_width(text) <= width:
        return text
    return _prefix(text, width - 1).rstrip(" \u200d") + _MARK if width > 0 else ""


def wrap(text: str, width: int, *, indent: str = "") -> list[str]:
    """Break clean text into lines of at most ``width`` columns, at spaces where possible.

    Args:
        text: line breaks in it are kept.
        width: columns of a line, the indent included.
        indent: stands before each line but the first, which leaves as many columns for what stands before it.
    """
    room = max(1, width - display_width(indent))
    wrapped = [piece for line in text.split("\n") for piece in _wrap_line(line, room)]
    return [(indent if index else "") + line.rstrip(" ") for index, line in enumerate(wrapped)]


def table(
    rows: Sequence[Sequence[str]],
    headers: Sequence[str],
    *,
    width: int | None = None,
    right: Collection[int] = (),
    whole: Collection[int] = (),
    style: Style = PLAIN,
) -> str:
    """Rows as aligned columns below their headers, one line each, without a line break at the end.

    Args:
        rows: cells of any text; they are made clean here. Each row has as many as there are headers.
        headers: names of the columns.
        width: columns of the terminal; the widest cells are cut until a line fits. None cuts nothing.
        right: indexes of the columns that are aligned to the right, such as numbers.
        whole: indexes of the columns whose cells are not cut, such as ids and codes, which people copy.
        style: makes the headers bold.
    """
    cells = [[clean(cell) for cell in row] for row in (headers, *rows)]
    widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
    if width is not None:
        widths = _squeeze(widths, width - len(_GAP) * (len(widths) - 1), whole)
    head, *body = (
        _GAP.join(
            _pad(fit(cell, size), size, right=index in right)
            for index, (cell, size) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )
    lines = [head, *body] if width is None else [fit(line, width) for line in (head, *body)]
    return "\n".join([style.bold(lines[0]), *lines[1:]])


def is_dumb(environ: Mapping[str, str]) -> bool:
    """Whether the terminal says that it understands no codes; one that says nothing, as on Windows, may."""
    return environ.get("TERM") in ("", "dumb")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; a closed one is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _codes_apart(text: str) -> Iterator[tuple[str, bool]]:
    """The codes of a ``Style`` in a text, and what stands between them."""
    for index, part in enumerate(_CODES.split(text)):
        yield part, bool(index % 2)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character == "\n":
        return "\\n"
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape_json(match: re.Match[str]) -> str:
    if match[0] == "\n":
        return "\n"
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0  # jamo vowels and finals stand inside the syllable that their initial has begun
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _prefix(text: str, width: int) -> str:
    """The longest prefix of at most ``width`` columns; O(width) where no run of combining marks is longer."""
    taken = 0
    for index, character in enumerate(text):
        taken += _columns(character)
        if taken > width:
            return text[:index]
    return text


def _wrap_line(line: str, room: int) -> Iterator[str]:
    words: list[str] = []
    used = 0  # columns of the words, with a space behind each
    for word in line.split(" "):
        size = display_width(word)
        if words and used + size > room:
            yield " ".join(words)
            words, used = [], 0
        *full, rest = _chunks(word, room)
        yield from full
        words.append(rest)
        used += display_width(rest) + 1
    yield " ".join(words)


def _chunks(word: str, room: int) -> Iterator[str]:
    """A word that is too long for a line in pieces of at most ``room`` columns, but of a character at least."""
    start, taken = 0, 0
    for index, character in enumerate(word):
        size = _columns(character)
        if taken + size > room and index > start:
            yield word[start:index]
            start, taken = index, 0
        taken += size
    yield word[start:]


def _squeeze(widths: list[int], space: int, whole: Collection[int]) -> list[int]:
    """Lower the widest columns, all to the same size, until they fit; none gets narrower than a few columns."""
    limit = min(max(widths, default=0), max(space, _NARROWEST))

    def squeezed() -> list[int]:
        return [size if index in whole else min(size, limit) for index, size in enumerate(widths)]

    while limit > _NARROWEST and sum(squeezed()) > space:
        limit -= 1
    return squeezed()


def _pad(text: str, size: int, *, right: bool) -> str:
    padding = " " * (size - display_width(text))
    return padding + text if right else text + padding
