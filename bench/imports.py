"""``python -m bench.imports``: what each dependency costs a process that imports it, beside a bare interpreter."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from bench.measure import machine, median, processes, ratio

_ROUNDS = 21
_BARE = "python -I -S -c pass"
_IMPORTS = {
    "json": "json",
    "re": "re",
    "msgspec": "msgspec",
    "filelock": "filelock",
    "watchfiles": "watchfiles",
    "the ledger (ledger.log)": "ledger.log",
    "every projection (projections.world)": "projections.world",
}


def main() -> None:
    """Measure and print."""
    places = [str(Path(msgspec.__file__).parents[1]), str(Path(__file__).parents[1])]
    start = [sys.executable, "-I", "-S", "-c"]
    commands = {_BARE: [*start, "pass"]}
    for name, module in _IMPORTS.items():
        commands[name] = [*start, f"import sys; sys.path[:0] = {places}; import {module}"]
    samples = processes(commands, _ROUNDS)
    print(f"{machine()}\nwall of a process; baseline: {_BARE}, {median(samples, _BARE) * 1e3:.0f} ms; {_ROUNDS} rounds")
    for name in _IMPORTS:
        middle, low, high = ratio(samples, name, _BARE)
        print(f"    {name}: {middle:.2f}x ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
