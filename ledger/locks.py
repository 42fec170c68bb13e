# ruff: noqa: PTH116 - pathlib costs more at start-up than an append
"""The writers' lock: a sidecar file beside the log, never the log itself.

Locking the log would be a trap: some versions of ``filelock`` truncate the file they lock. On POSIX a plain
``flock`` of the sidecar is the fast path; ``filelock`` takes the same kernel lock on the same file, so each keeps
the other out. The kernel frees the lock when its holder dies, in whatever way: no lock is ever stale or stolen.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, Self

from ledger.errors import LockTimeout, storage_error
from ledger.files import close_file, open_private

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock

__all__ = ["FlockLock", "Lock", "PortableLock", "default_lock"]

_FIRST_PAUSE = 0.000_2
_LONGEST_PAUSE = 0.005
_ROUNDS = 100
"""How often a sidecar that was replaced while it was locked is opened anew."""


class Lock(Protocol):
    """A lock between processes that can be taken again and again."""

    def hold(self) -> AbstractContextManager[None]:
        """Take the lock for a ``with`` block.

        Raises:
            LockTimeout: if another process held it all the time.
            StorageError: if the sidecar can't be made or opened.
        """
        ...

    def close(self) -> None:
        """Let go of the sidecar's descriptor; the lock can be used again all the same."""
        ...


class FlockLock:
    """POSIX: ``flock`` on a sidecar whose descriptor is kept between uses.

    Args:
        path: the sidecar.
        timeout: seconds to wait for another process.
    """

    def __init__(self, path: str, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._descriptor = -1
        self._status: os.stat_result
        self._process = -1

    def hold(self) -> Self:
        """Take the lock; see ``Lock``."""
        return self

    # A context manager by hand, in one piece: every append enters it, and behind a sync, when the processor has
    # forgotten all, each further call and generator shows.
    def __enter__(self) -> None:
        deadline = time.monotonic() + self._timeout
        pause = _FIRST_PAUSE
        rounds = _ROUNDS
        while rounds:
            try:
                # A forked child shares the open file with its parent, and so would share the lock: it opens its own.
                if self._process != os.getpid():
                    self._open()
                flock(self._descriptor, LOCK_EX | LOCK_NB)
                # Checked after locking: if someone removed or replaced the sidecar before we had it, another process
                # may hold the new one while we hold the old one, and both would write.
                if self._is_current():
                    return
                self.close()
                rounds -= 1
            except (BlockingIOError, InterruptedError):
                if time.monotonic() >= deadline:
                    raise LockTimeout(self._path, self._timeout) from None
                time.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
            except OSError as error:
                self.close()
                raise storage_error(error, self._path) from error
        # A name that never agrees with its file (some network systems) ends like a lock that is never free. Counted
        # and not timed: who waits for nobody must still get past a sidecar that was replaced once.
        raise LockTimeout(self._path, self._timeout)

    def __exit__(self, *_: object) -> None:
        try:
            flock(self._descriptor, LOCK_UN)
        except OSError:
            self.close()  # frees the lock too; an error here would say that what was written under it was not

    def close(self) -> None:
        """Let go of the descriptor, and of the lock with it; see ``Lock``."""
        descriptor, self._descriptor, self._process = self._descriptor, -1, -1
        if descriptor >= 0:
            close_file(descriptor)

    def _open(self) -> None:
        self.close()
        self._descriptor = open_private(self._path, os.O_RDWR)
        self._status = os.fstat(self._descriptor)
        self._process = os.getpid()

    def _is_current(self) -> bool:
        # The open descriptor keeps the file's number from being given again, so its status need be asked for once.
        try:
            return os.path.samestat(os.stat(self._path), self._status)
        except FileNotFoundError:
            return False


class PortableLock:
    """Any platform: the ``filelock`` package, imported when it is first used because it costs more than an append.

    Args:
        path: the sidecar.
        timeout: seconds to wait for another process.
    """

    def __init__(self, path: str, timeout: float) -> None:
        self._path = path
        self._timeout = timeout

    @contextmanager
    def hold(self) -> Generator[None]:
        """Take the lock; see ``Lock``."""
        from filelock import FileLock, Timeout  # noqa: PLC0415 - start-up must not pay for it

        lock = FileLock(self._path, timeout=self._timeout, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            raise LockTimeout(self._path, self._timeout) from None
        except OSError as error:
            raise storage_error(error, self._path) from error
        try:
            yield
        finally:
            lock.release()

    def close(self) -> None:
        """Nothing is kept between uses."""


def default_lock(path: str, timeout: float) -> Lock:
    """The cheapest lock of this platform on the sidecar ``path``, waiting at most ``timeout`` seconds."""
    if sys.platform == "win32":
        return PortableLock(path, timeout)
    return FlockLock(path, timeout)
