# ruff: noqa: PTH118 - pathlib costs more at start-up than a line
"""The private log: why something could not be done, where no host would show it. One line each, best effort."""

from __future__ import annotations

import os
from collections.abc import Callable

from ledger.times import format_time
from memfold.clock import now_ms
from memfold.log_file import append_line

__all__ = ["PRIVATE_LOG_NAME", "PrivateLog"]

PRIVATE_LOG_NAME = "memfold.log"
_LINE_LIMIT = 500
"""Characters of a line; a path in it may be of any length."""


class PrivateLog:
    """Appends to ``memfold.log`` in the data folder; a log that can't be written changes nothing for anyone.

    Args:
        folder: the data folder, made with the first line.
        clock: gives milliseconds since the epoch.
    """

    def __init__(self, folder: str, clock: Callable[[], int] = now_ms) -> None:
        self._path = os.path.join(folder, PRIVATE_LOG_NAME)
        self._clock = clock
        self._last = ""

    def note(self, subject: str, detail: str) -> None:
        """Add a line, redacted; not again what was said last, so that a cause that lasts takes one line."""
        said = f"{subject}: {detail}"
        if said == self._last:
            return
        self._last = said
        append_line(self._path, f"{format_time(self._clock())} [ERROR] {_shown(said)}\n")

    def settled(self) -> None:
        """What was said last is over: should it come again, it is said again."""
        self._last = ""


def _shown(text: str) -> str:
    """A text as one redacted line."""
    from memfold.terminal import clean
    from projections.text.redact import redact

    return redact(clean(" ".join(text.split())))[:_LINE_LIMIT]
