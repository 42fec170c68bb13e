# ruff: noqa: PTH108, PTH110, PTH116, PTH118, PTH120 - os.path strings, as in ``memfold.paths``
"""Checks of the ledger's folder: whose it is, whether it can be written, room, and the lock."""

from __future__ import annotations

import errno
import os
import secrets
import shlex
import stat
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress

from ledger.errors import LockTimeout, StorageError
from ledger.locks import default_lock
from ledger.log import LOCK_SUFFIX, LOG_NAME
from ledger.problems import KINDS, Kind
from ledger.trust import untrusted
from memfold.backups import note_trouble
from memfold.cli.words import plural
from memfold.doctor.model import Check, Scene
from memfold.lost import begun_anew, what_is_left
from memfold.paths import workspace_key
from memfold.whose import id_in

if sys.platform != "win32":
    import fcntl

__all__ = ["check_backups", "check_disk", "check_ledger", "check_lock"]

_LITTLE = 50 << 20
_LOCK_SECONDS = 0.5
_ADVICE = {
    errno.EROFS: "mount it for writing, or set dataDir to a folder that can be written",
    errno.ENOSPC: "make room on this disk",
    errno.EDQUOT: "make room in your quota of this disk",
    errno.EISDIR: "move that folder away",
}
_DATA_DIR = "set dataDir in your config.toml to a folder that is yours to write"


def check_backups(scene: Scene) -> Iterator[Check]:
    """Whether all copies are known that were made in other places: a purge has to find them."""
    if scene.ledger and (trouble := note_trouble(scene.data, workspace_key(scene.root or scene.ledger))) is not None:
        yield Check("backups", "warn", *trouble)


def check_ledger(scene: Scene) -> Iterator[Check]:
    """Where the ledger is, whose it is, and who else may read it."""
    if not scene.ledger:
        yield Check("ledger", "fail", *scene.trouble)
        return
    log = os.path.join(scene.ledger, LOG_NAME)
    key = workspace_key(scene.root or scene.ledger)
    left = None if os.path.lexists(log) else what_is_left(scene.ledger, scene.data, key, scene.named)
    if left is not None:
        yield Check("ledger", "fail", *left)
    elif not os.path.lexists(log) and not os.path.exists(scene.ledger):
        yield Check("ledger", "note", f"{scene.ledger} is not there yet: it is made with the first event")
        return
    paths = (scene.ledger, log, log + LOCK_SUFFIX)
    found = {path: status for path in paths if (status := _status(path)) is not None}
    if log in found and not stat.S_ISREG(found[log].st_mode):
        what = "a folder" if stat.S_ISDIR(found[log].st_mode) else "no regular file"
        yield Check("ledger", "fail", f"{log} is {what}: nothing can be read or stored", "move it away")
    elif log not in found:
        if left is None:
            yield Check("ledger", "note", f"{log} is not there yet: it is made with the first event")
    elif count := begun_anew(id_in(scene.ledger), scene.data, key):
        seen = f"{log} was begun anew: all that is in {plural(count, 'backup')} is of the ledger that was here before"
        action = f"memfold restore-backup{scene.named}, which keeps the present log; then memfold import with that"
        yield Check("ledger", "warn", seen, action)
    else:
        yield Check("ledger", "ok", f"{log}, {found[log].st_size:,} bytes")
    yield from _owners(scene, found)
    yield from _modes(scene, found)
    yield from _untrusted(scene)


def check_disk(scene: Scene) -> Iterator[Check]:
    """Whether something can be written beside the log, whether the log takes more, and how much room there is."""
    if not scene.ledger:
        return
    folder = _nearest(scene.ledger)
    trouble = _write_trouble(scene) if folder == scene.ledger else _access_trouble(folder)
    if trouble:
        yield Check("disk", "fail", *trouble)
        return
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if free == 0 or (status.f_files and status.f_favail == 0):
        yield Check("disk", "fail", f"the disk of {folder} is full", _ADVICE[errno.ENOSPC])
    elif free < _LITTLE:
        yield Check("disk", "warn", f"{free >> 20} MB are free on the disk of {folder}", _ADVICE[errno.ENOSPC])
    else:
        yield Check("disk", "ok", f"it can be written, {free / (1 << 30):,.1f} GB are free")


