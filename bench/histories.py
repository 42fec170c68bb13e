"""``python -m bench history``: what one memory costs to explain, beside a fold of everything."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from bench.measure import Samples, in_turn, median, ratio
from bench.starts import write_with_checkpoint
from ledger.codec import decode_known
from ledger.log import LOG_NAME, FileLog
from projections.histories import HistoryState
from projections.memory.model import shown_id
from projections.protocol import fold
from projections.world import World
from replay.history import Worded, history_of, with_history, worded
from replay.kept import KeptFacts
from replay.live import Live
from replay.outlines import by_blocks
from replay.state import state_of
from replay.why import why

__all__ = ["measure_histories"]

_DECODE, _FULL, _READ = "decode only", "full fold", "full fold, every call read again"
_HISTORY, _COLD, _WHY = "memfold history ID", "the same, no checkpoint", "memfold why ID"


def measure_histories(folder: Path, events: int, rounds: int) -> None:
    """Measure and print; the ledger has a checkpoint and a thousand events behind it.

    Args:
        folder: where the ledger goes.
        events: how many.
        rounds: how often each case runs.

    Raises:
        RuntimeError: if a fast answer differs from the plain one.
    """
    write_with_checkpoint(folder, events)
    log, directory = FileLog.open(folder), str(folder)
    numbers = list(Live(log).memory().numbers)
    number = numbers[len(numbers) // 2]
    ref = Live(log).memory().numbers[number]
    if _history(log, number) != history_of(log.read(), ref):
        raise RuntimeError("a checkpoint tells another history")

    def decode() -> None:
        with (folder / LOG_NAME).open("rb", buffering=1 << 20) as file:
            for line in file:
                decode_known(line)

    cases: dict[str, Callable[[], object]] = {
        _DECODE: decode,
        _FULL: lambda: state_of(log),
        _READ: lambda: fold(World(known=KeptFacts(directory)), log.read()),
        _HISTORY: lambda: _history(log, number),
        _COLD: lambda: history_of(by_blocks(log), ref, KeptFacts(directory)),
        _WHY: lambda: why(lambda: by_blocks(log), shown_id(number), known=KeptFacts(directory), log=log),
    }
    samples = in_turn(cases, rounds)
    print(f"\n(n) one memory of {len(numbers):,} in {events:,} events; CPU; load {os.getloadavg()[0]:.1f}")
    print(f"    {_DECODE}: {median(samples, _DECODE):.2f} s; {_FULL}: {median(samples, _FULL):.2f} s")
    for case in (_HISTORY, _COLD, _WHY):
        _report(samples, case)


def _history(log: FileLog, number: int) -> tuple[Worded, ...]:
    def told(state: HistoryState) -> tuple[Worded, ...]:
        return tuple(worded(state.steps[state.memory.numbers[number]]))

    return with_history(log, None, told)


def _report(samples: Samples, case: str) -> None:
    print(f"    {case}: {median(samples, case) * 1e3:,.1f} ms")
    for name in (_DECODE, _FULL, _READ):
        middle, low, high = ratio(samples, case, name)
        print(f"        {middle:.4f} of {name} ({low:.4f} to {high:.4f}, {len(samples[case])} rounds)")
