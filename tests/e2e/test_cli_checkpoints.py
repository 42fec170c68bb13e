"""Commands print the same bytes whatever checkpoints there are (DESIGN 6)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.events import Draft, MemoryRequestedData
from ledger.log import FileLog
from replay.checkpoints import find, folder_of
from replay.live import Live
from tests.support.cli import home, make_ledger, run

LEDGER = ("--ledger", "ledger")
COMMANDS = (
    ("prompt",),
    ("prompt", "--next"),
    ("prompt", "--numbered"),
    ("prompt", "--json"),
    ("prompt", "--session", "first"),
    ("prompt", "--session", "first", "--hot"),
    ("prompt", "--session", "first", "--json"),
    ("list",),
    ("list", "--state", "all", "--json"),
    ("show", "MEM-001", "--json"),
    ("status", "--json"),
)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileLog]:
    """The small ledger, without a checkpoint."""
    with home(tmp_path):
        monkeypatch.chdir(tmp_path)
        yield FileLog.open(make_ledger(tmp_path / "ledger"))


def _answers() -> list[tuple[int, str]]:
    return [(ran.code, ran.out) for ran in (run(*command, *LEDGER) for command in COMMANDS)]


def _keep(log: FileLog) -> list[Path]:
    """A checkpoint at the end of the log, and its files."""
    live = Live(log)
    live.world()
    live.keep(every=0)
    assert next(find(log)).cursor.byte == Path(log.path).stat().st_size
    return sorted(Path(folder_of(log.directory)).iterdir())


def test_an_older_a_damaged_and_no_checkpoint_change_nothing(log: FileLog) -> None:
    """IDR-10: of an older fold, with one flipped byte, or none at all: each command prints the same."""
    plain = _answers()
    assert any("MEM-001" in out for _, out in plain)
    files = _keep(log)
    assert _answers() == plain
    for path in files:
        content = path.read_bytes()
        for place in range(0, len(content), len(content) // 7):
            path.write_bytes(content[:place] + bytes([content[place] ^ 16]) + content[place + 1 :])
            assert [(ran.code, ran.out) for ran in [run("prompt", *LEDGER)]] == plain[:1]
        assert _answers() == plain
        path.write_bytes(content)
    for path in files:
        path.rename(path.with_name(path.name.replace("world-", "world-0")))
    assert _answers() == plain
    shutil.rmtree(folder_of(log.directory))
    assert _answers() == plain


def test_what_comes_behind_a_checkpoint_is_told(log: FileLog) -> None:
    """LOG-16: a cold render reads a checkpoint and a tail."""
    _keep(log)
    data = MemoryRequestedData("late", "Remember: the build needs Python 3.11")
    log.append([Draft(source="test/late", time="2027-01-01T00:00:00Z", data=data)])
    told = _answers()
    assert "the build needs Python 3.11" in told[1][1]
    shutil.rmtree(folder_of(log.directory))
    assert _answers() == told


def test_a_ledger_that_cannot_be_read_is_not_shown_as_empty(log: FileLog) -> None:
    """LOG-16: a checkpoint alone is no ledger: the answer says that there is none to be read."""
    _keep(log)
    path = Path(log.path)
    path.rename(path.with_suffix(".away"))
    path.mkdir()
    for command in COMMANDS:
        ran = run(*command, *LEDGER)
        assert ran.code, command
        assert (ran.out, "events.jsonl" in ran.err) == ("", True), command
