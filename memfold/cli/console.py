"""Where output goes: data to stdout, everything else to stderr; one document for programs or text for people."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from memfold.terminal import Style, clean, clean_json, clean_styled, is_terminal, style_for, table, terminal_width, wrap

if TYPE_CHECKING:
    from memfold.cli.patience import Patience

__all__ = ["Console"]

_NO_WIDTH = 1 << 20
_PROSE = 80
_NARROW = 60
_NARROWEST = 8
_INDENT = "  "


class Console:
    """What one command prints.

    Attributes:
        style: colours, or none.
        width: columns of the terminal; None where nothing need be cut.
    """

    def __init__(self, options: Namespace) -> None:
        self.style: Style = style_for(sys.stdout, os.environ, options.color)
        self.width = terminal_width(sys.stdout, os.environ)
        self._patience: Patience | None = getattr(options, "patience", None)

    @property
    def is_narrow(self) -> bool:
        """Whether a row has no place for a text behind ids and times: then it stands below them."""
        return self.width is not None and self.width < _NARROW

    def out(self, text: str = "") -> None:
        """One or more whole lines; whatever a caller has forgotten, nothing but our own codes reaches a terminal."""
        self._begin()
        sys.stdout.write(f"{clean_styled(text)}\n")

    def note(self, text: str) -> None:
        """A remark that is no data."""
        self._begin()
        sys.stdout.flush()  # on a terminal both streams share the screen
        sys.stderr.write(f"memfold: {clean(text)}\n")

    def emit(self, document: Struct) -> None:
        """One JSON document, indented; its first key is its schema."""
        self._begin()
        sys.stdout.write(clean_json(msgspec.json.format(msgspec.json.encode(document), indent=2).decode()) + "\n")

    def exact(self, text: str, *, is_json: bool) -> None:
        """A text that programs take byte for byte; only on a terminal it is made safe."""
        self._begin()
        if is_terminal(sys.stdout):
            text = clean_json(text) if is_json else clean(text, lines=True)
        sys.stdout.write(text)

    def heading(self, text: str) -> None:
        """A heading after an empty line."""
        self.out()
        self.out(self.style.bold(text))

    def wrapped(self, text: str, indent: str = _INDENT) -> None:
        """Stored text, made safe, broken at the terminal's width and indented."""
        for line in self.lines(text, indent):
            self.out(line)

    def lines(self, text: str, indent: str = _INDENT) -> list[str]:
        """The lines of ``wrapped``."""
        width = (self.width or _NO_WIDTH) - len(indent)
        return [indent + line for line in wrap(clean(text), max(width, _NARROWEST))]

    def prose(self, text: str, indent: str = "") -> list[str]:
        """Lines of a sentence of ours, which nobody copies or greps: 80 columns wide even where nothing need be cut."""
        return [indent + line for line in wrap(clean(text), max((self.width or _PROSE) - len(indent), _NARROWEST))]

    def table(
        self,
        rows: Sequence[tuple[str, ...]],
        headers: tuple[str, ...],
        right: tuple[int, ...] = (),
        whole: tuple[int, ...] = (),
    ) -> None:
        """Rows under bold headers, ``right`` and ``whole`` as for ``terminal.table``; nothing if there are no rows."""
        if rows:
            self.out(table(rows, headers, width=self.width, right=right, whole=whole, style=self.style))

    def as_of(self, position: int, now: str) -> None:
        """The position that all above it is meant for."""
        self.out(self.style.dim(f"as of offset {position}, {now}"))

    def fields(self, pairs: list[tuple[str, str]]) -> None:
        """Names and values, one a line, values aligned; empty values are left out."""
        shown = [(name, value) for name, value in pairs if value]
        size = max((len(name) for name, _ in shown), default=0)
        for name, value in shown:
            indent = " " * (len(_INDENT) + size + 2)
            first, *more = self.lines(value, indent)
            label = self.style.dim(name) + " " * (size - len(name))
            self.out(f"{_INDENT}{label}{first[len(_INDENT) + size :]}")
            for line in more:
                self.out(line)

    def _begin(self) -> None:
        """Before anything is printed: on a terminal both streams share the screen."""
        if self._patience is not None:
            self._patience.end()
