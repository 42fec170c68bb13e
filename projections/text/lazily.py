"""Patterns that are compiled when a text first needs them: most texts that a start shows need none."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

__all__ = ["lazily"]


def lazily(source: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """A pattern, compiled by the first call."""
    return cache(lambda: re.compile(source, flags))
