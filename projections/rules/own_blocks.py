"""Removes what is not the speaker's own words: elements of hosts, our own blocks, tags, signatures (SPEC 3.2)."""

from __future__ import annotations

import re

from projections.headers import FILE_END, FILE_TITLE, HOST_ELEMENTS, OWN_HEADERS
from projections.policy import Policy
from projections.text.intake import take_in_block

__all__ = ["own_words", "remove_foreign"]

# A tag stays on one line: a span that could reach over line breaks would make removal order matter.
_OPENING = re.compile(rf"<({'|'.join(HOST_ELEMENTS)})(?:[^\S\n][^<>\n]*|/)?>", re.IGNORECASE)
_CLOSING = {name: re.compile(rf"</{name}[^\S\n]*>", re.IGNORECASE) for name in HOST_ELEMENTS}
_TRANSPORT_TAGS = re.compile(r"^([^\S\n]*)(?:\[[^\W\d_][\w.-]*:[^\s\[\]]+\][^\S\n]*)+", re.MULTILINE)
_SIGNATURE = "--"
_ROUNDS = 3
"""Removing can join what stood apart (a label and its value, the halves of a tag), so both steps look again."""


def own_words(text: str, policy: Policy) -> tuple[str, tuple[str, ...]]:
    """A message or summary as its rules read it: SPEC 1.3 steps 1-3, then 3.2; with the notes of the first.

    Idempotent, linear in the length of the text.
    """
    taken = take_in_block(text, policy)
    words = taken.text
    for _ in range(_ROUNDS):
        left = remove_foreign(words)
        if left == words:
            break
        words = take_in_block(left, policy).text
    return words, taken.notes


def remove_foreign(text: str) -> str:
    """The text without the spans of SPEC 3.2; lines end at LF only."""
    text = _TRANSPORT_TAGS.sub(r"\1", _without_elements(_without_files(text)))
    kept: list[str] = []
    inside_own_block = False
    for line in _without_files(text, unended=True).split("\n"):
        bare = line.strip()
        if bare == _SIGNATURE:
            break
        if bare in OWN_HEADERS:
            inside_own_block = True
        elif not bare:
            inside_own_block = False
        if not inside_own_block:
            kept.append(line)
    return "\n".join(kept)


def _without_files(text: str, *, unended: bool = False) -> str:
    """Drop each MEMORY.md that somebody pasted (I17), to its end line; with ``unended`` also to the end of the text.

    Those with an end go before elements: a content may hold one that is not closed, which would take what stands
    behind the file along.
    """
    if FILE_TITLE not in text:
        return text
    kept: list[str] = []
    begin, end = 0, ""
    for line in text.split("\n"):
        bare = line.rstrip()
        if not end and bare.lstrip() == FILE_TITLE:
            begin, end = len(kept), bare.removesuffix(FILE_TITLE) + FILE_END  # as far indented: contents can't end it
        kept.append(line)
        if end and bare == end:
            del kept[begin:]
            end = ""
    if end and unended:
        del kept[begin:]
    return "\n".join(kept)


def _without_elements(text: str) -> str:
    """Drop each element from its tag to its closing tag, or to the end of the text if that is missing."""
    kept: list[str] = []
    position = 0
    while opening := _OPENING.search(text, position):
        kept.append(text[position : opening.start()])
        position = opening.end()
        if not opening.group().endswith("/>"):
            closing = _CLOSING[opening.group(1).lower()].search(text, position)
            position = closing.end() if closing else len(text)
        position = _mend(text, opening.start(), position, kept)
    kept.append(text[position:])
    return "".join(kept)


def _mend(text: str, start: int, end: int, kept: list[str]) -> int:
    """Where to read on behind a removed span, so that neighbours neither melt together nor drift apart."""
    before = text[start - 1 : start]
    if not before.strip():  # at the start, behind a space or a line break: no second space may pile up
        while end < len(text) and text[end] in " \t":
            end += 1
    elif end < len(text) and not text[end].isspace():
        kept.append(" ")
    return end
