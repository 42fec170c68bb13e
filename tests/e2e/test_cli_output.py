"""What reading commands print: for people, and as JSON documents."""

from __future__ import annotations

import itertools
import json
import os
import pty
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO
from unittest import mock

import msgspec
import pytest
from msgspec import Struct

from ledger.events import Draft, PromptRenderedData, SessionDeletedData
from ledger.ids import uuid7
from ledger.log import FileLog
from ledger.times import parse_time
from memfold.cli.documents.listed import DOCUMENTS
from memfold.cli.main import main
from memfold.cli.patience import Patience
from memfold.cli.why import WhyDocument
from memfold.editing import delete, find, update
from memfold.imports.apply import record_import
from memfold.imports.reference_a import read_reference_a
from memfold.terminal import display_width
from memfold.workspace import Workspace
from projections.hot.block import hot_lines
from projections.hot.delivery import line_digest
from projections.memory.model import Ref
from projections.policy import DEFAULT_POLICY
from replay.checkpoints import find as checkpoints_of
from replay.live import Live
from tests.support import cli
from tests.support.cli import EXPECTED, GOLDEN, Terminal, home, make_ledger, printed, run
from tests.support.logs import new_log
from tests.support.usage import Tale

BEGIN = "2026-01-01T09:00:00Z"
WAITING = tuple(f"The harbour service keeps its {name} tables in config/{name}.json" for name in "abcde")


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small ledger; no reading command changes it."""
    return make_ledger(tmp_path_factory.mktemp("small") / "ledger")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path) -> Iterator[None]:
    """No configuration of this machine."""
    with home(tmp_path):
        yield


def test_every_reading_command_is_in_the_table() -> None:
    """Each document that a command prints for a ledger has an expected file."""
    schemas = {json.loads((EXPECTED / f"{name}.json").read_text())["schema"] for name in GOLDEN}
    documents: tuple[type[Struct], ...] = (*DOCUMENTS, WhyDocument)
    tags = {document.__struct_config__.tag for document in documents}
    elsewhere = {"memfold.ingest/1", "memfold.config/1", "memfold.paths/1", "memfold.workspaces/1", "memfold.error/1"}
    elsewhere |= {"memfold.install/1", "memfold.uninstall/1", "memfold.doctor/1"}  # about the machine, not a ledger
    elsewhere |= {
        "memfold.change/1",
        "memfold.undo/1",
        "memfold.sync/1",
        "memfold.purge/1",
        "memfold.repair/1",
    }  # they write: tests/e2e/test_cli_changes.py
    assert schemas == tags - elsewhere


@pytest.mark.parametrize("name", GOLDEN)
def test_text_for_people_is_as_expected(ledger: Path, name: str) -> None:
    """Without a terminal the text has no colours, is not cut, and is the same everywhere."""
    assert printed(ledger, GOLDEN[name]) == (EXPECTED / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", GOLDEN)
def test_json_documents_are_as_expected(ledger: Path, name: str) -> None:
    """The document of a command is stable, and its first key is its schema."""
    text = printed(ledger, [*GOLDEN[name], "--json"])
    assert text == (EXPECTED / f"{name}.json").read_text(encoding="utf-8")
    assert next(iter(json.loads(text))) == "schema"


def test_reading_changes_no_byte(tmp_path: Path) -> None:
    """No reading command changes a file of the ledger's folder or adds one (I22)."""
    folder = make_ledger(tmp_path / "ledger")

    def look() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = look()
    for arguments in (*GOLDEN.values(), ["log"], ["paths"], ["config", "show"]):
        assert run(*arguments, "--ledger", str(folder)).code in (0, 3)
    assert look() == before


def test_prompt_prints_exactly_the_bytes_of_the_block(ledger: Path) -> None:
    """The text of the block, no line break behind it; and the digest in the document is that of these bytes."""
    ran = run("prompt", "--session", "first", "--ledger", str(ledger))
    document = json.loads(run("prompt", "--session", "first", "--json", "--ledger", str(ledger)).out)
    assert ran.out == document["block"]["text"]
    assert ran.err == ""


def test_a_frozen_block_does_not_change_with_the_position(ledger: Path) -> None:
    """Whatever happens later, the block of an epoch is the same bytes (I12)."""
    blocks = {run("prompt", "--session", "first", "--at", str(at), "--ledger", str(ledger)).out for at in range(6, 10)}
    assert len(blocks) == 1
    assert run("prompt", "--session", "first", "--at", "5", "--ledger", str(ledger)).out == ""


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        (["--at", "1"], "no memory is active"),
        (["--at", "5"], "1 pending, none active yet"),
        (["--at", "5", "--session", "first"], "when its epoch began, #2; what was asked for since: --hot"),
    ],
)
def test_an_empty_block_says_why_on_stderr(ledger: Path, arguments: list[str], note: str) -> None:
    """Stdout stays empty, and stderr has the reason."""
    ran = run("prompt", *arguments, "--ledger", str(ledger))
    assert ran.out == ""
    assert note in ran.err


