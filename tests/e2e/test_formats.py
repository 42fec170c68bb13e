"""Ledgers of other format versions: an older one is read as it is, a newer one is read and not written (IDR-08)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fixtures.damage import FOLDER
from ledger import upcast
from ledger.log import LOG_NAME, FileLog
from tests.support.cli import done, failed, home, run
from tests.support.logs import draft, line_of, new_log


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home and a current folder of its own."""
    with home(tmp_path):
        monkeypatch.chdir(tmp_path)
        yield tmp_path


def _from_noted(event: dict[str, Any]) -> dict[str, Any]:
    """What a release before the first might have called a memory."""
    return {**event, "type": "memory.added", "data": {"title": event["data"]["words"]}}


def test_idr_08_memories_of_an_older_ledger_still_render(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events of an older type are read as those of today, and nothing is converted: the file keeps its bytes.

    No type has changed its meaning yet, so the older type is one of this test.
    """
    monkeypatch.setitem(upcast.UPCASTERS, "memory.noted", _from_noted)
    log = new_log(folder / "l")
    old = line_of(1, "Use small commits", 50).replace(b"memory.added", b"memory.noted").replace(b'"title"', b'"words"')
    with Path(log.path).open("ab") as file:
        file.write(old)
    before = Path(log.path).read_bytes()
    assert "Use small commits" in run("prompt", "--next", "--ledger", str(folder / "l")).out
    assert run("check", "--ledger", str(folder / "l")).code == 0
    assert Path(log.path).read_bytes() == before
    with FileLog.open(folder / "l") as again:
        again.append([draft("Use long names")])
    assert Path(log.path).read_bytes().startswith(before)
    rows = done("list", "--ledger", str(folder / "l"))["memories"]
    assert sorted(row["text"] for row in rows) == ["Use long names", "Use small commits"]


def test_idr_08_a_newer_ledger_is_read_and_not_written(folder: Path) -> None:
    """Each command that would write says that a newer release wrote the ledger, and leaves every byte as it was."""
    log = folder / "l" / LOG_NAME
    log.parent.mkdir(mode=0o700)
    log.write_bytes((FOLDER / "newer-format" / LOG_NAME).read_bytes())
    log.chmod(0o600)
    before = log.read_bytes()
    place = ("--ledger", str(log.parent))
    assert len(done("list", *place)["memories"]) == 3
    for command in (["add", "Use long names"], ["forget", "MEM-001"], ["pin", "MEM-002"]):
        failed(run(*command, *place), 65, "upgrade memfold")
    assert log.read_bytes() == before
