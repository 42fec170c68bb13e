"""All that ever happened to one memory: each event that touched it, with its words before and after (SPEC 15.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from ledger.events import AnyEvent
from ledger.log import FileLog
from ledger.runs import Run
from projections.facts import Known
from projections.histories import HistoryState, MemoryHistories, Step, Words
from projections.memory.model import Ref
from projections.protocol import fold
from replay.checkpoints import Checkpoint
from replay.kept import KeptFacts
from replay.outlines import by_blocks
from replay.positions import events_until
from replay.starting import from_latest

__all__ = ["Worded", "history_of", "with_history", "worded"]

T = TypeVar("T")


class Worded(NamedTuple):
    """A step, with the words of the memory before and behind it; None where it had none yet."""

    step: Step
    before: Words | None
    after: Words | None


def history_of(events: Iterable[AnyEvent | Run], ref: Ref, known: Known | None = None) -> tuple[Worded, ...]:
    """The steps of a memory or candidate, oldest first. One fold of the log.

    Args:
        events: the log, up to the position that is asked for.
        ref: the candidate that it was.
        known: facts at hand.
    """
    return tuple(worded(fold(MemoryHistories(known), events).steps.get(ref, ())))


def with_history(log: FileLog, at: int | None, use: Callable[[HistoryState], T]) -> T:
    """What is made of memory, accounts and all histories at a position.

    At the end of the log this begins at a checkpoint, of which only what ``use`` asks for is read; see
    ``replay.starting``.

    Args:
        log: the log.
        at: the position, as an offset; None for the end.
        use: makes something of the state and keeps nothing of it.

    Raises:
        LedgerNotFound: if the log isn't there.
        StorageError: if the system can't read it.
    """

    def go_on(one: Checkpoint) -> tuple[T]:
        state = HistoryState(one.parts.memory(), one.parts.accounts(), one.parts.table("steps"))
        MemoryHistories(KeptFacts(log.directory, one.facts)).run(state, log.reader(one.cursor))
        return (use(state),)

    made = from_latest(log, go_on) if at is None else None
    if made is not None:
        return made[0]
    events = by_blocks(log) if at is None else events_until(log.read(), at)
    return use(fold(MemoryHistories(KeptFacts(log.directory)), events))


def worded(steps: Iterable[Step]) -> Iterator[Worded]:
    """The steps with words, which a step alone has where they changed."""
    before: Words | None = None
    for step in steps:
        after = step.words or before
        yield Worded(step, before, after)
        before = after
