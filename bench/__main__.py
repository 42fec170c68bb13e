"""``python -m bench``: what a session start, an append and a process cost, as ratios measured in one run."""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from itertools import groupby
from pathlib import Path

from bench.appends import measure_append
from bench.bridge import measure_bridge
from bench.commands import measure_commands
from bench.damage import measure_damage
from bench.growth import measure_growth
from bench.histories import measure_histories
from bench.hook import measure_hook
from bench.hooks import measure_hooks
from bench.ledgers import ROOT, Kept, kept_ledger
from bench.measure import Samples, in_turn, machine, median, ratio
from bench.redaction import measure_redaction
from bench.replays import measure_replays
from bench.scale import measure_scale
from bench.starts import measure_starts
from bench.stores import measure_import
from bench.writers import measure_writers
from bench.writes import measure_writes
from ledger.blocks import whole_blocks
from ledger.codec import decode_known
from ledger.events import type_name
from ledger.log import LOG_NAME, FileLog
from ledger.outlines import Outline, looked_at, outline_of
from ledger.runs import Run
from projections.policy import Context
from projections.prompts import RenderedPrompts
from projections.protocol import fold
from projections.world import World
from replay.calls import KeptCalls
from replay.kept import KeptFacts
from replay.outlines import by_blocks
from replay.state import state_of


class Bench:
    """The cases, over one ledger.

    Args:
        folder: an empty folder for ledgers.
        events: events of the large ledger.
        rounds: how often each case runs.
    """

    def __init__(self, folder: Path, events: int, rounds: int) -> None:
        self.folder = folder
        self.events = events
        self.rounds = rounds

    @cached_property
    def large(self) -> Path:
        """The large ledger, written when a case first asks for it."""
        return self._large.place

    @cached_property
    def session(self) -> str:
        """The source of its latest session."""
        return self._large.session

    @cached_property
    def _large(self) -> Kept:
        return kept_ledger(self.events)

    def refold(self) -> None:
        """What a session start without a checkpoint costs, beside decoding alone."""
        _ = self.large  # made before anything is timed
        samples = in_turn(
            {
                "decode only": self._decode,
                "read": self._read,
                "read by outlines, nothing folded": self._read_by_outlines,
                "head refold": self._head,
                "head refold, no outlines": self._head_decoded,
                "head refold, every text judged again": self._head_cold,
                "kept calls read, nothing folded": self._read_calls,
                "memory and every block, no hot state": self._blocks,
                "full fold": self._full,
                "full fold, every call read again": self._full_decoded,
                "full fold, every text judged and every call read again": self._full_cold,
            },
            self.rounds,
        )
        print(f"\n(a) reading {self.events:,} events; CPU; baseline: full structs decoded line by line, nothing kept")
        print(f"    baseline: {median(samples, 'decode only') / self.events * 1e6:.2f} us an event")
        for case in list(samples)[1:]:
            _report(samples, case, "decode only", rate=True)
        pieces = (end - begin for one in self._outlines() for begin, end in looked_at(one.runs, one.size))
        share = sum(pieces) / sum(one.size for one in self._outlines())
        print(f"    of a block with an outline {share:.1%} are read")

    def _outlines(self) -> list[Outline]:
        found = (outline_of(block.data) for block in whole_blocks(str(self.large / LOG_NAME)))
        return [one for one in found if one is not None]

    def kinds(self) -> None:
        """Where the time of a head refold goes: each run of events of one type is timed as a whole."""
        world = World({self.session}, KeptFacts(str(self.large)))
        spent: dict[str, list[float]] = {}
        for _ in range(self.rounds):
            state = world.initial()
            round_: dict[str, float] = {}
            for name, run in groupby(FileLog.open(self.large).read(), key=type_name):
                events = list(run)
                begin = time.process_time()
                for event in events:
                    world.step(state, event)
                round_[name] = round_.get(name, 0.0) + time.process_time() - begin
            for name, seconds in round_.items():
                spent.setdefault(name, []).append(seconds)
        counts = Counter(map(type_name, FileLog.open(self.large).read()))
        middles = {name: statistics.median(values) for name, values in spent.items()}
        whole = sum(middles.values())
        print(f"\n    folding alone, {whole / self.events * 1e6:.1f} us an event, by type:")
        for name, seconds in sorted(middles.items(), key=lambda pair: -pair[1]):
            each = seconds / counts[name] * 1e6
            print(f"    {name:18} {counts[name]:>7,} events  {each:>8.1f} us each  {seconds / whole:>4.0%}")

    def append(self) -> None:
        """A durable append of one memory, beside one raw write and sync of the same bytes."""
        measure_append(self.folder / "small")

    def writers(self) -> None:
        """Many processes that append at once, beside appends under the lock alone."""
        measure_writers(self.folder / "writers", self.rounds)

    def scale(self) -> None:
        """A head refold of a ledger and of one a tenth as long: time, and peak memory."""
        measure_scale(self.events, self.rounds)

    def start(self) -> None:
        """``memfold prompt`` as a process, from a checkpoint and a tail, beside the interpreter with msgspec."""
        measure_starts(self.folder / "starts", sorted({1000, min(100_000, self.events), self.events}), self.rounds * 4)

    def bridge(self) -> None:
        """Round trips and starts of a real ``memfold bridge``, beside an echo."""
        folder = self.folder / "bridge"
        folder.mkdir()
        measure_bridge(folder, self.large, self.events, self.rounds)

    def hooks(self) -> None:
        """A hundred hooks of a cold child, and the longest ones."""
        measure_hooks(self.folder / "hooks", self.rounds)

    def hook(self) -> None:
        """The hook as a process, beside a bare interpreter and hooks that rewrite a JSON file."""
        folder = self.folder / "hook"
        folder.mkdir()
        measure_hook(folder, self.rounds)

    def history(self) -> None:
        """What one memory costs to explain, beside a fold of everything."""
        measure_histories(self.folder / "history", self.events, self.rounds)

    def commands(self) -> None:
        """What commands for people take on a long ledger, as processes, and their memory."""
        measure_commands(self.folder / "commands", self.events, self.rounds)

    def write(self) -> None:
        """One memory written beside many, through a bridge and through a server that keeps a JSON file."""
        folder = self.folder / "write"
        folder.mkdir()
        measure_writes(folder, self.rounds)

    def replay(self) -> None:
        """The state of ten thousand events, beside a library for event sourcing."""
        folder = self.folder / "replay"
        folder.mkdir()
        measure_replays(folder, self.rounds)

    def growth(self) -> None:
        """Session starts and refolds by size, as data for a plot."""
        folder = self.folder / "growth"
        folder.mkdir()
        measure_growth(folder, self.events, self.rounds)

    def imports(self) -> None:
        """An import of another program's store, beside a plain copy of it."""
        measure_import(self.folder / "import", self.rounds)

    def redaction(self) -> None:
        """Redaction of a long text, beside that of a short one."""
        measure_redaction(self.rounds)

    def damage(self) -> None:
        """A fold of damaged ledgers, beside one of the whole ledger."""
        folder = self.folder / "damage"
        folder.mkdir()
        measure_damage(folder, self.rounds * 4)

    def _decode(self) -> None:
        with (self.large / LOG_NAME).open("rb", buffering=1 << 20) as file:
            for line in file:
                decode_known(line)

    def _read(self) -> None:
        for _ in FileLog.open(self.large).read():
            pass

    def _read_by_outlines(self) -> None:
        for _ in by_blocks(FileLog.open(self.large)):
            pass

    def _read_calls(self) -> None:
        log, context = FileLog.open(self.large), Context(root=ROOT)
        calls = KeptCalls(log.directory)
        if not all(calls(run, context) for run in by_blocks(log) if type(run) is Run):
            raise RuntimeError("a run's calls aren't kept")

    def _blocks(self) -> None:
        fold(RenderedPrompts(known=KeptFacts(str(self.large))), by_blocks(FileLog.open(self.large)))

    def _head(self) -> None:
        fold(World({self.session}, KeptFacts(str(self.large))), by_blocks(FileLog.open(self.large)))

    def _head_decoded(self) -> None:
        fold(World({self.session}, KeptFacts(str(self.large))), FileLog.open(self.large).read())

    def _head_cold(self) -> None:
        fold(World({self.session}), FileLog.open(self.large).read())

    def _full(self) -> None:
        state_of(FileLog.open(self.large))

    def _full_decoded(self) -> None:
        fold(World(known=KeptFacts(str(self.large))), FileLog.open(self.large).read())

    def _full_cold(self) -> None:
        fold(World(), FileLog.open(self.large).read())


