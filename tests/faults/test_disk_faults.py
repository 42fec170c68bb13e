"""The system refuses, stops half way or lies: an append is then reported, and harms no other."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.errors import LockTimeout, NotWritable, StorageError
from ledger.locks import FlockLock
from ledger.log import LOCK_SUFFIX, FileLog, Health
from tests.support.logs import KEY, ROOT, draft, event_id, line_of, new_log, titles


class Disk:
    """An ``os.write`` that takes what it is told: a number of bytes, or an error."""

    def __init__(self, *answers: int | OSError) -> None:
        self.answers = list(answers)
        self.calls = 0
        self._write = os.write

    def __call__(self, descriptor: int, data: Any) -> int:
        """Write as told; as the system does when there is nothing more to tell."""
        self.calls += 1
        if not self.answers:
            return self._write(descriptor, data)
        answer = self.answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return self._write(descriptor, bytes(data)[:answer]) if answer else 0


def _error(code: int) -> OSError:
    return OSError(code, os.strerror(code))


@pytest.fixture
def log(tmp_path: Path) -> FileLog:
    """A ledger with one memory."""
    made = new_log(tmp_path / "l")
    made.append([draft("first")])
    return made


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Disk], Disk]:
    """Put a disk in the place of the system's."""

    def use(disk: Disk) -> Disk:
        monkeypatch.setattr(os, "write", disk)
        return disk

    return use


def test_one_write_for_a_batch(log: FileLog, use: Callable[[Disk], Disk]) -> None:
    """A batch is one write, the line feed that heals a torn tail included."""
    with Path(log.path).open("ab") as file:
        file.write(b"torn")
    (Path(log.directory) / "quarantine").write_text("a file in the way")
    disk = use(Disk())
    log.append([draft("a"), draft("b")])
    assert disk.calls == 1
    assert titles(log.read()) == ["first", "a", "b"]


def test_short_writes_go_on(log: FileLog, use: Callable[[Disk], Disk]) -> None:
    """Short and interrupted writes are continued until all of the batch stands in the log."""
    use(Disk(1, _error(errno.EINTR), 10, 100, _error(errno.EINTR)))
    log.append([draft("a"), draft("b")])
    assert titles(log.read()) == ["first", "a", "b"]
    assert log.health() == Health(events=4)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize("taken", [1, 40, 150])
def test_failed_append(code: int, taken: int, log: FileLog, use: Callable[[Disk], Disk]) -> None:
    """An append that fails half way is reported with path and cause; the next heals and is whole (LCK-02, LOG-09)."""
    use(Disk(taken, _error(code)))
    with pytest.raises(StorageError) as caught:
        log.append([draft("lost")])
    assert (caught.value.errno, caught.value.path, caught.value.stored) == (code, log.path, 0)
    assert os.strerror(code) in str(caught.value)
    log.append([draft("third")])
    assert titles(log.read()) == ["first", "third"]
    assert [event.seq for event in log.read()] == [0, 1, 2]
    assert log.health() == Health(events=3, damaged=1)


@pytest.mark.parametrize(
    ("lines", "more", "stored"), [(1, 0, 1), (1, -1, 1), (1, -2, 0), (2, 5, 2), (3, -1, 3), (3, -2, 2)]
)
def test_stored_part_of_a_batch(lines: int, more: int, stored: int, log: FileLog, use: Callable[[Disk], Disk]) -> None:
    """A failed batch says how many of its events stand all the same; delivered again, only the others are written."""
    batch = [draft(str(number), event_id(1000 + number)) for number in range(3)]
    line = len(line_of(2, "0", number=1000))
    use(Disk(lines * line + more, _error(errno.ENOSPC)))
    with pytest.raises(StorageError) as caught:
        log.append(batch)
    assert caught.value.stored == stored
    assert len(log.append(batch)) == 3 - stored
    assert titles(log.read()) == ["first", "0", "1", "2"]


def test_failed_healing(log: FileLog, use: Callable[[Disk], Disk]) -> None:
    """A failure right behind the line feed that heals stores nothing, and the next append goes on."""
    with Path(log.path).open("ab") as file:
        file.write(b"torn")
    (Path(log.directory) / "quarantine").write_text("a file in the way")
    use(Disk(1, _error(errno.ENOSPC)))
    with pytest.raises(StorageError) as caught:
        log.append([draft("lost")])
    assert caught.value.stored == 0
    log.append([draft("third")])
    assert titles(log.read()) == ["first", "third"]


