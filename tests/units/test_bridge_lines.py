"""Lines over raw descriptors: split anywhere, bounded, and written whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfold.bridge.lines import LineReader, LineWriter


class Pipe:
    """Both ends of a pipe; what is still open is closed at the end."""

    def __init__(self) -> None:
        self.read, self.write = os.pipe()

    def close(self, *ends: int) -> None:
        """Close some ends, by default both; one that is closed already stays so."""
        for end in ends or (self.read, self.write):
            with contextlib.suppress(OSError):
                os.close(end)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """A pipe."""
    made = Pipe()
    yield made
    made.close()


@given(st.lists(st.binary(max_size=12).map(lambda raw: raw.replace(b"\n", b""))), st.integers(1, 9))
def test_lines_are_those_that_were_written(lines: list[bytes], chunk: int) -> None:
    """However the bytes are cut into pieces, the lines come out in order; a last one needs no line feed."""
    content = b"\n".join(lines)
    pieces = [content[start : start + chunk] for start in range(0, len(content), chunk)]
    reader = LineReader(-1, limit=1000)
    pending = iter([*pieces, b""])
    setattr(reader, "_read", lambda: next(pending))  # noqa: B010 - a method takes no other value
    expected = content.split(b"\n")
    assert list(reader) == (expected if expected[-1] else expected[:-1])


def test_a_line_that_is_too_long_is_skipped(pipe: Pipe) -> None:
    """A line over the limit is reported as None, and what follows it is read; one at the limit is whole."""
    os.write(pipe.write, b"12345678\n123456789\n1\n" + b"x" * 30 + b"\n2\n" + b"y" * 9)
    pipe.close(pipe.write)
    assert list(LineReader(pipe.read, limit=8)) == [b"12345678", None, b"1", None, b"2", None]


def test_memory_is_bounded_by_the_limit(pipe: Pipe) -> None:
    """Of a line that is too long nothing is kept."""
    reader = LineReader(-1, limit=8)
    chunks = iter([b"x" * 8, b"x" * 8, b"x\n", b""])
    setattr(reader, "_read", lambda: next(chunks))  # noqa: B010 - as above
    assert list(reader) == [None]


def test_waking_ends_the_reading(pipe: Pipe) -> None:
    """What stands in the pipe when we are told to end isn't read any more."""
    wake = Pipe()
    os.write(wake.write, b"\0")
    os.write(pipe.write, b"line\n")
    assert list(LineReader(pipe.read, wake.read)) == []
    wake.close()


def test_a_descriptor_that_cannot_be_read_is_at_its_end() -> None:
    """A closed input is an empty one."""
    assert list(LineReader(-1)) == []


def test_no_bytes_yet_is_not_the_end(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """A descriptor in non-blocking mode that has nothing after all is asked again."""
    answers: list[Callable[[], bytes]] = [_raise(BlockingIOError), lambda: b"a\n", lambda: b""]
    os.write(pipe.write, b"a")
    monkeypatch.setattr(os, "read", lambda *_: answers.pop(0)())
    assert list(LineReader(pipe.read)) == [b"a"]


def _raise(error: type[Exception]) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


def test_a_writer_writes_all_of_a_line(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes a byte at a time, or none for now, gets the whole line."""
    write, refusals = os.write, [BlockingIOError(), BlockingIOError()]

    def slow(descriptor: int, data: Any) -> int:
        if refusals and len(data) % 2:
            raise refusals.pop()
        return write(descriptor, bytes(data)[:1])

    monkeypatch.setattr(os, "write", slow)
    assert LineWriter(pipe.write).write(b"hello\n")
    assert os.read(pipe.read, 100) == b"hello\n"


def test_a_reader_that_is_gone_is_no_error(pipe: Pipe) -> None:
    """When nobody reads any more, lines are dropped without a word."""
    writer = LineWriter(pipe.write)
    pipe.close(pipe.read)
    assert not writer.write(b"a\n")
    pipe.close(pipe.write)
    assert not writer.write(b"b\n")
