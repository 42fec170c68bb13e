"""The same ledger means the same bytes in every process, time zone and locale."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.golden import EXPECTED, NAMES

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
    """Hash seed, time zone and locale don't reach a byte of any block or account, neither first nor second time."""
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