def test_sub_agents_and_deleted_sessions_have_no_block(tmp_path: Path) -> None:
    """Both say so."""
    log = FileLog.create(tmp_path / "ledger", root="/w/app", key="k")
    ws = Workspace(log, "/w/app", DEFAULT_POLICY, host="test")
    ws.record(ws.capture.session_started("child", parent="mother", time=None))
    ws.record(ws.capture.session_started("gone", time=None))
    ws.record(ws.capture.session_deleted("gone", time=None))
    assert "sub-agent" in run("prompt", "--session", "child", "--ledger", str(tmp_path / "ledger")).err
    assert "no open epoch" in run("prompt", "--session", "gone", "--ledger", str(tmp_path / "ledger")).err


def test_at_takes_an_offset_or_a_time(ledger: Path) -> None:
    """The last event at a time is the position; a day, minute or second means its end; without a zone it is UTC."""
    by_offset = run("account", "--at", "6", "--json", "--ledger", str(ledger)).out
    moments = (
        *("2026-01-01T09:04:00Z", "2026-01-01T10:04:30+01:00", "2026-01-01", "2026-01-01 09:04"),
        *("2026-01-01T04:04-05:00", "2026-01-01T09:04:00.000Z"),
    )
    for moment in moments:
        assert run("account", "--at", moment, "--json", "--ledger", str(ledger)).out == by_offset, moment
    before = run("account", "--at", "5", "--json", "--ledger", str(ledger)).out
    for moment in ("2026-01-01T09:03", "2026-01-01T09:03:59", "2026-01-01T09:03:59.999"):
        assert run("account", "--at", moment, "--json", "--ledger", str(ledger)).out == before, moment


def test_memory_that_is_off_gives_an_empty_block_and_says_so(ledger: Path, tmp_path: Path) -> None:
    """The present block is empty while memory is off; the past can still be replayed (SPEC 3.7)."""
    with home(tmp_path, MEMFOLD="off"):
        ran = run("prompt", "--hot", "--ledger", str(ledger))
        assert ran.out == ""
        assert "switched off" in ran.err
        assert run("prompt", "--at", "9", "--ledger", str(ledger)).out
        status = run("status", "--ledger", str(ledger)).out
        assert status.startswith("memory is off")
        assert "enabled" in status


def test_status_without_any_event_says_how_to_begin(tmp_path: Path) -> None:
    """A ledger in which no hook ever fired says so, in both forms."""
    FileLog.create(tmp_path / "ledger", root="/w/app", key="k")
    text = run("status", "--ledger", str(tmp_path / "ledger")).out
    assert text.startswith(
        "no event of a client was ever received\n  memfold install opencode, then start OpenCode in /w"
    )
    assert json.loads(run("status", "--json", "--ledger", str(tmp_path / "ledger")).out)["received"] is False


def test_status_names_paths_that_are_gone(tmp_path: Path) -> None:
    """Only paths below the workspace are judged; nothing is deleted, and the block says what it said (QUA-09)."""
    (tmp_path / "app" / "src").mkdir(parents=True)
    (tmp_path / "app" / "src" / "here.py").touch()
    root = os.path.realpath(tmp_path / "app")
    log = FileLog.create(tmp_path / "ledger", root=root, key="k")
    ws = Workspace(log, root, DEFAULT_POLICY, host="test")
    for name in ("src/here.py", "src/gone.py", "/etc/elsewhere/x.conf", "../other/y.py"):
        ws.record(ws.capture.memory_added(None, title=f"The loader is in {name}", content="", time=None))
    block = run("prompt", "--ledger", str(tmp_path / "ledger")).out
    assert block.count("The loader is in") == 4
    document = json.loads(run("status", "--json", "--ledger", str(tmp_path / "ledger")).out)
    assert document["missing_paths"] == [{"id": "MEM-002", "path": "src/gone.py"}]
    assert document["counts"]["promoted"] == 4
    assert "src/gone.py: path not found" in run("status", "--ledger", str(tmp_path / "ledger")).out
    (tmp_path / "app" / "src" / "here.py").unlink()
    assert run("prompt", "--ledger", str(tmp_path / "ledger")).out == block


