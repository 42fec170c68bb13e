"""The rows that wait for a part of memfold that isn't there yet; the one list of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["is_waiting"]

_AREAS = frozenset({"memory_file", "tools"})
_OPERATIONS = frozenset({"import", "purge", "undo", "memory_restore"})


def is_waiting(area: str, given: Mapping[str, Any]) -> bool:
    """Whether a row needs MEMORY.md, the four tools, imports, purge, undo or restore."""
    return area in _AREAS or any(event.get("do") in _OPERATIONS for event in given.get("events", ()))
