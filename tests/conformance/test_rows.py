"""Every conformance row that doesn't wait is a test of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.runner import Row, failure_of, load_rows
from tests.conformance.waiting import is_waiting

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
ROWS = [row for file in sorted(CASES.glob("*.jsonl")) for row in load_rows(file)]
WAITING = [row for row in ROWS if is_waiting(row.given)]
NUMBER_OF_WAITING = 1


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS if row not in WAITING])
def test_row(row: Row) -> None:
    """What the row expects is what happens."""
    failure = failure_of(row)
    assert failure is None, f"{row.id}: {failure}"


def test_the_number_of_waiting_rows_is_known() -> None:
    """No row starts or stops waiting unnoticed."""
    print(f"waiting: {len(WAITING)} rows")
    assert len(WAITING) == NUMBER_OF_WAITING


def test_every_row_has_its_own_id() -> None:
    """Ids name rows in reports, so no two rows share one."""
    assert len({row.id for row in ROWS}) == len(ROWS)
