"""The life of one torture writer: it appends, says so, and goes on until it is killed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import count
from random import Random
from typing import Any

from ledger.ids import uuid7
from ledger.log import FileLog
from tests.torture.texts import draft_of, new_title

__all__ = ["Delivery", "live"]

Delivery = tuple[tuple[str, str], ...]
"""Title and id of each event of one append."""

_CAREFUL, _SLOW, _DURABLE = 0.05, 0.4, 0.1
"""Shares of lives that bring ids along, of those whose disk takes pieces, and of those that sync."""
_TOLD = 0.3
"""How often a writer tells that it is writing."""
_PATIENCE = 120.0


def live(folder: str, name: str, random: Random, told: int, undelivered: Sequence[Delivery]) -> None:
    """Append until the end; only an error returns.

    Args:
        folder: the ledger's folder.
        name: of this life; no other one has it.
        random: decides what this writer does.
        told: where to say what happens, a line each: ``intends``, ``writes``, ``has``.
        undelivered: what an earlier life didn't come to say that it has stored; ids keep it from being stored twice.
    """
    say = _Voice(told, name)
    log = FileLog.open(folder, durability="memories" if random.random() < _DURABLE else "never", lock_timeout=_PATIENCE)
    if random.random() < _SLOW:
        os.write = _in_pieces(os.write, random, say)
    careful = random.random() < _CAREFUL  # rare: all others wait while the whole log is searched for an id
    for delivery in undelivered:
        log.append([draft_of(title, event_id) for title, event_id in delivery])
        for title, _ in delivery:
            say("has", title, "-1")  # where it stands, the dead life may have been told
    numbers = count()
    while True:
        titles = [new_title(name, next(numbers), random) for _ in range(random.choice((1, 1, 1, 3)))]
        ids = [uuid7(random.getrandbits(40), random.randbytes(10)) if careful else None for _ in titles]
        if careful:
            say("intends", *(f"{title}={event_id}" for title, event_id in zip(titles, ids, strict=True)))
        events = log.append([draft_of(title, event_id) for title, event_id in zip(titles, ids, strict=True)])
        for title, event in zip(titles, events, strict=True):
            say("has", title, str(event.seq))


class _Voice:
    """Says a line in one write, which a pipe takes whole; nobody listens any more once the harness is gone."""

    def __init__(self, descriptor: int, name: str) -> None:
        self._descriptor, self._name = descriptor, name
        self._write = os.write

    def __call__(self, *words: str) -> None:
        """Say it."""
        self._write(self._descriptor, " ".join((self._name, *words)).encode() + b"\n")


def _in_pieces(write: Callable[[int, Any], int], random: Random, say: _Voice) -> Callable[[int, Any], int]:
    """A disk that takes a write in pieces, and tells of it: so that kills fall between them."""

    def slow(descriptor: int, data: Any) -> int:
        whole = bytes(data)
        if random.random() < _TOLD:
            say("writes")
        return write(descriptor, whole[: random.randrange(len(whole)) + 1])

    return slow
