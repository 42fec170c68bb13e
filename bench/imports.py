"""``python -m bench.imports``: what each import costs a process, beside a bare interpreter, and what it may cost."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.measure import machine, median, processes, ratio

_ROUNDS = 21
_BARE = "python -I -S -c pass"
_WIDE = 1.25
"""How far above its limit a ratio may be on a busy machine before the command fails."""
_LEAN = "from memfold.cli.start import import_msgspec; import_msgspec()"


class _Case(NamedTuple):
    """A program, and what it may cost; None for what isn't ours to change."""

    program: str
    limit: float | None = None


_CASES = {
    "json": _Case("import json"),
    "re": _Case("import re"),
    "msgspec": _Case("import msgspec"),
    "msgspec, as a prompt imports it": _Case(_LEAN),
    "filelock": _Case("import filelock"),
    "watchfiles": _Case("import watchfiles"),
    "the hook (memfold.hook.run)": _Case("import memfold.hook.run", 1.5),
    "the ledger (ledger.log)": _Case("import ledger.log", 6.0),
    "a prompt (memfold.cli.prompt)": _Case(f"{_LEAN}; import memfold.cli.prompt", 6.5),
    "every projection (projections.world)": _Case("import projections.world", 8.0),
}


def main() -> int:
    """Measure and print; 1 if an import is far above its limit."""
    places = [str(Path(msgspec.__file__).parents[1]), str(Path(__file__).parents[1])]
    start = [sys.executable, "-I", "-S", "-c"]
    commands = {_BARE: [*start, "pass"]}
    for name, case in _CASES.items():
        commands[name] = [*start, f"import sys; sys.path[:0] = {places}; {case.program}"]
    samples = processes(commands, _ROUNDS)
    print(f"{machine()}\nwall of a process; baseline: {_BARE}, {median(samples, _BARE) * 1e3:.0f} ms; {_ROUNDS} rounds")
    over = False
    for name, case in _CASES.items():
        middle, low, high = ratio(samples, name, _BARE)
        limit = "" if case.limit is None else f", limit {case.limit:.2f}"
        if case.limit is not None and middle > case.limit:
            limit += ": over"
            over |= middle > case.limit * _WIDE
        print(f"    {name}: {middle:.2f}x ({low:.2f} to {high:.2f}){limit}")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
