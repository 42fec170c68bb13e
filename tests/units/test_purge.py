"""The parts of a purge on disk: a damaged log, a check that refuses, files that can't be changed (SPEC 15.4)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ledger.check import check
from ledger.codec import encode
from ledger.copies import RESTORE_NAME
from ledger.errors import StorageError
from ledger.events import PromptRendered
from ledger.problems import NOTES
from memfold.backups import make_backup
from memfold.errors import DataError, MemfoldError
from memfold.paths import ledger_dir, workspace_key
from memfold.purge.log import LogEraser
from memfold.purge.naming import of_message
from memfold.purge.places import survey
from memfold.purge.purge import Preview, Purge
from projections.erasure.agreement import differences
from projections.erasure.events import EventEraser
from projections.erasure.texts import Choice, choose, history_of
from projections.memory.model import Ref
from projections.world import WorldState
from tests.support.harness import Harness
from tests.support.purges import KEY, erase
from tests.support.streams import Stage

TEXT = "the pilot boat waits behind the breakwater"
WORKSPACE = "/w/app"
_KEY = workspace_key(WORKSPACE)


def _harness(data: Path) -> tuple[Harness, Path]:
    harness = Harness(str(data), workspace=WORKSPACE)
    harness.feed(
        [
            {"do": "session_start", "session": "A"},
            {"do": "user_message", "session": "A", "message": "m", "text": f"Remember: {TEXT}"},
            {"do": "memory_add", "session": "A", "title": "Eels", "content": "They sleep in the mud"},
            {"do": "session_start", "session": "B"},
        ]
    )
    return harness, Path(ledger_dir(str(data), _KEY))


def _purge(data: Path, **options: Any) -> Purge:
    return Purge(
        ledger_dir(str(data), _KEY),
        data=str(data),
        key=_KEY,
        named=lambda world: of_message(world, "m"),
        time=None,
        **options,
    )


# -- a damaged log ----------------------------------------------------------------------------------------------------


def test_damage_that_holds_the_text_loses_it(tmp_path: Path) -> None:
    """Torn lines, copies of a line, two events on one, events of later releases: each is read as far as it can be."""
    harness, folder = _harness(tmp_path)
    log = folder / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    (said,) = (line for line in lines if TEXT.encode() in line)
    later = json.dumps({"type": "later.one", "specversion": "1.0", "id": "x", "source": "s", "seq": 7, "said": TEXT})
    pieces = [
        *lines,
        said,  # a copy that doesn't count
        b"\0\0 garbage that stays \xff\n",
        said[:-4] + b"\n",  # torn behind the text
        said[:-20] + b"\n",  # and in the middle of it
        said.rstrip(b"\n").replace(b"memory.requested", b"memory.requested\x00") + b"\n",
        later.encode() + b"\n",
        lines[-1].rstrip(b"\n").replace(b'"seq":6', b'"seq":8').replace(b'"id":"0', b'"id":"f'),
        said,  # glued to it
        said[:-30],  # a torn tail
    ]
    log.write_bytes(b"".join(pieces))
    before = harness.state()
    purge = _purge(tmp_path)
    preview = purge.look()
    assert preview.changed["damage"] == 4
    assert preview.changed["later.one"] == 1
    purge.run(preview)
    data = log.read_bytes()
    assert TEXT.encode()[:12] not in data
    assert b"\0\0 garbage that stays \xff\n" in data
    assert [line for line in lines if line is not said] == [
        line for line in data.splitlines(keepends=True) if line in lines
    ]
    after = harness.state()
    assert list(after.accounts.records) == list(before.accounts.records)
    assert after.memory.offset == before.memory.offset + 1
    kinds = {problem.kind for problem in check(folder)} - NOTES
    assert "torn_tail" not in {str(kind) for kind in kinds}


def test_what_a_killed_restore_has_left_goes(tmp_path: Path) -> None:
    """The half-made log of a restore may hold the text, and nobody uses it any more."""
    _, folder = _harness(tmp_path)
    left = folder / RESTORE_NAME
    left.write_bytes((folder / "events.jsonl").read_bytes())
    purge = _purge(tmp_path)
    preview = purge.look()
    assert str(left) in {place.path for place in preview.places if place.action == "remove"}
    purge.run(preview)
    assert not any(TEXT.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_an_id_or_a_path_is_left_and_counted(tmp_path: Path) -> None:
    """What names something stays what it is: the look tells in how many lines."""
    root = "/w/the harbour of the pilots"
    harness = Harness(str(tmp_path), workspace=root)
    harness.feed(
        [
            {"do": "session_start", "session": "A"},
            {"do": "user_message", "session": "A", "message": "m", "text": "Remember: the harbour of the pilots"},
        ]
    )
    purge = Purge(
        ledger_dir(str(tmp_path), workspace_key(root)),
        data=str(tmp_path),
        key=workspace_key(root),
        named=lambda world: of_message(world, "m"),
        time=None,
    )
    preview = purge.look()
    assert (preview.changed, preview.left) == ({"memory.requested": 1}, 1)
    purge.run(preview)
    assert harness.state(root).memory.context.root == root


# -- the check --------------------------------------------------------------------------------------------------------


def _states() -> tuple[WorldState, WorldState, Choice, list[Ref]]:
    """A state before a purge and behind it, and the candidates: a purged memory, one that stays, a refused one."""
    stage = Stage(None)
    stage.feed(
        [
            {"do": "session_start", "session": "A"},
            {
                "do": "user_message",
                "session": "A",
                "message": "m",
                "text": f"Remember: {TEXT}\nRemember: eels sleep in the mud\nRemember: later",
            },
            {"do": "session_start", "session": "B"},
        ]
    )
    refs = list(stage.state().accounts.records)
    choice = choose(history_of(stage.events()), refs[:1])
    eraser = EventEraser(choice, KEY)
    for event in stage.events():
        eraser.take(event)
    return eraser.old, eraser.new, choice, refs


def _record(ref: int, **fields: Any) -> Callable[[WorldState, list[Ref]], None]:
    def change(world: WorldState, refs: list[Ref]) -> None:
        records = world.accounts.records
        records[refs[ref]] = msgspec.structs.replace(records[refs[ref]], **fields)

    return change


def _entry(ref: int, **fields: Any) -> Callable[[WorldState, list[Ref]], None]:
    def change(world: WorldState, refs: list[Ref]) -> None:
        entries = world.memory.entries
        entries[refs[ref]] = msgspec.structs.replace(entries[refs[ref]], **fields)

    return change


def _wording(ref: int, **fields: Any) -> Callable[[WorldState, list[Ref]], None]:
    def change(world: WorldState, refs: list[Ref]) -> None:
        wording = msgspec.structs.replace(world.memory.entries[refs[ref]].proposal, **fields)
        _entry(ref, proposal=wording)(world, refs)

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda world, refs: world.accounts.records.pop(refs[2]), "3 candidates became 2"),
        (_record(0, state="deleted"), "was promoted and would be deleted"),
        (_record(1, into=None), "was promoted and would be promoted"),
        (_record(2, reasons=("question",)), "other reasons"),
        (lambda world, _: world.memory.numbers.clear(), "other memories"),
        (lambda world, _: setattr(world.memory, "next_number", 9), "next_number would differ"),
        (lambda world, refs: world.memory.entries.pop(refs[1]), "MEM-002 would be no memory"),
        (_entry(1, order=(9, 9)), "MEM-002 would have other fields"),
        (_entry(0, reinforcements=3), "MEM-001 would have another history"),
        (_wording(1, text="other"), "MEM-002 would have another text"),
    ],
)
def test_whatever_else_would_change_is_found(change: Callable[[WorldState, list[Ref]], object], said: str) -> None:
    """A candidate, an id, a field, a count: the log stays as it is, and the difference is told."""
    old, new, choice, refs = _states()
    assert list(differences(old, new, choice)) == []
    change(new, refs)
    assert any(said in one for one in differences(old, new, choice))


def test_a_log_that_would_say_something_else_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The look fails with what would differ; so does the run, and the old log stands there with all beside it."""
    _, folder = _harness(tmp_path)
    before = (folder / "events.jsonl").read_bytes()
    purge = _purge(tmp_path)
    preview = purge.look()
    (folder / "operations.log").write_text(TEXT)
    with monkeypatch.context() as patch:
        patch.setattr("memfold.purge.log.differences", lambda *_: iter(["MEM-002 would be green"]))
        with pytest.raises(MemfoldError, match="MEM-002 would be green"):
            purge.look()
        with pytest.raises(MemfoldError, match="nothing was purged"):
            purge.run(preview)
    assert (folder / "events.jsonl").read_bytes() == before
    assert (folder / "operations.log").read_text() == TEXT
    assert (folder / "derived").is_dir()


