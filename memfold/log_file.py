# ruff: noqa: PTH105, PTH120 - pathlib costs more at start-up than a line
"""Logs for people: private files that grow line by line, are rotated, and never get in anybody's way."""

from __future__ import annotations

import os
from contextlib import suppress

from ledger.files import make_private_folder, open_private

__all__ = ["LOG_LIMIT", "append_line"]

LOG_LIMIT = 1_000_000
"""Bytes; then the file gets the ending ``.1``, in place of the one before."""


def append_line(path: str, line: str) -> None:
    """Append a line, which brings its line feed; nothing comes of it where the system refuses."""
    with suppress(OSError, ValueError):
        _append(path, line.encode("utf-8", "replace"))


def _append(path: str, line: bytes) -> None:
    make_private_folder(os.path.dirname(path))
    flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK  # never wait for a pipe in its place
    descriptor = open_private(path, flags)
    try:
        if os.fstat(descriptor).st_size + len(line) > LOG_LIMIT:
            os.replace(path, f"{path}.1")
            os.close(descriptor)
            descriptor = -1
            descriptor = open_private(path, flags)
        os.write(descriptor, line)
    finally:
        if descriptor >= 0:
            os.close(descriptor)
