"""Fields of memories in the JSON of other programs, whatever stands there; an unknown source counts as manual."""

from __future__ import annotations

from typing import Literal

from ledger.times import format_time, parse_time
from projections.memory.model import CONFIDENCE, HIGHEST_NUMBER, Source

__all__ = ["count", "hundredths", "importance_of", "share", "source_of", "time_of"]

_SOURCES: dict[str, Source] = {"explicit": "explicit", "compaction": "compaction", "manual": "manual"}
_IMPORTANCE: dict[str, Literal["low", "normal", "high"]] = {"low": "low", "normal": "normal", "high": "high"}
_WHOLE = 100
_YEAR_10000 = 253_402_300_800_000
"""In milliseconds: the first moment that RFC 3339 can't say."""


def source_of(word: str) -> Source:
    """Who said it (SPEC 2.3)."""
    return _SOURCES.get(word, "manual")


def importance_of(word: str) -> Literal["low", "normal", "high"]:
    """How important it is."""
    return _IMPORTANCE.get(word, "normal")


def count(value: object) -> int:
    """A whole number that isn't negative, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HIGHEST_NUMBER else 0


def hundredths(value: object, source: Source) -> int:
    """Confidence, 0 to 100; that of the source where there is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _WHOLE:
        return value
    return CONFIDENCE[source]


def share(value: object, source: Source) -> int:
    """Confidence of 0 to 1 in hundredths; that of the source where there is none."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return round(value * _WHOLE)
    return CONFIDENCE[source]


def time_of(value: object) -> str | None:
    """A time as events have it; stores write text or milliseconds."""
    if isinstance(value, str):
        moment = parse_time(value.strip())
        return None if moment is None else format_time(moment)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _YEAR_10000:
        return format_time(value)
    return None
