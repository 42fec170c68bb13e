"""The conformance rows of hot state, run on the projection alone (SPEC 13)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.areas.render_hot import run_hot
from tests.support.hot_rows import hot_after

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
KEYS = {"open_errors", "active_files", "recent_decisions"}


def rows(*names: str) -> Iterator[Any]:
    """The rows of these files, each with its id."""
    for name in names:
        for line in (CASES / f"{name}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            yield pytest.param(row["input"], row["expect"], id=row["id"])


def expanded(value: Any) -> Any:
    """A value with its repeated texts written out."""
    if isinstance(value, dict):
        if "repeat" in value:
            repeated = value["repeat"] * value["times"]
            return f"{value.get('before', '')}{repeated}{value.get('then', '')}"
        return {key: expanded(item) for key, item in value.items()}
    return [expanded(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("given", "expect"), [*rows("hot", "errors", "field_hot", "field_subagents")])
def test_row(given: dict[str, Any], expect: dict[str, Any]) -> None:
    """Folding the row's events gives its files, errors and decisions."""
    steps = expanded(given["events"])
    session = expect.get("hot_session", steps[-1]["session"])
    state = hot_after(steps, session, given.get("workspace", "/w/app"))
    got: dict[str, list[Any]] = {
        "open_errors": [
            {
                "category": error.seen.category,
                "file": error.seen.file,
                "summary": error.seen.summary,
                "fingerprint": error.seen.fingerprint,
                "count": error.count,
                "confidence": error.seen.confidence,
                "maybe_fixed": error.maybe_fixed,
            }
            for error in state.errors
        ],
        "active_files": [{"path": file.path, "action": file.action, "count": file.count} for file in state.files],
        "recent_decisions": [decision.text for decision in state.decisions],
    }
    assert KEYS & expect.keys()
    for key in KEYS & expect.keys():
        wanted = expect[key]
        only = [
            {name: have[name] for name in want} if isinstance(want, dict) else have
            for have, want in zip(got[key], wanted, strict=False)
        ]
        assert only == wanted
        assert len(got[key]) == len(wanted)


@pytest.mark.parametrize(("given", "expect"), [row for row in rows("render") if row.values[0]["op"] == "hot"])
def test_hot_block_row(given: dict[str, Any], expect: dict[str, Any]) -> None:
    """Rendering the row's entries gives its block."""
    assert run_hot(expanded(given), expect) == expect
