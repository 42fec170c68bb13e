"""Wait until descriptors can be read or written."""

from __future__ import annotations

import select
import selectors
from collections.abc import Iterable

__all__ = ["Readers", "wait_until_ready"]

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


class Readers:
    """Descriptors that are waited for again and again: each wait is one call of the system.

    Args:
        descriptors: what is read.
    """

    def __init__(self, descriptors: Iterable[int]) -> None:
        self._descriptors = tuple(descriptors)
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            for descriptor in self._descriptors:
                self._poll.register(descriptor, select.POLLIN)

    def wait(self) -> set[int]:
        """Those that can be read, have come to their end, or are closed.

        Raises:
            OSError, ValueError: as ``wait_until_ready``.
        """
        if self._poll is None:
            return wait_until_ready(self._descriptors)
        return {descriptor for descriptor, _ in self._poll.poll()}
