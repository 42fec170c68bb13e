"""The sweep finds what it is there for: half files, lost answers, errors in disguise, and descriptors left open."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.broken_disk import broken_disk, counted, refused
from tests.support.sweep import Case, sweep

OLD, NEW = b"old " * 9, b"new " * 9


def _careful(path: Path) -> None:
    beside = path.with_suffix(".new")
    beside.write_bytes(NEW)
    beside.replace(path)


def _in_place(path: Path) -> None:
    path.write_bytes(NEW)


def _careless_of_short_writes(path: Path) -> None:
    beside = str(path.with_suffix(".new"))
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(descriptor, NEW)
    finally:
        os.close(descriptor)
    os.replace(beside, path)  # noqa: PTH105 - as others do


def _leaking(path: Path) -> None:
    beside = str(path.with_suffix(".new"))
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    view = memoryview(NEW)
    while view:
        view = view[os.write(descriptor, view) :]
    os.close(descriptor)
    os.replace(beside, path)  # noqa: PTH105 - as others do


def _boastful(path: Path) -> None:
    try:
        _careful(path)
    except OSError:
        return


def _sweep(folder: Path, work: Callable[[Path], None]) -> None:
    (folder / "base").mkdir()
    path = folder / "base" / "file"
    path.write_bytes(OLD)

    def require(done: bool, _said: object) -> None:
        assert path.read_bytes() in ((NEW,) if done else (OLD, NEW)), "half"

    assert sweep(Case(path.parent, lambda: work(path), require, (OSError,)), thorough=True) > 3


def test_a_careful_writer_passes(tmp_path: Path) -> None:
    """Written beside, then renamed: whatever fails, one of the two contents is there."""
    _sweep(tmp_path, _careful)


@pytest.mark.parametrize(
    ("work", "said"),
    [(_in_place, "half"), (_careless_of_short_writes, "half at .*half"), (_leaking, "left open"), (_boastful, "half")],
)
def test_a_careless_one_does_not(tmp_path: Path, work: Callable[[Path], None], said: str) -> None:
    """What it does wrong is named, with the call that brings it to light."""
    with pytest.raises(AssertionError, match=said):
        _sweep(tmp_path, work)


def test_the_calls_of_a_file_object_are_seen(tmp_path: Path) -> None:
    """Python's own files write through the functions that can fail, and the system is as it was afterwards."""
    real = os.write
    calls = counted(lambda: (tmp_path / "x").write_bytes(b"text"))
    assert [call.name for call in calls if call.changes or call.grows] == ["open", "write"]
    (number,) = (call.number for call in calls if call.name == "write")
    with broken_disk(refused(number, 28)), pytest.raises(OSError, match="space"):
        (tmp_path / "x").write_bytes(b"text")
    assert os.write is real
