"""Times of events: RFC 3339 text in the log, whole milliseconds since the Unix epoch in folds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache

__all__ = ["DAY_MS", "HOUR_MS", "format_time", "instant", "parse_time", "utc_day"]

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_OWN_LENGTH = len("2026-01-01T00:00:00.000Z")
_SHAPE = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[Tt ](?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?"
)
_LAST_MS = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z: what RFC 3339 can say


def parse_time(text: str | None) -> int | None:
    """Milliseconds since the epoch of an RFC 3339 time; None if missing or unreadable (SPEC 1.2).

    A time without a zone is UTC; what is finer than a millisecond is cut off. A day alone is its beginning.
    """
    if not text:
        return None
    # What ``fromisoformat`` takes grows with Python, and a time must mean the same in every version (I1). Our own
    # form is known by its punctuation, which is cheaper than the pattern.
    own = len(text) == _OWN_LENGTH and text[4:20:3] == "--T::." and text[-1] == "Z" and text[11:13] < "24"
    if not own and not _shape().fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text if own else text.upper())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return None


@cache
def _shape() -> re.Pattern[str]:
    return re.compile(_SHAPE)  # most times have our own form, and need no pattern


def instant(ms: int) -> datetime:
    """The same in UTC as what ``datetime.fromisoformat`` reads; clamped to years 1970 to 9999."""
    if not 0 <= ms <= _LAST_MS:
        ms = 0 if ms < 0 else _LAST_MS
    return _EPOCH + timedelta(milliseconds=ms)


def format_time(ms: int) -> str:
    """RFC 3339 in UTC with milliseconds, ``2026-01-01T00:00:00.000Z``; clamped to years 1970 to 9999."""
    return instant(ms).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def utc_day(ms: int) -> str:
    """The UTC day of a time, ``2026-01-01``."""
    return format_time(ms)[:10]
