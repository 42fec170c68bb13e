"""Commands that only print what is there, and the words that all commands share."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.events import (
    AnyEvent,
    Data,
    Draft,
    FileImportedData,
    FileWrittenData,
    LedgerErasedData,
    LedgerRepairedData,
    LedgerSealedData,
    MemoryDeletedData,
    MemoryImportedData,
    MemoryRestoredData,
    MemoryUndoneData,
    MemoryUpdatedData,
    PromptRenderedData,
    RulesLoadedData,
    SessionCompactedData,
    SessionDeletedData,
    SessionLinkedData,
    SessionMeasuredData,
    SessionStartedData,
    Target,
    ToolArguments,
    ToolCompletedData,
)
from ledger.memory import MemoryLog
from ledger.schema import schema_text
from memfold.cli.completion import SHELLS, script_path
from memfold.cli.gist import gist
from memfold.cli.main import main
from memfold.cli.words import age, marked, plural, tokens
from projections.render import Block
from tests.support.cli import Terminal, home, make_ledger, run


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path) -> Iterator[None]:
    """No configuration of this machine."""
    with home(tmp_path):
        yield


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_prints_the_shipped_script(shell: str) -> None:
    """Every command and option of ours is in it, nothing of the machine that made it."""
    text = run("completion", shell).out
    assert text == Path(script_path(shell)).read_text(encoding="utf-8")
    assert "ingest" in text
    assert "numbered" in text
    assert "reference" in text
    assert "memory.requested" in text
    assert "Usage:" not in text


def test_the_bash_script_completes() -> None:
    """Bash reads it without an error, and offers the command that was begun."""
    script = f"source {script_path('bash')}; COMP_WORDS=(memfold wh); COMP_CWORD=1; _shtab_memfold memfold wh memfold"
    ran = subprocess.run(["bash", "-c", f"{script}; echo ${{COMPREPLY[@]}}"], capture_output=True, check=False)
    assert ran.stdout == b"why\n"
    assert ran.stderr == b""


def test_schema_is_the_ledgers() -> None:
    """The same text as the committed schema."""
    assert run("schema", "events").out == schema_text()


def test_paths_are_told_before_anything_exists(tmp_path: Path) -> None:
    """In both forms; the workspace is the current directory's by default."""
    text = run("paths", "--workspace", str(tmp_path)).out
    assert "(not there yet)" in text
    document = json.loads(run("paths", "--workspace", str(tmp_path), "--json").out)
    assert document["exists"] is False
    assert document["events"].startswith(str(tmp_path / ".local" / "share" / "memfold" / "workspaces"))
    assert document["config"] == str(tmp_path / ".config" / "memfold")
    user, workspace = str(tmp_path / ".config" / "memfold" / "config.toml"), str(tmp_path / ".memfold.toml")
    assert document["files"] == [{"path": user, "exists": False}, {"path": workspace, "exists": False}]
    (tmp_path / ".memfold.toml").touch()
    assert f"{workspace}\n" in run("paths", "--workspace", str(tmp_path)).out
    assert f"{user}  (not there yet)" in text
    make_ledger(tmp_path / "ledger")
    assert json.loads(run("paths", "--ledger", str(tmp_path / "ledger"), "--json").out)["exists"] is True


