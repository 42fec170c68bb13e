# ruff: noqa: PTH118, PTH120 - os.path strings, as in ``memfold.paths``
"""Which memories of a vanished folder a workspace may go on from, and which of them were taken over already."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import cache

from msgspec import Struct

from ledger.errors import LedgerError
from ledger.events import FileImported
from ledger.log import FileLog
from ledger.times import parse_time
from memfold.cli.documents.health import FormerPart
from memfold.cli.export import created_in, document_of
from memfold.ledgers import Former, known_ledgers, moved_from, take_over
from memfold.paths import is_project
from projections.text.clean import decode
from replay.state import state_of

__all__ = ["Exported", "exported", "former_parts", "told", "took_over"]

_FOLDER = "workspaces"


class Exported(Struct, frozen=True):
    """What an export of a whole ledger holds.

    Attributes:
        digest: SHA-256 of its bytes, which an import of it records.
        memories: how many are in it.
        ends: time of the last event, in milliseconds since the epoch; 0 if none has one.
    """

    digest: str
    memories: int
    ends: int


def exported(folder: str) -> Exported | None:
    """The export of a ledger as it stands; None if it can't be read. Costs a fold of it."""
    try:
        log = FileLog.open(folder)
        world = state_of(log, frozenset())
        document = document_of(world, created_in(log, ""))
    except LedgerError:
        return None
    return Exported(hashlib.sha256(document.data).hexdigest(), document.memories, world.memory.now)


def took_over(folder: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Digests of the files that were imported anywhere, and the root of a workspace that did. Reads all ledgers.

    Args:
        folder: that of all ledgers.
        environ: the environment.
    """
    found: dict[str, str] = {}
    for one in known_ledgers(folder, environ):
        if one.state != "gone":
            found |= dict.fromkeys(_imported(one.folder), one.root)
    return found


def former_parts(root: str, ledger: str, environ: Mapping[str, str]) -> tuple[FormerPart, ...]:
    """Workspaces that this one may have been before it was renamed or moved, the likeliest first (SPEC 1.6).

    One that was written to after this one began has been another; and one whose memories were imported, here or
    elsewhere, or that has none, has nothing left to be taken over.

    Args:
        root: root of the workspace.
        ledger: folder of its ledger, which need not be there.
        environ: the environment.

    Returns:
        None of them where no folder is gone that it may have been. It costs a look into each ledger, and a fold of
        those that it may be.
    """
    folder, name = os.path.split(os.path.dirname(ledger))
    if name != _FOLDER or not root or not is_project(root, environ):
        return ()
    folder = os.path.join(folder, name)
    return tuple(_left(moved_from(root, folder, environ), folder, _begin(ledger), environ))


def _left(formers: list[Former], folder: str, begin: int | None, environ: Mapping[str, str]) -> Iterator[FormerPart]:
    taken = cache(lambda: took_over(folder, environ))
    for one in formers:
        found = exported(one.folder)
        is_later = found is not None and begin is not None and found.ends > begin
        if found is None or is_later or not found.memories or found.digest in taken():
            continue
        yield FormerPart(decode(one.root), one.why, found.memories, take_over(one.root))


def told(formers: tuple[FormerPart, ...]) -> str:
    """What a person is told of them, without the command that takes the first one over; empty if there is none."""
    if not formers:
        return ""
    first, *others = (f"{one.workspace} ({one.why}; {one.memories:,} to take over)" for one in formers)
    return f"this may have been {first} before" + "".join(f", or {other}" for other in others)


def _begin(ledger: str) -> int | None:
    """When a ledger was made, in milliseconds since the epoch; None if there is none, or it doesn't tell."""
    try:
        first = next(FileLog.open(ledger).read(), None)
    except LedgerError:
        return None
    return None if first is None else parse_time(first.time)


def _imported(folder: str) -> list[str]:
    try:
        return [event.data.digest for event in FileLog.open(folder).read() if isinstance(event, FileImported)]
    except LedgerError:
        return []