def _report(samples: Samples, case: str, baseline: str, *, rate: bool = False) -> None:
    middle, low, high = ratio(samples, case, baseline)
    share = f"; {1 / middle:.2f} of its rate" if rate else ""
    print(f"    {case}: {middle:.2f}x ({low:.2f} to {high:.2f}, {len(samples[case])} rounds){share}")


CASES: dict[str, Callable[[Bench], None]] = {
    "refold": Bench.refold,
    "kinds": Bench.kinds,
    "append": Bench.append,
    "writers": Bench.writers,
    "scale": Bench.scale,
    "start": Bench.start,
    "bridge": Bench.bridge,
    "hooks": Bench.hooks,
    "hook": Bench.hook,
    "history": Bench.history,
    "commands": Bench.commands,
    "write": Bench.write,
    "replay": Bench.replay,
    "growth": Bench.growth,
    "import": Bench.imports,
    "redaction": Bench.redaction,
    "damage": Bench.damage,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="What a session start, an append and a process cost, as ratios in one run."
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"which to run (default: all): {', '.join(CASES)}")
    parser.add_argument("--events", type=int, default=100_000, help="events of the large ledger (default: 100000)")
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds of a fold; short cases run several times as often (default: 5)"
    )
    options = parser.parse_args()
    for name in options.cases:
        if name not in CASES:
            parser.error(f"there is no case {name!r}: choose from {', '.join(CASES)}")
    # Ended from outside, it must not leave the servers and clients behind that it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    print(f"{machine()}\nmedians of ratios within a round, with the lowest and highest; cases run in turn")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.events, options.rounds)
        for name in options.cases or CASES:
            CASES[name](bench)


if __name__ == "__main__":
    main()
