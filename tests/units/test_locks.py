"""The writers' lock: both ways exclude each other, and nothing but the sidecar is touched."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from ledger import locks
from ledger.errors import LedgerError, LockTimeout, NotWritable, StorageError
from ledger.locks import FlockLock, Lock, PortableLock, default_lock

KINDS: list[Callable[[str, float], Lock]] = [FlockLock, PortableLock]
BOTH = pytest.mark.parametrize("kind", KINDS)


@BOTH
@pytest.mark.parametrize("other", KINDS)
def test_locks_exclude_each_other(
    kind: Callable[[str, float], Lock], other: Callable[[str, float], Lock], tmp_path: Path
) -> None:
    """While one holds the sidecar no other can, whichever way it locks; afterwards it can."""
    path = str(tmp_path / "log.lock")
    first, second = kind(path, 0.0), other(path, 0.0)
    with first.hold():
        with pytest.raises(LockTimeout) as caught, second.hold():
            pytest.fail("both hold the lock")
        assert (caught.value.path, caught.value.seconds) == (path, 0.0)
        assert isinstance(caught.value, TimeoutError)
        assert path in str(caught.value)
    with second.hold():
        pass
    first.close()
    second.close()


@BOTH
def test_the_sidecar_stays_and_is_private(kind: Callable[[str, float], Lock], tmp_path: Path) -> None:
    """The sidecar is made with mode 0600, under any umask, and stays when the lock is free."""
    path = tmp_path / "log.lock"
    before = os.umask(0)
    try:
        with kind(str(path), 1.0).hold():
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@BOTH
def test_a_lock_can_be_taken_again(kind: Callable[[str, float], Lock], tmp_path: Path) -> None:
    """A lock is free after its block, even one that raised, and after ``close``."""
    lock = kind(str(tmp_path / "log.lock"), 0.0)
    with pytest.raises(KeyError), lock.hold():
        raise KeyError
    with lock.hold():
        pass
    lock.close()
    with lock.hold():
        pass
    lock.close()


def test_pauses_grow_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits looks again soon, then after twice as long each time, and at least every five milliseconds."""
    path, now, pauses = str(tmp_path / "log.lock"), [0.0], list[float]()

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(locks, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    with FlockLock(path, 0.0).hold():
        with pytest.raises(LockTimeout), FlockLock(path, 0.0).hold():
            pytest.fail("both hold the lock")
        assert pauses == []
        with pytest.raises(LockTimeout), FlockLock(path, 0.1).hold():
            pytest.fail("both hold the lock")
    assert pauses[0] < 0.001
    assert max(pauses) == 0.005
    assert all(after == min(2 * before, 0.005) for before, after in pairwise(pauses))
    assert 0.1 <= sum(pauses) < 0.1 + 0.005


def test_a_replaced_sidecar_is_noticed(tmp_path: Path) -> None:
    """A lock on a sidecar that was removed or replaced isn't taken for the lock."""
    path = tmp_path / "log.lock"
    lock = FlockLock(str(path), 0.0)
    with lock.hold():
        pass
    path.unlink()
    with lock.hold():
        assert path.exists()
    path.rename(tmp_path / "old")
    with FlockLock(str(path), 0.0).hold(), pytest.raises(LockTimeout), lock.hold():
        pytest.fail("held the old sidecar")
    lock.close()


@BOTH
def test_no_folder(kind: Callable[[str, float], Lock], tmp_path: Path) -> None:
    """A sidecar that can't be made is a storage error that names it."""
    path = str(tmp_path / "file" / "log.lock")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"log\.lock"), kind(path, 0.1).hold():
        pytest.fail("held nothing")


def _refuse(code: int) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return refuse


def test_no_room_for_the_sidecar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk while the sidecar is made is a storage error with its number."""
    monkeypatch.setattr(locks, "open_private", _refuse(errno.ENOSPC))
    with pytest.raises(StorageError) as caught, FlockLock(str(tmp_path / "l"), 0.1).hold():
        pytest.fail("held nothing")
    assert caught.value.errno == errno.ENOSPC
    assert not isinstance(caught.value, NotWritable)


def test_lock_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that knows no locks is a storage error, not an endless wait."""
    monkeypatch.setattr(locks, "flock", _refuse(errno.ENOLCK))
    lock = FlockLock(str(tmp_path / "l"), 5.0)
    with pytest.raises(StorageError) as caught, lock.hold():
        pytest.fail("held nothing")
    assert caught.value.errno == errno.ENOLCK
    lock.close()


def test_sidecar_out_of_sight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the sidecar can't be looked at after locking, the lock is given back and the error named."""
    path = str(tmp_path / "l")
    lock = FlockLock(path, 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", _refuse(errno.EACCES))
        with pytest.raises(NotWritable), lock.hold():
            pytest.fail("held nothing")
    with FlockLock(path, 0.0).hold():
        pass
    lock.close()


def test_default_lock(tmp_path: Path) -> None:
    """POSIX takes the cheap lock, other platforms the portable one; all errors share one root."""
    assert isinstance(default_lock(str(tmp_path / "l"), 1.0), FlockLock)
    assert issubclass(LockTimeout, LedgerError)


def test_default_lock_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform without ``flock`` takes the portable lock."""
    monkeypatch.setattr("ledger.locks.sys.platform", "win32")
    assert isinstance(default_lock(str(tmp_path / "l"), 1.0), PortableLock)


def test_a_sidecar_that_never_agrees_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a name and its file never have one identity, the wait is bounded like any other."""
    lock = FlockLock(str(tmp_path / "x.lock"), 0.01)
    monkeypatch.setattr(lock, "_is_current", lambda: False)
    with pytest.raises(LockTimeout), lock.hold():
        pass


def test_a_sidecar_that_is_a_dangling_link_is_named(tmp_path: Path) -> None:
    """A link that leads nowhere is an error at once, and nothing is made where it points to."""
    path = tmp_path / "x.lock"
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(StorageError, match=r"x\.lock: a symbolic link"), FlockLock(str(path), 0.0).hold():
        pytest.fail("held nothing")
    assert not (tmp_path / "nowhere").exists()


def test_the_portable_lock_of_a_platform_is_on_the_sidecar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no ``flock`` it still is the file that was named which is locked."""
    path = str(tmp_path / "l")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("ledger.locks.sys.platform", "win32")
        lock = default_lock(path, 0.0)
    with lock.hold(), pytest.raises(LockTimeout), FlockLock(path, 0.0).hold():
        pytest.fail("both hold the lock")
