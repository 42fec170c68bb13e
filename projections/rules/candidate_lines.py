"""The lines of a candidate block: what each one is by its form alone (SPEC 5.1, 5.2)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from projections.policy import Policy, type_order
from projections.rules.zones import LIST_MARKER, lines_of

__all__ = ["BLOCK_LABEL", "BlockLine", "block_of", "read_line"]

BLOCK_LABEL = "Memory candidates:"

LineKind = Literal["candidate", "reinforce", "replace", "malformed", "snapshot", "none", "noise"]


class BlockLine(Struct, frozen=True):
    """One line of a block. Positions of ``text`` are characters of the summary; ``code`` is why it is malformed."""

    kind: LineKind
    line: str
    start: int
    type: str = ""
    text: str = ""
    text_start: int = 0
    ref: int | None = None
    code: str = ""


_BULLET = rf"\s*(?P<bullet>{LIST_MARKER})?"
_TAG = r"(?P<wrap>\*\*|__|`)?\[(?P<tag>[^\[\]\s]{1,80})\](?P<colon>:)?(?(wrap)(?P=wrap)):?"
_CANDIDATE = re.compile(rf"{_BULLET}{_TAG}(?:\s+(?P<text>\S.*)|\s*\Z)", re.DOTALL)
_LISTED = re.compile(rf"\s*{LIST_MARKER}")
_BARE = re.compile(r"(?:\*\*|__|`)?(?P<word>[^\W\d_][\w-]{0,79}):?(?:\*\*|__|`)?:?\s+\S")
_VERB = re.compile(rf"{_BULLET}(?P<verb>REINFORCE|REPLACE)(?!\w)\s*(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_REF = re.compile(r"\[M(?P<number>\d{1,9})\](?:\s+|\Z)", re.IGNORECASE)
_LOOSE_REF = re.compile(r"\[|M?\d", re.IGNORECASE)
_REPLACEMENT = re.compile(
    r"(?P<wrap>\*\*|__|`)?\[(?P<tag>[^\[\]\s]{1,80})\](?(wrap)(?P=wrap)):?\s*(?P<text>.*)", re.DOTALL
)
_SNAPSHOT = re.compile(rf"{_BULLET}Memory ref snapshot id:\s*(?P<id>\S+)\s*\Z", re.IGNORECASE)
_NONE = re.compile(rf"{_BULLET}(?:none|\(none\))\s*\Z", re.IGNORECASE)

_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|\Z)")
_BLOCK_HEADING = re.compile(r" {0,3}#{1,6}\s+(?:Workspace )?Memory Candidates:?\s*\Z", re.IGNORECASE)
_XML_OPEN = "<workspace_memory_candidates>"
_XML_CLOSE = re.compile("</workspace_memory_candidates>", re.IGNORECASE)
_SECTION = re.compile(
    rf"(?!\s*{LIST_MARKER})\s*[*_]{{0,2}}[^\s:：]{{1,80}}(?:\s{{1,8}}[^\s:：]{{1,80}}){{0,2}}[:：][*_]{{0,2}}\s*\Z"
)


def block_of(text: str, policy: Policy) -> tuple[BlockLine, ...]:
    """The lines of the last clean block of a summary, else of its last block (SPEC 5.1). O(length).

    The text has been through SPEC 1.3 (steps 1-3) and 3.2.
    """
    last: tuple[BlockLine, ...] = ()
    clean: tuple[BlockLine, ...] = ()
    for block in _blocks(text, policy):
        last = tuple(block)
        if any(line.kind in {"candidate", "reinforce", "replace", "none"} for line in block):
            clean = last
    return clean or last


def _blocks(text: str, policy: Policy) -> list[list[BlockLine]]:
    """All blocks, each without its noise."""
    blocks: list[list[BlockLine]] = []
    inside, xml = False, False
    for line in lines_of(text):
        if line.fenced or line.zone == "quoted":
            continue
        if _begins(line.text):
            blocks.append([])
            inside, xml = True, line.text.strip().lower() == _XML_OPEN
        elif inside:
            closing = _XML_CLOSE.search(line.text) if xml else None
            read = read_line(line.text[: closing.start()] if closing else line.text, line.start, policy)
            if read.kind != "noise":
                blocks[-1].append(read)
            inside = not (closing or (read.kind == "noise" and _ends(line.text)))
    return blocks


def _begins(line: str) -> bool:
    bare = line.strip().lower()
    return bare in {BLOCK_LABEL.lower(), _XML_OPEN} or _BLOCK_HEADING.match(line) is not None


def _ends(line: str) -> bool:
    return _HEADING.match(line) is not None or _SECTION.match(line) is not None


def read_line(line: str, start: int, policy: Policy) -> BlockLine:
    """What one line is (SPEC 5.2): a line that only looks like a form is malformed, any other is noise."""
    types = _types(policy)
    if _NONE.match(line):
        return BlockLine("none", line, start)
    if snapshot := _SNAPSHOT.match(line):
        return BlockLine("snapshot", line, start, text=snapshot["id"])
    if command := _VERB.match(line):
        return _command(line, start, command, types)
    if (tagged := _CANDIDATE.match(line)) and tagged["text"]:
        kind = types.get(tagged["tag"].lower())
        if kind is None:
            return _malformed(line, start, "invalid_memory_type")
        return BlockLine("candidate", line, start, kind, tagged["text"], start + tagged.start("text"))
    if (bullet := _LISTED.match(line)) and (bare := _BARE.match(line, bullet.end())) and bare["word"].lower() in types:
        return _malformed(line, start, "unsupported_candidate_syntax")
    return BlockLine("noise", line, start)


def _command(line: str, start: int, command: re.Match[str], types: dict[str, str]) -> BlockLine:
    rest = command["rest"]
    ref = _REF.match(rest)
    if ref is None or not int(ref["number"]):
        return _malformed(line, start, "invalid_memory_ref" if _LOOSE_REF.match(rest) else "invalid_memory_command")
    number, tail = int(ref["number"]), rest[ref.end() :]
    if command["verb"].upper() == "REINFORCE":
        if tail.strip():
            return _malformed(line, start, "invalid_memory_ref")
        return BlockLine("reinforce", line, start, ref=number)
    replacement = _REPLACEMENT.match(tail)
    if tail.strip() and replacement is None:
        return _malformed(line, start, "invalid_memory_command")
    if replacement is None or not replacement["text"].strip():
        return _malformed(line, start, "empty_replacement_text")
    kind = types.get(replacement["tag"].lower())
    if kind is None:
        return _malformed(line, start, "invalid_memory_type")
    text_start = start + command.start("rest") + ref.end() + replacement.start("text")
    return BlockLine("replace", line, start, kind, replacement["text"], text_start, number)


def _malformed(line: str, start: int, code: str) -> BlockLine:
    return BlockLine("malformed", line, start, text=line.strip(), text_start=start, code=code)


@lru_cache(maxsize=32)
def _types(policy: Policy) -> dict[str, str]:
    """The memory types by their lower-case names."""
    return {name.lower(): name for name in type_order(policy)}
