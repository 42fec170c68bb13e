"""``python -m bench hooks``: 100 hooks of a cold child on 10,000 events (HKS-04), and the longest there can be."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.bridge import BRIDGE, Child, Place, Records, place_of, quiet
from bench.ledgers import write_ledger
from memfold.bounds import READ_LIMIT

__all__ = ["measure_hooks"]

_EVENTS, _CALLS = 10_000, 100
_WITHIN, _STOP = 0.15, 2.0
"""What 95 of 100 must meet, and all, in seconds."""
_UNITS = {
    "words": "the quick brown fox ",
    "requests": "Remember: use tabs in Go files\n",
    "requests with lists": "Remember:\n- a\n- b\n",
    "quoted requests": "> Remember: x\n",
    "blank lines": "\n",
    "fences": "```\n",
    "addresses": "https://u:p@h/",
    "joiners": "a\u200d",
    "one word": "x",
}
"""Of what the longest messages are made; the slowest that were found."""


def measure_hooks(folder: Path, rounds: int) -> None:
    """Measure and print.

    Args:
        folder: an empty folder.
        rounds: children that are started.
    """
    folder.mkdir()
    ledger = folder / "ten-thousand"
    write_ledger(ledger, _EVENTS)
    shutil.rmtree(ledger / "derived", ignore_errors=True)
    print(f"\n(h) {_CALLS} hooks of a child that was just started, {_EVENTS:,} events, nothing kept; wall; HKS-04")
    with quiet():
        for turn in range(rounds):
            _report(_hundred(place_of(folder / str(turn), "hooks", ledger)))
        print(f"    a message of {READ_LIMIT * 4:,} characters, {READ_LIMIT:,} of which are read")
        for name, unit in _UNITS.items():
            print(f"      {name:>20}: {_longest(place_of(folder / name, 'long', ledger), unit) * 1e3:,.0f} ms")


def _hundred(place: Place) -> list[float]:
    """The seconds that a client waits for each hook, the start of the child aside and the fold of the log included."""
    records = Records(place.root, "ses_hooks")
    makers: Sequence[Callable[[], dict[str, object]]] = (records.message, records.prompt, records.tool, records.tool)
    child = Child(BRIDGE, place.environ)
    try:
        child.ask(records.init())
        return [child.ask(makers[number % len(makers)]()) for number in range(_CALLS)]
    finally:
        child.close()


def _longest(place: Place, unit: str) -> float:
    records = Records(place.root, "ses_long")
    child = Child(BRIDGE, place.environ)
    try:
        for first in (records.init(), records.message(), records.prompt()):
            child.ask(first)
        return child.ask(records.message(unit * (READ_LIMIT * 4 // len(unit))))
    finally:
        child.close()


def _report(seconds: list[float]) -> None:
    within = sum(one <= _WITHIN for one in seconds)
    middle, high = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    stop = "" if max(seconds) < _STOP else ": over the stop"
    print(f"      {within} of {len(seconds)} within {_WITHIN * 1e3:.0f} ms; median {middle * 1e3:.2f} ms, ", end="")
    print(f"p95 {high * 1e3:.2f} ms, highest {max(seconds) * 1e3:.0f} ms{stop}")
