"""``python -m bench replay``: the state of ten thousand events, by us and by a library for event sourcing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from bench.ledgers import write_ledger
from bench.measure import Samples, in_turn, median, ratio
from bench.peers.installed import from_pypi
from bench.pipes import Pipe
from ledger.codec import decode_known
from ledger.log import LOG_NAME, FileLog
from projections.memory.fold import WorkspaceMemory
from projections.protocol import fold
from projections.world import World
from replay.kept import KeptFacts, keep_all
from replay.outlines import by_blocks, keep_outlines

__all__ = ["measure_replays"]

_EVENTS = 10_000
_PEER, _VERSION = "eventsourcing", "9.5.6"
_GET = "repository.get"
_PROGRAM = Path(__file__).with_name("peers") / "replay_eventsourcing.py"


def measure_replays(folder: Path, rounds: int) -> None:
    """Measure and print; without the network nothing.

    Args:
        folder: an empty folder.
        rounds: a quarter of the replays of each.

    Raises:
        RuntimeError: if the peer has lost events.
    """
    print(f"\n(p) {_EVENTS:,} events replayed; CPU")
    place = from_pypi(_PEER, _VERSION)
    if place is None:
        return
    ledger = folder / "ledger"
    session = write_ledger(ledger, _EVENTS)
    log = FileLog.open(ledger)
    keep_all(str(ledger), log.read())
    keep_outlines(str(ledger), log.path)
    known = partial(KeptFacts, str(ledger))

    def decode() -> None:
        with (ledger / LOG_NAME).open("rb") as file:
            for line in file:
                decode_known(line)

    cases: dict[str, Callable[[], object]] = {
        "decode only": decode,
        "workspace memory": lambda: fold(WorkspaceMemory(known()), by_blocks(log)),
        "all state of one session": lambda: fold(World({session}, known()), by_blocks(log)),
        "the same, no outlines": lambda: fold(World({session}, known()), log.read()),
    }
    samples = _in_turn(cases, log, folder / "peer.db", place, rounds * 4)
    print(f"    {_PEER} {_VERSION}, {_GET} on SQLite: {median(samples, _GET) * 1e3:.0f} ms")
    for name in cases:
        middle, low, high = ratio(samples, _GET, name, share=0.5)
        print(f"    {_GET} / {name}: {middle:.0f} (middle half {low:.0f} to {high:.0f}, {rounds * 4} rounds)", end="")
        print(f"; {median(samples, name) * 1e3:.1f} ms")


def _in_turn(
    cases: Mapping[str, Callable[[], object]], log: FileLog, database: Path, place: Path, rounds: int
) -> Samples:
    """CPU seconds of our cases, and of the peer, which tells its own; in turn, the first round left out."""
    environ = {**os.environ, "PYTHONPATH": str(place)}
    peer = Pipe([sys.executable, str(_PROGRAM), log.path, str(database)], environ)
    samples: Samples = {name: [] for name in (*cases, _GET)}
    try:
        for turn in range(rounds + 1):
            answer = peer.ask({"id": turn + 1})
            if answer["count"] != _EVENTS:
                raise RuntimeError(f"{_PEER} has {answer['count']:,} events")
            round_ = {_GET: [float(answer["seconds"])]} | in_turn(cases, 1)
            if turn:
                for name, (seconds,) in round_.items():
                    samples[name].append(seconds)
    finally:
        peer.close()
    return samples
