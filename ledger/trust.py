# ruff: noqa: PTH116, PTH120 - pathlib costs more at start-up than an append
"""Whose a ledger is: memories stand in prompts, so only the user who is served, or root, may have written them."""

from __future__ import annotations

import os
import shlex
import stat
import sys

from ledger.errors import UntrustedLedger

__all__ = ["require_own", "require_place"]


def require_own(folder: str, log: str) -> None:
    """Refuse a ledger whose folder or log belongs to another user, or may be written by anyone.

    What others may only read, or a group may write, is no reason to do without a memory: ``doctor`` warns of it.
    What isn't there, or can't be looked at, is for whoever opens it to say.

    Raises:
        UntrustedLedger: with the path, the owner or mode, and what to do.
    """
    for path in (folder, log):
        status = _status(path)
        if status is None:
            continue
        _require_owner(path, status, folder, {_me()})
        if stat.S_IMODE(status.st_mode) & stat.S_IWOTH:
            fix = f"look at what it holds, then chmod -R go-rwx {shlex.quote(folder)}"
            raise UntrustedLedger(path, f"anyone may write to it (mode {stat.S_IMODE(status.st_mode):04o})", fix)


def require_place(folder: str) -> None:
    """Refuse to make a ledger in another user's folder, as root would where it serves with that user's ``HOME``.

    Raises:
        UntrustedLedger: if the nearest folder that is there belongs to neither this user nor root.
    """
    place = folder
    while (status := _status(place)) is None and place != os.path.dirname(place):
        place = os.path.dirname(place)
    if status is not None:
        # A ledger that root makes there is one that the folder's owner can't write to.
        _require_owner(place, status, place, {_me(), 0})


def _require_owner(path: str, status: os.stat_result, folder: str, owners: set[int]) -> None:
    if sys.platform == "win32" or status.st_uid in owners:
        return
    fix = f"chown -R {_me()} {shlex.quote(folder)}, or set dataDir to a folder that is yours"
    raise UntrustedLedger(path, f"it belongs to user id {status.st_uid}, and you are user id {_me()}", fix)


def _me() -> int:
    return 0 if sys.platform == "win32" else os.geteuid()


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None
