"""``memfold purge``: it shows what goes and where, asks, and tells what it can't reach (SPEC 15.4)."""

from __future__ import annotations

import errno
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ledger.events import Draft, MemoryDeleted, MemoryRequestedData, ToolArguments, ToolCompleted, ToolCompletedData
from ledger.log import FileLog
from ledger.reader import Reader
from memfold.backups import read_backup, trouble_of
from memfold.cli.purge import UNREACHABLE
from replay import kept
from replay.checkpoints import find
from replay.live import Live
from tests.support.cli import Ran, failed, run

TEXT = "the pilot boat waits behind the breakwater"


@pytest.fixture(autouse=True)
def _no_terminal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())


class Terminal(io.StringIO):
    """A person who types."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def _done(*arguments: str) -> None:
    ran = run(*arguments)
    assert ran.code == 0, ran.err


def _document(ran: Ran) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(ran.out)
    return document


def _holding(folder: Path) -> list[str]:
    """Names of the files that hold the text."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and TEXT.encode() in path.read_bytes())


def _folder(tmp_path: Path) -> Path:
    (log,) = (tmp_path / ".local/share/memfold/workspaces").glob("*/events.jsonl")
    return log.parent


def test_a_dry_run_tells_what_would_go_and_where(tmp_path: Path) -> None:
    """Text, state and places are shown; nothing changes, and the exit is 0."""
    _done("add", TEXT)
    before = {path: path.read_bytes() for path in _folder(tmp_path).rglob("*") if path.is_file()}
    ran = run("purge", "MEM-001", "--dry-run")
    assert ran.code == 0
    assert TEXT in ran.out
    assert "active, then deleted" in ran.out
    assert "1 event of the ledger" in ran.out
    assert "derived (derived): removed" in ran.out
    assert "nothing was done" in ran.out
    document = _document(run("purge", "MEM-001", "--dry-run", "--json"))
    assert (document["done"], document["changed"], document["event"]) == (False, {"memory.added": 1}, "")
    assert document["outcome"] == "dry-run"
    assert before == {path: path.read_bytes() for path in _folder(tmp_path).rglob("*") if path.is_file()}