def test_status_and_check_tell_of_damage(tmp_path: Path) -> None:
    """Damage is counted by status and placed by check, which ends with 3; unknown types are notes."""
    folder = make_ledger(tmp_path / "ledger")
    file = folder / "events.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    unknown = {
        **json.loads(lines[-1]),
        "type": "weather.changed",
        "seq": 10,
        "id": uuid7(1_768_208_460_000, b"0123456789"),
    }
    file.write_bytes(b"".join([*lines, json.dumps(unknown).encode() + b"\n"]))
    assert run("check", "--ledger", str(folder)).code == 0
    assert run("check", "--ledger", str(folder)).out.startswith("no problem, 1 note\n\nline ")
    file.write_bytes(b"".join([*lines[:4], b"not json\n", *lines[4:]]))
    ran = run("check", "--ledger", str(folder))
    assert ran.code == 3
    assert "not_json" in ran.out
    document = json.loads(run("check", "--json", "--ledger", str(folder)).out)
    assert (document["findings"], document["problems"][0]["line"]) == (1, 5)
    assert "was damaged" in run("status", "--ledger", str(folder)).out


def test_status_names_settings_that_were_ignored(ledger: Path, tmp_path: Path) -> None:
    """A setting with a wrong value is worth a look; config show names it on stderr."""
    folder = tmp_path / ".config" / "memfold"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('injection = "sideways"\nhotDelivery = "off"\n')
    text = run("status", "--ledger", str(ledger)).out
    assert "sideways" in text
    assert "hotDelivery" in text
    shown = run("config", "show", "--ledger", str(ledger))
    assert "sideways" in shown.err
    settings = json.loads(run("config", "show", "--json", "--ledger", str(ledger)).out)["settings"]
    assert {"key": "hotDelivery", "value": "off", "origin": str(folder / "config.toml")} in settings


def test_what_waits_long_is_told_and_expires_by_rule(tmp_path: Path) -> None:
    """Five that wait for ten days are counted with the oldest's age; after 30 they expire and stay told (PRO-11)."""
    entries = [{"type": "project", "source": "compaction", "text": text} for text in WAITING]
    journal = json.dumps({"version": 1, "entries": entries}).encode()
    place = ("--ledger", str(tmp_path / "ledger"))
    begin = parse_time(BEGIN) or 0
    with FileLog.create(tmp_path / "ledger", root="/w/app", key="k", clock=lambda: begin) as log:
        ws = Workspace(log, "/w/app", DEFAULT_POLICY, host="test")
        record_import(ws, read_reference_a("workspace-pending-journal.json", journal, DEFAULT_POLICY), time=BEGIN)

        def pass_time(day: str) -> dict[str, Any]:
            call = ws.capture.tool_completed("s", day, "read", {}, exit=None, output="", time=f"{day}T09:00:00Z")
            ws.record(call)
            counts: dict[str, Any] = json.loads(run("status", "--json", *place).out)["counts"]
            return counts

        assert pass_time("2026-01-11")["pending"] == 5
        assert "pending    5, decided " in run("status", *place).out
        assert "; the oldest is 10 days old" in run("status", *place).out
        late = pass_time("2026-02-02")
    assert (late["pending"], late["expired"], late["candidates"]) == (0, 5, 5)
    story = json.loads(run("why", WAITING[0], "--json", *place).out)["stories"][0]
    assert [(one["code"], one["rule"]) for one in story["reasons"]] == [("pending_expired", "SPEC 9.5")]


def test_what_is_pending_is_never_passed_over(tmp_path: Path) -> None:
    """After the first request nothing is active: list, show, status and why say what is decided when (SPEC 14.1)."""
    with new_log(tmp_path / "ledger") as log:
        tale = Tale(log)
        tale.start()
        tale.ask("Remember: use integer cents")
        tale.ask("Remember: run npm test before every commit")
        decided = "when the next session starts or the asking one is compacted"
        place = ("--ledger", str(tmp_path / "ledger"))
        listed = run("list", *place)
        assert listed.out == ""
        assert listed.err.splitlines()[1] == f"memfold: 2 pending: decided {decided} (memfold list --state pending)"
        assert run("list", "--state", "rejected", *place).err == "memfold: no rejected memories as of offset 4\n"
        assert f"2, decided {decided}; the oldest is" in run("status", *place).out
        assert f"  decided   {decided}\n" in run("show", "integer cents", *place).out
        assert "2 pending, without an id until they are decided" in run("show", "MEM-001", *place).err
        told = run("why", "integer cents", *place).out
        assert f"  decided   {decided}\n" in told
        assert "hot state" not in told
        assert "  prompts   none: " in told
        tale.session = "other"
        tale.start()
        assert "pending" not in run("list", *place).out


