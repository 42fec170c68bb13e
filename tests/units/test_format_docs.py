"""What the documents say about the format is what the code does."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from ledger.codec import TYPE_NAMES, decode, encode
from ledger.events import DATA_TO_EVENT, Draft, MemoryAddedData, Target, ToolCompletedData
from ledger.log import FORMAT
from ledger.memory import MemoryLog
from ledger.problems import DAMAGE, KINDS, NOTES, Kind, Problem
from ledger.schema import event_table, events_schema, schema_text

DOCS = Path(__file__).parents[2] / "docs"
FORMAT_PAGE = (DOCS / "format.md").read_text(encoding="utf-8")


def _section(name: str) -> str:
    return FORMAT_PAGE.split(f"<!-- {name}: begin -->\n")[1].split(f"<!-- {name}: end -->")[0]


def test_schema_is_committed() -> None:
    """The committed schema is what ``python -m ledger.schema`` prints."""
    assert (DOCS / "reference" / "events.schema.json").read_text(encoding="utf-8") == schema_text()


def test_event_table_is_in_the_format_page() -> None:
    """The page lists every event type with the fields of its struct."""
    assert _section("events") == event_table()
    assert len(event_table().splitlines()) == len(TYPE_NAMES) + 2


def test_example_lines_are_events() -> None:
    """Every example line of the page decodes and is written again as it stands; each type has one example."""
    lines = [line.encode() for line in _section("examples").splitlines() if line.startswith("{")]
    events = [decode(line) for line in lines]
    assert not [event for event in events if isinstance(event, Problem)]
    assert [encode(event).rstrip() for event in events if not isinstance(event, Problem)] == lines
    assert len({type(event) for event in events}) == len(events) >= 7


def test_problem_table_is_in_the_format_page() -> None:
    """The page lists every problem kind with its meaning and fix; the table is closed."""
    rows = [f"| `{kind}` | {meaning} | {fix} |" for kind, (meaning, fix) in KINDS.items()]
    assert _section("problems") == "\n".join(["| kind | meaning | what helps |", "|---|---|---|", *rows, ""])
    assert list(KINDS) == list(Kind)
    assert not DAMAGE & NOTES


def test_format_version_is_in_the_format_page() -> None:
    """The page names the version that this release writes."""
    assert f"Format version: {FORMAT}." in FORMAT_PAGE


@pytest.mark.parametrize(
    "data", [MemoryAddedData(title="t", tags=("a",)), ToolCompletedData(call="c", tool="bash", exit=1)]
)
def test_written_lines_are_valid(data: MemoryAddedData | ToolCompletedData) -> None:
    """Lines that the ledger writes satisfy its schema."""
    (event,) = MemoryLog().append([Draft(source="h/s", time="2026-01-01T00:00:00.000Z", data=data)])
    jsonschema.Draft202012Validator(events_schema()).validate(json.loads(encode(event)))


@pytest.mark.parametrize(
    "change",
    [{"seq": -1}, {"seq": "0"}, {"specversion": "2.0"}, {"type": "no.such"}, {"data": {}}, {"id": None}],
)
def test_wrong_lines_are_invalid(change: dict[str, object]) -> None:
    """The schema refuses an envelope or payload that doesn't fit."""
    (event,) = MemoryLog().append([Draft(source="h/s", time=None, data=MemoryAddedData(title="t"))])
    line = json.loads(encode(event)) | change
    assert not jsonschema.Draft202012Validator(events_schema()).is_valid(line)


def test_tables_of_events_agree() -> None:
    """Every payload has its event, every event its stored name, and no name stands twice."""
    assert set(DATA_TO_EVENT.values()) == set(TYPE_NAMES)
    assert len(set(TYPE_NAMES.values())) == len(TYPE_NAMES)
    assert Target(event="e", index=0) == Target("e", 0)
