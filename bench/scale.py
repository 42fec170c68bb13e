"""``python -m bench scale``: a head refold of ten times as many events, its time and its memory."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from bench.ledgers import Kept, kept_ledger
from bench.measure import Samples, in_turn, median, ratio
from ledger.codec import decode_known
from ledger.log import LOG_NAME, FileLog
from projections.protocol import fold
from projections.world import World
from replay.kept import KeptFacts
from replay.outlines import by_blocks

__all__ = ["measure_scale"]

_PEAK = """
import sys
from msgspec import Struct
from ledger.log import FileLog
from projections.protocol import fold
from projections.world import World
from replay.kept import KeptFacts
from replay.outlines import by_blocks

def peak():
    return int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))

def held(found):
    seen, left, total = set(), [found], 0
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, type):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        if isinstance(one, Struct):
            left += [getattr(one, name) for name in one.__struct_fields__]
        elif isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, (list, tuple, set, frozenset)):
            left += one
    return total // 1024

state = None
if len(sys.argv) > 1:
    state = fold(World({sys.argv[2]}, KeptFacts(sys.argv[1])), by_blocks(FileLog.open(sys.argv[1])))
print(peak(), held((state.memory, state.accounts)) if state else 0)
"""


def measure_scale(events: int, rounds: int) -> None:
    """Measure and print.

    Args:
        events: events of the larger ledger; the smaller one has a tenth of them.
        rounds: how often each fold runs.
    """
    ledgers = {count: kept_ledger(count) for count in (events // 10, events)}
    cases = {f"{count:,}": partial(_refold, kept) for count, kept in ledgers.items()}
    cases |= {f"decode {count:,}": partial(_decode, kept) for count, kept in ledgers.items()}
    samples: Samples = in_turn(cases, rounds)
    small, large = (f"{count:,}" for count in ledgers)
    print(f"\n(c) head refold of {large} events beside one of {small}; CPU, {rounds} rounds")
    for name in (small, large):
        middle, low, high = ratio(samples, name, f"decode {name}")
        print(f"    {name:>12}: {median(samples, name):.2f} s, {middle:.2f}x decoding alone ({low:.2f} to {high:.2f})")
    middle, low, high = ratio(samples, small, large)
    print(f"    rate, an event: {middle * 10:.2f} of the smaller one's ({low * 10:.2f} to {high * 10:.2f})")
    bare, _ = _peak_of(None)
    for count, kept in ledgers.items():
        peak, held = _peak_of(kept)
        rest = (peak - held) / bare
        print(
            f"    {count:>12,}: peak {peak / bare:.2f}x of a process with the same imports ({bare / 1024:.0f} MiB);"
            f" memories and accounts hold {held / 1024:.0f} MiB, without them {rest:.2f}x"
        )


def _peak_of(kept: Kept | None) -> tuple[int, int]:
    """Peak memory of a process that folds a ledger, or none, and what memory and accounts hold at its end; in KiB."""
    arguments = [] if kept is None else [str(kept.place), kept.session]
    ran = subprocess.run([sys.executable, "-c", _PEAK, *arguments], capture_output=True, check=True, text=True)
    peak, held = ran.stdout.split()
    return int(peak), int(held)


def _refold(kept: Kept) -> None:
    fold(World({kept.session}, KeptFacts(str(kept.place))), by_blocks(FileLog.open(kept.place)))


def _decode(kept: Kept) -> None:
    with (kept.place / LOG_NAME).open("rb", buffering=1 << 20) as file:
        for line in file:
            decode_known(line)
