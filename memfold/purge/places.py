# ruff: noqa: PTH108, PTH112, PTH113, PTH114, PTH116, PTH118, PTH119, PTH120 - os.path strings, as in ``memfold.paths``
"""Files beside the log that may hold a purged text: what becomes of each, and how (SPEC 15.4)."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ledger.copies import RESTORE_NAME
from ledger.files import is_there, open_regular
from ledger.log import LOCK_SUFFIX, LOG_NAME
from ledger.rewrite import REWRITE_SUFFIX
from ledger.trust import DERIVED
from ledger.writer import QUARANTINE
from memfold.bridge.private_log import PRIVATE_LOG_NAME
from memfold.bridge.spool import SPOOL, is_spool_file
from memfold.hosts.installs import replace_file
from memfold.memory_file.disk import FOLDER
from memfold.tools.operation_log import OPERATION_LOG_NAME
from projections.erasure.needles import Needles

__all__ = ["Place", "clear", "project_files", "survey"]

Action = Literal["remove", "rewrite", "store", "tell"]

_STEM = LOG_NAME.partition(".")[0]
_CHUNK = 1 << 20
_PRIVATE = 0o600
_TRIES, _PAUSE = 50, 0.01
"""How often a folder is removed that others write to meanwhile, and how many seconds lie between."""


class Place(Struct, frozen=True):
    """A file or folder that holds a text, or may.

    Attributes:
        path: where it is.
        kind: what it is: ``derived``, ``quarantine``, ``spool``, ``log``, ``backup``, ``copy``, ``project``, ``other``.
        action: what a purge does: remove it, rewrite it, store the events that wait in it, which lose the text then, or
            only tell of it, since it is not memfold's to change.
    """

    path: str
    kind: str
    action: Action


def survey(folder: str, data: str, needles: Needles, handled: Iterable[str] = ()) -> tuple[Place, ...]:
    """All places below the data folder and the ledger's folder, but for the log itself and the copies of it.

    Args:
        folder: the ledger's folder.
        data: the data folder.
        needles: the texts.
        handled: folders that somebody else takes care of.

    A file that can't be read is told of, since nobody knows what it holds.
    """
    found: dict[str, Place] = {}
    for place in (*_own(folder, needles), *_logs(folder, data, needles), *_others(folder, data, needles, handled)):
        found.setdefault(os.path.realpath(place.path), place)
    return tuple(found.values())


def project_files(root: str, needles: Needles) -> tuple[str, ...]:
    """Files beside MEMORY.md that hold a text, in words of other people or as copies of an editor."""
    return tuple(path for path in _files(os.path.join(root, FOLDER)) if _holds(path, needles, loose=True))


def clear(places: Iterable[Place], needles: Needles) -> None:
    """Do what is to be done about each; what is gone already is no trouble.

    Raises:
        OSError: if the system refuses; those before it are done.
    """
    for place in places:
        with suppress(FileNotFoundError):
            if place.action == "rewrite":
                replace_file(place.path, _erased_log(_read(place.path), needles), mode=_PRIVATE)
            elif place.action == "remove" and os.path.isdir(place.path) and not os.path.islink(place.path):
                _remove_folder(place.path)
            elif place.action == "remove":
                os.unlink(place.path)


def _remove_folder(path: str) -> None:
    """Remove a folder with all in it, though other processes add to it and take from it meanwhile."""
    for _ in range(_TRIES):
        try:
            shutil.rmtree(path)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                raise
        if not os.path.lexists(path):
            return
        time.sleep(_PAUSE)
    # Not the last error: that a file of it was gone already would pass for the folder being gone.
    raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)


def _own(folder: str, needles: Needles) -> Iterator[Place]:
    """What is derived goes as a whole: whoever needs it computes it again. Of what was damaged, what holds a text."""
    if any(_files(derived := os.path.join(folder, DERIVED))):
        yield Place(derived, "derived", "remove")
    if is_there(restore := os.path.join(folder, RESTORE_NAME)):
        # Left by a kill, and it may hold anything. A restore that runs meanwhile fails, and changes nothing.
        yield Place(restore, "copy", "remove")
    for kind in (QUARANTINE, SPOOL):
        for path in _files(os.path.join(folder, kind)):
            if _holds(path, needles, in_part=True):
                waits = kind == SPOOL and is_spool_file(path)
                yield _unless_link(Place(path, kind, "store" if waits else "remove"))
            elif _holds(path, needles, loose=True):
                yield Place(path, kind, "tell")


def _logs(folder: str, data: str, needles: Needles) -> Iterator[Place]:
    for log in (os.path.join(folder, OPERATION_LOG_NAME), os.path.join(data, PRIVATE_LOG_NAME)):
        for path in (log, f"{log}.1"):
            if os.path.isfile(path) and _holds(path, needles, in_part=True):
                yield _unless_link(Place(path, "log", "rewrite"))
            if _holds(path, needles, loose=True):
                yield Place(path, "log", "tell")


def _unless_link(place: Place) -> Place:
    """A link is only told of: what it leads to would keep the text, were the link replaced or removed."""
    return replace(place, action="tell") if os.path.islink(place.path) else place


def _others(folder: str, data: str, needles: Needles, handled: Iterable[str]) -> Iterator[Place]:
    """Whatever else holds a text: copies that file synchronisation has made, ledgers of other workspaces."""
    log = os.path.join(folder, LOG_NAME)
    known = {os.path.realpath(path) for path in (log, log + LOCK_SUFFIX, log + REWRITE_SUFFIX)}
    apart = tuple(os.path.realpath(path) + os.sep for path in (os.path.join(folder, DERIVED), *handled))
    for path in dict.fromkeys((*_files(folder), *_files(data))):
        real = os.path.realpath(path)
        if real not in known and not real.startswith(apart) and _holds(path, needles, loose=True):
            is_copy = os.path.dirname(real) == os.path.realpath(folder) and os.path.basename(path).startswith(_STEM)
            yield Place(path, "copy" if is_copy else "other", "tell")


def _files(folder: str) -> Iterator[str]:
    """All files below a folder, and folders that can't be looked into."""
    closed: list[OSError] = []
    for place, _, names in os.walk(folder, onerror=closed.append):
        yield from (os.path.join(place, name) for name in sorted(names))
    yield from (error.filename or folder for error in closed if not isinstance(error, FileNotFoundError))


def _holds(path: str, needles: Needles, *, in_part: bool = False, loose: bool = False) -> bool:
    """Whether a file holds a text; read in pieces that overlap. True where nobody can tell.

    Args:
        path: the file.
        needles: the texts.
        in_part: whether a piece of one at the end of a line, or a short one between marks, is enough.
        loose: whether a short one among other words is.
    """
    overlap = needles.longest
    try:
        with open(path, "rb", opener=open_regular) as file:
            before = b""
            while chunk := file.read(_CHUNK):
                piece = before + chunk
                if needles.are_in_bytes(piece) or (in_part and _erased_log(piece, needles) != piece):
                    return True
                if loose and needles.may_be_in_bytes(piece):
                    return True
                before = piece[-overlap:] if overlap else b""
    except FileNotFoundError:
        return False
    except OSError:
        return _may_hold(path)
    return False


def _may_hold(path: str) -> bool:
    """Whether what can't be read may hold something: a pipe or a device doesn't."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _erased_log(data: bytes, needles: Needles) -> bytes:
    """A log for people without the texts, and without the beginning of one where a line was cut short."""
    return b"\n".join(map(needles.erased_torn, data.split(b"\n")))


def _read(path: str) -> bytes:
    with open(path, "rb", opener=open_regular) as file:
        return file.read()
