"""Prompts are made again from their offsets; each that comes out otherwise is named with its cause (SPEC 12)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledger.codec import encode
from ledger.events import AnyEvent, PolicySet, PromptRendered, UnknownEvent
from ledger.log import FileLog
from memfold import __version__
from replay.rerender import rerender
from tests.support.bridge import Client, compacting, folder_of, ran, said, system
from tests.support.cli import home, run

FAILED = "FAILED tests/test_rates.py::test_weekend - assert 1 == 2"


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """Two sessions with memories, errors, a compaction, and frozen and hot blocks."""
    root = tmp_path / "app"
    (root / ".git").mkdir(parents=True)
    client = Client(tmp_path, root)
    client.begin()
    client.ask(said("Remember: use yarn in every package"))
    client.ask(system())
    client.ask(ran("pytest -q", 1, FAILED))
    client.ask(said("go on", message="m2"))
    client.ask(ran("pytest -q", 0, "1 passed", call="c2"))
    client.ask(said("and on", message="m3"))
    client.ask(said("hello", session="T", message="m4"))
    client.ask(system("T"))
    client.ask(compacting())
    client.ask(said("again", message="m5"))
    client.ask(system())
    return client


def _log(client: Client) -> FileLog:
    return FileLog.open(folder_of(client.folder / "home", client.root))


def _rewritten(client: Client, change: Callable[[AnyEvent], AnyEvent]) -> None:
    """The log with every event as a function gives it."""
    log = _log(client)
    events = [change(one) for one in log.read()]
    Path(log.path).write_bytes(b"".join(encode(one) for one in events if not isinstance(one, UnknownEvent)))


def test_what_was_given_comes_out_again(client: Client) -> None:
    """Frozen blocks, whole hot blocks and changes, in two sessions."""
    kinds = [one.data.kind for one in _log(client).read() if isinstance(one, PromptRendered)]
    assert {"workspace", "hot", "delta"} <= set(kinds)
    found = rerender(_log(client), __version__)
    assert (found.receipts, found.differences) == (len(kinds), ())


def test_a_receipt_that_is_not_true_is_found(client: Client) -> None:
    """Of each kind; nothing in the log explains it. One of another version says so."""

    def forged(one: AnyEvent) -> AnyEvent:
        if isinstance(one, PromptRendered):
            program = "0.0.1" if one.data.kind == "delta" else one.data.program
            return replace(one, data=replace(one.data, digest="0" * 16, program=program))
        return one

    _rewritten(client, forged)
    found = rerender(_log(client), __version__)
    causes = {(one.kind, one.cause) for one in found.differences}
    assert causes == {("workspace", "unknown"), ("hot", "unknown"), ("delta", "version")}
    assert len(found.differences) == found.receipts


def test_lost_events_are_named(client: Client) -> None:
    """A damaged line before a receipt."""
    path = Path(_log(client).path)
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b"memory.requested" in line)
    path.write_bytes(b"".join((*lines[:at], b"garbage\n", *lines[at + 1 :])))
    differences = rerender(_log(client), __version__).differences
    assert differences
    assert {one.cause for one in differences} == {"damage"}


def test_a_policy_that_means_something_else_is_named(client: Client) -> None:
    """Its document doesn't give the digest that was recorded with it."""

    def changed(one: AnyEvent) -> AnyEvent:
        if isinstance(one, PolicySet):
            return replace(one, data=replace(one.data, policy={**one.data.policy, "workspace_chars": 90}))
        return one

    _rewritten(client, changed)
    _rewritten(
        client,
        lambda one: replace(one, data=replace(one.data, digest="0" * 16)) if isinstance(one, PromptRendered) else one,
    )
    assert {one.cause for one in rerender(_log(client), __version__).differences} == {"policy"}


def test_a_purge_explains_what_it_took(client: Client, tmp_path: Path) -> None:
    """Receipts of what held the text come out as the log without it gives them, or are told as purged."""
    with home(tmp_path):
        ran_ = run("purge", "MEM-001", "--yes", "--ledger", _log(client).directory)
    assert ran_.code in (0, 3), ran_.err
    assert {one.cause for one in rerender(_log(client), __version__).differences} <= {"purge"}


def test_the_command_tells_them(client: Client, tmp_path: Path) -> None:
    """Counts, kinds and causes; exit 3 where one differs."""
    with home(tmp_path):
        assert "made again, each as it was given" in run("verify", "--prompts", "--ledger", _log(client).directory).out
        path = Path(_log(client).path)
        lines = path.read_bytes().splitlines(keepends=True)
        at = next(number for number, line in enumerate(lines) if b"memory.requested" in line)
        path.write_bytes(b"".join((*lines[:at], b"garbage\n", *lines[at + 1 :])))
        told = run("verify", "--prompts", "--ledger", _log(client).directory)
    assert told.code == 3
    assert "come out otherwise" in told.out
    assert "events before it are lost" in told.out
