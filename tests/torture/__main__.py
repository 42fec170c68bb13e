"""``python -m tests.torture``: kill writers by the thousand, and say whether anything acknowledged was lost."""

from __future__ import annotations

import argparse
import gc
import os
import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.torture.arena import Round, play

_KILLS_A_ROUND = 250
"""A round has a ledger of its own, so that it is judged soon and the disk isn't filled."""
_FEWEST, _MOST = 8, 32


def main() -> int:
    """Play rounds until the kills or the seconds are spent; 1 if anything was violated, and that ledger is kept."""
    options = _options()
    gc.freeze()  # so that writers share the memory of this process
    folder = Path(tempfile.mkdtemp(prefix="memfold-torture-"))
    random, begin = Random(options.seed), time.monotonic()  # noqa: S311 - a plan, no secret
    print(f"torture: {options.kills:,} kills, at most {options.seconds:,} s, seed {options.seed}", flush=True)
    rounds: list[Round] = []
    while (left := options.kills - sum(one.kills for one in rounds)) > 0:
        seconds = begin + options.seconds - time.monotonic()
        if seconds <= 0:
            break
        writers = random.randint(options.writers or _FEWEST, options.writers or _MOST)
        place = folder / str(len(rounds) + 1)
        one = play(
            str(place),
            f"{options.seed}/{len(rounds)}",
            writers=writers,
            kills=max(min(left, _KILLS_A_ROUND), writers),
            seconds=seconds,
        )
        rounds.append(one)
        _tell(rounds, time.monotonic() - begin)
        if one.verdict.violations:
            print(f"the ledger is kept: {place}")
            break
        shutil.rmtree(place)
    return _end(rounds, options.kills, folder)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--kills", type=int, default=10_000, help="how many writers to kill (10,000)")
    parser.add_argument("--seconds", type=float, default=3600.0, help="when to stop in any case (3600)")
    parser.add_argument("--writers", type=int, default=0, help="how many write at a time (8 to 32, another each round)")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="of what is written and when is killed")
    return parser.parse_args()


def _tell(rounds: list[Round], seconds: float) -> None:
    """A line of progress."""
    one, kills = rounds[-1], sum(each.kills for each in rounds)
    verdict = one.verdict
    print(
        f"round {len(rounds)}: {one.writers} writers, {one.kills} kills, {one.acknowledged:,} acknowledged of "
        f"{verdict.events:,} events, {verdict.torn} torn, {verdict.bytes / 1e6:.0f} MB, "
        f"{len(verdict.violations)} violations; {kills:,} kills in {seconds:.0f} s",
        flush=True,
    )


def _end(rounds: list[Round], wanted: int, folder: Path) -> int:
    """The summary, and the exit code."""
    violations = [violation for one in rounds for violation in one.verdict.violations]
    kills = sum(one.kills for one in rounds)
    rows = {
        "kills": kills,
        "acknowledged events": sum(one.acknowledged for one in rounds),
        "events in the logs": sum(one.verdict.events for one in rounds),
        "torn pieces closed off": sum(one.verdict.torn for one in rounds),
        "appends repeated": sum(one.redelivered for one in rounds),
        "bytes": sum(one.verdict.bytes for one in rounds),
        "violations": len(violations),
    }
    for name, number in rows.items():
        print(f"{name:>22}  {number:,}")
    for violation in violations[:20]:
        print(f"violation: {violation}")
    if kills < wanted:
        print(f"the time was over {wanted - kills:,} kills before the end")
    if not violations:
        os.rmdir(folder)  # noqa: PTH106 - empty by now
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