def test_without_a_word_of_a_person_nothing_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes --yes, or the id typed on a terminal; anything else ends it."""
    _done("add", TEXT)
    assert run("purge", "MEM-001").code == 1
    assert "--yes" in run("purge", "MEM-001", "--json").err
    monkeypatch.setattr("sys.stdin", Terminal("yes\n"))
    assert "nothing was purged" in run("purge", "MEM-001").err
    assert "events.jsonl" in _holding(tmp_path)
    monkeypatch.setattr("sys.stdin", Terminal("mem-001\n"))
    ran = run("purge", "MEM-001")
    assert ran.code == 0, ran.err
    assert "Type MEM-001 to go on" in ran.out
    assert all(one in ran.out for one in UNREACHABLE)
    assert _holding(tmp_path) == []


def test_whatever_state_a_memory_is_in(tmp_path: Path) -> None:
    """By its id, by its whole text, deleted or not; a second purge finds nothing and says so."""
    _done("add", TEXT)
    _done("forget", "MEM-001", "--reason", f"not true: {TEXT}")
    ran = run("purge", TEXT, "--yes", "--reason", f"a secret: {TEXT}")
    assert ran.code == 0, ran.err
    assert _holding(tmp_path) == []
    events = list(FileLog.open(_folder(tmp_path)).read())
    assert "a secret: [erased]" in str(events[-1])
    assert "purged before" in run("purge", "MEM-001", "--yes").out
    document = _document(run("purge", "MEM-001", "--yes", "--json"))
    assert (document["done"], document["outcome"]) == (False, "nothing")
    assert run("check").code == 0
    assert run("restore", "MEM-001").code == 1
    assert "[erased]" in run("history", "MEM-001").out
    assert "purged" in run("why", "MEM-001").out


def test_what_is_named_must_be_there() -> None:
    """Nothing, both, an unknown id, a part of a text, an unknown message: each is told with what to type."""
    _done("add", TEXT)
    assert run("purge").code == 64
    assert run("purge", "MEM-001", "--message", "m").code == 64
    assert run("purge", "MEM-009").code == 66
    assert TEXT in run("purge", "breakwater").err
    assert run("purge", "a lighthouse").code == 66
    assert run("purge", "--message", "m").code == 66


def test_another_memory_that_holds_the_text(tmp_path: Path) -> None:
    """It is named and nothing is done; --containing says whether it keeps the text, which is told then, or goes too."""
    _done("add", TEXT)
    _done("add", f"because {TEXT} nobody sleeps")
    ran = run("purge", "MEM-001", "--yes")
    assert ran.code == 1
    assert "MEM-002" in ran.err
    kept = run("purge", "MEM-001", "--yes", "--containing", "keep")
    assert kept.code == 3
    assert "it stays in 1 line of the ledger" in kept.out
    assert _holding(tmp_path) == ["events.jsonl"]
    assert run("purge", "MEM-002", "--yes").code == 0
    assert _holding(tmp_path) == []


def test_files_beside_the_ledger(tmp_path: Path, project: Path) -> None:
    """Logs are rewritten, pieces set aside removed, copies and words of other people named; then the exit is 3."""
    _done("add", TEXT)
    folder = _folder(tmp_path)
    (folder / "quarantine").mkdir()
    (folder / "quarantine/0-9.bytes").write_text(TEXT)
    (folder / "quarantine/9-9.bytes").write_text("other damage")
    (folder / "spool").mkdir()
    (folder / "spool/1").write_text(json.dumps(TEXT))
    (folder / "operations.log").write_text(f"a — saved: {TEXT}\nb — saved: {TEXT[:20]}\nc — saved: the pi\n")
    (folder / "operations.log.1").write_text("nothing\n")
    (tmp_path / ".local/share/memfold/memfold.log").write_text(f"[ERROR] {TEXT}\n")
    (folder / "events (copy).jsonl").write_text(TEXT)
    (tmp_path / ".local/share/memfold/workspaces/other").mkdir()
    (tmp_path / ".local/share/memfold/workspaces/other/events.jsonl").write_text("x" * 2_000_000 + TEXT)
    (project / ".opencode/memory").mkdir(parents=True)
    (project / ".opencode/memory/MEMORY.md~").write_text(TEXT)
    document = _document(run("purge", "MEM-001", "--yes", "--json"))
    kinds = {(Path(one["path"]).name, one["kind"], one["action"]) for one in document["places"]}
    assert kinds == {
        ("derived", "derived", "remove"),
        ("0-9.bytes", "quarantine", "remove"),
        ("1", "spool", "remove"),
        ("operations.log", "log", "rewrite"),
        ("memfold.log", "log", "rewrite"),
        ("events (copy).jsonl", "copy", "tell"),
        ("events.jsonl", "other", "tell"),
        ("MEMORY.md~", "project", "tell"),
    }
    assert _holding(tmp_path) == ["MEMORY.md~", "events (copy).jsonl", "events.jsonl"]
    log = (folder / "operations.log").read_text()
    assert log == "a — saved: [erased]\nb — saved: [erased]\nc — saved: the pi\n"
    assert (folder / "quarantine/9-9.bytes").exists()
    assert not (folder / "spool/1").exists()


def test_told_on_a_terminal(tmp_path: Path) -> None:
    """What still holds the text is told with its path; a folder that can't be looked at counts as one that may."""
    _done("add", TEXT)
    (_folder(tmp_path) / "events copy.jsonl").write_text(TEXT)
    ran = run("purge", "MEM-001", "--yes")
    assert ran.code == 3
    assert "events copy.jsonl holds the text too" in ran.out


