# ruff: noqa: PTH108, PTH119 - os.path strings, as in the rest of the package
"""Whether checkpoints are what the log gives: it is folded anew, and one that differs is named and removed."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import islice

from msgspec import Struct

from ledger.files import is_there
from ledger.log import FileLog
from projections.world import World
from replay.archive import Damaged
from replay.checkpoints import Checkpoint, find, read_whole
from replay.stored import Held, only_of, take_in

__all__ = ["Rechecked", "recheck"]


class Rechecked(Struct, frozen=True):
    """What came of it.

    Attributes:
        held: how many checkpoints are what the log gives.
        removed: names of those that weren't; they are gone.
    """

    held: int = 0
    removed: tuple[str, ...] = ()


def recheck(log: FileLog) -> Rechecked:
    """Compare each checkpoint that would count with a fold of the log up to it.

    Nothing that is kept is trusted: texts are judged again. O(length of the log), or nothing where there is none.

    Args:
        log: the log.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    kept = sorted(find(log), key=lambda one: one.events)
    if not kept:
        return Rechecked()
    world = World({source for one in kept for source in one.asked})
    held = Held(world.initial(), (), {}, {}, {})
    events = iter(log.reader())
    right: list[Checkpoint] = []
    count = 0
    for one in kept:
        take_in(held, world, islice(events, one.events - count))
        count = one.events
        if _is_right(one, held):
            right.append(one)
    total = count + sum(1 for _ in events)
    right = [one for one in right if one.events + sum(1 for _ in log.reader(one.cursor)) == total]
    # One that a writer has pruned since it was listed is no finding.
    wrong = [one for one in kept if one not in right and is_there(one.path)]
    for one in wrong:
        with suppress(OSError):
            os.unlink(one.path)
    return Rechecked(len(right), tuple(os.path.basename(one.path) for one in wrong))


def _is_right(one: Checkpoint, held: Held) -> bool:
    """Whether a checkpoint holds a state."""
    try:
        return read_whole(one) == only_of(held, one.asked)
    except Damaged:
        return False