def test_a_disk_that_takes_nothing(log: FileLog, use: Callable[[Disk], Disk]) -> None:
    """A write of nothing ends with an error, not in an endless loop."""
    use(Disk(5, 0))
    with pytest.raises(StorageError, match="writes nothing"):
        log.append([draft("lost")])


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_not_writable(code: int, log: FileLog, use: Callable[[Disk], Disk]) -> None:
    """A read-only or foreign file is told apart from a full disk."""
    use(Disk(_error(code)))
    with pytest.raises(NotWritable) as caught:
        log.append([draft("lost")])
    assert caught.value.errno == code
    assert titles(log.read()) == ["first"]


def test_failed_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sync that fails is reported; the events are said to stand in the file, and the next append works."""
    log = FileLog.create(tmp_path / "l", root=ROOT, key=KEY)

    def fail(_: int) -> None:
        raise _error(errno.EIO)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        with pytest.raises(StorageError) as caught:
            log.append([draft("a"), draft("b")])
    assert (caught.value.errno, caught.value.stored) == (errno.EIO, 2)
    log.append([draft("c")])
    assert [event.seq for event in log.read()] == [0, 1, 2, 3]


def test_without_fdatasync(log: FileLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no ``fdatasync``, ``fsync`` is used."""
    synced: list[int] = []
    monkeypatch.delattr(os, "fdatasync")
    monkeypatch.setattr(os, "fsync", synced.append)
    log.append([draft("a")], durable=True)
    assert len(synced) == 1


@pytest.mark.parametrize("name", ["pread", "open"])
def test_tail_that_cannot_be_read(name: str, log: FileLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """An append that can't look at the tail writes nothing."""
    before = Path(log.path).read_bytes()
    log.close()
    real = os.open

    def fail(path: Any, *rest: Any) -> int:
        if name == "pread" or path == log.path:
            raise _error(errno.EIO)
        return real(path, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(os, name, fail)
        with pytest.raises(StorageError):
            log.append([draft("lost")])
    assert Path(log.path).read_bytes() == before
    assert log.append([draft("next")])[0].seq == 2


def test_a_descriptor_that_cannot_be_looked_at(log: FileLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """An append that opens the log and can't look at what it has opened fails alone: the next one opens it anew."""
    log = FileLog.open(log.directory)
    log._format_checked = True  # which opens the file too
    real, looks = os.fstat, list[int]()

    def fail(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        if os.path.samestat(status, os.stat(log.path)):  # noqa: PTH116 - as the ledger does
            looks.append(descriptor)
            if len(looks) == 2:  # the first tells that it is a regular file
                raise _error(errno.EIO)
        return status

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", fail)
        with pytest.raises(StorageError):
            log.append([draft("lost")])
    assert log.append([draft("next")])[0].seq == 2


def test_unreadable_file(log: FileLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that the system can't read is a storage error, never an empty memory."""

    def fail(*_: object, **__: object) -> None:
        raise _error(errno.EIO)

    monkeypatch.setattr("builtins.open", fail)
    for use in (lambda: list(log.read()), lambda: list(log.scan()), log.size, log.health):
        with pytest.raises(StorageError) as caught:
            use()
        assert caught.value.errno == errno.EIO


def test_lock_held(log: FileLog, tmp_path: Path) -> None:
    """A log that another process holds isn't written; reading goes on."""
    waiting = FileLog.open(tmp_path / "l", lock_timeout=0.0)
    with FlockLock(log.path + LOCK_SUFFIX, 0.0).hold():
        with pytest.raises(LockTimeout):
            waiting.append([draft("lost")])
        assert titles(waiting.read()) == ["first"]
        assert waiting.size() == 2


def test_lock_is_free_after_a_failure(log: FileLog, use: Callable[[Disk], Disk]) -> None:
    """A failed append leaves the lock free for others."""
    use(Disk(_error(errno.ENOSPC)))
    with pytest.raises(StorageError):
        log.append([draft("lost")])
    assert new_log(Path(log.directory)).append([draft("other", event_id(77))])[0].seq == 2
