"""Ids of events: UUIDv7 (RFC 9562), which sort by the time they were made."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable

__all__ = ["MonotonicIds", "RandomPool", "is_uuid7", "now_ms", "time_of", "uuid7"]

_RANDOM_BITS = 74
_LAST_MS = 2**48 - 1
_UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def now_ms() -> int:
    """Milliseconds since the Unix epoch: the default clock of writers."""
    return time.time_ns() // 1_000_000


def uuid7(ms: int, random: bytes) -> str:
    """A UUIDv7 from a time and at least 10 random bytes (74 bits are used); the time is clamped to 48 bits."""
    return _format(_pack(ms, random))


def is_uuid7(text: str) -> bool:
    """Whether a text is a UUIDv7 as we write it, in lower case."""
    return _UUID7.fullmatch(text) is not None


def time_of(text: str) -> int | None:
    """Milliseconds since the Unix epoch at which a UUIDv7 was made; None for another text."""
    return int(text[:8] + text[9:13], 16) if is_uuid7(text) else None


class RandomPool:
    """Random bytes of the system, fetched by the kilobyte: behind a sync, each system call of an append shows.

    A forked process fetches its own, since it must not give the ids that its parent gives.
    """

    def __init__(self, size: int = 1024) -> None:
        self._size = size
        self._bytes = b""
        self._place = 0
        self._process = -1

    def __call__(self, count: int) -> bytes:
        """So many bytes, none of which was given before; ``count`` is at most the size of the pool."""
        end = self._place + count
        if end > len(self._bytes) or self._process != os.getpid():
            self._bytes, self._process = os.urandom(self._size), os.getpid()
            self._place, end = 0, count
        found = self._bytes[self._place : end]
        self._place = end
        return found


_STEP = 4
"""Bytes by which ids of one millisecond rise, at random."""


class MonotonicIds:
    """An id source whose ids only rise, even within a millisecond or when the clock is set back.

    Args:
        clock: gives milliseconds since the Unix epoch.
        random: gives as many random bytes as asked for; the system's by default.
    """

    def __init__(self, clock: Callable[[], int] = now_ms, random: Callable[[int], bytes] | None = None) -> None:
        self._clock = clock
        self._random = random or RandomPool()
        self._last = -1

    def __call__(self) -> str:
        """The next id."""
        random = self._random(10)
        packed = _pack(self._clock(), random)
        if packed <= self._last:
            # Not the next number: else one flipped bit would make an id that of its neighbour.
            packed = self._last + 1 + int.from_bytes(random[:_STEP], "big")
        self._last = packed
        return _format(packed)


def _pack(ms: int, random: bytes) -> int:
    """Time and random bits as one number, so that "later" is "greater"."""
    if not 0 <= ms <= _LAST_MS:
        ms = 0 if ms < 0 else _LAST_MS
    return ms << _RANDOM_BITS | int.from_bytes(random[:10], "big") >> 80 - _RANDOM_BITS


def _format(packed: int) -> str:
    """Spread the bits around version 7 and variant 2."""
    ms, high, low = packed >> _RANDOM_BITS, packed >> 62 & 0xFFF, packed & (1 << 62) - 1
    digits = f"{ms << 80 | 7 << 76 | high << 64 | 2 << 62 | low:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
