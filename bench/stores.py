"""What an import costs: a store of 500 memories, beside a plain JSON load and one synced line for each of them."""

from __future__ import annotations

import json
import os
import random
import time
from itertools import count
from pathlib import Path

from bench.ledgers import ROOT
from bench.measure import Samples, in_turn, median, ratio
from ledger.log import FileLog
from ledger.times import DAY_MS, format_time
from memfold.imports.apply import record_import
from memfold.imports.reference_a import STORE_NAME, read_reference_a
from memfold.paths import workspace_key
from memfold.workspace import Workspace
from projections.policy import DEFAULT_POLICY

__all__ = ["measure_import", "store"]

_ENTRIES = 500
_BEGIN = 1_750_000_000_000
_NOW = "2026-01-01T00:00:00.000Z"
_SUBJECTS = ("The API", "The parser", "Every package", "The checkout page", "The build", "Release notes")
_VERBS = ("must use", "should keep", "needs", "documents", "avoids")
_THINGS = ("pnpm workspaces", "typed records", "integer cents", "UTC times", "short names", "event logs")


def store(entries: int = _ENTRIES, *, seed: int = 0) -> bytes:
    """A store as the working-memory plugin writes it: all texts differ, some have retired, some have a rationale."""
    chance = random.Random(seed)
    listed: list[dict[str, object]] = []
    for number in range(entries):
        made = format_time(_BEGIN + number * DAY_MS // 8)
        words = (chance.choice(_SUBJECTS), chance.choice(_VERBS), chance.choice(_THINGS))
        entry: dict[str, object] = {
            "id": f"m{number}",
            "type": chance.choice(("feedback", "decision", "project", "reference")),
            "text": f"{' '.join(words)} in module {number}, as agreed in review {number * 7}",
            "source": chance.choice(("explicit", "manual")),
            "confidence": 0.9,
            "status": "superseded" if chance.random() < 0.1 else "active",
            "createdAt": made,
            "updatedAt": made,
        }
        if chance.random() < 0.3:
            entry["rationale"] = f"Reviews of module {number} stay quick that way"
        listed.append(entry)
    return json.dumps({"version": 1, "entries": listed}, indent=2).encode()


def measure_import(folder: Path, rounds: int) -> None:
    """Measure and print."""
    folder.mkdir()
    data = store()
    numbers = count()

    def read() -> None:
        read_reference_a(STORE_NAME, data, DEFAULT_POLICY)

    def whole() -> None:
        with FileLog.create(folder / str(next(numbers)), root=ROOT, key=workspace_key(ROOT)) as log:
            found = read_reference_a(STORE_NAME, data, DEFAULT_POLICY)
            record_import(Workspace(log, ROOT, DEFAULT_POLICY, host="bench"), found, time=_NOW)

    def again() -> None:
        with FileLog.open(folder / "0") as log:
            found = read_reference_a(STORE_NAME, data, DEFAULT_POLICY)
            record_import(Workspace(log, ROOT, DEFAULT_POLICY, host="bench"), found, time=_NOW)

    def raw() -> None:
        lines = [json.dumps(entry).encode() + b"\n" for entry in json.loads(data)["entries"]]
        descriptor = os.open(folder / f"raw{next(numbers)}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for line in lines:
            os.write(descriptor, line)
            os.fdatasync(descriptor)
        os.close(descriptor)

    whole()
    cases = {"raw": raw, "read and redacted": read, "imported": whole, "imported again": again}
    samples = in_turn(cases, rounds, time.perf_counter)
    print(f"\n(g) a store of {_ENTRIES} memories; wall; baseline: json.loads and a synced line for each")
    print(f"    baseline: {median(samples, 'raw') * 1e3:.0f} ms")
    for case in list(cases)[1:]:
        _report(samples, case)


def _report(samples: Samples, case: str) -> None:
    middle, low, high = ratio(samples, case, "raw")
    print(f"    {case}: {middle:.2f}x ({low:.2f} to {high:.2f}), {median(samples, case) * 1e3:.0f} ms")
