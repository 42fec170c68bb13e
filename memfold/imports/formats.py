"""Which layout a file has, told from its name and what stands in it, and who reads it."""

from __future__ import annotations

import re
from collections.abc import Callable

from memfold.imports.bullets import read_bullets
from memfold.imports.json_text import load, mapping, text_of, word
from memfold.imports.mcp import KINDS, read_mcp
from memfold.imports.model import Format, Import
from memfold.imports.own import SCHEMA, read_own
from memfold.imports.reference_a import JOURNAL_NAME, STORE_NAME, list_of, read_reference_a
from memfold.imports.reference_b import read_reference_b
from projections.headers import FILE_TITLE
from projections.policy import Policy

__all__ = ["FORMATS", "MEMORY_NAME", "SESSIONS_FOLDER", "read", "recognise"]

MEMORY_NAME = "MEMORY.md"
SESSIONS_FOLDER = "sessions"

FORMATS: dict[Format, tuple[str, Callable[[str, bytes, Policy], Import]]] = {
    "reference_a": ("the JSON store of opencode-working-memory", read_reference_a),
    "reference_b": ("MEMORY.md of opencode-plugin-memory, or one of ours", read_reference_b),
    "mcp": ("the JSON Lines of the MCP memory server", read_mcp),
    "bullets": ("the bullet lists of CLAUDE.md, AGENTS.md and the like", read_bullets),
    "memfold": ("what memfold export --format json has written", read_own),
}
"""What each layout is, and its reader: name, bytes and policy → events."""

_HEAD = re.compile(rf"^(?:### \[MEM-[0-9]+\]|{re.escape(FILE_TITLE)}\s*$)".encode(), re.MULTILINE)


def read(name: str, data: bytes, policy: Policy, format: Format) -> Import:  # noqa: A002 - what it is
    """A file as events; nothing that stands in it raises."""
    return FORMATS[format][1](name, data, policy)


def recognise(name: str, data: bytes) -> Format | None:
    """The layout of a file; None where it is none that may be read unasked, as instruction files.

    Args:
        name: of the file, below the folder that was named.
        data: its bytes.
    """
    *folders, own = name.split("/")
    if own in (STORE_NAME, JOURNAL_NAME) or (SESSIONS_FOLDER in folders[-1:] and own.endswith(".json")):
        return "reference_a"
    if own == MEMORY_NAME or _HEAD.search(data):
        return "reference_b"
    return _recognise_json(data)


def _recognise_json(data: bytes) -> Format | None:
    try:
        text = text_of(data)
    except ValueError:
        return None
    if text.lstrip()[:1] not in ("{", "["):
        return None
    if word(mapping(_loaded(text.lstrip().partition("\n")[0])), "type") in KINDS:
        return "mcp"
    value = _loaded(text)
    if word(mapping(value), "schema").startswith(SCHEMA):
        return "memfold"
    return "reference_a" if list_of(value)[1] is not None else None


def _loaded(text: str) -> object:
    try:
        return load(text)
    except ValueError:
        return None
