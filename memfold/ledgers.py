# ruff: noqa: PTH112, PTH113, PTH118, PTH202, PTH204, PTH208 - os.path strings, as in ``memfold.paths``
"""The ledgers of the data folder, and what became of the folders that they belong to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, NamedTuple

from ledger.log import LOG_NAME
from memfold.paths import is_project
from memfold.whose import root_in
from projections.text.clean import decode

__all__ = ["Former", "KnownLedger", "Whereabouts", "known_ledgers", "moved_from", "take_over"]

Whereabouts = Literal["there", "gone", "no project", "unknown"]
_SAME_NAME, _BESIDE = "it had the same name", "it was beside this folder"


class KnownLedger(NamedTuple):
    """One ledger.

    Attributes:
        folder: where it is.
        root: real path of its workspace when it was made; empty if it can't be read.
        state: whether that folder is there and a project; ``unknown`` without a root.
        size: bytes of its log.
        written: when the log was written last, in milliseconds since the epoch.
    """

    folder: str
    root: str
    state: Whereabouts
    size: int
    written: int


def known_ledgers(folder: str, environ: Mapping[str, str]) -> list[KnownLedger]:
    """All ledgers in a folder of ledgers, the one that was written last first. Costs a look into each.

    Args:
        folder: that of all ledgers, ``workspaces`` in the data folder; it need not be there.
        environ: the environment, which says what is no project (SPEC 1.6).
    """
    try:
        paths = [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return []
    found = [one for path in paths if (one := _look(path, environ)) is not None]
    return sorted(found, key=lambda one: (-one.written, one.folder))


class Former(NamedTuple):
    """A workspace whose folder is gone.

    Attributes:
        root: where it was.
        folder: where its ledger is.
        why: what makes it plausible that it is another one now.
    """

    root: str
    folder: str
    why: str


def moved_from(root: str, folder: str, environ: Mapping[str, str]) -> list[Former]:
    """Workspaces that this one may have been, before it was renamed or moved: gone, with its name or beside it.

    A guess for a person, who takes over what was remembered there or doesn't: a key is never made from a name
    (SPEC 1.6).

    Returns:
        The likeliest first: those with the same name, then those beside it, of each the one that was written last.
    """
    parent, name = os.path.split(root)
    gone = [one for one in known_ledgers(folder, environ) if one.state == "gone"]
    same = [Former(one.root, one.folder, _SAME_NAME) for one in gone if os.path.split(one.root)[1] == name]
    beside = [Former(one.root, one.folder, _BESIDE) for one in gone if os.path.split(one.root)[0] == parent]
    return same + beside


def take_over(old: str) -> str:
    """The command that takes the memories of another workspace into the one that it runs in, and leaves no file."""
    import shlex

    return f"memfold export --workspace {shlex.quote(decode(old))} | memfold import -"


def _look(folder: str, environ: Mapping[str, str]) -> KnownLedger | None:
    log = os.path.join(folder, LOG_NAME)
    try:
        size, written = os.path.getsize(log), int(os.path.getmtime(log) * 1000)
    except OSError:
        return None
    if not os.path.isfile(log):
        return None
    root = root_in(folder)
    return KnownLedger(folder, root, _whereabouts(root, environ), size, written)


def _whereabouts(root: str, environ: Mapping[str, str]) -> Whereabouts:
    if not root:
        return "unknown"
    if not os.path.isdir(root):
        return "gone"
    return "there" if is_project(root, environ) else "no project"
