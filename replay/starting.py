# ruff: noqa: PTH116 - pathlib costs more than the look
"""What a session start asks of a log, from the latest checkpoint and the events behind it (DESIGN 6)."""

from __future__ import annotations

import os
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import TypeVar

from ledger.codec import UNREADABLE
from ledger.log import FileLog
from projections.prompts import PromptState, RenderedPrompts
from replay.archive import Damaged
from replay.checkpoints import Checkpoint, find, is_covered
from replay.kept import KeptFacts
from replay.positions import note_session, session_sources
from replay.stored import prompts_of

__all__ = ["from_latest", "with_blocks", "with_names"]

T = TypeVar("T")


def with_blocks(log: FileLog, only: AbstractSet[str], use: Callable[[PromptState], T]) -> T:
    """What is made of memory and frozen blocks at the end of a log.

    What the checkpoint holds of old events is looked up when ``use`` asks for it, so the costs don't grow with the
    ledger. If that turns out to be damaged, ``use`` is called again, with a state from further back.

    Args:
        log: the log.
        only: sources of the sessions whose blocks are asked for.
        use: makes something of the state, which is what a fold of the whole log gives, and keeps nothing of it.

    Raises:
        LedgerNotFound: if the log isn't there.
        StorageError: if the system can't read it.
    """

    def go_on(one: Checkpoint) -> tuple[T] | None:
        state = PromptState(one.parts.memory(), prompts_of(one.parts.prompts(), only))
        if not is_covered(only, one.asked, one.parts.table("seen"), state.memory.subagents):
            return None
        RenderedPrompts(only, KeptFacts(log.directory, one.facts)).run(state, log.reader(one.cursor))
        return (use(state),)

    made = from_latest(log, go_on)
    if made is not None:
        return made[0]
    from projections.protocol import fold
    from replay.outlines import by_blocks

    return use(fold(RenderedPrompts(only, KeptFacts(log.directory)), by_blocks(log)))


def with_names(log: FileLog, use: Callable[[dict[str, str]], T]) -> T:
    """What is made of the session ids of a log and the source of each (``replay.positions.session_sources``).

    Args:
        log: the log.
        use: as for ``with_blocks``.

    Raises:
        LedgerNotFound: if the log isn't there.
        StorageError: if the system can't read it.
    """

    def go_on(one: Checkpoint) -> tuple[T]:
        names = one.parts.table("names")
        for event in log.reader(one.cursor):
            note_session(names, event)
        return (use(names),)

    made = from_latest(log, go_on)
    return use(session_sources(log.read())) if made is None else made[0]


def from_latest(log: FileLog, go_on: Callable[[Checkpoint], tuple[T] | None]) -> tuple[T] | None:
    """What comes of the latest checkpoint of which something comes; None without one.

    Args:
        log: the log.
        go_on: makes it; None where the checkpoint doesn't have what is asked for. It keeps nothing of its state.
    """
    before = _file(log)
    for one in find(log):
        try:
            made = go_on(one)
        except (Damaged, *UNREADABLE):
            continue
        if made is not None and _file(log) == before:  # else it was replaced meanwhile, as by a purge
            return made
    return None


def _file(log: FileLog) -> tuple[int, int] | None:
    try:
        status = os.stat(log.path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
