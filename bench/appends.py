# ruff: noqa: PTH116 - as an append looks
"""``python -m bench append``: a durable append of one memory, beside one raw write and sync of the same bytes."""

from __future__ import annotations

import gc
import os
import time
from fcntl import LOCK_EX, LOCK_UN, flock
from pathlib import Path

from msgspec.structs import replace

from bench.measure import in_turn, median, ratio
from ledger.codec import decode_known, encode
from ledger.events import Draft, MemoryRequestedData
from ledger.ids import MonotonicIds
from ledger.log import FileLog

__all__ = ["measure_append"]

_APPENDS = 500
_RAW, _LOCKED, _MADE, _OURS = "write + fdatasync", "lock and looks", "the same, the event made", "append"


class _Plain:
    """A file that is appended to: as it is, or under a lock and with the looks that an append can't do without."""

    def __init__(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        self._ids = MonotonicIds()
        self._event = decode_known(content.splitlines()[-1])
        self._path, self._sidecar = path, path.with_suffix(".lock")
        self._line = content.splitlines(keepends=True)[-1]
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND)
        self._lock = os.open(self._sidecar, os.O_WRONLY | os.O_CREAT, 0o600)
        self._sync = getattr(os, "fdatasync", os.fsync)

    def write(self) -> None:
        """Write and sync."""
        os.write(self._file, self._line)
        self._sync(self._file)

    def write_locked(self, *, durable: bool = True) -> None:
        """Lock, look whether either name leads elsewhere by now, write, sync, unlock."""
        flock(self._lock, LOCK_EX)
        os.stat(self._sidecar)
        os.stat(self._path)
        os.write(self._file, self._line)
        if durable:
            self._sync(self._file)
        flock(self._lock, LOCK_UN)

    def write_made(self, *, durable: bool = True) -> None:
        """The same, with an id and the encoding: what an append of a new event can't do without either."""
        flock(self._lock, LOCK_EX)
        os.stat(self._sidecar)
        os.stat(self._path)
        self._event = replace(self._event, id=self._ids(), seq=self._event.seq + 1)
        os.write(self._file, encode(self._event))
        if durable:
            self._sync(self._file)
        flock(self._lock, LOCK_UN)

    def close(self) -> None:
        """Let go of the files."""
        os.close(self._file)
        os.close(self._lock)


def measure_append(folder: Path) -> None:
    """Measure and print.

    Args:
        folder: where the files are written; it must not be there.
    """
    log = FileLog.create(folder, root="/w", key="0" * 16)
    drafts = [Draft(source="bench/s", time=None, data=MemoryRequestedData("m", "Remember: use integer cents"))]
    log.append(drafts)
    # All files as long as the log, in the same folder: they grow into a new block in the same round.
    before = Path(log.path).read_bytes()
    raw, locked, made = (_Plain(folder / name, before) for name in ("raw", "locked", "made"))
    # Else the collections between the cases would go through all that the process holds, and each append would find
    # the processor's caches empty: no host does that to it.
    gc.collect()
    gc.freeze()
    cases = {
        _RAW: raw.write,
        _LOCKED: locked.write_locked,
        _MADE: made.write_made,
        _OURS: lambda: log.append(drafts),
    }
    samples = in_turn(cases, _APPENDS, time.perf_counter)
    # Measured apart, each behind a sync too: what it leaves for the disk would be synced by the next case.
    unsynced = {
        _LOCKED: lambda: locked.write_locked(durable=False),
        _MADE: lambda: made.write_made(durable=False),
        _OURS: lambda: log.append(drafts, durable=False),
    }
    alone = {
        name: median(in_turn({_RAW: raw.write, name: case}, _APPENDS, time.perf_counter), name)
        for name, case in unsynced.items()
    }
    gc.unfreeze()
    for file in (raw, locked, made, log):
        file.close()
    print("\n(b) a durable append of one memory; wall; baseline: one raw write and fdatasync of the same bytes")
    print(f"    baseline: {median(samples, _RAW) * 1e3:.2f} ms")
    for name, seconds in alone.items():
        middle, low, high = ratio(samples, name, _RAW, share=0.5)
        print(
            f"    {name}: {middle:.2f}x (middle half {low:.2f} to {high:.2f}); without its sync {seconds * 1e6:.0f} us"
        )
