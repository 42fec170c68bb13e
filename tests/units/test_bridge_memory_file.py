"""MEMORY.md beside a bridge: taken in before an answer, written behind it, and free where none is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.events import MemoryAdded, MemoryUpdated
from memfold.bridge.ledger import Ledger
from tests.support.bridge import Client, ran, said, system


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """A client in a project."""
    root = tmp_path / "app"
    (root / ".git").mkdir(parents=True)
    return Client(tmp_path, root)


def test_a_tool_event_asks_nothing_where_no_file_is_kept(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheapest and most frequent hook doesn't read the log behind its answer (DESIGN 5)."""
    client.begin()
    client.ask(said("hello"))
    client.ask(ran("ls", 0, call="c0"))
    asked: list[str | None] = []
    world = Ledger.world

    def counted(ledger: Ledger, source: str | None = None) -> object:
        asked.append(source)
        return world(ledger, source)

    monkeypatch.setattr(Ledger, "world", counted)
    for number in range(5):
        client.ask(ran("ls", 0, call=f"c{number + 1}"))
    assert asked == []


def test_edits_come_before_the_block_and_the_file_behind_the_answer(client: Client) -> None:
    """A save between two sessions is in the next session's block; what a session adds is in the file at once."""
    client.begin(options={"memoryFile": "on"})
    client.ask(said("Remember: use yarn in every package"))
    client.ask(system())
    client.ask(said("hello", session="T", message="m2"))
    client.ask(system("T"))
    file = client.root / ".opencode" / "memory" / "MEMORY.md"
    text = file.read_text(encoding="utf-8")
    assert "use yarn in every package" in text
    file.write_text(text.replace("use yarn in", "use yarn 4 in"), encoding="utf-8")
    client.ask(said("hello", session="U", message="m3"))
    assert "- use yarn 4 in every package" in client.ask(system("U"))["system"][0]
    assert len(client.events(MemoryUpdated)) == 1


def test_what_is_wrong_with_the_file_is_told_once(client: Client) -> None:
    """A notice with the next message, in words that name the file."""
    client.begin(options={"memoryFile": "on"})
    client.ask(said("Remember: use yarn in every package"))
    file = client.root / ".opencode" / "memory" / "MEMORY.md"
    file.write_text("<<<<<<< ours\n", encoding="utf-8")
    notices = [client.ask(said("hello", message=f"m{number}")).get("notice", "") for number in range(2, 5)]
    assert ["merge conflict markers" in notice for notice in notices] == [True, False, False]
    assert file.read_text(encoding="utf-8") == "<<<<<<< ours\n"


def test_what_takes_long_is_left_to_a_command(client: Client) -> None:
    """A hundred kilobytes pasted into the file hold no hook up: they are named, and stay until ``memfold sync``."""
    client.begin(options={"memoryFile": "on"})
    client.ask(said("Remember: use yarn in every package"))
    file = client.root / ".opencode" / "memory" / "MEMORY.md"
    text = file.read_text(encoding="utf-8")
    pasted = "".join(f"### [MEM-000] Rule {n}\nBerth {n} is free\n\n" for n in range(2_500))
    file.write_text(text.replace("## Archived", f"{pasted}## Archived"), encoding="utf-8")
    assert "run memfold sync" in client.ask(said("hello", message="m2")).get("notice", "")
    assert client.events(MemoryAdded) == []
    assert pasted in file.read_text(encoding="utf-8")


def test_a_ledger_that_is_not_there_yet_is_no_trouble(client: Client) -> None:
    """With the file switched on, a new project says nothing but what is remembered."""
    client.begin(options={"memoryFile": "on"})
    assert client.ask(said("hello")).get("notice") is None
    assert not list(client.folder.rglob("memfold.log"))
