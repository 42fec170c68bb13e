"""Lines in and lines out over raw descriptors: bounded, in order, and each written at once."""

from __future__ import annotations

import os
from collections.abc import Iterator

from memfold.waiting import Readers, wait_until_ready

__all__ = ["LINE_LIMIT", "LineReader", "LineWriter"]

LINE_LIMIT = 8 * 1024 * 1024
"""Bytes of a line. The plugin sends none that is longer; one must neither fill the memory nor take long to parse."""

_CHUNK = 1 << 16


class LineReader:
    """The lines of a descriptor, without their line feeds.

    Args:
        descriptor: what is read.
        wake: a descriptor that becomes readable when reading must end, as at a signal.
        limit: bytes of a line.
    """

    def __init__(self, descriptor: int, wake: int | None = None, limit: int = LINE_LIMIT) -> None:
        self._descriptor = descriptor
        self._wake = wake
        self._limit = limit
        self._readers: Readers | None = None

    def __iter__(self) -> Iterator[bytes | None]:
        """The lines in order; None for one that is too long, which is skipped up to its line feed.

        A last line without line feed counts: a client that was killed may have written all of it but that. Memory
        is bounded by the limit. Ends at the end of the input, and where it can't be read any more.
        """
        pieces: list[bytes] = []  # of the line that has begun; joined once, so that a long line costs what it is long
        size = 0
        while chunk := self._read():
            first, *rest = chunk.split(b"\n")
            size += len(first)
            if size <= self._limit:
                pieces.append(first)
            else:
                pieces.clear()
            for begun in rest:
                yield None if size > self._limit else b"".join(pieces)
                pieces, size = [begun], len(begun)
        if size:
            yield None if size > self._limit else b"".join(pieces)

    def _read(self) -> bytes:
        """The next bytes, empty at the end."""
        try:
            while True:
                if self._wake is not None and self._wake in self._wait(self._wake):
                    return b""
                try:
                    return os.read(self._descriptor, _CHUNK)
                except BlockingIOError:  # the client's end may share its mode with ours
                    wait_until_ready([self._descriptor])
        except (OSError, ValueError):
            return b""

    def _wait(self, wake: int) -> set[int]:
        if self._readers is None:
            self._readers = Readers((self._descriptor, wake))
        return self._readers.wait()


class LineWriter:
    """Writes lines to a descriptor whose reader may go away at any time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._heard = True

    def write(self, line: bytes) -> bool:
        """Write a line, which brings its line feed; whether somebody is there to read it."""
        view = memoryview(line)
        while self._heard and view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except BlockingIOError:
                wait_until_ready(writing=[self._descriptor])
            except OSError:  # the client is gone: what it sent before is recorded all the same
                self._heard = False
        return self._heard