EVENTS: list[tuple[Data, str]] = [
    (
        SessionStartedData("s", parent="mother", host="opencode", host_version="1"),
        "new opencode 1, sub-agent of mother",
    ),
    (SessionLinkedData("s", "mother"), "s, sub-agent of mother"),
    (SessionDeletedData(), ""),
    (SessionMeasuredData(2, 1000, 900), "2 requests, 1,000 tokens in, 900 from the cache"),
    (SessionCompactedData("m", "Memory candidates:\n\n- x"), "2 lines kept of the summary"),
    (SessionCompactedData("m"), "no candidates in the summary"),
    (ToolCompletedData("c", "read", ToolArguments(path="/w/app/src/a.py")), "read src/a.py"),
    (ToolCompletedData("c", "bash", ToolArguments(command="make\ntest"), exit=2), "bash make → 2"),
    (ToolCompletedData("c", "edit", ToolArguments(path="/x/b.py"), status="failed"), "edit /x/b.py → failed"),
    (MemoryUpdatedData(Target("e", 0), tags=()), "tags: none"),
    (MemoryUpdatedData(Target("e", 0), type="decision"), "type: decision"),
    (MemoryUpdatedData(Target("e", 0), title="New"), "New"),
    (MemoryDeletedData(message="m1"), "what m1 proposed"),
    (MemoryDeletedData(Target("e", 0), reason="stale"), "stale"),
    (MemoryRestoredData(Target("e", 0), reason="again"), "again"),
    (MemoryUndoneData("e"), "event e"),
    (FileImportedData("MEMORY.md", "d", "reference_b"), "MEMORY.md (reference-b)"),
    (FileImportedData("m.json", "d", "mcp", damaged="it is empty"), "m.json (mcp): it is empty"),
    (MemoryImportedData("f", "d", 1, "Text"), "Text"),
    (FileWrittenData(7, "d"), "MEMORY.md as of #7"),
    (RulesLoadedData("AGENTS.md"), "AGENTS.md"),
    (PromptRenderedData("hot", 1, 1, "d", 1), "hot, 1 character"),
    (LedgerSealedData(1, "r"), "1 leaf"),
    (LedgerRepairedData(2), "2 damaged pieces"),
    (LedgerErasedData((Target("e", 0),)), "1 text"),
]


@pytest.mark.parametrize(("data", "words"), EVENTS)
def test_gist_of_an_event(data: Data, words: str) -> None:
    """One line that says what the event holds; paths below the workspace are relative."""
    log = MemoryLog()
    event: AnyEvent
    (event,) = log.append([Draft(source="test/s", time=None, data=data)])
    assert gist(event, "/w/app") == words


def test_numbers_in_words() -> None:
    """Singular, plural, irregular plural; ages in their largest unit; tokens rounded up."""
    assert [plural(1, "event"), plural(1000, "event"), plural(0, "memory", "memories")] == [
        "1 event",
        "1,000 events",
        "0 memories",
    ]
    assert [age(-5), age(59_000), age(3_600_000), age(10 * 86_400_000)] == [
        "0 minutes",
        "0 minutes",
        "1 hour",
        "10 days",
    ]
    assert [tokens(0), tokens(1), tokens(8)] == [0, 1, 2]


@given(st.text(max_size=30), st.lists(st.text(max_size=4), max_size=4))
def test_marked_runs_give_the_text_back(text: str, words: list[str]) -> None:
    """No character is lost, runs alternate, and what isn't found marks nothing."""
    runs = marked(text, words)
    assert "".join(part for part, _ in runs) == text
    assert all(before[1] != after[1] for before, after in itertools.pairwise(runs))
    assert any(hit for _, hit in runs) == any(word and word in text for word in words)


def test_a_block_on_a_terminal_holds_no_controls(tmp_path: Path) -> None:
    """What a foreign writer left in a text reaches a host as it is, and never a terminal."""
    folder = make_ledger(tmp_path / "ledger")

    def shown(stream: io.StringIO) -> str:
        with contextlib.redirect_stdout(stream):
            main(["prompt", "--ledger", str(folder)])
        return stream.getvalue()

    assert shown(Terminal()) == shown(io.StringIO()) + "\n"
    with mock.patch("memfold.cli.prompt.workspace_block", return_value=Block("a\x1b[31mb\u202e\nc", (), ())):
        assert shown(io.StringIO()) == "a\x1b[31mb\u202e\nc"
        assert shown(Terminal()) == "a\\x1b[31mb\\u202e\nc\n"
