"""Wait until descriptors can be read or written."""

from __future__ import annotations

import selectors
from collections.abc import Iterable

__all__ = ["wait_until_ready"]

# Not select, which refuses descriptors from 1024 on; nor epoll, which refuses files, and stdin may be one.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


def wait_until_ready(
    reading: Iterable[int] = (), writing: Iterable[int] = (), seconds: float | None = None
) -> set[int]:
    """The descriptors that can be read or written, or have come to their end; none if the time is up before that.

    Raises:
        OSError: if a descriptor is closed.
        ValueError: if it is negative.
    """
    with _Selector() as selector:
        for descriptor in reading:
            selector.register(descriptor, selectors.EVENT_READ)
        for descriptor in writing:
            selector.register(descriptor, selectors.EVENT_WRITE)
        return {key.fd for key, _ in selector.select(seconds)}