def test_a_memory_that_would_stay_is_not_purged(tmp_path: Path) -> None:
    """The record of the purge must retire what it names."""
    _, folder = _harness(tmp_path)
    preview = _purge(tmp_path).look()
    eraser = LogEraser(preview.choice, KEY)
    eraser.rehearse(str(folder / "events.jsonl"))
    with pytest.raises(MemfoldError, match="1 of the memories would stay"):
        eraser.approve(str(folder / "events.jsonl"))  # the log as it is, without a record


def test_a_memory_that_has_changed_since_the_look_is_shown_again(tmp_path: Path) -> None:
    """What a person has agreed to is what goes, and nothing else; other appends don't matter."""
    harness, _ = _harness(tmp_path)
    purge = _purge(tmp_path)
    preview = purge.look()
    harness.step({"do": "memory_add", "session": "A", "title": "Ropes", "content": "blue ones"})
    harness.step({"do": "user_message", "session": "A", "message": "n", "text": f"Remember: {TEXT}"})
    with pytest.raises(MemfoldError, match="changed meanwhile"):
        purge.run(preview)
    assert purge.run(purge.look())[0].seq == harness.state().memory.offset


def test_a_backup_made_since_the_look_is_rewritten_too(tmp_path: Path) -> None:
    """Nothing that memfold has copied keeps the text."""
    _, folder = _harness(tmp_path)
    purge = _purge(tmp_path)
    preview = purge.look()
    assert preview.copies == ()
    backup = make_backup(str(folder), str(tmp_path), _KEY, now=1_800_000_000_000)
    purge.run(preview)
    assert TEXT.encode() not in Path(backup.folder, "events.jsonl").read_bytes()


