"""Damage and recovery as a person meets them: what is said, and the way back to a ledger that is whole."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from ledger.log import LOCK_SUFFIX, LOG_NAME, FileLog
from tests.support.cli import RECORDINGS, active, done, failed, run

TEXTS = ("Use small commits", "Use short names", "The harbour opens at nine")


@pytest.fixture(autouse=True)
def _memories(project: Path) -> None:
    for text in TEXTS:
        run("add", text)


def lines_of(ledger: Path) -> list[bytes]:
    """The lines of its log."""
    return (ledger / LOG_NAME).read_bytes().splitlines(keepends=True)


def hit(ledger: Path, index: int, line: bytes = b"garbage\n") -> None:
    """Put something in the place of a line."""
    lines = lines_of(ledger)
    lines[index] = line
    (ledger / LOG_NAME).write_bytes(b"".join(lines))


def backup() -> Path:
    """The folder of a backup made now."""
    return Path(done("backup")["backup"]["folder"])


def findings() -> dict[str, bool]:
    """What ``check`` names: the kinds, and whether it is a note; its exit code agrees."""
    ran = run("check", "--json")
    problems = json.loads(ran.out)["problems"]
    assert ran.code == (3 if any(not one["note"] for one in problems) else 0)
    return {one["kind"]: one["note"] for one in problems}


READING = (["list"], ["check"], ["verify"], ["prompt"], ["status"], ["log"], ["why", "harbour"], ["forget", "MEM-001"])


def lose(log: Path, how: str) -> None:
    """A log that is gone, or emptied."""
    if how == "gone":
        log.unlink()
    else:
        log.write_bytes(b"")


@pytest.mark.parametrize("how", ["gone", "empty"])
@pytest.mark.parametrize("arguments", [*READING, ["add", "Use tabs"], ["repair"]], ids=" ".join)
def test_a_log_that_is_lost_is_told_with_the_way_back(ledger: Path, arguments: list[str], how: str) -> None:
    """Every command names the backup; none says that there never was a ledger, or begins one over what is left."""
    copy = backup()
    lose(ledger / LOG_NAME, how)
    failed(run(*arguments), 66, f"is {how}; there is 1 backup", f"memfold restore-backup {copy.name}")
    assert not (ledger / LOG_NAME).exists() or not (ledger / LOG_NAME).read_bytes()
    assert [one["folder"] for one in done("backup", "--list")["backups"]] == [str(copy)]
    named = run("list", "--ledger", str(ledger))
    failed(named, 66, f"memfold restore-backup {copy.name} --ledger {ledger}")
    (restore,) = (line.split("try: memfold ")[1] for line in named.err.splitlines() if "try: " in line)
    assert run(*shlex.split(restore)).code == 0
    assert sorted(active()) == sorted(TEXTS)


@pytest.mark.parametrize("left", [LOG_NAME + LOCK_SUFFIX, "derived", "quarantine"])
def test_each_trace_shows_that_there_was_a_log(ledger: Path, left: str) -> None:
    """Also without a backup: then a copy of the person's own is asked for, and how to begin anew is said."""
    shutil.rmtree(ledger)
    (ledger / left).mkdir(parents=True)
    failed(run("list"), 66, "is gone, and no backup is known", "restore-backup PATH", "to begin anew")
    failed(run("add", "Use tabs"), 66, "is gone")
    checks = {one["name"]: one for one in json.loads(run("doctor", "--json").out)["checks"]}
    assert checks["ledger"]["outcome"] == "fail"
    assert "is gone" in checks["ledger"]["seen"]


def test_no_whole_backup_is_told_too(ledger: Path) -> None:
    """Then the list of them says what is wrong with each."""
    copy = backup()
    (copy / LOG_NAME).write_bytes(b"")
    (ledger / LOG_NAME).unlink()
    failed(run("list"), 66, "there is 1 backup, none of them whole", "memfold backup --list")