def test_backups_that_are_known(tmp_path: Path) -> None:
    """Each is rewritten and can be restored, with the purge in it; one that isn't there is told."""
    _done("add", "use small commits")
    _done("backup")  # from before the text
    _done("add", TEXT)
    _done("backup")
    _done("backup", "--to", str(tmp_path / "stick"))
    (stick,) = (tmp_path / "stick").iterdir()
    _done("backup", "--to", str(tmp_path / "lost"))
    (lost,) = (tmp_path / "lost").iterdir()
    lost.rename(tmp_path / "moved")
    before = {path: path.read_bytes() for path in tmp_path.rglob("manifest.json")}
    ran = run("purge", "MEM-002", "--yes")
    assert ran.code == 3
    assert f"{lost} (backup): not there now" in ran.out
    assert _holding(tmp_path) == ["events.jsonl"]  # the one that was moved away
    changed = [path for path, manifest in before.items() if path.read_bytes() != manifest]
    assert len(changed) == 2
    for path in changed:
        assert trouble_of(read_backup(str(path.parent))) == ""
        events = list(Reader(str(path.parent / "events.jsonl")))
        assert "ledger.erased" in str(type(events[-1]).__struct_config__.tag)
    assert run("restore-backup", str(stick), "--yes").code == 0  # it has nothing to bring back
    assert "[erased]" in run("list", "--state", "all").out


def test_a_backup_that_cannot_be_read_stops_it(tmp_path: Path) -> None:
    """Nothing is purged while nobody knows what a copy holds: its folder is named."""
    _done("add", TEXT)
    _done("backup")
    (log,) = (tmp_path / ".local/share/memfold/backups").rglob("events.jsonl")
    log.unlink()
    log.mkdir()
    ran = run("purge", "MEM-001", "--yes")
    assert ran.code == 65
    assert str(log.parent) in ran.err
    assert "events.jsonl" in _holding(tmp_path)


def test_the_memory_file_follows(tmp_path: Path, project: Path) -> None:
    """MEMORY.md and its summary lose the entry; other people's words beside it are named, and left."""
    _done("add", TEXT)
    _done("install", "opencode", "--memory-file")
    file = project / ".opencode/memory/MEMORY.md"
    assert TEXT in file.read_text()
    assert run("purge", "MEM-001", "--yes").code == 0
    assert _holding(tmp_path) == []
    _done("add", "use small commits")
    file.write_text(f"my notes: {TEXT}\n\n{file.read_text()}")
    ran = run("add", TEXT)
    assert "MEM-003" in ran.out
    assert run("purge", "MEM-003", "--yes").code == 3
    assert _holding(tmp_path) == ["MEMORY.md"]
    assert file.read_text().count(TEXT) == 1
    assert "MEM-003" not in file.read_text()


def test_an_editor_that_saves_what_it_had_open_brings_nothing_back(tmp_path: Path, project: Path) -> None:
    """A copy of MEMORY.md from before the purge is no hand edit of the purged memory."""
    _done("add", TEXT)
    _done("add", "use small commits")
    _done("install", "opencode", "--memory-file")
    file = project / ".opencode/memory/MEMORY.md"
    old = file.read_text()
    assert run("purge", "MEM-001", "--yes").code == 0
    file.write_text(old)
    _done("sync")
    assert _holding(tmp_path) == []
    assert "MEM-002" in file.read_text()


# -- a text that is no memory's ---------------------------------------------------------------------------------------


def _tool(tmp_path: Path, **fields: Any) -> None:
    """A tool call, as a client reports it."""
    with FileLog.open(_folder(tmp_path)) as log:
        log.append([Draft(source="opencode/A", time=None, data=ToolCompletedData(tool="bash", **fields))])


