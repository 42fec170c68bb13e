"""A bridge leaves a checkpoint behind its answers, and its successor gives the same bytes from it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledger.events import Draft, ToolCompletedData
from ledger.log import Cursor, FileLog, Reader
from replay.checkpoints import find, folder_of
from replay.live import CHECKPOINT_EVERY
from tests.support.bridge import Client, said, system
from tests.support.bridge import folder_of as ledger_of

REMEMBER = "Remember: use integer cents for money"


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """A client whose workspace has a ledger without a checkpoint, which is due with the next event."""
    (tmp_path / "w").mkdir()
    made = Client(tmp_path, tmp_path / "w")
    made.begin()
    made.ask(said(REMEMBER))
    calls = [ToolCompletedData(call=f"c{number}", tool="read") for number in range(CHECKPOINT_EVERY)]
    log = _log(made)
    log.append([Draft(source="opencode/S", time=None, data=call) for call in calls], durable=False)
    log.close()
    return made


def _log(client: Client) -> FileLog:
    return FileLog.open(ledger_of(client.folder / "home", client.root))


def test_one_is_written_behind_an_answer(client: Client) -> None:
    """It holds the session that was asked for."""
    assert not list(find(_log(client)))
    client.ask(system())
    (one,) = find(_log(client))
    assert one.asked == ("opencode/S",)


def test_one_is_written_behind_the_first_reading(client: Client) -> None:
    """The next child that starts need not read the log."""
    client.respawn()
    (one,) = find(_log(client))
    assert one.events > CHECKPOINT_EVERY


def test_a_successor_gives_the_same_bytes(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frozen block of a session that goes on, and of a new one, from a checkpoint and the events behind it."""
    client.ask(system())
    begun: list[int] = []
    reader = FileLog.reader

    def noted(log: FileLog, cursor: Cursor) -> Reader:
        begun.append(cursor.byte)
        return reader(log, cursor)

    with monkeypatch.context() as told:
        told.setattr(FileLog, "reader", noted)
        client.respawn("two")
        same = client.ask(system())
    assert begun
    assert all(begun)
    client.bridge.close()
    shutil.rmtree(folder_of(_log(client).directory))
    client.respawn("two")
    assert client.ask(system()) == same
    client.ask(said("hello", "T", "m2"))
    assert "use integer cents" in str(client.ask(system("T"))["system"])


def test_none_is_written_while_memory_is_off(client: Client) -> None:
    """Nor anything else."""
    client.configure("enabled = false")
    client.respawn()
    client.ask(system())
    client.bridge.close()
    assert not list(find(_log(client)))
