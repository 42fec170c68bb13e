"""A conflicted copy beside the log: ``check`` names it with a command, which takes the union by id (FSP-10)."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections import Counter
from pathlib import Path

import pytest

from ledger.codec import encode
from ledger.events import (
    Draft,
    LedgerErasedData,
    MemoryDeletedData,
    MemoryRequestedData,
    PromptRenderedData,
    Target,
)
from ledger.log import LOG_NAME, FileLog
from memfold.paths import data_dir, ledger_dir, workspace_key
from tests.support.cli import active, done, failed, run
from tests.support.logs import memory

NAME = "events (Eve's conflicted copy).jsonl"
TIME = "2026-01-01T10:00:00.000Z"


@pytest.fixture(autouse=True)
def _memory(project: Path) -> None:
    run("add", "Use small commits")


def copy_with(ledger: Path, *drafts: Draft, name: str = NAME) -> Path:
    """A copy of the log as another machine had it, which went on there."""
    elsewhere = ledger.parent / "elsewhere"
    shutil.rmtree(elsewhere, ignore_errors=True)
    shutil.copytree(ledger, elsewhere)
    with FileLog.open(elsewhere) as log:
        log.append(drafts)
    return Path(shutil.copy(elsewhere / LOG_NAME, ledger / name))


def request(text: str, message: str) -> Draft:
    """A user's request in a session on the other machine."""
    return Draft(source="opencode/other", time=TIME, data=MemoryRequestedData(message, f"Remember: {text}"))


def take_in(*arguments: str) -> tuple[int, int]:
    """How many events an import took, and how many were there already; of each file, summed."""
    files = done("import", *arguments)["files"]
    return sum(one["counts"].get("taken", 0) for one in files), sum(one["known"] for one in files)


def pending() -> list[str]:
    """Texts that wait for a decision."""
    return [row["text"] for row in done("list", "--state", "pending")["memories"]]


def command_of_check(copy: Path, *options: str) -> list[str]:
    """The command that ``check`` prints for the copy that it names, as a shell splits it."""
    found = done("check", *options, code=3)["problems"]
    (one,) = (one for one in found if one["kind"] == "conflicted_copy")
    assert str(copy) in one["message"]
    assert " ".join(one["fix"].split()) in " ".join(run("check", *options).out.split())
    return shlex.split(one["fix"].partition(" takes in")[0])


def ids_of_file(log: Path) -> list[str]:
    """The ids in a log, line by line: nothing is dropped by a reader here."""
    return [json.loads(line)["id"] for line in log.read_bytes().splitlines()]


def ids_of(ledger: Path) -> list[str]:
    """Those of a ledger's log."""
    return ids_of_file(ledger / LOG_NAME)


def test_fsp_10_a_conflicted_copy(ledger: Path) -> None:
    """One common and one new event: the command that check prints makes the union by id, each event once."""
    before = ids_of(ledger)
    copy = copy_with(ledger, request("the pilots' channel is 12", "m1"))
    (_, *arguments) = command_of_check(copy)
    ran = run(*arguments)
    assert (ran.code, ran.out) == (0, f"{NAME} (ledger): 1 taken, {len(before)} here already\n")
    after = ids_of(ledger)
    assert after == [*before, ids_of_file(copy)[-1]]
    assert max(Counter(after).values()) == 1
    assert pending() == ["the pilots' channel is 12"]
    assert "nothing new" in run(*arguments).out
    assert ids_of(ledger) == after
    copy.unlink()
    assert run("check").code == 0


def test_the_command_names_the_ledger_that_was_named(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever checks a ledger from elsewhere gets a command for that ledger."""
    copy = copy_with(ledger, request("the pilots' channel is 12", "m1"))
    monkeypatch.chdir(tmp_path)
    (_, *arguments) = command_of_check(copy, "--ledger", str(ledger))
    assert run(*arguments).code == 0
    assert ids_of(ledger)[-1] == ids_of_file(copy)[-1]


def test_events_keep_what_names_them(ledger: Path) -> None:
    """A deletion that only the copy holds finds the memory that both hold; numbers and order here don't change."""
    before = list(FileLog.open(ledger).read())
    added = before[-1]
    deletion = Draft(source="opencode/other", time=TIME, data=MemoryDeletedData(target=Target(added.id, 0)))
    copy = copy_with(ledger, deletion)
    run("add", "Use long names")
    present = list(FileLog.open(ledger).read())
    done("import", str(copy))
    after = list(FileLog.open(ledger).read())
    assert after[: len(present)] == present
    assert [event.seq for event in after] == list(range(len(after)))
    assert active() == ["Use long names"]


def test_a_dry_run_writes_nothing(ledger: Path) -> None:
    """It says what would come."""
    copy = copy_with(ledger, request("the pilots' channel is 12", "m1"))
    before = (ledger / LOG_NAME).read_bytes()
    assert take_in(str(copy), "--dry-run")[0] == 1
    assert (ledger / LOG_NAME).read_bytes() == before


def test_two_copies_bring_each_event_once(ledger: Path) -> None:
    """What both of them hold is taken from the first."""
    copy = copy_with(ledger, request("the pilots' channel is 12", "m1"))
    second = shutil.copy(copy, ledger / "events-laptop.jsonl")
    assert take_in(str(copy), str(second))[0] == 1
    assert max(Counter(ids_of(ledger)).values()) == 1


def test_what_does_not_hold_here_stays(ledger: Path) -> None:
    """Receipts of positions there, purges, unknown types and damage are named by their line, and the rest comes."""
    receipt = PromptRenderedData(kind="workspace", position=3, epoch=3, digest="0" * 64, size=10)
    copy = copy_with(
        ledger,
        Draft(source="opencode/other", time=TIME, data=receipt),
        Draft(source="memfold", time=TIME, data=LedgerErasedData((Target("x", 0),))),
        request("the pilots' channel is 12", "m1"),
    )
    later = encode(memory(90)).replace(b"memory.added", b"memory.imagined")
    copy.write_bytes(copy.read_bytes() + later + b"torn\n")
    lines = len(copy.read_bytes().splitlines())
    (report,) = done("import", str(copy))["files"]
    assert [one["line"] for one in report["skipped"]] == [lines - 4, lines - 3, lines - 1, lines]
    assert report["counts"] == {"taken": 1}
    assert pending() == ["the pilots' channel is 12"]


def test_the_log_of_another_ledger_is_refused(ledger: Path, tmp_path: Path) -> None:
    """What shares no event with this ledger is no copy of it; nothing is written, not even a ledger."""
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    with FileLog.create(tmp_path / "l", root="/w", key="0" * 16) as log:
        log.append([request("the pilots' channel is 12", "m1")])
    before = (ledger / LOG_NAME).read_bytes()
    foreign = str(tmp_path / "l" / LOG_NAME)
    failed(run("import", foreign), 65, "shares no event with this one")
    assert (ledger / LOG_NAME).read_bytes() == before
    failed(run("import", foreign, "--workspace", str(other)), 65, "shares no event")
    assert not Path(ledger_dir(data_dir(os.environ), workspace_key(str(other)))).exists()
    failed(run("import", str(ledger / LOG_NAME), "--format", "mcp"), 64, "leave --format out")
