"""The end of a log file, read backwards: the next seq, and whether the last line is torn."""

from __future__ import annotations

import os

from msgspec import Struct

from ledger.codec import decode
from ledger.problems import Problem
from ledger.recovery import recover
from ledger.sequence import can_be

__all__ = ["Tail", "read_tail"]

_FIRST_SPAN = 4096


class Tail(Struct, frozen=True):
    """The end of a file of ``size`` bytes.

    Attributes:
        size: bytes in the file.
        next_seq: one above the highest seq near the end that can be; where none can, the number of events.
        rest: what stands behind the last line feed: empty, a whole event that lacks it, or torn text.
    """

    size: int = 0
    next_seq: int = 0
    rest: bytes = b""


def read_tail(descriptor: int, size: int) -> Tail:
    """Look back from byte ``size`` until an event is found.

    The whole span counts, not just its last event: lines near the end may stand out of order. Costs as much as a
    few kilobytes do, however long the log is; a long damaged end is read in growing spans, linear in its length.

    Raises:
        OSError: if the system can't read.
    """
    span = _FIRST_SPAN
    while True:
        start = max(0, size - span)
        lines = _read_at(descriptor, start, size).split(b"\n")
        events: list[tuple[int, int]] = []  # seq and end of each
        byte = start
        for index, line in enumerate(lines):
            if index or not start:  # the first is only whole at the start of the file
                events += _numbers(line, byte)
            byte += len(line) + 1
        # A foreign number must not leave the ledger without numbers for ever.
        seqs = [seq for seq, end in events if can_be(seq, end)]
        if seqs or start == 0:
            return Tail(size, max(seqs, default=len(events) - 1) + 1, lines[-1])
        span *= 8


def _numbers(line: bytes, byte: int) -> list[tuple[int, int]]:
    """Seq and end of each event in a line. A healthy one need not be recovered: many writers wait while this reads."""
    if line.startswith(b"{") and line.endswith(b"}"):
        event = decode(line)
        if not isinstance(event, Problem):
            return [(event.seq, byte + len(line))]
    found = recover(line, byte=byte)
    return [(record.item.seq, record.byte + record.length) for record in found if not isinstance(record.item, Problem)]


def _read_at(descriptor: int, start: int, stop: int) -> bytes:
    """The bytes from ``start`` to ``stop``, or to the end of the file if that comes first."""
    chunks: list[bytes] = []
    while start < stop and (chunk := os.pread(descriptor, stop - start, start)):
        chunks.append(chunk)
        start += len(chunk)
    return b"".join(chunks)
