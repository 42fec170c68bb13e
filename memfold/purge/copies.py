# ruff: noqa: PTH118 - os.path strings, as in ``memfold.paths``
"""Backups without the texts of a choice: each is a log of its own, rewritten in the same way (SPEC 15.4)."""

from __future__ import annotations

import os

from msgspec import Struct
from msgspec.structs import replace

from ledger.errors import LedgerError
from ledger.files import is_there, require_no_link
from ledger.ids import MonotonicIds
from ledger.log import LOG_NAME
from ledger.reader import Reader
from ledger.rewrite import rewrite
from memfold.backups import read_backup, seal, trouble_of
from memfold.errors import DataError
from memfold.purge.log import LogEraser
from projections.erasure.texts import Choice, choose, history_of
from projections.text.clean import decode

__all__ = ["Copy", "erase_copy", "look_at_copy"]


class Copy(Struct, frozen=True):
    """A backup that holds one of the texts.

    Attributes:
        folder: where it is.
        choice: the texts that go from it.
        changed: number of its events that change.
    """

    folder: str
    choice: Choice
    changed: int


def look_at_copy(folder: str, choice: Choice, key: str) -> Copy | None:
    """What has to go from a backup; None if it holds nothing of it.

    Args:
        folder: of the backup; one that was never finished counts too.
        choice: the texts that go from the ledger. A copy that hasn't seen what came later may say less, or more.
        key: the key of their digests.

    Raises:
        DataError: if it can't be read or done without.
    """
    path = os.path.join(folder, LOG_NAME)
    if not is_there(path):
        return None
    try:
        require_no_link(path)
    except OSError as error:
        raise DataError(f"{decode(path)}: {error.strerror}", "put the log itself there, then purge again") from error
    try:
        history = history_of(Reader(path))
        own = choose(history, (), "keep" if choice.kept else "purge", choice.keys, choice.texts)
        own = replace(own, needles=own.needles.joined(choice.needles), kept=own.kept | choice.kept)
        eraser = LogEraser(own, key)
        eraser.rehearse(path)
    except LedgerError as error:
        raise DataError(f"the backup {decode(folder)} can't be read: {error}", "remove it, then purge again") from error
    changed = eraser.changed.total()
    return Copy(folder, own, changed) if changed else None


def erase_copy(copy: Copy, choice: Choice, key: str, *, reason: str, time: str | None) -> None:
    """Rewrite a backup, and its manifest if that was true before.

    Raises:
        LedgerError: if the system refused.
        MemfoldError: if more than the texts would change.
    """
    is_sound = not trouble_of(read_backup(copy.folder))
    eraser = LogEraser(copy.choice, key, reason=reason, time=time, digests=choice.digests(key))
    rewrite(os.path.join(copy.folder, LOG_NAME), eraser, new_id=MonotonicIds(), locked=True)
    if is_sound:
        seal(copy.folder)
