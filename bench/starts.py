"""A session start as a process: ``memfold prompt`` with a checkpoint and a tail of a thousand events."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bench.ledgers import ROOT, write_ledger
from bench.measure import median, processes, ratio
from ledger.log import FileLog
from projections.policy import Context
from replay.checkpoints import find
from replay.kept import keep_all, keep_facts
from replay.live import Live

__all__ = ["measure_starts"]

_TAIL = 1000
_BASE = "import msgspec"


def measure_starts(folder: Path, sizes: Sequence[int], rounds: int) -> None:
    """Measure starts on ledgers of several sizes, and print them.

    Args:
        folder: where the ledgers are written; it must not be there.
        sizes: events before the checkpoint, rising; behind it come a thousand.
        rounds: how often each process runs.
    """
    commands = {
        _BASE: [sys.executable, "-c", "import msgspec"],
        "memfold --version": [sys.executable, "-m", "memfold", "--version"],
    }
    for size in sizes:
        place = folder / str(size)
        write_ledger(place, size + _TAIL, before_last=_keep)
        log = FileLog.open(place)
        keep_facts(str(place), log.reader(next(find(log)).cursor), Context(root=ROOT))
        commands[_name(size)] = [sys.executable, "-m", "memfold", "prompt", "--ledger", str(place)]
    samples = processes(commands, rounds)
    print("\n(d) memfold prompt, 1,000 events behind a checkpoint; wall of the process")
    print('    baseline: python -c "import msgspec"')
    print(f"    which takes {median(samples, _BASE) * 1e3:.0f} ms")
    for case in list(commands)[1:]:
        middle, low, high = ratio(samples, case, _BASE, share=0.5)
        print(f"    {case}: {middle:.2f}x (middle half {low:.2f} to {high:.2f}, {rounds} rounds)")
    for size in sizes[1:]:
        middle, low, high = ratio(samples, _name(size), _name(sizes[0]), share=0.5)
        print(f"    {size:,} beside {sizes[0]:,} events: {middle:.2f}x (middle half {low:.2f} to {high:.2f})")


def _keep(log: FileLog) -> None:
    """The checkpoint that a host leaves; facts first, for it is folded sooner with them."""
    keep_all(log.directory, log.read())
    live = Live(log)
    live.world()
    live.keep(every=0)


def _name(size: int) -> str:
    return f"memfold prompt, {size:,} events"
