"""``python -m bench commands``: what commands for people take on a long ledger, as processes, and their memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.measure import median, processes, ratio
from bench.starts import write_with_checkpoint
from ledger.log import LOG_NAME

__all__ = ["measure_commands"]

_DECODE = "decode only"
_DECODES = """
import sys
from ledger.codec import decode_known
with open(sys.argv[1], "rb", buffering=1 << 20) as file:
    for line in file:
        decode_known(line)
"""
_RUNS = """
import os, sys
from memfold.cli.main import main
if len(sys.argv) > 1:
    sys.stdout = open(os.devnull, "w")
    main(sys.argv[1:])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")), file=sys.stderr)
"""
_COMMANDS = (
    ["prompt"],
    ["history", "MEM-100"],
    ["list"],
    ["show", "MEM-100"],
    ["why", "MEM-100"],
    ["log", "--limit", "5"],
    ["status"],
    ["check"],
    ["head"],
    ["verify"],
)


def measure_commands(folder: Path, events: int, rounds: int) -> None:
    """Measure and print; the ledger has what a host leaves beside it, and a thousand events behind its checkpoint.

    Args:
        folder: where the ledger goes.
        events: how many.
        rounds: how often each process runs.
    """
    write_with_checkpoint(folder, events)
    memfold = str(Path(sys.executable).with_name("memfold"))
    commands = {_DECODE: [sys.executable, "-c", _DECODES, str(folder / LOG_NAME)]}
    commands |= {" ".join(words): [memfold, *words, "--ledger", str(folder)] for words in _COMMANDS}
    samples = processes(commands, rounds)
    bare = _peak([])
    print(f"\n(r) commands on {events:,} events and a thousand behind the checkpoint; wall of the process")
    print(f"    baseline: the log decoded, nothing kept, {median(samples, _DECODE):.2f} s; {rounds} rounds")
    print(
        f"    load {os.getloadavg()[0]:.1f}; peak memory beside a process with the same imports ({bare / 1024:.0f} MiB)"
    )
    for words in _COMMANDS:
        name = " ".join(words)
        middle, low, high = ratio(samples, name, _DECODE)
        peak = _peak([*words, "--ledger", str(folder)]) / bare
        print(
            f"    {name:16} {median(samples, name):7.2f} s  {middle:.2f}x ({low:.2f} to {high:.2f})  memory {peak:.1f}x"
        )


def _peak(arguments: list[str]) -> int:
    """Peak memory of a process that runs a command, or only imports the command line; in KiB."""
    command = [sys.executable, "-c", _RUNS, *arguments]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return int(ran.stderr.split()[-1])
