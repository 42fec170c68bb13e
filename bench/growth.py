"""``python -m bench growth``: session starts and refolds against the size of the ledger, as data for a plot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.measure import Samples, in_turn, machine, ratio
from bench.peers.installed import from_npm, from_pypi
from bench.pipes import Pipe
from bench.starts import write_with_checkpoint
from bench.writes import Server
from ledger.codec import decode_known
from ledger.log import LOG_NAME, FileLog
from projections.protocol import fold
from projections.world import World
from replay.kept import KeptFacts
from replay.live import Live
from replay.outlines import by_blocks
from replay.state import state_of

__all__ = ["DATA", "Growth", "Line", "measure_growth"]

DATA = Path(__file__).parent / "out" / "growth.json"
_MOST_OF_PEERS = 100_000
"""Events of the largest store of a peer: a larger one takes minutes to fill."""
_IMPORT, _DECODE = "import msgspec", "decode only"
_REPLAY = Path(__file__).with_name("peers") / "replay_eventsourcing.py"


class Line(Struct):
    """One line of a plot: by size the median of ratios, and the lowest and highest of the middle half of rounds."""

    points: dict[int, tuple[float, float, float]] = {}


class Growth(Struct):
    """What was measured.

    Attributes:
        machine: where.
        start: session starts as processes, wall, beside an interpreter that imports msgspec.
        rate: events a second of CPU, beside decoding them alone.
    """

    machine: str
    start: dict[str, Line] = {}
    rate: dict[str, Line] = {}


class _Entity(Struct, tag_field="type", tag="entity"):
    """A line of the memory server's file."""

    name: str
    observations: tuple[str, ...]
    entityType: str = "fact"  # noqa: N815 - the server's own name


def measure_growth(folder: Path, most: int, rounds: int) -> None:
    """Measure at 10^3 events, 10^4 and so on, and write the data for ``python -m bench.plot``.

    Args:
        folder: an empty folder.
        most: events of the largest ledger.
        rounds: how often each case runs; those at the largest sizes three times at least.
    """
    found = Growth(machine())
    size = 1000
    print("\n(q) session starts and refolds by size")
    while size <= most:
        _starts(found, folder / f"starts-{size}", size, rounds * 2)
        _rates(found, folder / f"starts-{size}", size, max(3, rounds if size < most else 3))
        shutil.rmtree(folder / f"starts-{size}")
        size *= 10
    DATA.parent.mkdir(exist_ok=True)
    DATA.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    print(f"    {DATA}")


def _starts(found: Growth, folder: Path, size: int, rounds: int) -> None:
    """A checkpoint and a thousand events behind it; the same log without; and what peers take to have theirs."""
    kept, bare = folder / "kept", folder / "bare"
    write_with_checkpoint(kept, size)
    bare.mkdir()
    shutil.copy(kept / LOG_NAME, bare / LOG_NAME)
    prompt = [str(Path(sys.executable).with_name("memfold")), "prompt", "--ledger"]
    cases: dict[str, Callable[[], object]] = {
        _IMPORT: partial(_run, [sys.executable, "-c", "import msgspec"]),
        "memfold": partial(_run, [*prompt, str(kept)]),
        "memfold, nothing kept": partial(_run, [*prompt, str(bare)]),
    }
    if size <= _MOST_OF_PEERS:
        if place := from_pypi("eventsourcing", "9.5.6"):
            environ = {**os.environ, "PYTHONPATH": str(place)}
            database = folder / "peer.db"
            arguments = [sys.executable, str(_REPLAY), str(kept / LOG_NAME), str(database)]
            _run(arguments, environ)
            cases["eventsourcing"] = partial(_run, [*arguments, "again"], environ)
        if server := _server(folder, size):
            cases["server-memory"] = server
    in_turn(cases, 1)
    _note(found.start, in_turn(cases, rounds, time.perf_counter), _IMPORT, size)


def _server(folder: Path, size: int) -> Callable[[], None] | None:
    """From the start of the memory server to its first answer from a graph of so many entities."""
    node = shutil.which("node")
    entry = from_npm("@modelcontextprotocol/server-memory", "2026.8.31", "dist/index.js") if node else None
    if not node or entry is None:
        return None
    graph = folder / "graph.jsonl"
    with graph.open("wb") as file:  # as the server writes it; asked to, it compares each with all others
        for number in range(size):
            text = _entity(number)
            file.write(msgspec.json.encode(_Entity(text, (text,))) + b"\n")

    def start() -> None:
        server = Server(node, entry, graph)
        server.look(_entity(1))
        server.close()

    return start


def _entity(number: int) -> str:
    return f"the service numbered {number} keeps its amounts in integer cents"


def _rates(found: Growth, folder: Path, size: int, rounds: int) -> None:
    ledger = folder / "kept"
    log, known = FileLog.open(ledger), partial(KeptFacts, str(ledger))
    session = next(reversed(Live(log).world().memory.epochs), "")

    def decode() -> None:
        with (ledger / LOG_NAME).open("rb", buffering=1 << 20) as file:
            for line in file:
                decode_known(line)

    cases: dict[str, Callable[[], object]] = {
        _DECODE: decode,
        "memfold, one session": lambda: fold(World({session}, known()), by_blocks(log)),
        "memfold, all sessions": lambda: state_of(log),
    }
    samples = in_turn(cases, rounds)
    if size <= _MOST_OF_PEERS and (place := from_pypi("eventsourcing", "9.5.6")):
        environ = {**os.environ, "PYTHONPATH": str(place)}
        peer = Pipe([sys.executable, str(_REPLAY), log.path, str(folder / "peer.db"), "again"], environ)
        samples["eventsourcing"] = [float(peer.ask({"id": turn + 1})["seconds"]) for turn in range(rounds)]
        peer.close()
    _note(found.rate, samples, _DECODE, size, inverse=True)


def _run(command: list[str], environ: Mapping[str, str] | None = None) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environ)


def _note(lines: dict[str, Line], samples: Samples, baseline: str, size: int, *, inverse: bool = False) -> None:
    for name in samples:
        if name == baseline:
            continue
        middle, low, high = (
            ratio(samples, baseline, name, share=0.5) if inverse else ratio(samples, name, baseline, share=0.5)
        )
        lines.setdefault(name, Line()).points[size] = (round(middle, 4), round(low, 4), round(high, 4))
        print(f"    {size:>9,} {name}: {middle:.3g} (middle half {low:.3g} to {high:.3g})", flush=True)