def test_a_backup_that_is_unfinished_or_changed(tmp_path: Path) -> None:
    """One without a log holds nothing; one that isn't what its manifest says is rewritten and stays so."""
    _, folder = _harness(tmp_path)
    empty = make_backup(str(folder), str(tmp_path), _KEY, now=1_800_000_000_000)
    Path(empty.folder, "events.jsonl").unlink()
    changed = make_backup(str(folder), str(tmp_path), _KEY, now=1_800_000_001_000)
    with Path(changed.folder, "events.jsonl").open("ab") as file:
        file.write(b"more\n")
    manifest = Path(changed.folder, "manifest.json").read_bytes()
    purge = _purge(tmp_path)
    purge.run(purge.look())
    assert TEXT.encode() not in Path(changed.folder, "events.jsonl").read_bytes()
    assert Path(changed.folder, "manifest.json").read_bytes() == manifest
    assert not Path(empty.folder, "events.jsonl").exists()


def test_what_others_append_during_the_look_changes_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memory that holds the text comes between the choice and the rehearsal: it is asked about when it is done."""
    harness, _ = _harness(tmp_path)
    purge = _purge(tmp_path, containing="keep")
    alone = purge.look()
    rehearse = LogEraser.rehearse

    def late(self: LogEraser, path: str, *args: Any) -> None:
        if path.startswith(str(tmp_path / "workspaces")):
            harness.step({"do": "memory_add", "session": "A", "title": "Why", "content": f"because {TEXT}, I think"})
            harness.step({"do": "user_message", "session": "A", "message": "late", "text": f"Remember: {TEXT}"})
        rehearse(self, path, *args)

    monkeypatch.setattr(LogEraser, "rehearse", late)
    preview = purge.look()
    assert (preview.changed, preview.left, preview.choice.targets) == (alone.changed, 0, alone.choice.targets)
    with pytest.raises(MemfoldError, match="changed meanwhile"):
        purge.run(preview)


# -- places -----------------------------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_removed_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is the last to change: it is as it was, and the path is told."""
    _, folder = _harness(tmp_path)
    before = (folder / "events.jsonl").read_bytes()
    purge = _purge(tmp_path)
    preview = purge.look()

    def failing(path: str) -> None:
        raise PermissionError(13, "refused", path)

    monkeypatch.setattr("memfold.purge.places.shutil.rmtree", failing)
    with pytest.raises(StorageError, match="derived"):
        purge.run(preview)
    assert (folder / "events.jsonl").read_bytes() == before