def test_why_of_a_pending_memory_names_where_it_was_given(tmp_path: Path) -> None:
    """The session whose receipt holds the line of it, and no other one's."""
    with new_log(tmp_path / "ledger") as log:
        tale = Tale(log)
        tale.start()
        tale.ask("Remember: use integer cents")
        ((line,)) = hot_lines([], [], [], [("feedback", "use integer cents")])
        epoch, size, digest = 1, 10, "0" * 64
        tale.session = "other"
        tale.note(PromptRenderedData("hot", 2, epoch, digest, size, lines=(line_digest(line),)))
        place = ("--ledger", str(tmp_path / "ledger"))
        assert json.loads(run("why", "cents", "--json", *place).out)["stories"][0]["given"] is None
        tale.session = "s"
        tale.note(PromptRenderedData("hot", 2, epoch, digest, size))
        tale.note(PromptRenderedData("delta", 2, epoch, digest, size, lines=(line_digest(line),)))
        tale.note(PromptRenderedData("delta", 2, epoch, digest, size, lines=(line_digest(line),)))
        (story,) = json.loads(run("why", "cents", "--json", *place).out)["stories"]
        last = log.size() - 1
        assert story["given"] == {"session": "s", "offset": last - 1, "kind": "delta"}
        assert f"hot state  given to session s from #{last - 1} on (receipt)\n" in run("why", "cents", *place).out


def test_an_account_that_does_not_add_up_says_so(ledger: Path) -> None:
    """It would be a bug of ours, and nobody should have to find it."""
    with mock.patch("memfold.cli.account.adds_up", return_value=False):
        assert "do not add up" in run("account", "--ledger", str(ledger)).err


def test_an_empty_ledger_has_an_empty_account(tmp_path: Path) -> None:
    """Seven zeros, and no table of reasons."""
    FileLog.create(tmp_path / "ledger", root="/w/app", key="k")
    assert "reason" not in run("account", "--ledger", str(tmp_path / "ledger")).out


def test_why_of_an_unseen_text_names_the_nearest(ledger: Path) -> None:
    """And the pack that is off and would have found a form."""
    out = run("why", "Recuerda: prices in integer cents always", "--ledger", str(ledger)).out
    assert "nearest in the log" in out
    assert "Prices must be computed in integer cents" in out
    assert "the pack 'es' would find one, but it is off" in out


def test_list_filters_by_state_and_type(ledger: Path) -> None:
    """Only what was asked for; an empty list says so on stderr."""
    document = json.loads(run("list", "--state", "rejected", "--json", "--ledger", str(ledger)).out)
    assert [one["reasons"] for one in document["memories"]] == [
        ["unsupported_candidate_syntax"],
        ["progress_snapshot"],
        ["negated_request"],
    ]
    document = json.loads(run("list", "--type", "decision", "--json", "--ledger", str(ledger)).out)
    assert [one["id"] for one in document["memories"]] == ["MEM-003"]
    ran = run("list", "--state", "deleted", "--ledger", str(ledger))
    assert (ran.out, ran.code) == ("", 0)
    assert "no deleted memories" in ran.err


def _named(ws: Workspace, name: str) -> Ref:
    """The memory that a name means."""
    target = find(ws.world().memory, name)
    assert isinstance(target, Ref)
    return target


def test_show_tells_what_a_memory_is_made_of(tmp_path: Path) -> None:
    """Title, content, tags, importance, replacement and history of memories that a tool wrote and changed."""
    log = FileLog.create(tmp_path / "ledger", root="/w/app", key="k")
    ws = Workspace(log, "/w/app", DEFAULT_POLICY, host="test")
    tags = ["importance-high", "safety-critical"]
    ws.record(ws.capture.memory_added("s", title="Backups", content="Never drop a table", tags=tags, time=None))
    delete(ws, _named(ws, "MEM-001"), session="s", origin="tool", time=None)
    ran = run("show", "MEM-001", "--ledger", str(tmp_path / "ledger"))
    for part in ("deleted", "Backups", "Never drop a table", "high", "critical", "safety-critical"):
        assert part in ran.out
    assert run("show", "never drop", "--ledger", str(tmp_path / "ledger")).out == ran.out


def test_many_matches_are_shown_newest_first(tmp_path: Path) -> None:
    """Some of them, and how many more there are; all of them if one asks for it."""
    log = FileLog.create(tmp_path / "ledger", root="/w/app", key="k")
    ws = Workspace(log, "/w/app", DEFAULT_POLICY, host="test")
    drafts = [
        draft
        for number in range(22)
        for draft in ws.capture.memory_added("s", title=f"Fact number {number}", content="", time=None)
    ]
    ws.record(drafts)
    place = ["fact number", "--ledger", str(tmp_path / "ledger")]
    found, told = run("show", *place), run("why", *place)
    assert found.out.index("Fact number 21") < found.out.index("Fact number 3")
    assert "Fact number 1\n" not in found.out
    assert "2 more" in found.err
    assert told.out.index("Fact number 21") < told.out.index("Fact number 17")
    assert "Fact number 16\n" not in told.out
    assert told.out.endswith("\n… and 17 more: give more of the text, or --all\n")
    assert "Fact number 0\n" in run("why", "--all", *place).out
    assert [
        len(json.loads(run("why", *more, *place).out)["stories"]) for more in (["--json"], ["--json", "--all"])
    ] == [
        20,
        22,
    ]
    shown = run("prompt", "--json", "--ledger", str(tmp_path / "ledger")).out
    assert {one["reason"] for one in json.loads(shown)["block"]["omitted"]} == {"type_cap"}
    ran = run("why", "MEM-001", "--ledger", str(tmp_path / "ledger"))
    assert "not in the block: enough stronger memories of its type are shown (type_cap, SPEC 11.1)" in ran.out


