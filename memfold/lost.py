# ruff: noqa: PTH118 - os.path strings, as in ``memfold.paths``
"""A ledger whose log is gone or emptied: what shows that there was one, and the copies that bring it back."""

from __future__ import annotations

import os
from shlex import quote

from ledger.copies import digest_log, log_at
from ledger.events import LedgerCreated
from ledger.files import is_empty, is_there
from ledger.log import LOCK_SUFFIX, LOG_NAME
from ledger.reader import Reader
from ledger.trust import DERIVED
from ledger.writer import QUARANTINE
from memfold.backups import Backup, Manifest, backups_folder, known_backups, read_backup, trouble_of
from memfold.cli.words import plural
from memfold.errors import DataError
from projections.text.clean import decode

__all__ = ["bare_copy", "begun_anew", "had_a_log", "newest_backup", "what_is_left"]

_TRACES = (DERIVED, QUARANTINE)
"""What stands in a ledger's folder only after its first event was written."""


def had_a_log(directory: str) -> bool:
    """Whether a folder without a log, or with an empty one, holds what only a ledger leaves."""
    log = os.path.join(directory, LOG_NAME)
    if is_empty(log):  # a lock stands beside it where a process was killed before it wrote the first event
        traces: tuple[str, ...] = _TRACES
    elif not is_there(log):
        traces = (LOG_NAME + LOCK_SUFFIX, *_TRACES)
    else:
        return False
    return any(is_there(os.path.join(directory, name)) for name in traces)


def newest_backup(data: str, key: str) -> Backup | None:
    """The latest backup that can be restored; None if none can."""
    return next((one for one in map(read_backup, reversed(known_backups(data, key))) if not trouble_of(one)), None)


def what_is_left(directory: str, data: str, key: str, named: str = "") -> tuple[str, str] | None:
    """What a person is told where there is no log, or an empty one, and what to do.

    None where nothing says that there ever was another one.

    Args:
        directory: the ledger's folder.
        data: the data folder.
        key: the workspace's key.
        named: the options that name the ledger in a command, with a space before them.

    Raises:
        LedgerError: if the system doesn't let us look for copies.
    """
    count = len(known_backups(data, key))
    if not count and not had_a_log(directory):
        return None
    how = "empty" if is_empty(os.path.join(directory, LOG_NAME)) else "gone"
    gone = f"the log of the ledger in {decode(directory)} is {how}"
    if not count:
        anew = f"to begin anew, move that folder away: mv {quote(decode(directory))} {quote(decode(directory))}.gone"
        return f"{gone}, and no backup is known", f"memfold restore-backup PATH{named} with a copy of yours; {anew}"
    message = f"{gone}; there {'is' if count == 1 else 'are'} {plural(count, 'backup')}"
    newest = newest_backup(data, key)
    if newest is None:
        return f"{message}, none of them whole", f"memfold backup --list{named}"
    folder, name = os.path.split(newest.folder)
    shown = name if folder == backups_folder(data, key) else quote(decode(newest.folder))
    return message, f"memfold restore-backup {shown}{named}"


def begun_anew(ledger: str, data: str, key: str) -> int:
    """How many backups there are, where all of them are of another ledger than the present one; else 0.

    Args:
        ledger: its id; empty where the log has lost its first event, and nothing can be said.
        data: the data folder.
        key: the workspace's key.

    Raises:
        LedgerError: if the system doesn't let us look for copies.
    """
    manifests = [one.manifest for one in map(read_backup, known_backups(data, key)) if one.manifest is not None]
    return len(manifests) if ledger and all(one.ledger not in ("", ledger) for one in manifests) else 0


def bare_copy(copy: str) -> Manifest:
    """What a copy without a manifest is, from its log alone: nothing says whether it is whole.

    Args:
        copy: a folder with a log, or a log.

    Raises:
        DataError: if it doesn't begin as a ledger does, so that nobody can tell whose it is.
        LedgerError: if it can't be read.
    """
    log = log_at(copy)
    first = next(iter(Reader(log)), None)
    if not isinstance(first, LedgerCreated):
        raise DataError(f"{decode(copy)} can't be restored: its log has no beginning")
    made, of = digest_log(copy), first.data
    events, last = 0, first.time
    for event in Reader(log):
        events, last = events + 1, event.time or last
    return Manifest(
        version=1,
        created=last or "",  # when it was made, nobody has noted: it is of the time of its last event
        ledger=of.ledger,
        root=of.root,
        key=of.key,
        events=events,
        size=made.size,
        digest=made.digest,
    )
