"""Split a shell command line into simple commands, as far as quotes and redirections need it (SPEC 13.3)."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

__all__ = ["Operator", "Simple", "split_commands"]

Operator = Literal["&&", "||", "|", ";", ""]
"""What follows a simple command; a newline and a lone ``&`` act as ``;``, nothing follows the last."""


class Simple(Struct, frozen=True):
    """One simple command: its words without quotes and redirections, and the operator behind it."""

    words: tuple[str, ...]
    then: Operator


# Each alternative consumes what it has seen, so the scan is linear; an unclosed quote reaches to the end.
_PIECE = re.compile(
    r"""
    (?P<blank>(?:[ \t\r\f\v]|\\\n)+)
  | (?P<quoted>'[^']*'?|"(?:[^"\\]|\\.)*+(?:"|\\?\Z))
  | (?P<escaped>\\.?)
  | (?P<opening>[$<>]\()
  | (?P<redirect>(?:[0-9]{1,3}|&)?(?:<<<|<<-?|>>|>\||[<>]&|<|>))
  | (?P<operator>&&|\|\||\|&|[|;&\n])
  | (?P<comment>\#[^\n]*)
  | (?P<plain>(?:[^\s'"\\$<>|;&()`#]|\$(?!\())[^\s'"\\$<>|;&()`]*)
  | (?P<quoted_run>`[^`]*`?)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPERATORS: dict[str, Operator] = {"&&": "&&", "||": "||", "|": "|", "|&": "|"}
_ESCAPE = re.compile(r'\\([$`"\\])')


def split_commands(line: str) -> tuple[Simple, ...]:
    """Split at ``&&``, ``||``, ``;``, ``|`` and newline outside of quotes (SPEC 13.3).

    Quotes, command substitutions, comments and here-documents are passed over, groups count as their content.
    What is no valid shell gives some split, never an error. Linear in the length.
    """
    splitter = _Splitter(line)
    splitter.run()
    return splitter.commands()


class _Splitter:
    """The state of one scan: the words so far, the word being read and what is open."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._done: list[tuple[tuple[str, ...], Operator]] = []
        self._words: list[str] = []
        self._word: list[str] | None = None
        self._depth = 0
        self._redirect = ""
        self._documents: list[str] = []

    def run(self) -> None:
        at = 0
        while piece := _PIECE.match(self._line, at):
            at = piece.end()
            kind, text = str(piece.lastgroup), piece.group()
            if self._depth:
                self._inside(text)
            elif kind == "operator":
                self._end_command(_OPERATORS.get(text, ";"))
                if text == "\n":
                    at = self._skip_documents(at)
            else:
                self._take(kind, text)
        self._end_command("")

    def commands(self) -> tuple[Simple, ...]:
        """Empty commands fall out (``a &&`` newline ``b``), and nothing follows the last one."""
        last = len(self._done) - 1
        return tuple(Simple(words, "" if at == last else then) for at, (words, then) in enumerate(self._done))

    def _inside(self, text: str) -> None:
        """In a command substitution everything belongs to the word, up to the bracket that closes it."""
        self._depth += text.endswith("(") - (text == ")")
        self._add(text)

    def _take(self, kind: str, text: str) -> None:
        if kind == "blank" or text in ("(", ")"):
            self._end_word()
        elif kind == "redirect":
            self._end_word()
            self._redirect = text
        elif kind == "opening":
            self._depth = 1
            self._add(text)
        elif kind == "comment" and self._word is None:
            return
        else:
            self._add(_unquote(kind, text))

    def _add(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def _end_word(self) -> None:
        if self._word is None:
            return
        word, self._word = "".join(self._word), None
        if not self._redirect:
            self._words.append(word)
        elif self._redirect.lstrip("0123456789") in ("<<", "<<-"):
            self._documents.append(word)
        self._redirect = ""

    def _end_command(self, then: Operator) -> None:
        self._end_word()
        self._redirect = ""
        if self._words:
            self._done.append((tuple(self._words), then))
            self._words = []

    def _skip_documents(self, at: int) -> int:
        """Where the bodies of the here-documents that begin at ``at`` end; an open one reaches to the end."""
        for delimiter in self._documents:
            while at < len(self._line):
                end = self._line.find("\n", at)
                end = len(self._line) if end < 0 else end
                body_line, at = self._line[at:end], end + 1
                if body_line.lstrip("\t") == delimiter:
                    break
        self._documents = []
        return at


def _unquote(kind: str, text: str) -> str:
    if kind == "escaped":
        return text[1:]
    if kind != "quoted":
        return text
    body = text[1:-1] if text[-1] == text[0] else text[1:]
    return body if text[0] == "'" else _ESCAPE.sub(r"\1", body)
