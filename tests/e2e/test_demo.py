"""The demo that ``make demo`` runs."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from fixtures import demo
from tests.support.cli import ROOT, home


def test_the_demo_shows_prompt_hot_state_account_and_a_refusal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every step works, each part is there, and it stays below two screens."""
    with home(tmp_path), contextlib.chdir(ROOT):
        assert demo.main() == 0
    ran = capsys.readouterr()
    for part in (
        "Workspace memory (cross-session",
        "open_errors:\n- [",
        "pending_memories:",
        "candidates  ",
        "rejected: ",
        "$ memfold prompt --next --ledger LEDGER",
        "bin/memfold ingest opencode fixtures/recordings/remember.jsonl --ledger demo",
    ):
        assert part in ran.out
    assert ran.err == ""
    assert len(ran.out.splitlines()) < 90
    assert list(tmp_path.iterdir()) == []


def test_the_demo_fails_where_its_recording_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its exit code says so."""
    monkeypatch.setattr(demo, "RECORDING", tmp_path / "gone.jsonl")
    with home(tmp_path):
        assert demo.main() == 1