def test_a_text_is_erased_wherever_it_stands(tmp_path: Path) -> None:
    """In command lines, excerpts and reasons, in backups too; kinds and numbers are told, and no memory is touched."""
    _done("add", "use small commits")
    _done("forget", "MEM-001", "--reason", f"it said {TEXT}")
    _tool(tmp_path, call="c1", args=ToolArguments(command=f"echo {TEXT}; npm test"), output=f"error: {TEXT}!")
    _done("backup")
    before = list(FileLog.open(_folder(tmp_path)).read())
    ran = run("purge", TEXT, "--dry-run")
    assert "2 events of the ledger: 1 memory.deleted, 1 tool.completed" in ran.out
    document = _document(run("purge", TEXT, "--yes", "--json"))
    assert (document["outcome"], document["text"], document["texts"], document["left"]) == ("done", TEXT, [], 0)
    assert _holding(tmp_path) == []
    after = list(FileLog.open(_folder(tmp_path)).read())
    assert [(one.id, one.seq, one.time) for one in after[:-1]] == [(one.id, one.seq, one.time) for one in before]
    changed = [one for one, other in zip(after, before, strict=False) if one != other]
    assert [type(one) for one in changed] == [MemoryDeleted, ToolCompleted]
    call = changed[1]
    assert isinstance(call, ToolCompleted)
    assert (call.data.args.command, call.data.output) == ("echo [erased]; npm test", "error: [erased]!")
    assert run("check").code == 0
    failed(run("purge", TEXT, "--yes"), 66, "nothing here holds")


def test_a_part_of_a_memory_is_asked_about(tmp_path: Path) -> None:
    """Memories that hold the text are named; --containing says whether they keep it, or go with it."""
    _done("add", TEXT)
    _done("forget", "MEM-001", "--reason", "the breakwater is gone")
    failed(run("purge", "breakwater", "--yes"), 1, "MEM-001", "--containing")
    kept = run("purge", "breakwater", "--yes", "--containing", "keep")
    assert kept.code == 3
    assert "in a memory that stays (1 memory.added data.title)" in kept.out
    assert run("purge", "breakwater", "--yes", "--containing", "purge").code == 0
    assert _holding(tmp_path) == []


def test_a_text_in_a_name_is_told(tmp_path: Path) -> None:
    """What the client goes on to call something stays, and is named with what helps; there is nothing to ask about."""
    _done("add", "use small commits")
    _tool(tmp_path, call="zebra-1", output="the zebra")
    ran = run("purge", "zebra", "--yes")
    assert ran.code == 3
    assert "as a name" in ran.out
    assert "1 tool.completed data.call" in ran.out
    size = FileLog.open(_folder(tmp_path)).size()
    document = _document(run("purge", "zebra", "--yes", "--json"))
    assert (document["outcome"], document["stays"]) == ("nothing", {"tool.completed data.call": 1})
    assert FileLog.open(_folder(tmp_path)).size() == size


def test_short_texts(tmp_path: Path) -> None:
    """One of five characters is found inside others; a shorter one as a whole alone, and where it stays is told."""
    _done("add", "use small commits")
    _tool(tmp_path, call="1", output="a zebra, and an ox in its box")
    _tool(tmp_path, call="2", output="ox")
    _tool(tmp_path, call="3", output="the boxes")
    assert run("purge", "zebra", "--yes").code == 0
    ran = run("purge", "ox", "--yes")
    assert ran.code == 3
    assert "1 tool.completed data.output; name more of what stands around it" in ran.out
    outputs = [one.data.output for one in FileLog.open(_folder(tmp_path)).read() if isinstance(one, ToolCompleted)]
    assert outputs == ["a [erased], and an ox in its box", "[erased]", "the boxes"]
    failed(run("purge", "ox", "--yes"), 66, "below 5 characters")
    _tool(tmp_path, call="4", output="elk")
    assert run("purge", "elk", "--yes").code == 0


