# ruff: noqa: PTH105, PTH118 - pathlib costs more at start-up than a line
"""The private log: why something could not be done, where no host would show it. One line each, best effort."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from ledger.files import make_private_folder, open_private
from ledger.times import format_time
from memfold.clock import now_ms

__all__ = ["LOG_LIMIT", "PRIVATE_LOG_NAME", "PrivateLog"]

PRIVATE_LOG_NAME = "memfold.log"
LOG_LIMIT = 1_000_000
"""Bytes; then the file becomes ``memfold.log.1``, in place of the one before."""
_LINE_LIMIT = 500
"""Characters of a line; a path in it may be of any length."""


class PrivateLog:
    """Appends to ``memfold.log`` in the data folder; a log that can't be written changes nothing for anyone.

    Args:
        folder: the data folder, made with the first line.
        clock: gives milliseconds since the epoch.
    """

    def __init__(self, folder: str, clock: Callable[[], int] = now_ms) -> None:
        self._folder = folder
        self._path = os.path.join(folder, PRIVATE_LOG_NAME)
        self._clock = clock
        self._last = ""

    def note(self, subject: str, detail: str) -> None:
        """Add a line, redacted; not again what was said last, so that a cause that lasts takes one line."""
        said = f"{subject}: {detail}"
        if said == self._last:
            return
        self._last = said
        with suppress(OSError, ValueError):
            self._add(f"{format_time(self._clock())} [ERROR] {_shown(said)}\n".encode("utf-8", "replace"))

    def settled(self) -> None:
        """What was said last is over: should it come again, it is said again."""
        self._last = ""

    def _add(self, line: bytes) -> None:
        make_private_folder(self._folder)
        flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK  # never wait for a pipe in its place
        descriptor = open_private(self._path, flags)
        try:
            if os.fstat(descriptor).st_size + len(line) > LOG_LIMIT:
                os.replace(self._path, f"{self._path}.1")
                os.close(descriptor)
                descriptor = -1
                descriptor = open_private(self._path, flags)
            os.write(descriptor, line)
        finally:
            if descriptor >= 0:
                os.close(descriptor)


def _shown(text: str) -> str:
    """A text as one redacted line."""
    from memfold.terminal import clean
    from projections.text.redact import redact

    return redact(clean(" ".join(text.split())))[:_LINE_LIMIT]