@pytest.mark.parametrize("how", ["gone", "empty"])
def test_nothing_begins_a_log_over_what_is_left(ledger: Path, project: Path, how: str) -> None:
    """Not an import, even a dry one, not a recording, and not the memory file of an installation."""
    (ledger / "derived").mkdir(exist_ok=True)
    lose(ledger / LOG_NAME, how)
    (project / "AGENTS.md").write_text("- Use tabs\n")
    recording = str(RECORDINGS / "remember.jsonl")
    for arguments in (["import", "AGENTS.md", "--format", "bullets"], ["ingest", "opencode", recording]):
        failed(run(*arguments, "--ledger", str(ledger)), 66, f"is {how}, and no backup is known")
    failed(run("import", "AGENTS.md", "--format", "bullets", "--dry-run"), 66, f"is {how}")
    assert "the log of this project's ledger is gone" in run("install", "opencode", "--memory-file").err
    assert not (ledger / LOG_NAME).exists() or not (ledger / LOG_NAME).read_bytes()


def test_what_waits_is_no_trace(ledger: Path) -> None:
    """Events can wait before there ever was a ledger."""
    shutil.rmtree(ledger)
    (ledger / "spool").mkdir(parents=True)
    failed(run("list"), 66, "no event was ever received")
    assert run("add", "Use tabs").code == 0


def test_a_folder_that_was_taken_away_may_begin_anew(ledger: Path) -> None:
    """It is said that there are backups; doctor says so afterwards, and restoring and importing makes one of both."""
    copy = backup()
    shutil.rmtree(ledger)
    failed(run("list"), 66, "is gone; there is 1 backup")
    ran = run("add", "Use tabs")
    assert (ran.code, active()) == (0, ["Use tabs"])
    assert f"memfold restore-backup {copy.name}; a new ledger begins" in ran.err
    assert "was begun anew: all that is in 1 backup" in run("doctor").out
    kept = done("restore-backup", copy.name, "--yes")["kept"]
    assert "begun anew" not in run("doctor").out
    assert run("import", str(Path(kept) / LOG_NAME)).code == 0
    assert sorted(active()) == sorted([*TEXTS, "Use tabs"])


def test_a_lost_beginning_is_no_new_beginning(ledger: Path) -> None:
    """Doctor tells of the damage alone."""
    backup()
    hit(ledger, 0)
    out = run("doctor").out
    assert "begun anew" not in out
    assert "no_created" in out


def test_a_repaired_ledger_is_healthy(ledger: Path) -> None:
    """What is lost is a problem until a person has repaired, then a note; what is lost later is a problem again."""
    hit(ledger, 3)
    assert findings() == {"not_json": False, "seq_gap": False}
    assert done("repair", "--dry-run")["outcome"] == "dry_run"
    repaired = done("repair", "--yes")
    assert (repaired["outcome"], len(repaired["pieces"]), repaired["steps"]) == ("repaired", 1, 1)
    assert findings() == {"seq_gap": True}
    assert done("repair", "--yes")["outcome"] == "nothing_to_do"
    assert "1 break in the numbers noted" in run("log", "--type", "ledger.repaired").out
    assert done("status")["health"]["problems"] == 0
    run("add", "Use tabs")
    run("add", "Use long names")
    lines = lines_of(ledger)
    (ledger / LOG_NAME).write_bytes(b"".join([*lines[:-2], lines[-1]]))
    assert findings()["seq_gap"] is False
    assert [line.split()[2:4] for line in run("check").out.splitlines() if " seq_gap " in line] == [
        ["seq_gap", "(note)"],
        ["seq_gap", "seq"],
    ]
    shown = run("repair", "--yes").out
    assert "1 break in the numbers" in shown
    assert shown.endswith("repaired\n")
    assert findings() == {"seq_gap": True}