@pytest.mark.parametrize("text", ["口令是芝麻开门", "口令是海", "비밀번호다", "パスワードは", "short 海鸥"])
@pytest.mark.parametrize("by_text", [True, False])
def test_a_short_text_of_wide_letters_is_as_long_as_it_weighs(
    tmp_path: Path, project: Path, text: str, *, by_text: bool
) -> None:
    """Wherever it stands, as any other text: in logs for people, outputs, damage, pieces set aside and copies."""
    _done("add", text)
    folder = _folder(tmp_path)
    _tool(tmp_path, call="1", args=ToolArguments(command=f"echo {text}"), output=f"FAIL {text}!")
    (folder / "operations.log").write_text(f"a [INFO] memory_add — archived: Archived MEM-001: “{text}”\nb — {text}\n")
    (folder / "quarantine").mkdir()
    (folder / "quarantine/0-9.bytes").write_text(f'{{"type":"memory.requ {text}')
    with (folder / "events.jsonl").open("ab") as file:
        file.write(f'{{"type":"memory.requested","data":{{"text":"x {text}\n'.encode())
    copy = folder / "events copy.jsonl"
    copy.write_text(f"a {text}")
    (project / ".opencode/memory").mkdir(parents=True)
    (project / ".opencode/memory/x.swp").write_text(f"x{text}")
    ran = run("purge", text if by_text else "MEM-001", "--yes")
    assert ran.code == 3
    assert f"{copy} holds the text too" in ran.out
    held = [path.name for path in tmp_path.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
    assert sorted(held) == ["events copy.jsonl", "x.swp"]


def test_a_short_title_goes_where_it_is_quoted(tmp_path: Path) -> None:
    """From the log of operations and from damage; not from words that only look like it, nor from names of fields."""
    _done("add", "the editor is described here")
    _done("edit", "MEM-001", "--title", "data", "--content", "keys are remapped in the file of settings")
    folder = _folder(tmp_path)
    log = folder / "operations.log"
    log.write_text("a [INFO] memory_add — saved: Saved MEM-001: “data”\nb [INFO] x — “data bases” are data\n")
    (folder / "quarantine").mkdir()
    piece = folder / "quarantine/0-9.bytes"
    piece.write_text('{"type":"memory.added","data":{"title":"data"')
    with (folder / "events.jsonl").open("ab") as file:
        file.write(b'{"type":"memory.added","data":{"title":"data","x":\n')
    assert run("purge", "MEM-001", "--yes").code == 0
    assert (
        log.read_text()
        == "a [INFO] memory_add — saved: Saved MEM-001: “[erased]”\nb [INFO] x — “data bases” are data\n"
    )
    assert not piece.exists()
    assert b'"data":{"title":"[erased]","x":\n' in (folder / "events.jsonl").read_bytes()


def test_a_note_of_copies_that_is_damaged_stops_it(tmp_path: Path) -> None:
    """Purge, backup and doctor say so; nothing is purged, and nothing is written over the note."""
    _done("add", TEXT)
    _done("backup", "--to", str(tmp_path / "stick"))
    (note,) = (tmp_path / ".local/share/memfold/backups").rglob("elsewhere.json")
    broken = note.read_bytes().replace(b"]", b"}")
    note.write_bytes(broken)
    failed(run("purge", "MEM-001", "--yes"), 65, str(note), "put it right")
    failed(run("backup", "--to", str(tmp_path / "other")), 65, str(note), "put it right")
    for command in (("backup", "--list"), ("check",)):
        ran = run(*command)
        assert ran.code == 3
        assert str(note) in ran.err
    assert "elsewhere.json" in run("doctor").out.replace("\n", "").replace(" ", "")
    assert note.read_bytes() == broken
    assert "events.jsonl" in _holding(tmp_path)


@pytest.mark.parametrize("name", ["events.jsonl", "derived"])
def test_links_are_refused_by_whatever_replaces_a_log(tmp_path: Path, name: str) -> None:
    """Purge, repair and restore-backup alike: each says what to do, and changes nothing."""
    _done("add", TEXT)
    _done("backup")
    place = _folder(tmp_path) / name
    with (_folder(tmp_path) / "events.jsonl").open("ab") as file:
        file.write(b"damage\n")
    (stamp,) = (path.name for path in (tmp_path / ".local/share/memfold/backups").glob("*/*") if path.is_dir())
    real = place.rename(tmp_path / "real")
    place.symlink_to(real)
    log = (_folder(tmp_path) / "events.jsonl").read_bytes()
    for command in (("purge", "MEM-001"), ("repair",), ("restore-backup", stamp)):
        failed(run(*command, "--yes"), 65, f"{place}: it is a symbolic link", f" {place}")
    assert place.is_symlink()
    assert (_folder(tmp_path) / "events.jsonl").read_bytes() == log


def test_the_text_comes_from_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it stands in no history of a shell."""
    _done("add", TEXT)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TEXT}\n"))
    assert run("purge", "-", "--yes").code == 0
    assert _holding(tmp_path) == []
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    assert run("purge", "-", "--yes").code == 64


def test_reasons_go_with_the_memory_that_they_are_about(tmp_path: Path) -> None:
    """Whatever they say; those about other memories stay."""
    _done("add", TEXT)
    _done("add", "use small commits")
    _done("forget", "MEM-001", "--reason", "it said zebra")
    _done("forget", "MEM-002", "--reason", "it said giraffe")
    assert run("purge", "MEM-001", "--yes").code == 0
    data = (_folder(tmp_path) / "events.jsonl").read_bytes()
    assert b"zebra" not in data
    assert b"giraffe" in data


def test_all_wordings_that_go_are_shown() -> None:
    """The earlier ones of a memory too, each once."""
    _done("add", "the key is 1234567")
    _done("edit", "MEM-001", "the key is 7654321")
    _done("edit", "MEM-001", "there is no key")
    ran = run("purge", "MEM-001", "--dry-run")
    assert all(ran.out.count(text) == 1 for text in ("the key is 1234567", "the key is 7654321", "there is no key"))
    (part,) = _document(run("purge", "MEM-001", "--dry-run", "--json"))["texts"]
    assert part["wordings"] == ["the key is 1234567", "the key is 7654321", "there is no key"]


# -- copies from before -----------------------------------------------------------------------------------------------


def test_a_copy_from_before_a_purge_is_to_be_deleted(tmp_path: Path) -> None:
    """Purge and check say so, whether it held a memory's text or another; an import brings nothing of it back."""
    _done("add", TEXT)
    _tool(tmp_path, call="1", output="the zebra")
    folder = _folder(tmp_path)
    copy = folder / "events.jsonl.bak"
    shutil.copy(folder / "events.jsonl", copy)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder, elsewhere)
    said = MemoryRequestedData("m", f"Remember: {TEXT}")
    other = MemoryRequestedData("n", "Remember: ropes are blue")
    with FileLog.open(elsewhere) as log:  # it went on there
        calls = [ToolCompletedData(call="2", tool="bash", output=text) for text in ("a zebra", f"> {TEXT}", "an ox")]
        log.append([Draft(source="opencode/A", time=None, data=data) for data in (said, other)])
        log.append([Draft(source="opencode/A", time=None, data=data) for data in calls])
    assert "takes in the events" in run("check").out
    for text in (TEXT, "zebra"):
        ran = run("purge", text, "--yes")
        assert ran.code == 3
        assert f"{copy} holds the text too: delete it" in ran.out
    (fix,) = (one["fix"] for one in _document(run("check", "--json"))["problems"] if one["kind"] == "conflicted_copy")
    assert fix.startswith("delete it")
    assert "memfold import" not in fix
    assert run("import", str(copy)).code == 0
    report = _document(run("import", str(elsewhere / "events.jsonl"), "--json"))["files"][0]
    assert report["counts"] == {"taken": 2}
    assert [one["reason"] for one in report["skipped"]] == ["it says what was purged here: delete the copy"] * 3
    data = (folder / "events.jsonl").read_bytes()
    assert TEXT.encode() not in data
    assert b"zebra" not in data
    assert b"ropes are blue" in data