def test_why_tells_what_absorbed_and_what_replaced(tmp_path: Path) -> None:
    """An absorbed request names the entry it is part of; a deleted one the event that deleted it."""
    log = FileLog.create(tmp_path / "ledger", root="/w/app", key="k")
    ws = Workspace(log, "/w/app", DEFAULT_POLICY, host="test")
    for session in ("one", "two"):
        ws.record(ws.capture.memory_added(session, title="Use spaces, never tabs", content="", time=None))
    ran = run("why", "use spaces, never tabs", "--ledger", str(tmp_path / "ledger"))
    assert "absorbed: absorbed_exact" in ran.out
    assert "part of   MEM-001 (active): Use spaces, never tabs" in ran.out
    delete(ws, _named(ws, "MEM-001"), session=None, origin="cli", time=None)
    ran = run("why", "MEM-001", "--ledger", str(tmp_path / "ledger"))
    assert "MEM-001 deleted: deleted" in ran.out
    assert "memory.deleted" in ran.out


def test_why_of_a_summary_line_tells_of_replacement(tmp_path: Path) -> None:
    """What a numbered command replaced names its successor, and show names both."""
    log = FileLog.create(tmp_path / "ledger", root="/w/app", key="k")
    ws = Workspace(log, "/w/app", DEFAULT_POLICY, host="test")
    first = "Memory candidates:\n- [project] The exporter writes its files below out/reports"
    ws.record(ws.capture.session_started("s", time=None))
    ws.record(ws.capture.compacted("s", "m1", first, time=None))
    snapshot, _ = ws.prepare_compaction("s", time=None)
    second = f"Memory candidates:\nMemory ref snapshot id: {snapshot}\nREPLACE [M1] [project] The exporter writes to S3"
    ws.record(ws.capture.compacted("s", "m2", second, time=None))
    assert "replaced by" in run("why", "MEM-001", "--ledger", str(tmp_path / "ledger")).out
    assert "replaces  MEM-001" in run("show", "MEM-002", "--ledger", str(tmp_path / "ledger")).out


def test_stored_text_cannot_reach_the_terminal_raw(tmp_path: Path) -> None:
    """Escape sequences and bidi marks in stored text are shown as text; the JSON holds them escaped."""
    log = FileLog.create(tmp_path / "ledger", root="/w/app", key="k")
    ws = Workspace(log, "/w/app", DEFAULT_POLICY, host="test")
    (draft,) = ws.capture.memory_added("s", title="placeholder", content="", time=None)
    evil = "mark\x1b[31m\x07 red \u202e gnp"
    log.append([msgspec.structs.replace(draft, data=msgspec.structs.replace(draft.data, title=evil))])
    for command in (["log"], ["list"], ["list", "--state", "all"], ["show", "MEM-001"], ["why", "MEM-001"], ["status"]):
        out = run(*command, "--ledger", str(tmp_path / "ledger")).out
        assert not {"\x1b", "\x07", "\u202e"} & set(out)


def test_log_filters(ledger: Path) -> None:
    """By session, type, group of types, offset, time, and the last N of what is left."""

    def offsets(*arguments: str) -> list[int]:
        ran = run("log", *arguments, "--ledger", str(ledger))
        assert (ran.out == "") == ("none of them fits" in ran.err)
        return [int(line.split()[0]) for line in ran.out.splitlines()[1:]]

    assert offsets() == list(range(10))
    assert offsets("--session", "second") == [7, 8, 9]
    assert offsets("--type", "memory.requested") == [3, 4, 8]
    assert offsets("--type", "session", "--limit", "2") == [7, 9]
    assert offsets("--type", "some.newer") == []
    assert offsets("--since", "8") == [8, 9]
    assert offsets("--since", "2026-01-02T09:01:00Z") == [8, 9]
    assert offsets("--limit", "0") == []
    assert offsets("--at", "8") == [8]
    assert offsets("--at", "2026-01-01") == [6]
    assert offsets("--at", "8", "--type", "session") == []
    assert offsets("--session", "…second") == [7, 8, 9]


def test_log_json_gives_the_stored_lines(ledger: Path) -> None:
    """One event a line, byte for byte as it is stored."""
    assert run("log", "--json", "--ledger", str(ledger)).out == (ledger / "events.jsonl").read_text(encoding="utf-8")


