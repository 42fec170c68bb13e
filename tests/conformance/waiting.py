"""The rows that wait for a part of memfold that isn't there yet; the one list of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["is_waiting"]


def is_waiting(given: Mapping[str, Any]) -> bool:
    """Whether a row needs purge."""
    return any(event.get("do") == "purge" for event in given.get("events", ()))
