"""Runs conformance rows through one adapter per area and says which keys differ (fixtures/cases/README.md)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance import areas

__all__ = ["Row", "RowsError", "UnknownKey", "expand", "failure_of", "load_rows", "main"]

_LONGEST_VALUE = 600


class UnknownKey(LookupError):  # noqa: N818 -- it names what it found; areas raise it as their answer
    """An area was asked for a key or an operation that it doesn't know; the row fails."""


class RowsError(Exception):
    """A file of rows can't be read; the message says which, where and why."""


@dataclass(frozen=True)
class Row:
    """One line of a case file, repeated texts written out."""

    area: str
    id: str
    given: dict[str, Any]
    expect: dict[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Run the rows of the named files; 0 if all of them pass, 1 if one fails or a file can't be read."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        rows = [row for file in options.files for row in load_rows(file)]
    except RowsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    failed = 0
    for row in rows:
        if failure := failure_of(row):
            failed += 1
            print(f"FAIL {row.id}: {failure}", flush=True)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


def load_rows(file: Path) -> list[Row]:
    """The rows of a case file.

    Raises:
        RowsError: the file is missing or no UTF-8, or a line is no row.
    """
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{file}: {error}"
        raise RowsError(message) from error
    return [_row(line, f"{file}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def failure_of(row: Row) -> str | None:
    """What is wrong with a row, as ``<key>: expected … got …``, or None if it passes.

    An unknown area or key, an area that doesn't exist yet and an error inside one are failures, never skips.
    """
    try:
        module = areas.load(row.area)
    except Exception as error:  # noqa: BLE001 -- whatever an area's import raises is this row's failure
        return f"area: expected a known one got {row.area!r} ({_message(error)})"
    wanted = frozenset(row.expect)
    key = "input"
    try:
        # Some keys only say which state another key asks about: an area that has such keys sees what is expected.
        seen = {"expect": row.expect} if getattr(module, "SEES_EXPECT", False) else {}
        actual = module.run(row.given | seen, wanted)
        compare = getattr(module, "compare", _equal)
        for key, expected in row.expect.items():
            if key not in actual:
                return f"{key}: expected {_shown(expected)} got an unknown key"
            if not compare(key, expected, actual[key]):
                return f"{key}: expected {_shown(expected)} got {_shown(actual[key])}"
    except UnknownKey as error:
        return f"{error}: expected a known key or operation got an unknown one"
    except Exception as error:  # noqa: BLE001 -- an error inside an area is this row's failure, not the run's
        return f"{key}: expected {_shown(row.expect.get(key, row.expect))} got {_message(error)}"
    return None


def expand(value: Any) -> Any:
    """Write out ``{"repeat": T, "times": N, "before": B, "then": E}`` as B + T×N + E, anywhere in a value."""
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not isinstance(value, dict):
        return value
    if {"repeat", "times"} <= value.keys() <= {"repeat", "times", "before", "then"}:
        return value.get("before", "") + value["repeat"] * value["times"] + value.get("then", "")
    return {key: expand(item) for key, item in value.items()}


def _row(line: str, where: str) -> Row:
    try:
        found = json.loads(line)
    except ValueError as error:
        message = f"{where}: no JSON: {error}"
        raise RowsError(message) from error
    match found:
        case {"area": str(area), "id": str(id_), "input": dict(given), "expect": dict(expect)} if expect:
            return Row(area, id_, expand(given), expect)
    message = f"{where}: a row needs area, id, input and expect"
    raise RowsError(message)


def _equal(_key: str, expected: Any, actual: Any) -> bool:
    return bool(expected == actual)


def _shown(value: Any) -> str:
    shown = json.dumps(value, default=repr, sort_keys=True)
    return shown if len(shown) <= _LONGEST_VALUE else f"{shown[:_LONGEST_VALUE]}… ({len(shown)} characters)"


def _message(error: Exception) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text.encode("ascii", "backslashreplace").decode("ascii")[:_LONGEST_VALUE]
