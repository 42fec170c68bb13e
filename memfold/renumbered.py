"""Ids are made by the fold: where lines were lost, or come again further down, memories have others than before."""

from __future__ import annotations

from collections.abc import Mapping

from memfold.cli.words import plural
from projections.memory.model import MemoryState, Ref

__all__ = ["ids_in", "renumbered", "renumbered_words"]

_SHOWN = 10


def ids_in(memory: MemoryState) -> dict[Ref, str]:
    """The id of each memory."""
    return {ref: entry.id for ref, entry in memory.entries.items()}


def renumbered(before: Mapping[Ref, str], after: Mapping[Ref, str]) -> dict[str, str]:
    """Former id → present id, of each memory that has another one now, in the order of the former ids."""
    moved = [(id_, after[ref]) for ref, id_ in before.items() if after.get(ref, id_) != id_]
    return dict(sorted(moved, key=lambda pair: (len(pair[0]), pair[0])))


def renumbered_words(moved: Mapping[str, str], since: str = "") -> str:
    """The sentence that tells of it."""
    pairs = [f"{before} is now {now}" for before, now in moved.items()]
    more = f", and {len(pairs) - _SHOWN:,} more" if len(pairs) > _SHOWN else ""
    whose = (
        "the id of 1 memory has" if len(pairs) == 1 else f"the ids of {plural(len(pairs), 'memory', 'memories')} have"
    )
    return f"{whose} changed{since}: {', '.join(pairs[:_SHOWN])}{more}"
