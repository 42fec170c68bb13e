"""Fields of events that keep what they hold when a text goes, since they name or decide something (SPEC 15.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec

from projections.erasure.needles import Needles

__all__ = ["MEANING_TAGS", "NAMING", "OURS", "is_name", "may_stay", "staying"]

NAMING = frozenset(
    {
        "call",
        "causationid",
        "event",
        "id",
        "instance",
        "message",
        "parent",
        "policy",
        "root",
        "session",
        "snapshot",
        "source",
        "tool",
        "undone",
    }
)
"""What names something that a host or a person goes on to name so, or decides how all is judged: another name there
would be another thing."""

OURS = frozenset(
    {
        "clock",
        "created",
        "delivery",
        "digest",
        "digests",
        "erased",
        "fact",
        "format",
        "identity",
        "importance",
        "key",
        "kind",
        "ledger",
        "lines",
        "new_root",
        "notes",
        "old_root",
        "origin",
        "placement",
        "program",
        "reasons",
        "size",
        "specversion",
        "state",
        "status",
        "time",
        "type",
        "updated",
    }
)
"""What memfold fills from closed sets, digests and clocks: nobody's text, whatever it may look like."""

MEANING_TAGS = frozenset({"importance-high", "importance-low", "safety-critical"})
"""Tags that decide something; all others say what the text said."""


def is_name(path: str) -> bool:
    """Whether a field that ``staying`` found keeps its text as a name, and not as the wording of a memory."""
    return not NAMING.isdisjoint(path.split("."))


def staying(data: bytes, needles: Needles) -> tuple[str, ...]:
    """Where a line still holds one of the texts, such as ``data.session``; linear in its length.

    Bytes that are no JSON object are one place, ``damage``, if they hold one at all.
    """
    return _found(data, needles.are_in) if needles.are_in_bytes(data) else ()


def may_stay(data: bytes, needles: Needles) -> tuple[str, ...]:
    """Where a line holds a short text among other words; as ``staying``."""
    return _found(data, needles.may_be_in) if needles.may_be_in_bytes(data) else ()


def _found(data: bytes, holds: Callable[[str], bool]) -> tuple[str, ...]:
    try:
        line = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        line = None
    if not isinstance(line, dict):
        return ("damage",)
    return tuple(dict.fromkeys(_held(cast("dict[str, Any]", line), holds, "")))


def _held(value: Any, holds: Callable[[str], bool], path: str) -> Iterator[str]:
    if isinstance(value, str):
        if value not in MEANING_TAGS and holds(value):
            yield path
    elif isinstance(value, dict):
        for name, one in cast("dict[str, Any]", value).items():
            if name not in OURS:
                yield from _held(one, holds, f"{path}.{name}" if path else name)
    elif isinstance(value, list | tuple):
        for one in cast("list[Any]", value):
            yield from _held(one, holds, path)
