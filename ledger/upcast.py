"""Upcasters: how an event of an older type is read as one of today, one version at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["UPCASTERS", "Upcaster", "upcast"]

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
"""From the plain data of an event (envelope and ``data``) to those of the next version, under its new ``type``."""

UPCASTERS: dict[str, Upcaster] = {}
"""Old type name → the way to the next one. Empty: no type has changed its meaning yet."""


def upcast(event: dict[str, Any], table: Mapping[str, Upcaster]) -> dict[str, Any]:
    """Bring the plain data of an event up to date, one version at a time; the given dict is left as it is.

    Raises:
        ValueError: if the table leads back to a type already seen.
    """
    seen: set[str] = set()
    while (name := event["type"]) in table:
        if name in seen:
            raise ValueError(f"the upcasters of {name!r} run in a circle")
        seen.add(name)
        event = table[name](dict(event))
    return event
