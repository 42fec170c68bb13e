"""Recordings of a real client, all the way to what a model is shown: ledgers, accounts, blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.check import check
from ledger.log import LOG_NAME, FileLog
from ledger.problems import NOTES
from memfold.cli.main import main
from tests.support.golden import EXPECTED, LEDGERS, NAMES, RECORDINGS, described, events_of

pytestmark = pytest.mark.usefixtures("clean_environment")


@pytest.fixture
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration of this machine reaches the command."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("MEMFOLD", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)


def ingested(name: str, folder: Path) -> bytes:
    """The ledger that ``memfold ingest`` makes of a recording."""
    assert main(["ingest", "opencode", str(RECORDINGS / f"{name}.jsonl"), "--ledger", str(folder)]) == 0
    return (folder / LOG_NAME).read_bytes()


def compare(path: Path, content: bytes, *, update: bool) -> None:
    """Compare with a golden file, or rewrite it."""
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert path.read_bytes().decode() == content.decode()


@pytest.mark.parametrize("name", NAMES)
def test_recording_becomes_its_ledger(name: str, tmp_path: Path, *, update: bool) -> None:
    """A recording gives the same ledger, byte for byte, wherever and whenever it is ingested."""
    compare(LEDGERS / name / LOG_NAME, ingested(name, tmp_path / "ledger"), update=update)


@pytest.mark.parametrize("name", NAMES)
def test_i1_ledger_means_what_it_meant(name: str, *, update: bool) -> None:
    """Blocks of every epoch, hot states, numbered list and accounts of a ledger don't change unnoticed."""
    compare(EXPECTED / f"{name}.txt", described(name, events_of(name)).encode(), update=update)


@pytest.mark.parametrize("name", NAMES)
def test_ingesting_twice_adds_nothing(name: str, tmp_path: Path) -> None:
    """The second delivery of a whole recording changes no byte (SPEC 3.5)."""
    assert ingested(name, tmp_path) == ingested(name, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_recorded_ledger_is_sound(name: str, tmp_path: Path) -> None:
    """What the writer wrote has no problem, and its health is plain ok."""
    ingested(name, tmp_path / "ledger")
    assert [found for found in check(tmp_path / "ledger") if found.kind not in NOTES] == []
    assert FileLog.open(tmp_path / "ledger").health().status == "ok"


def test_every_golden_file_has_its_recording() -> None:
    """No golden file outlives the recording it came from."""
    assert sorted(path.name for path in LEDGERS.iterdir() if path.is_dir()) == NAMES
    assert sorted(path.stem for path in EXPECTED.iterdir()) == NAMES
