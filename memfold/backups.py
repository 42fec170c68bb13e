# ruff: noqa: PTH100, PTH101, PTH102, PTH106, PTH112, PTH113, PTH116, PTH118, PTH119, PTH120, PTH123, PTH208 - os.path strings, as in ``memfold.paths``
"""Backups: whole copies of a ledger with a manifest; those made elsewhere are noted, so that a purge finds them.

``<data>/backups/<key>/<UTC stamp>/`` holds ``events.jsonl`` and ``manifest.json``, which is written last: a copy
without one is unfinished. ``<data>/backups/<key>/elsewhere.json`` names the folders of copies in other places;
where that note is damaged, nothing is written over it.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

import msgspec
from msgspec import Struct

from ledger.copies import LogCopy, copy_log, digest_log
from ledger.errors import LedgerError, storage_error
from ledger.events import LedgerCreated
from ledger.files import is_there, make_private_folder, open_regular
from ledger.log import LOG_NAME, FileLog
from ledger.times import format_time
from memfold.elsewhere import NOTE_NAME, add_to_note, read_note
from memfold.errors import DataError, NotFoundError
from memfold.hosts.installs import replace_file
from projections.text.clean import decode

__all__ = [
    "MANIFEST_NAME",
    "Backup",
    "Manifest",
    "backups_folder",
    "find_backup",
    "known_backups",
    "make_backup",
    "note_trouble",
    "noted_elsewhere",
    "read_backup",
    "require_backup",
    "require_note",
    "seal",
    "trouble_of",
]

MANIFEST_NAME = "manifest.json"
_LIMIT = 1 << 20
_PRIVATE = 0o600
_VERSION = 1
_TRIES = 100


class Manifest(Struct, frozen=True):
    """What a copy is of.

    Attributes:
        version: of the manifest's form.
        created: when the copy was made.
        ledger: id of the ledger.
        root: real path of its workspace.
        key: the workspace's key.
        events: number of events.
        size: bytes of the log.
        digest: SHA-256 of the log, in hex.
    """

    version: int
    created: str
    ledger: str
    root: str
    key: str
    events: int
    size: int
    digest: str


class Backup(Struct, frozen=True):
    """A copy: its folder, and its manifest, or what is wrong with that."""

    folder: str
    manifest: Manifest | None
    trouble: str = ""


def backups_folder(data: str, key: str) -> str:
    """Where the backups of a workspace are."""
    return os.path.join(data, "backups", key)


def make_backup(
    directory: str, data: str, key: str, *, now: int, to: str | None = None, locked: bool = False
) -> Backup:
    """Copy a ledger under its lock.

    Args:
        directory: the ledger's folder.
        data: the data folder.
        key: the workspace's key.
        now: the present time in milliseconds; it names the copy.
        to: a folder to make the copy in, instead of the workspace's own; it is noted first.
        locked: whether the caller holds the ledger's lock already.

    Raises:
        LedgerError: if the log can't be read or the copy not be written.
        DataError: if the copy can't be noted, since the note is damaged; none is made then.
    """
    own = backups_folder(data, key)
    if to is not None:
        require_note(data, key)
    try:
        place = _new_folder(own if to is None else os.path.abspath(to), now)
        if to is not None:
            make_private_folder(own)
            add_to_note(own, place)
    except OSError as error:
        raise storage_error(error, error.filename or own) from error
    try:
        copy = copy_log(directory, os.path.join(place, LOG_NAME), locked=locked)
    except BaseException:
        with suppress(OSError):
            os.rmdir(place)
        raise
    return seal(place, copy, created=format_time(now))


def seal(folder: str, copy: LogCopy | None = None, *, created: str | None = None) -> Backup:
    """Write the manifest of a copy, again where the copy was rewritten, as by a purge.

    Args:
        folder: of the copy.
        copy: what it is, if that is known.
        created: when it was made; by default what the manifest says.

    Raises:
        LedgerError: if it can't be read or written.
    """
    copy = copy or digest_log(folder)
    log = FileLog.open(folder, own=False)
    first = next(log.read(), None)
    of = first.data if isinstance(first, LedgerCreated) else None
    earlier = read_backup(folder).manifest
    manifest = Manifest(
        version=_VERSION,
        created=created or ("" if earlier is None else earlier.created),
        ledger="" if of is None else of.ledger,
        root="" if of is None else of.root,
        key="" if of is None else of.key,
        events=log.size(),
        size=copy.size,
        digest=copy.digest,
    )
    path = os.path.join(folder, MANIFEST_NAME)
    try:
        replace_file(path, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n", mode=_PRIVATE)
    except OSError as error:
        raise storage_error(error, path) from error
    return Backup(folder, manifest)


def known_backups(data: str, key: str) -> tuple[str, ...]:
    """The folders of all copies of a ledger that are known and there, finished or not: the oldest first.

    One that can't be looked at is there: a purge that passed it over would say that no copy holds a text.

    Raises:
        LedgerError: if the system doesn't let us look for them.
    """
    own = backups_folder(data, key)
    here = [os.path.join(own, name) for name in _listed(own)]
    folders = [*here, *read_note(own).folders]
    return tuple(sorted((path for path in folders if _may_be_folder(path)), key=os.path.basename))


def noted_elsewhere(data: str, key: str) -> tuple[str, ...]:
    """The folders of copies that were made in other places, there or not; of a damaged note, those that can be read."""
    return read_note(backups_folder(data, key)).folders


def note_trouble(data: str, key: str) -> tuple[str, str] | None:
    """What is wrong with the note of copies in other places, and what to do about it; None if nothing is."""
    own = backups_folder(data, key)
    if not (trouble := read_note(own).trouble):
        return None
    path = decode(os.path.join(own, NOTE_NAME))
    return (
        f"the note of the copies that were made elsewhere {trouble}, so some of them may not be known: {path}",
        "put it right, it lists their folders; or move it away, and purge in those copies yourself or delete them",
    )


def require_note(data: str, key: str) -> None:
    """Refuse what needs to know all copies, or writes the note, where that is damaged.

    Raises:
        DataError: with the file, and what to do about it.
    """
    if (trouble := note_trouble(data, key)) is not None:
        raise DataError(f"nothing was done: {trouble[0]}", trouble[1])


def find_backup(data: str, key: str, name: str) -> str:
    """The folder that a person means: a path, that of the log or manifest in it, or the name of one of the copies.

    A folder with a log and no manifest is meant too, and so is a log under any name.

    Raises:
        NotFoundError: if there is none.
    """
    path = os.path.abspath(name)
    known = {os.path.basename(folder): folder for folder in known_backups(data, key)}
    places = [place for place in (path, os.path.dirname(path), known.get(name, "")) if place]
    sealed = (place for place in places if is_there(os.path.join(place, MANIFEST_NAME)))
    bare = (place for place in places if os.path.isfile(os.path.join(place, LOG_NAME)))
    for found in (*sealed, *bare, *([path] if os.path.isfile(path) else [])):
        return found
    if os.path.isdir(path):
        raise NotFoundError(f"{decode(path)} is no copy of a ledger: it holds no {LOG_NAME}", "memfold backup --list")
    raise NotFoundError(f"there is no backup {decode(name)}", "memfold backup --list")


def read_backup(folder: str) -> Backup:
    """A copy with its manifest, which may be missing or damaged."""
    try:
        manifest = msgspec.json.decode(_read(os.path.join(folder, MANIFEST_NAME)), type=Manifest)
    except FileNotFoundError:
        return Backup(folder, None, "it has no manifest: it was never finished")
    except OSError as error:
        return Backup(folder, None, f"its manifest can't be read: {error.strerror or error}")
    except msgspec.MsgspecError:
        return Backup(folder, None, "its manifest is damaged")
    if manifest.version > _VERSION:
        return Backup(folder, manifest, "a newer release made it: upgrade memfold")
    return Backup(folder, manifest)


def trouble_of(backup: Backup) -> str:
    """What keeps a copy from being restored, after a look at all of it; empty if nothing does."""
    manifest = backup.manifest
    if backup.trouble or manifest is None:
        return backup.trouble
    try:
        copy = digest_log(backup.folder)
        if (copy.size, copy.digest) != (manifest.size, manifest.digest):
            return "its log isn't what the manifest says: it was changed or cut"
        first = next(FileLog.open(backup.folder, own=False).read(), None)
    except LedgerError as error:
        return str(error)
    return "" if isinstance(first, LedgerCreated) else "its log has no beginning"


def require_backup(folder: str) -> Manifest:
    """The manifest of a copy that can be restored.

    Raises:
        DataError: if it can't be.
    """
    backup = read_backup(folder)
    if trouble := trouble_of(backup):
        raise DataError(f"{decode(folder)} can't be restored: {trouble}")
    assert backup.manifest is not None  # noqa: S101 - else there is trouble
    return backup.manifest


def _new_folder(parent: str, now: int) -> str:
    """A folder of its own, named after the time."""
    make_private_folder(parent)
    stamp = format_time(now).replace("-", "").replace(":", "").replace(".", "")
    for number in range(_TRIES):
        path = os.path.join(parent, f"{stamp}-{number}" if number else stamp)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            continue
        os.chmod(path, 0o700)
        return path
    raise FileExistsError(17, "there are many backups of this moment", parent)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise storage_error(error, folder) from error


def _may_be_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError:
        return is_there(path)


def _read(path: str) -> bytes:
    with open(open_regular(path), "rb") as file:
        return file.read(_LIMIT)