def test_what_nobody_can_read_may_hold_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told of; a pipe holds nothing, and a file that is gone by now is none."""
    _, folder = _harness(tmp_path)
    preview: Preview = _purge(tmp_path).look()
    (folder / "notes").write_text("nothing")
    (folder / "dead").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe")
    real = Path(folder / "notes")

    def opener(path: str, flags: int) -> int:
        if path == str(real):
            raise PermissionError(13, "refused", path)
        return os.open(path, flags | os.O_NONBLOCK)

    monkeypatch.setattr("memfold.purge.places.open_regular", opener)
    found = survey(str(folder), str(tmp_path), preview.choice.needles)
    assert [(Path(place.path).name, place.action) for place in found if place.kind == "other"] == [("notes", "tell")]


@pytest.mark.parametrize("name", ["events.jsonl", "derived", "derived/facts.jsonl"])
def test_a_linked_log_or_what_is_derived_stops_it(tmp_path: Path, name: str) -> None:
    """What the link leads to would keep the text: nothing is done, in a look or a run."""
    _, folder = _harness(tmp_path)
    purge = _purge(tmp_path)
    preview = purge.look()
    place = folder / name
    real = tmp_path.parent / f"{tmp_path.name}-real"
    if place.exists():
        place.rename(real)
    else:
        real.write_text(TEXT)
    place.symlink_to(real)
    before = {path: path.read_bytes() for path in (real, *folder.rglob("*")) if path.is_file()}
    for does in (purge.look, lambda: purge.run(preview)):
        with pytest.raises(DataError, match=f"{place}: it is a symbolic link"):
            does()
    assert before == {path: path.read_bytes() for path in (real, *folder.rglob("*")) if path.is_file()}
    assert place.is_symlink()


def test_a_linked_file_that_holds_the_text_is_told(tmp_path: Path) -> None:
    """Were it removed or rewritten, its target would keep the text, and nothing would say so."""
    _, folder = _harness(tmp_path)
    real = tmp_path.parent / f"{tmp_path.name}-real"
    real.write_text(f"{TEXT}\n")
    (folder / "quarantine").mkdir()
    (folder / "quarantine" / "1-2.bytes").symlink_to(real)
    (folder / "operations.log").symlink_to(real)
    purge = _purge(tmp_path)
    preview = purge.look()
    purge.run(preview)
    assert {place.action for place in purge.left(preview.choice)} == {"tell"}
    assert real.read_text() == f"{TEXT}\n"


def test_a_backup_whose_log_is_a_link_stops_it(tmp_path: Path) -> None:
    """Before any other copy is rewritten."""
    _, folder = _harness(tmp_path)
    log = Path(make_backup(str(folder), str(tmp_path), _KEY, now=1_800_000_000_000).folder, "events.jsonl")
    log.rename(tmp_path / "log")
    log.symlink_to(tmp_path / "log")
    with pytest.raises(DataError, match="symbolic link"):
        _purge(tmp_path).look()


# -- receipts ---------------------------------------------------------------------------------------------------------


def test_lines_that_become_one_are_named_by_nothing_known() -> None:
    """Two errors that differ in the text alone are one without it: a receipt that named both tells nobody."""
    other = "the tug waits in front of it"
    call = {"do": "tool", "session": "A", "tool": "bash", "exit": 1}
    stage = Stage(None)
    stage.feed(
        [
            {"do": "session_start", "session": "A"},
            {"do": "user_message", "session": "A", "message": "m", "text": f"Remember: {TEXT}\nRemember: {other}"},
            call | {"call": "c1", "args": {"command": "make a"}, "output": f"error: {TEXT}"},
            call | {"call": "c2", "args": {"command": "make b"}, "output": f"error: {other}"},
            call | {"call": "c3", "args": {"command": "cat x"}, "output": "fatal: no such thing"},
            {"do": "give", "session": "A", "instance": "i"},
        ]
    )
    _, changed = erase(stage.events(), list(stage.state().accounts.records), "ask")
    (before,) = (one for one in stage.events() if isinstance(one, PromptRendered) and one.data.kind == "hot")
    (after,) = (one for one in changed if isinstance(one, PromptRendered) and one.data.kind == "hot")
    kept = set(before.data.lines) & set(after.data.lines)
    assert len(before.data.lines) == len(after.data.lines) == 5
    assert len(kept) == 1
    assert len(set(after.data.lines)) == 4  # both requests read alike
    assert after.data.digest != before.data.digest
    assert encode(after) != encode(before)
