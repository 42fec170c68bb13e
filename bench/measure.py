"""How things are measured: cases in turn, ratios within a round, medians over rounds."""

from __future__ import annotations

import gc
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec

__all__ = ["Samples", "in_turn", "machine", "median", "processes", "ratio"]

Samples = dict[str, list[float]]
"""Case → seconds, or whatever is measured, one value a round."""


def in_turn(
    cases: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> Samples:
    """Run each case once a round, so that a slow moment of the machine hits all of them alike.

    Every other round runs backwards: what one case leaves behind for the next (a busy disk) hits both.
    """
    samples: Samples = {name: [] for name in cases}
    order = list(cases.items())
    for number in range(rounds):
        for name, case in order if number % 2 == 0 else reversed(order):
            gc.collect()
            begin = clock()
            case()
            samples[name].append(clock() - begin)
    return samples


def processes(commands: Mapping[str, Sequence[str]], rounds: int) -> Samples:
    """Wall seconds of each command from start to exit; each runs once before, so that its files are at hand.

    An installed program has its byte code; so it has here, whatever the environment says about writing it.
    """
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(command: Sequence[str]) -> None:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environ)

    cases = {name: partial(run, command) for name, command in commands.items()}
    in_turn(cases, 1)
    return in_turn(cases, rounds, time.perf_counter)


def ratio(samples: Samples, case: str, baseline: str, *, share: float = 1.0) -> tuple[float, float, float]:
    """Case to baseline of the same round: the median, and the lowest and highest of the middle ``share`` of rounds."""
    ratios = sorted(ours / theirs for ours, theirs in zip(samples[case], samples[baseline], strict=True))
    cut = int(len(ratios) * (1 - share) / 2)
    return statistics.median(ratios), ratios[cut], ratios[-1 - cut]


def median(samples: Samples, case: str) -> float:
    """The median of a case over rounds."""
    return statistics.median(samples[case])


def machine() -> str:
    """One line about where this ran: without it no figure means anything."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{python}, msgspec {msgspec.__version__}, {sys.platform} {platform.machine()}, {os.cpu_count()} cores{load}"