def test_what_an_import_brings_back_is_missing_no_more(ledger: Path) -> None:
    """Check prints the command, with the backup that there is; afterwards the gap is a note."""
    copy = backup()
    lines = lines_of(ledger)
    (ledger / LOG_NAME).write_bytes(b"".join([*lines[:3], *lines[4:]]))
    (gap,) = (one for one in json.loads(run("check", "--json").out)["problems"] if one["kind"] == "seq_gap")
    command = shlex.split(gap["fix"].partition(" takes in")[0])
    assert command == ["memfold", "import", str(copy / LOG_NAME)]
    ran = run(*command[1:])
    assert ran.code == 0
    assert findings() == {"seq_gap": True, "time_back": True}
    assert sorted(active()) == sorted(TEXTS)


def test_ids_that_have_moved_are_told(ledger: Path) -> None:
    """A repair compares with the latest backup, an import with the copy: who was MEM-002 is named."""
    copy = backup()
    hit(ledger, 2)
    moved = "MEM-002 is now MEM-001, MEM-003 is now MEM-002"
    assert f"the ids of 2 memories have changed since the latest backup: {moved}" in run("repair", "--yes").err
    document = done("import", str(copy / LOG_NAME))
    assert document["renumbered"] == {"MEM-001": "MEM-003", "MEM-002": "MEM-001", "MEM-003": "MEM-002"}
    assert done("import", str(copy / LOG_NAME))["renumbered"] == {}


@pytest.mark.parametrize(
    "arguments", [["list"], ["prompt"], ["status"], ["add", "Use tabs"], ["show", "MEM-001"], ["log", "--limit", "1"]]
)
def test_what_was_skipped_is_hinted_at_once(ledger: Path, arguments: list[str]) -> None:
    """One line on stderr, none on stdout; none where nothing is damaged."""
    assert "skipped" not in run("list").err
    hit(ledger, 3, b"\0\0\0\n<<<<<<< HEAD\n")
    ran = run(*arguments)
    assert ran.err.count("memfold: 2 damaged pieces of the log were skipped: memfold check\n") == 1
    assert "of the log were" not in ran.out
    json.loads(run(*arguments, "--json").out)


@pytest.mark.parametrize("arguments", [["check"], ["repair", "--dry-run"], ["doctor"]])
def test_who_tells_of_damage_gives_no_hint(ledger: Path, arguments: list[str]) -> None:
    """These show it anyway."""
    hit(ledger, 3)
    assert "skipped: memfold check" not in run(*arguments).err


def test_a_memory_stored_behind_garbage_comes_with_a_hint(ledger: Path) -> None:
    """A file of other bytes is no ledger; the memory is stored, and the person is told."""
    (ledger / LOG_NAME).write_bytes(bytes(range(128, 256)) * 9)
    ran = run("add", "Use tabs")
    assert ran.out.startswith("saved")
    assert "1 damaged piece of the log was skipped" in ran.err


def test_a_log_that_is_being_made_is_called_empty(ledger: Path) -> None:
    """No offset -1; and nothing says that it ever had an event."""
    shutil.rmtree(ledger / "derived", ignore_errors=True)
    (ledger / LOG_NAME).write_bytes(b"")
    assert run("list").err == "memfold: no active memories: the log is empty\n"


def test_an_event_that_was_changed_is_told_by_an_import(ledger: Path, tmp_path: Path) -> None:
    """Both hold it, and neither is overwritten."""
    copy = tmp_path / "good.jsonl"
    shutil.copy(ledger / LOG_NAME, copy)
    hit(ledger, 3, lines_of(ledger)[3].replace(b"short", b"long"))
    before = (ledger / LOG_NAME).read_bytes()
    ran = run("import", str(copy))
    assert ran.code == 3
    assert "1 event differs here from good.jsonl, and stays: #3 (memfold log --at 3 --limit 1)" in ran.err
    assert "nothing new" not in ran.out
    assert done("import", str(copy), code=3)["files"][0]["differs"] == [3]
    assert (ledger / LOG_NAME).read_bytes() == before


