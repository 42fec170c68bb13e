"""Waiting for descriptors."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from memfold.waiting import Readers, wait_until_ready


def test_what_is_ready() -> None:
    """A pipe can be written at once, and read when something stands in it or its other end is closed."""
    reading, writing = os.pipe()
    assert wait_until_ready([reading], [writing]) == {writing}
    assert wait_until_ready([reading], seconds=0) == set()
    os.write(writing, b"x")
    assert wait_until_ready([reading]) == {reading}
    os.read(reading, 1)
    os.close(writing)
    assert wait_until_ready([reading]) == {reading}
    os.close(reading)


@pytest.mark.parametrize("polls", [True, False])
def test_what_is_ready_again_and_again(polls: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the system offers to wait with: each wait tells anew what can be read, or has come to its end."""
    if not polls:
        monkeypatch.delattr("select.poll")
    pipes = [os.pipe(), os.pipe()]
    readers = Readers(reading for reading, _ in pipes)
    for reading, writing in (*pipes, pipes[0]):
        os.write(writing, b"x")
        assert readers.wait() == {reading}
        os.read(reading, 1)
    os.close(pipes[1][1])
    assert readers.wait() == {pipes[1][0]}
    for descriptor in (*pipes[0], pipes[1][0]):
        os.close(descriptor)


def test_a_file_is_always_ready(tmp_path: Path) -> None:
    """Input that comes from a file is no reason to fail."""
    path = tmp_path / "input"
    path.touch()
    with path.open() as file:
        assert wait_until_ready([file.fileno()]) == {file.fileno()}


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 1100, reason="the process may not open so many")
def test_descriptors_with_large_numbers() -> None:
    """A process that holds more than a thousand files waits as well."""
    reading, writing = os.pipe()
    large = 1080
    os.dup2(reading, large)
    os.write(writing, b"x")
    assert wait_until_ready([large]) == {large}
    for descriptor in (reading, writing, large):
        os.close(descriptor)
