"""One adapter per area, each with ``run`` and, where equality isn't enough, ``compare``; imported when needed."""

from __future__ import annotations

import importlib
from typing import Any, Protocol, cast

__all__ = ["AREAS", "Area", "load"]

AREAS = {
    "candidates": "candidates",
    "consolidation": "consolidation",
    "errors": "events",
    "events": "events",
    "explicit": "explicit",
    "hot": "events",
    "identity": "identity",
    "log": "log",
    "memory_file": "memory_file",
    "promotion": "events",
    "quality": "quality",
    "redaction": "redaction",
    "render": "render",
    "retention": "retention",
    "tools": "tools",
}
"""The module of each area; four areas share the schema of neutral events."""


class Area(Protocol):
    """What the runner calls."""

    def run(self, given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
        """The actual value of each wanted key of a row; ``given`` is its input.

        An area whose module says ``SEES_EXPECT = True`` finds what the row expects under ``given["expect"]``.

        Raises:
            UnknownKey: a wanted key or an operation is not known.
        """
        ...


def load(area: str) -> Area:
    """Import the adapter of an area.

    Raises:
        KeyError: there is no such area.
        ImportError: its adapter can't be imported (yet).
    """
    return cast("Area", importlib.import_module(f"{__name__}.{AREAS[area]}"))