def test_a_backup_that_a_purge_did_not_reach_takes_force(tmp_path: Path) -> None:
    """One that was moved away still has the text; one that never had it brings nothing back."""
    _done("add", "use small commits")
    _done("backup")
    (early,) = (tmp_path / ".local/share/memfold/backups").rglob("events.jsonl")
    _tool(tmp_path, call="1", output=f"> {TEXT}")
    _done("backup", "--to", str(tmp_path / "stick"))
    (tmp_path / "stick").rename(tmp_path / "moved")
    assert run("purge", TEXT, "--yes").code == 3
    (moved,) = (tmp_path / "moved").iterdir()
    failed(run("restore-backup", str(moved), "--yes"), 1, "before 1 purge", "--force")
    assert run("restore-backup", str(early.parent), "--yes").code == 0


def test_no_checkpoint_brings_a_purged_text_back(tmp_path: Path) -> None:
    """Those there are go; a process that still knows the old log writes none of it, and one of the new log."""
    _done("add", TEXT)
    log = FileLog.open(_folder(tmp_path))
    live = Live(log)
    live.world()
    live.keep(every=0)
    assert any(name.endswith(".table") for name in _holding(tmp_path))
    _done("purge", "MEM-001", "--yes")
    live.keep(every=0)
    assert _holding(tmp_path) == []
    assert run("prompt").out == ""
    live.world()
    live.keep(every=0)
    assert len(list(find(log))) == 1
    assert _holding(tmp_path) == []
    assert run("prompt").out == ""