def test_follow_goes_on_where_the_log_ended(tmp_path: Path) -> None:
    """What is appended after the first pass is printed once, however often the folder changes."""
    folder = make_ledger(tmp_path / "ledger")

    def changes(*_: object, **__: object) -> Iterator[set[object]]:
        log = FileLog.open(folder)
        for session in ("a", "b"):
            log.append([Draft(source=f"test/{session}", time=None, data=SessionDeletedData())])
            yield set()
            yield set()

    with mock.patch("watchfiles.watch", changes):
        out = run("log", "--follow", "--limit", "1", "--ledger", str(folder)).out
    assert [line.split()[0] for line in out.splitlines()] == ["#", "9", "10", "11"]


def test_log_carries_unknown_events(tmp_path: Path) -> None:
    """A type of a newer release is listed, and printed as it is stored."""
    folder = make_ledger(tmp_path / "ledger")
    line = '{"type":"weather.changed","specversion":"1.0","id":"x","source":"test","seq":10,"data":{"a":"云"}}'
    with (folder / "events.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    assert "weather.changed" in run("log", "--ledger", str(folder)).out
    assert run("log", "--limit", "1", "--json", "--ledger", str(folder)).out == line + "\n"


def _on_terminal(columns: int, arguments: list[str], color: str = "auto") -> str:
    """What a command writes to a terminal of a width."""
    primary, secondary = pty.openpty()
    environ = {"COLUMNS": str(columns), "TERM": "xterm"}
    with (
        os.fdopen(secondary, "w", encoding="utf-8") as stream,
        mock.patch.object(sys, "stdout", stream),
        mock.patch.dict(os.environ, environ),
    ):
        assert main([*arguments, "--color", color]) in (0, 3)
        stream.flush()
        data = b""
        os.set_blocking(primary, False)
        while True:
            try:
                data += os.read(primary, 1 << 16)
            except BlockingIOError:
                break
    os.close(primary)
    return data.decode().replace("\r\n", "\n")


class _SlowStart(Patience):
    """As if each command had been at work for a while when it begins."""

    def __init__(self, command: str, stream: TextIO) -> None:
        super().__init__(command, stream, 0.001, itertools.count().__next__)
        while not self._shown:
            time.sleep(0.001)


@pytest.mark.parametrize("command", ["check", "status", "verify"])
def test_whoever_waits_sees_that_something_is_done(ledger: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """On a terminal a command that takes a while says so, and what it prints then stands by itself."""
    monkeypatch.setattr("memfold.cli.patience.Patience", _SlowStart)
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    plain = _on_terminal(80, [command, "--ledger", str(ledger)])
    shown = stderr.getvalue()
    assert f"memfold {command}: reading the ledger, 0 s" in shown
    assert shown.endswith("\r\x1b[K")
    assert "reading the ledger" not in plain


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize("name", [name for name in GOLDEN if not name.startswith(("prompt", "head", "prove"))])
def test_no_line_is_wider_than_the_terminal(ledger: Path, name: str, columns: int) -> None:
    """Tables are cut and texts are broken at the width, in columns; prompts and proofs are printed as they are."""
    text = _on_terminal(columns, [*GOLDEN[name], "--ledger", str(ledger)], color="never")
    assert max(map(display_width, text.splitlines())) <= columns


def test_colour_marks_the_words_that_refused(ledger: Path) -> None:
    """Carets stand under the words, which are coloured on a terminal too; wide characters shift them right."""
    coloured = _on_terminal(120, ["why", "12 tests passed", "--ledger", str(ledger)])
    assert "\x1b[33m12 tests passed\x1b[0m" in coloured
    assert "^^^" in coloured
    plain = run("why", "12 tests passed", "--ledger", str(ledger)).out.splitlines()
    line = next(line for line in plain if "[project]" in line)
    assert plain[plain.index(line) + 1] == " " * line.index("12 tests") + "^" * len("12 tests passed")


def test_a_prompt_on_a_terminal_ends_its_line(ledger: Path) -> None:
    """The shell's own prompt begins on a new line there, and only there."""
    assert _on_terminal(80, ["prompt", "--ledger", str(ledger)]).endswith("config/tariffs.json\n")


@pytest.mark.parametrize("command", [["list"], ["show", "MEM-001"], ["why", "MEM-001"], ["status"]])
def test_a_position_that_was_asked_for_is_named(ledger: Path, command: list[str]) -> None:
    """The last line says what all above is meant for; without --at nothing is said."""
    assert run(*command, "--at", "8", "--ledger", str(ledger)).out.endswith(
        "as of offset 8, 2026-01-02T09:01:00.000Z\n"
    )
    assert "as of offset" not in run(*command, "--ledger", str(ledger)).out


def test_why_at_a_position_tells_of_what_came_later(ledger: Path) -> None:
    """A text that a later event proposes is not yet captured; one that none proposes never is."""
    place = ["--at", "4", "--ledger", str(ledger)]
    out = run("why", "integer cents", *place).out
    assert out.startswith("not yet captured as of #4\n  proposed later by #6 session.compacted")
    assert json.loads(run("why", "integer cents", "--json", *place).out)["later"]["offset"] == 6
    assert "as of #4, nor behind it" in run("why", "float euros", *place).out
    assert json.loads(run("why", "float euros", "--json", *place).out)["later"] is None


def test_why_reads_a_leading_type(ledger: Path) -> None:
    """``[type]`` is taken as a summary's line is, and an unknown one is refused as there."""
    decision = run("why", "[decision] we use SQLite over Postgres here", "--ledger", str(ledger)).out
    assert "as a candidate in a summary, taken as decision: kept\n    [decision] we use SQLite" in decision
    feedback = run("why", "please use tabs over spaces", "--ledger", str(ledger)).out
    assert "as a candidate in a summary, taken as feedback: kept\n    [feedback] please use" in feedback
    unknown = run("why", "[idea] we use SQLite over Postgres here", "--ledger", str(ledger)).out
    assert "as a candidate in a summary: refused\n    [idea] we use SQLite" in unknown
    assert "invalid_memory_type" in unknown


def test_a_wording_of_another_candidate_is_named(tmp_path: Path) -> None:
    """An absorbed request may give the words, an update too; show and why say so, and give the first ones."""
    log = FileLog.create(tmp_path / "ledger", root="/w/app", key="k", clock=lambda: 0)
    ws = Workspace(log, "/w/app", DEFAULT_POLICY, host="test")
    ws.record(ws.capture.memory_added("s", title="Use tabs", content="", time="2026-01-01T09:00:00Z"))
    assert "wording" not in run("why", "MEM-001", "--ledger", str(tmp_path / "ledger")).out
    target = _named(ws, "MEM-001")
    update(ws, target, session="s", title="Use spaces", content="", origin="tool", time="2026-01-01T09:05:00Z")
    for command in ("why", "show"):
        out = run(command, "MEM-001", "--ledger", str(tmp_path / "ledger")).out
        assert "changed 2026-01-01T09:05:00.000Z; first: Use tabs" in out
    recording = str(cli.RECORDINGS / "remember.jsonl")
    run("ingest", "opencode", recording, "--ledger", str(tmp_path / "real"))
    for command in ("why", "show"):
        out = run(command, "MEM-001", "--ledger", str(tmp_path / "real")).out
        assert "from #17 (absorbed), since #19; first: run npm test" in out


def test_what_would_flip_a_refusal_is_told(tmp_path: Path) -> None:
    """A refusal names what the text would have to do without, or a setting; a memory in the block has no such line."""
    log = FileLog.create(tmp_path / "ledger", root="/w/app", key="k")
    ws = Workspace(log, "/w/app", DEFAULT_POLICY, host="test")
    lines = "Memory candidates:\n- [decision] Use cents\n- [project] Weekend rates are done, 12 tests passed\n"
    ws.record(ws.capture.compacted("s", "m", lines, time=None))
    for number in range(11):
        ws.record(ws.capture.memory_added("s", title=f"Fact number {number}", content="", time=None))

    def told(query: str) -> str:
        return run("why", query, "--ledger", str(tmp_path / "ledger")).out

    assert "would flip  without too_short" in told("Use cents")
    assert "would flip" not in told("Fact number 10")
    omitted = json.loads(run("prompt", "--json", "--ledger", str(tmp_path / "ledger")).out)["block"]["omitted"]
    (one,) = [told(found["id"]) for found in omitted]
    assert "not in the block" in one
    ws.record(ws.capture.compacted("s", "n", "Memory candidates:\n- [feedback] 3 tests ok\n", time=None))
    assert "would flip  without too_short and bad_feedback" in told("3 tests ok")


def test_status_of_an_empty_log_names_that_too(tmp_path: Path) -> None:
    """Where no client's event came there may be trouble besides."""
    folder = tmp_path / "ledger"
    folder.mkdir(mode=0o700)
    (folder / "events.jsonl").touch(mode=0o600)
    said = run("status", "--ledger", str(folder)).out.splitlines()[0]
    assert said == f"no event of a client was ever received; 1 problem: memfold check --ledger {folder}"


def test_status_trusts_no_checkpoint(tmp_path: Path) -> None:
    """What was damaged behind its back doesn't count, as at the last offset."""
    folder = make_ledger(tmp_path / "ledger")
    log = FileLog.open(folder)
    # Far enough behind it: what stands right before a checkpoint is compared.
    log.append([Draft(source="opencode/s", time=None, data=SessionDeletedData())] * 400)
    live = Live(log)
    last = live.world().memory.offset
    live.keep(every=0)
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    hit = next(number for number, line in enumerate(lines) if b'"memory.requested"' in line)
    lines[hit] = b"#" * (len(lines[hit]) - 1) + b"\n"
    (folder / "events.jsonl").write_bytes(b"".join(lines))
    assert next(checkpoints_of(log)).events == len(lines)  # a start trusts it
    now, then = (
        json.loads(run("status", "--json", *at, "--ledger", str(folder)).out) for at in ([], ["--at", str(last)])
    )
    assert now["health"]["damaged"] == 1
    assert now == then


def test_status_names_what_check_finds(tmp_path: Path) -> None:
    """In its first line, for damage that health doesn't count too; notes don't count."""
    for name in ("gap-in-seq", "no-created", "newer-format", "swapped-lines", "repeated-seq"):
        out = run("status", "--ledger", str(cli.ROOT / "fixtures" / "damaged" / name)).out
        assert ": memfold check" in out.splitlines()[0], name
    folder = make_ledger(tmp_path / "ledger")
    folder.chmod(0o755)
    assert run("status", "--ledger", str(folder)).out.startswith("memory works\n")
    ran = run("check", "--ledger", str(folder))
    assert (ran.code, "readable_file (note)" in ran.out) == (0, True)
    folder.chmod(0o770)
    assert run("status", "--ledger", str(folder)).out.startswith(
        f"memory works; 1 problem: memfold check --ledger {folder}\n"
    )
    assert run("check", "--ledger", str(folder)).code == 3


def test_status_without_a_candidate_does_not_praise_itself(tmp_path: Path) -> None:
    """Events arrive, and that is all one can say."""
    log = FileLog.create(tmp_path / "ledger", root="/w/app", key="k")
    ws = Workspace(log, "/w/app", DEFAULT_POLICY, host="test")
    ws.record(ws.capture.session_started("s", time=None))
    assert run("status", "--ledger", str(tmp_path / "ledger")).out.startswith("events arrive; nothing was proposed")


def test_status_tells_when_another_policy_is_configured(ledger: Path, tmp_path: Path) -> None:
    """The one in the ledger judges until the next event is written."""
    assert json.loads(run("status", "--json", "--ledger", str(ledger)).out)["policy_differs"] is False
    folder = tmp_path / ".config" / "memfold"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[prompt]\nmaxEntries = 3\n")
    assert "is not the configured one" in run("status", "--ledger", str(ledger)).out


def test_active_and_promoted_are_the_same_state(ledger: Path) -> None:
    """In both forms of output."""
    for form in ([], ["--json"]):
        active = run("list", "--state", "active", *form, "--ledger", str(ledger)).out
        assert run("list", "--state", "promoted", *form, "--ledger", str(ledger)).out == active


def test_a_narrow_list_shows_whole_texts(ledger: Path) -> None:
    """Where a row has no place for a text, it stands below its id."""
    lines = _on_terminal(40, ["list", "--ledger", str(ledger)], color="never").splitlines()
    shown = " ".join(map(str.strip, lines))
    assert "* MEM-001" in shown
    assert "[feedback] 金额一律用整数分存储" in shown
    assert "[project] The service keeps its tariff tables in config/tariffs.json" in shown


def test_a_narrow_log_says_what_happened(ledger: Path) -> None:
    """Where a line has no place for it, it stands below."""
    shown = _on_terminal(40, ["log", "--ledger", str(ledger)], color="never")
    assert max(map(display_width, shown.splitlines())) <= 40
    assert "session.started" in shown
    assert "integer cents in every API" in shown


@pytest.mark.parametrize("columns", [60, 80, 99, 100, 120])
def test_ids_and_codes_are_never_cut(ledger: Path, columns: int) -> None:
    """In a narrow terminal source and age go first, and where codes are long the text stands below."""
    place = ["--ledger", str(ledger)]
    for command in (["list", "--state", "all"], ["account"], ["status"]):
        assert "unsupported_candidate_syntax" in _on_terminal(columns, [*command, *place], color="never")
    out = _on_terminal(columns, ["list", *place], color="never")
    assert "MEM-002" in out
    assert ("source" in out, "age" in out) == (columns >= 100, columns >= 100)


def test_goldens_can_be_rewritten(tmp_path: Path) -> None:
    """The script that writes the expected files writes what stands there."""
    with mock.patch.object(cli, "EXPECTED", tmp_path / "expected"):
        cli.rewrite()
    written = {path.name: path.read_bytes() for path in (tmp_path / "expected").iterdir()}
    assert written == {path.name: path.read_bytes() for path in EXPECTED.iterdir()}
