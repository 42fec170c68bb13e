# ruff: noqa: PTH108, PTH119 - os.path strings, as in the rest of the package
"""Whether what starts go by is what the log gives: it is folded anew, and what differs is named and removed."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import islice

from msgspec import Struct

from ledger.files import is_there
from ledger.log import FileLog
from projections.world import World
from replay.archive import Damaged
from replay.blocklines import path_of
from replay.checkpoints import Checkpoint, find, read_whole
from replay.outlines import BLOCKS_NAME, are_right
from replay.stored import Held, only_of, take_in

__all__ = ["Rechecked", "recheck"]


class Rechecked(Struct, frozen=True):
    """What came of it.

    Attributes:
        held: how many checkpoints are what the log gives.
        removed: names of those that weren't, and of the outlines, if one wasn't; they are gone.
    """

    held: int = 0
    removed: tuple[str, ...] = ()


def recheck(log: FileLog) -> Rechecked:
    """Compare each checkpoint that would count with a fold of the log up to it, and each outline with its block.

    Nothing that is kept is trusted: texts are judged again. O(length of the log), or nothing where there is none.

    Args:
        log: the log.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    removed: list[str] = []
    if not are_right(log):
        with suppress(OSError):
            os.unlink(path_of(log.directory, BLOCKS_NAME))
        removed.append(BLOCKS_NAME)
    held, wrong = _checked(log)
    for one in wrong:
        with suppress(OSError):
            os.unlink(one.path)
        removed.append(os.path.basename(one.path))
    return Rechecked(held, tuple(removed))


def _checked(log: FileLog) -> tuple[int, list[Checkpoint]]:
    """How many checkpoints hold, and those that don't."""
    kept = sorted(find(log), key=lambda one: one.events)
    if not kept:
        return 0, []
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
    return len(right), [one for one in kept if one not in right and is_there(one.path)]


def _is_right(one: Checkpoint, held: Held) -> bool:
    """Whether a checkpoint holds a state."""
    try:
        return read_whole(one) == only_of(held, one.asked)
    except Damaged:
        return False
