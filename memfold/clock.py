"""Times from hosts and people, as the RFC 3339 text that events carry; and the only place that asks the clock."""

from __future__ import annotations

import time
from functools import lru_cache

from ledger.times import format_time, parse_time

__all__ = ["host_time", "now_ms"]

_YEAR_10000 = 253_402_300_800  # in seconds: the first moment that RFC 3339 can't say


def now_ms() -> int:
    """The present time in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def host_time(value: object) -> str | None:
    """A host's time in the written form, or None if it can't be read.

    Text is ISO 8601, without a zone UTC; a number is seconds since the epoch (SPEC 1.2), up to the year 9999.
    """
    if isinstance(value, str):
        moment = parse_time(value.strip())
        return None if moment is None else format_time(moment)
    # The range first: JSON may hold NaN, and a whole number that no float can.
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _YEAR_10000:
        return _of_seconds(value)
    return None


@lru_cache(maxsize=4)  # a hook asks several times for its own
def _of_seconds(seconds: float) -> str:
    return format_time(round(seconds * 1000))
