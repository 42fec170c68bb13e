"""Reading recordings: what is one, what isn't, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfold.hosts.recording import RecordingError, read_recording, workspace_of
from tests.hosts.calls import NAMES, recorded

LINE = b'{"hook": "mark", "label": "x"}\n'


def written(folder: Path, content: bytes) -> Path:
    """A file with this content."""
    path = folder / "some.jsonl"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_workspace_is_the_worktree(name: str) -> None:
    """Every recording says where the client worked."""
    assert workspace_of(recorded(name)) == "/workspace/demo"


def test_workspace_outside_a_repository_is_the_directory() -> None:
    """Outside a repository the client names ``/`` as the worktree; the directory counts then (SPEC 1.6)."""
    init = {"hook": "init", "input": {"directory": "/home/dev/notes", "worktree": "/"}}
    assert workspace_of([{"hook": "mark"}, {"hook": "init", "input": None}, init]) == "/home/dev/notes"


def test_workspace_may_be_unknown() -> None:
    """Without a usable ``init`` there is no workspace, and never a global one (SPEC 1.6)."""
    assert workspace_of([{"hook": "init", "input": {"directory": 3, "worktree": "/"}}]) is None


@pytest.mark.parametrize(
    "bad", [b"hello\n", b"[1]\n", b'{"a": 1}\n', b'{"hook": 1}\n', b"\xff\n", b"[" * 99999 + b"\n"]
)
def test_line_that_is_no_record_is_named(tmp_path: Path, bad: bytes) -> None:
    """The error names file, line and value and says what a line must be; what came before was read."""
    path = written(tmp_path, LINE + bad)
    records = read_recording(path)
    assert next(records) == {"hook": "mark", "label": "x"}
    with pytest.raises(RecordingError, match="one JSON object with a hook") as caught:
        next(records)
    assert (caught.value.path, caught.value.line) == (path, 2)
    assert len(caught.value.value) <= 60
    assert f"{path}:2" in str(caught.value)


def test_unfinished_last_line_is_left_out(tmp_path: Path) -> None:
    """A client that is killed while it writes leaves half a line; what is whole counts."""
    assert len(list(read_recording(written(tmp_path, LINE + LINE[:9])))) == 1
    assert len(list(read_recording(written(tmp_path, LINE + LINE[:-1])))) == 2


@pytest.mark.parametrize("content", [b"", b"hello"])
def test_file_without_any_record_is_none(tmp_path: Path, content: bytes) -> None:
    """An empty file or a single word is no recording."""
    with pytest.raises(RecordingError):
        list(read_recording(written(tmp_path, content)))


def test_a_relative_workspace_is_unknown() -> None:
    """It would be looked up in the reader's own folder; the directory beside it may still be a path."""
    init = {"hook": "init", "input": {"worktree": "../x", "directory": "/w/app"}}
    assert workspace_of([init]) == "/w/app"
    assert workspace_of([{"hook": "init", "input": {"worktree": "x", "directory": "."}}]) is None
