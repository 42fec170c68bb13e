"""The conformance runner itself: what it reads, compares, prints and returns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conformance import areas
from tests.conformance.runner import Row, RowsError, UnknownKey, expand, failure_of, load_rows, main

GOOD: dict[str, Any] = {
    "area": "redaction",
    "id": "good",
    "input": {"text": "token=ab"},
    "expect": {"text": "token=[REDACTED]"},
}


def _file(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def _failure(**changes: Any) -> str | None:
    row = GOOD | changes
    return failure_of(Row(row["area"], row["id"], row["input"], row["expect"]))


def test_rows_that_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All passing means a count and exit code 0."""
    assert main([str(_file(tmp_path, GOOD)), str(_file(tmp_path, GOOD))]) == 0
    assert capsys.readouterr().out == "2 passed, 0 failed\n"


def test_a_wrong_expectation_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The failing id, key and both values are one line, and the exit code is 1."""
    wrong = GOOD | {"id": "wrong", "expect": {"text": "other"}}
    assert main([str(_file(tmp_path, wrong, GOOD))]) == 1
    assert capsys.readouterr().out == (
        'FAIL wrong: text: expected "other" got "token=[REDACTED]"\n1 passed, 1 failed\n'
    )


def test_what_is_unknown_fails() -> None:
    """An unknown area, key or operation, or an error inside an area, is a failure with a reason."""
    assert "area: expected a known one got 'poetry'" in str(_failure(area="poetry"))
    assert _failure(expect={"rhyme": 1}) == "rhyme: expected a known key or operation got an unknown one"
    assert "KeyError" in str(_failure(input={}))


def test_an_area_that_answers_nothing_or_breaks_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing answer and an area that can't be imported are failures, too."""
    monkeypatch.setattr(areas, "load", lambda _: SimpleNamespace(run=lambda _given, _wanted: {}))
    assert _failure() == 'text: expected "token=[REDACTED]" got an unknown key'
    monkeypatch.undo()
    monkeypatch.setitem(areas.AREAS, "redaction", "not_there_yet")
    assert "ModuleNotFoundError" in str(_failure())


@pytest.mark.parametrize("sees_expect", [True, False])
def test_an_area_may_compare_in_its_own_way(monkeypatch: pytest.MonkeyPatch, *, sees_expect: bool) -> None:
    """An area's ``compare`` decides where equality isn't enough; only one that asks sees what is expected."""

    def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
        assert given == GOOD["input"] | ({"expect": GOOD["expect"]} if sees_expect else {})
        return dict.fromkeys(wanted, "something else")

    def compare(key: str, expected: Any, actual: Any) -> bool:
        return (key, expected, actual) == ("text", "token=[REDACTED]", "something else")

    area = SimpleNamespace(run=run, compare=compare, SEES_EXPECT=sees_expect)
    monkeypatch.setattr(areas, "load", lambda _: area)
    assert _failure() is None


def test_an_unknown_operation_is_reported_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """An area raises UnknownKey for operations as well."""

    def run(_given: dict[str, Any], _wanted: frozenset[str]) -> dict[str, Any]:
        raise UnknownKey("dance")

    monkeypatch.setattr(areas, "load", lambda _: SimpleNamespace(run=run))
    assert str(_failure()).startswith("dance: expected")


def test_identity_rows_are_compared_in_both_directions() -> None:
    """A pair has one answer, and only the key ``same``."""
    pair = {"type": "decision", "pair": ["Keep it", "keep it!"]}
    assert _failure(area="identity", input=pair, expect={"same": "absorbed_exact"}) is None
    assert "same: expected" in str(_failure(area="identity", input=pair, expect={"same": None}))
    assert "canonical: expected a known" in str(_failure(area="identity", input=pair, expect={"canonical": ""}))
    one = {"type": "decision", "text": "See /x/y.ts", "workspace": "/x"}
    assert (
        _failure(area="identity", input=one, expect={"canonical": "see y.ts", "exact_key": "decision:see y.ts"}) is None
    )
    assert "same: expected a known" in str(_failure(area="identity", input=one, expect={"same": None}))


def test_repeated_texts_are_written_out() -> None:
    """B + T×N + E, anywhere; what only looks similar stays."""
    given = {"a": [{"repeat": "xy", "times": 2, "before": "b", "then": "e"}, {"repeat": "z", "times": 3}]}
    assert expand(given) == {"a": ["bxyxye", "zzz"]}
    assert expand({"times": 2, "b64": "eA=="}) == {"times": 2, "b64": "eA=="}


@pytest.mark.parametrize("content", [b"{\n", b"[]\n", b'{"area": "redaction"}\n', b"\xff\n"])
def test_a_file_that_is_no_rows_is_an_error(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bad JSON, other shapes and other encodings are named with their place; nothing is run."""
    file = tmp_path / "bad.jsonl"
    file.write_bytes(json.dumps(GOOD).encode() + b"\n" + content)
    assert main([str(file)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: {file}")


def test_a_row_without_expectations_is_an_error(tmp_path: Path) -> None:
    """A row that expects nothing could never fail."""
    with pytest.raises(RowsError, match=r"rows\.jsonl:1: a row needs"):
        load_rows(_file(tmp_path, GOOD | {"expect": {}}))


def test_the_module_runs_as_a_command(tmp_path: Path) -> None:
    """``python -m tests.conformance`` returns the exit code; a missing file is an error."""
    root = Path(__file__).parents[2]
    for file, code in ((_file(tmp_path, GOOD), 0), (tmp_path / "missing.jsonl", 1)):
        command = [sys.executable, "-m", "tests.conformance", str(file)]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert ("missing.jsonl" in done.stderr) == bool(code)
