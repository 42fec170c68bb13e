"""A session start as a process: ``memfold prompt`` with a checkpoint and a tail of a thousand events."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from bench.ledgers import ROOT, drafts, write_ledger
from bench.measure import median, processes, ratio
from ledger.log import FileLog
from projections.policy import Context
from replay.calls import keep_calls
from replay.kept import keep_all, keep_facts
from replay.live import Live

__all__ = ["measure_starts", "write_with_checkpoint"]

_TAIL, _SEED = 1000, 1
_BASE = "import msgspec"


def measure_starts(folder: Path, sizes: Sequence[int], rounds: int) -> None:
    """Measure starts on ledgers of several sizes, and print them.

    Args:
        folder: where the ledgers are written; it must not be there.
        sizes: events before the checkpoint, rising; behind it come a thousand, the same for all.
        rounds: how often each process runs.
    """
    memfold = str(Path(sys.executable).with_name("memfold"))
    commands = {_BASE: [sys.executable, "-c", "import msgspec"], "memfold --version": [memfold, "--version"]}
    for size in sizes:
        place = folder / str(size)
        write_with_checkpoint(place, size)
        commands[_name(size)] = [memfold, "prompt", "--ledger", str(place)]
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


def write_with_checkpoint(place: Path, size: int) -> None:
    """A ledger, the checkpoint that a host leaves, and the same thousand events behind it, whatever the size."""
    write_ledger(place, size)
    log = FileLog.open(place)
    keep_all(log.directory, log.read())  # facts first, for it is folded sooner with them
    live = Live(log)
    begin = live.memory().now
    live.keep(every=0)
    keep_calls(log, Context(root=ROOT))  # all of them, as a host would have kept them by then
    with FileLog.open(place, clock=lambda: begin) as later:
        tail = later.append(list(islice(drafts(seed=_SEED, begin=begin), _TAIL)))
    keep_facts(log.directory, tail, Context(root=ROOT))


def _name(size: int) -> str:
    return f"memfold prompt, {size:,} events"
