"""What comes between a kill and the next look at MEMORY.md, and what a stale copy of it says, undoes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from memfold.editing import delete, update
from memfold.memory_file import disk
from memfold.memory_file.disk import FileTrouble
from memfold.workspace import Workspace
from tests.support.broken_disk import Trouble, broken_disk, counted, full, only_below, read_only
from tests.units.test_memory_file_keeper import TIME, Desk

ROOT_FOLDER = str(Path(__file__).parents[2])
BY_HAND = "### [MEM-000] By hand\nThe crane rests on Sundays\n\n## Archived"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A workspace whose file is kept, with two memories."""
    desk = Desk(tmp_path, memory_file="on")
    desk.add("Tests first")
    desk.add("Integer cents")
    assert desk.keeper.sync().wrote
    return desk


def _die(desk: Desk, owner: object, name: str) -> None:
    """A process that keeps the file is killed before it calls a function."""
    with patch.object(owner, name, side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        desk.another(memory_file="on").sync()


def test_edits_that_were_recorded_are_not_told_again(desk: Desk) -> None:
    """Killed behind the edits and before the file: what tools do to them afterwards stays."""
    desk.edit("## Archived", BY_HAND)
    desk.edit("### [MEM-001] Tests first", "### [MEM-001] Tests always first")
    _die(desk, disk, "replace")
    assert desk.active() == ["Tests always first", "Integer cents", "By hand"]
    delete(desk.model, desk.ref("MEM-003"), session="A", origin="tool", time=TIME)
    update(desk.model, desk.ref("MEM-001"), session="A", title="Tests last", origin="tool", time=TIME)
    assert desk.another(memory_file="on").sync().events == ()
    assert desk.active() == ["Tests last", "Integer cents"]
    assert desk.agrees()


def test_a_second_edit_behind_a_kill_counts(desk: Desk) -> None:
    """The person changes the same field once more, and back: the last word is in the log."""
    for new, old in (("Tests always first", "Tests first"), ("Tests last", "Tests always first")):
        desk.edit(f"### [MEM-001] {old}", f"### [MEM-001] {new}")
        _die(desk, disk, "replace")
        assert desk.active()[0] == new
    desk.edit("### [MEM-001] Tests last", "### [MEM-001] Tests always first")
    desk.another(memory_file="on").sync()
    assert desk.active() == ["Tests always first", "Integer cents"]


def test_a_file_that_cannot_be_written(desk: Desk) -> None:
    """Its edits are taken once: a tool's later word isn't undone at each look."""
    desk.edit("### [MEM-001] Tests first", "### [MEM-001] Tests always first")
    with patch.object(disk, "replace", side_effect=FileTrouble("the folder is read-only")):
        desk.keeper.sync()
        assert desk.active() == ["Tests always first", "Integer cents"]
        update(desk.model, desk.ref("MEM-001"), session="A", title="Tests last", origin="tool", time=TIME)
        desk.keeper.sync()
    assert desk.active() == ["Tests last", "Integer cents"]


def test_edits_of_a_file_that_no_event_names(desk: Desk) -> None:
    """Killed between the rename and its event: edits are told from the file that stands there."""
    desk.add("Third")
    update(desk.model, desk.ref("MEM-002"), session="A", title="Integer cents only", origin="tool", time=TIME)
    _die(desk, Workspace, "record")
    text = desk.text()
    desk.file.write_text(text[: text.index("### [MEM-003]")] + text[text.index("## Archived") :], encoding="utf-8")
    update(desk.model, desk.ref("MEM-002"), session="A", title="Cents, always", origin="tool", time=TIME)
    desk.another(memory_file="on").sync()
    assert desk.active() == ["Tests first", "Cents, always"]
    assert desk.agrees()


def test_edits_of_a_file_in_conflict_wait(desk: Desk) -> None:
    """What was saved between the markers of a merge is taken when they are gone."""
    desk.edit("## Archived", BY_HAND)
    text = desk.text()
    desk.file.write_text(f"<<<<<<< ours\n{text}", encoding="utf-8")
    assert desk.keeper.sync().events == ()
    desk.file.write_text(text, encoding="utf-8")
    desk.keeper.sync()
    assert desk.active() == ["Tests first", "Integer cents", "By hand"]


@pytest.mark.parametrize("number", ["000", "003"])
def test_a_stale_copy_deletes_nothing_it_never_knew(desk: Desk, number: str) -> None:
    """An editor saves a copy from before a tool added a memory: that one stays, whatever number the person gives."""
    stale = desk.text()
    desk.add("From a tool")
    desk.keeper.sync()
    desk.file.write_text(stale.replace("## Archived", BY_HAND.replace("000", number)), encoding="utf-8")
    desk.keeper.sync()
    assert sorted(desk.active()) == ["By hand", "From a tool", "Integer cents", "Tests first"]
    assert desk.agrees()


def test_an_editor_between_emptying_and_writing(desk: Desk) -> None:
    """A file that is empty at the moment deletes nothing."""
    text = desk.text()
    with desk.file.open("w", encoding="utf-8"):
        assert desk.another(memory_file="on").sync().events == ()
    assert desk.active() == ["Tests first", "Integer cents"]
    assert desk.text() == text


DIES = """
import os, signal, sys
from memfold.config import Config
from memfold.memory_file import disk
from memfold.memory_file.keeper import MemoryFileKeeper
disk._require_same = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
MemoryFileKeeper(sys.argv[1], sys.argv[2], project=True, config=Config(memory_file="on")).sync()
"""


def test_a_kill_leaves_no_litter_in_the_project(desk: Desk) -> None:
    """What a killed process had begun to write is gone with the next write."""
    desk.add("Third")
    command = [sys.executable, "-c", DIES, str(desk.root), str(desk.folder)]
    assert subprocess.run(command, cwd=ROOT_FOLDER, check=False).returncode == -signal.SIGKILL
    assert desk.keeper.sync().wrote
    assert sorted(os.listdir(desk.file.parent)) == ["MEMORY.md", "memory_summary.md"]  # noqa: PTH208 - names


@pytest.mark.parametrize("trouble", [full, read_only])
def test_a_data_folder_that_cannot_be_written(tmp_path: Path, trouble: Callable[[int], Trouble]) -> None:
    """Whatever the project's disk takes meanwhile, what is deleted afterwards stays deleted (I6)."""

    def begun(number: int) -> Desk:
        (tmp_path / str(number)).mkdir()
        desk = Desk(tmp_path / str(number), memory_file="on")
        desk.add("Tests first")
        desk.add("Integer cents")
        desk.keeper.sync()
        desk.add("Third")
        return desk

    desk = begun(0)
    calls = counted(lambda: desk.another(memory_file="on").sync())
    numbers = [call.number for call in calls if call.changes and call.path.startswith(str(desk.folder))]
    for number in numbers:
        desk = begun(number)
        with broken_disk(only_below(str(desk.folder), trouble(number))):
            desk.another(memory_file="on").sync()
        delete(desk.model, desk.ref("MEM-003"), session="A", origin="tool", time=TIME)
        desk.another(memory_file="on").sync()
        assert desk.active() == ["Tests first", "Integer cents"], calls[number - 1]
        assert desk.agrees()
    assert len(numbers) > 5


def test_a_write_whose_event_is_missing_is_noted_before_the_next_begins(desk: Desk) -> None:
    """Killed behind a rename, and again before the next one: the file that stands there is still known for ours."""
    desk.add("Third")
    _die(desk, Workspace, "record")
    delete(desk.model, desk.ref("MEM-003"), session="A", origin="tool", time=TIME)
    _die(desk, disk, "replace")
    assert "Third" in desk.text()
    assert desk.another(memory_file="on").sync().events == ()
    assert desk.active() == ["Tests first", "Integer cents"]
    assert desk.agrees()