def test_what_a_purge_has_changed_differs_from_no_copy(ledger: Path, tmp_path: Path) -> None:
    """A copy from before a purge is another on purpose."""
    copy = tmp_path / "good.jsonl"
    shutil.copy(ledger / LOG_NAME, copy)
    assert run("purge", "MEM-002", "--yes").code == 0
    assert done("import", str(copy))["files"][0]["differs"] == []


@pytest.mark.parametrize("bare", ["folder", "log"])
def test_a_bare_copy_is_restored_where_no_ledger_stands(ledger: Path, tmp_path: Path, bare: str) -> None:
    """A plain copy of the folder, or of the log under any name; import says so, and over a ledger it is refused."""
    folder, half = tmp_path / "orig", tmp_path / "half.jsonl"
    shutil.copytree(ledger, folder)
    half.write_bytes(b"".join(lines_of(ledger)[:4]))
    copy = str(folder if bare == "folder" else half)
    failed(run("restore-backup", copy), 1, "has no manifest", "a ledger stands here", "memfold import")
    shutil.rmtree(ledger)
    failed(run("import", str(half)), 65, "is the log of this workspace", f"memfold restore-backup {half}")
    assert "nothing was done" in run("restore-backup", copy, "--dry-run").out
    ran = run("restore-backup", copy)
    assert ran.code == 0
    assert "nothing tells whether it is whole" in ran.err
    assert len(active()) == (3 if bare == "folder" else 2)
    assert run("add", "Use tabs").code == 0
    assert findings() == {}


def test_a_bare_copy_of_another_workspace_takes_force(project: Path, tmp_path: Path, ledger: Path) -> None:
    """Whose it is, its first event says; without one nobody can tell."""
    other, tail, nothing = tmp_path / "other", tmp_path / "tail.jsonl", tmp_path / "nothing"
    for folder in (other / ".git", nothing):
        folder.mkdir(parents=True)
    tail.write_bytes(b"".join(lines_of(ledger)[2:]))
    to_other = ("--workspace", str(other))
    failed(run("restore-backup", str(ledger), *to_other), 1, f"of another workspace's ledger, {project}", "--force")
    failed(run("restore-backup", str(tail), *to_other), 65, "its log has no beginning")
    failed(run("import", str(tail), *to_other), 65, "lacks the beginning")
    failed(run("import", str(ledger / LOG_NAME), *to_other), 65, f"another ledger, that of {project}")
    failed(run("restore-backup", str(nothing), *to_other), 66, f"holds no {LOG_NAME}")


def test_advice_is_given_once(ledger: Path) -> None:
    """Kinds that the same helps share a line."""
    lines = lines_of(ledger)
    (ledger / LOG_NAME).write_bytes(b"".join([*lines, b"\0\n", b"torn {\n", b"[]\n", b"\0\0\n"]))
    out = run("check").out
    assert out.count("reading skips these bytes") == 1
    assert "  nul_bytes, not_json, not_an_event: reading skips" in out


def test_both_sides_of_a_conflict_count(ledger: Path) -> None:
    """Markers are set aside, numbers that come twice are noted, and nothing of either side is lost."""
    with FileLog.open(ledger) as log:
        base = log.size()
    run("add", "Use tabs")
    ours = lines_of(ledger)[base:]
    (ledger / LOG_NAME).write_bytes(b"".join(lines_of(ledger)[:base]))
    run("add", "Use long names")
    head, theirs = lines_of(ledger)[:base], lines_of(ledger)[base:]
    marks = [b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> theirs\n"]
    (ledger / LOG_NAME).write_bytes(b"".join([*head, marks[0], *ours, marks[1], *theirs, marks[2]]))
    assert {"merge_marker": False, "seq_back": False}.items() <= findings().items()
    assert run("repair", "--yes").code == 0
    assert all(findings().values())
    assert sorted(active()) == sorted([*TEXTS, "Use tabs", "Use long names"])