def test_what_was_judged_before_a_purge_is_not_kept_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process was stopped between its append and the facts that it keeps of it, and goes on behind the purge."""
    purges: list[Ran] = []

    def stopped(*arguments: Any) -> None:
        monkeypatch.setattr("replay.kept._add", add)
        purges.append(run("purge", "MEM-001", "--yes"))
        add(*arguments)

    add = kept._add  # pyright: ignore[reportPrivateUsage] - what is written behind an append
    monkeypatch.setattr("replay.kept._add", stopped)
    assert "erased" in run("add", TEXT).out
    assert [ran.code for ran in purges] == [0], purges[0].err
    assert _holding(tmp_path) == []


def test_what_an_ingest_has_read_is_not_kept_behind_a_purge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It adds all facts that are missing, and has read the log for that."""
    recording, folder = Path(__file__).parents[2] / "fixtures/recordings/compaction.jsonl", tmp_path / "ledger"
    purges: list[Ran] = []
    add = kept._add  # pyright: ignore[reportPrivateUsage] - what is written behind the reading

    def behind(directory: str, lines: bytes, pin: Any) -> None:
        if len(purges) == 1:  # those of the append are lost, so that all are missing
            monkeypatch.setattr("replay.kept._add", add)
            purges.append(run("purge", "MEM-001", "--yes", "--ledger", str(folder)))
            add(directory, lines, pin)
        else:
            purges.append(run("list", "--ledger", directory))

    monkeypatch.setattr("replay.kept._add", behind)
    _done("ingest", "opencode", str(recording), "--ledger", str(folder))
    assert [ran.code for ran in purges] == [0, 0], purges
    assert not Path(kept.facts_path(str(folder))).exists()


def test_a_folder_that_others_write_to_is_removed_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something is added to it, or taken from it, while it is being removed."""
    _done("add", TEXT)
    remove, refusals = shutil.rmtree, [errno.ENOTEMPTY, errno.ENOENT, errno.ENOTEMPTY]

    def busy(path: str) -> None:
        if refusals:
            raise OSError(refusals.pop(), "somebody else was faster", path)
        remove(path)

    monkeypatch.setattr("memfold.purge.places.shutil.rmtree", busy)
    monkeypatch.setattr("memfold.purge.places._PAUSE", 0)
    _done("purge", "MEM-001", "--yes")
    assert refusals == []
    assert _holding(tmp_path) == []