def check_lock(scene: Scene) -> Iterator[Check]:
    """Whether the writers' lock is free, and whether a lock keeps anyone out on this file system."""
    if not scene.is_there():
        return
    lock = os.path.join(scene.ledger, LOG_NAME + LOCK_SUFFIX)
    if sys.platform != "win32" and not _write_trouble(scene) and not _excludes(scene.ledger):
        seen = f"a lock on the file system of {scene.ledger} keeps nobody out, as on some network drives"
        yield Check("lock", "fail", seen, "set dataDir to a folder on a local disk")
        return
    if not os.path.exists(lock):  # taking it would make it
        yield Check("lock", "ok", "locks work here; nobody has needed this one yet")
        return
    taken = default_lock(lock, _LOCK_SECONDS)
    try:
        with taken.hold():
            pass
    except LockTimeout:
        holder = _holder(lock)
        seen = f"another process{f', {holder},' if holder else ''} has held {lock} for {_LOCK_SECONDS:g} s"
        yield Check("lock", "fail", seen, "wait for that process or end it; events wait in their bridge meanwhile")
    except StorageError as error:
        if not _write_trouble(scene):  # else the check of the disk has told it
            yield Check("lock", "fail", str(error), "change its permissions, or remove it while nothing runs")
    else:
        yield Check("lock", "ok", "free, and locks work here")
    finally:
        taken.close()


def _owners(scene: Scene, found: dict[str, os.stat_result]) -> Iterator[Check]:
    if sys.platform == "win32":
        return
    me = os.geteuid()
    foreign = [f"{path} belongs to user id {status.st_uid}" for path, status in found.items() if status.st_uid != me]
    if foreign:
        action = f"chown -R {me} {shlex.quote(scene.ledger)}, or {_DATA_DIR}"
        yield Check("owner", "fail", f"{foreign[0]}, and you are {me}", action, tuple(foreign[1:]))


def _modes(scene: Scene, found: dict[str, os.stat_result]) -> Iterator[Check]:
    if sys.platform == "win32":
        return
    wide = {path: mode for path, status in found.items() if (mode := stat.S_IMODE(status.st_mode)) & 0o077}
    if wide:
        details = tuple(f"{path} has mode {mode:04o}" for path, mode in wide.items())
        others = "write" if any(mode & 0o022 for mode in wide.values()) else "read"
        # Where anyone may write, nothing is read or stored (``ledger.trust``).
        anyone = any(mode & stat.S_IWOTH for mode in wide.values())
        seen = f"others than you may {others} the ledger"
        action = f"chmod -R go-rwx {shlex.quote(scene.ledger)}"
        yield Check("private", "fail" if anyone else "warn", seen, action, details)


def _untrusted(scene: Scene) -> Iterator[Check]:
    if found := [f"{path}: {reason}" for path, reason in untrusted(scene.ledger)]:
        _, action = KINDS[Kind.UNTRUSTED_FILE]
        yield Check("trust", "warn", f"not read: {found[0]}", action, tuple(found[1:]))


def _write_trouble(scene: Scene) -> tuple[str, str] | None:
    """Why nothing can be written, and what to do; the log is opened as for an append, and nothing is added."""
    place = os.path.join(scene.ledger, LOG_NAME)
    try:
        with suppress(FileNotFoundError):
            os.close(os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK))
        place = scene.ledger
        with _beside(place) as (_, descriptor):
            os.write(descriptor, b"\n")
    except OSError as error:
        return _said(error.errno or 0, place)
    return None


def _access_trouble(folder: str) -> tuple[str, str] | None:
    """The same for a folder in which others are to be made, without making one."""
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        return _said(errno.EROFS, folder)
    return None if os.access(folder, os.W_OK | os.X_OK) else _said(errno.EACCES, folder)


def _said(number: int, place: str) -> tuple[str, str]:
    status = _status(place) or _status(os.path.dirname(place))
    owner = f" (owner: user id {status.st_uid})" if status else ""
    advice = _ADVICE.get(number, f"change its permissions, or {_DATA_DIR}")
    return f"not stored: {place} can't be written: {os.strerror(number)}{owner}", advice


@contextmanager
def _beside(folder: str) -> Generator[tuple[str, int]]:
    """A file for a moment, with a name that nobody else has."""
    path = os.path.join(folder, f".memfold-doctor-{secrets.token_hex(8)}")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        yield path, descriptor
    finally:
        os.close(descriptor)
        os.unlink(path)


def _excludes(folder: str) -> bool:
    """Whether a lock on one descriptor keeps a second one out."""
    if sys.platform == "win32":
        return True
    with _beside(folder) as (path, first):
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        second = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(second)
    return False


def _holder(path: str) -> str:
    """The process that holds a lock on a file, as far as the kernel tells."""
    try:
        status = os.stat(path)
        place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        with open("/proc/locks", encoding="ascii", errors="replace") as table:  # noqa: PTH123 - no path of ours
            rows = [row.split() for row in table]
        number = next(row[4] for row in rows if len(row) > 5 and row[1] != "->" and row[5] == place)
        with open(f"/proc/{number}/comm", encoding="utf-8", errors="replace") as name:  # noqa: PTH123 - the same
            return f"number {number} ({name.read().strip()})"
    except (OSError, StopIteration):
        return ""


def _nearest(path: str) -> str:
    """The folder itself, or the nearest one above it that is there."""
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
