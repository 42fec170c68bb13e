"""The same ledger means the same bytes in every process, time zone and locale."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.events import Draft, MemoryAddedData
from tests.support.golden import EXPECTED, NAMES
from tests.support.logs import new_log

ROOT = Path(__file__).resolve().parents[2]

# Each two values of two settings meet once.
SURROUNDINGS = [
    ("0", "UTC", "C"),
    ("0", "Pacific/Kiritimati", "C.UTF-8"),
    ("1", "UTC", "C.UTF-8"),
    ("1", "Pacific/Kiritimati", "C"),
]


@pytest.mark.parametrize(("seed", "zone", "locale"), SURROUNDINGS)
def test_i1_fresh_processes_agree(seed: str, zone: str, locale: str) -> None:
    """IDR-06: hash seed, time zone and locale reach no byte of any block or account, neither first nor second time."""
    surroundings = {
        "PYTHONHASHSEED": seed,
        "TZ": zone,
        "LC_ALL": locale,
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONUTF8": "0",
        "PATH": os.environ["PATH"],
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.golden"], cwd=ROOT, env=surroundings, capture_output=True, check=False
    )
    assert done.stderr == b""
    once = b"".join((EXPECTED / f"{name}.txt").read_bytes() for name in NAMES)
    assert done.stdout == once + once


_SHOWN = """
import sys
from ledger.log import FileLog
from replay.state import state_at
from replay.views import present_block
log = FileLog.open(sys.argv[1])
for offset in range(log.size()):
    world = state_at(log.read(), offset)
    print(offset, world.memory.now, present_block(world).text)
"""


def test_zones_in_which_the_clock_changes_agree(tmp_path: Path) -> None:
    """TIM-06: a log across a change of daylight-saving time, some of it told with offsets, replayed in three zones."""
    log = new_log(tmp_path / "l")
    spring = "2026-03-28T23:30:00Z 2026-03-29T00:59:59.999Z 2026-03-29T01:00:00Z 2026-03-29T03:30:00+02:00"
    autumn = "2026-10-25T00:30:00Z 2026-10-25T02:30:00+02:00 2026-10-25T02:30:00+01:00 2026-10-25T03:00:00Z"
    times = f"{spring} {autumn}".split()
    log.append(
        [Draft(source="test/s", time=time, data=MemoryAddedData(f"rule {number}")) for number, time in enumerate(times)]
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", _SHOWN, log.directory],
            cwd=ROOT,
            env={"TZ": zone, "PATH": os.environ["PATH"]},
            capture_output=True,
            check=True,
        ).stdout
        for zone in ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
    }
    assert len(shown) == 1
    assert shown.pop().count(b"rule 7") == 1
