"""Every conformance row is a test of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.runner import Row, failure_of, load_rows

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
ROWS = [row for file in sorted(CASES.glob("*.jsonl")) for row in load_rows(file)]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS])
def test_row(row: Row) -> None:
    """What the row expects is what happens."""
    failure = failure_of(row)
    assert failure is None, f"{row.id}: {failure}"


def test_every_row_has_its_own_id() -> None:
    """Ids name rows in reports, so no two rows share one."""
    assert len({row.id for row in ROWS}) == len(ROWS)
