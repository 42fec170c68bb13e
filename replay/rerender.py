"""Whether hosts were given what the log gives today: each receipt's prompt is made again from its offset (SPEC 12).

A receipt is a fact: what was shown then. A block is a function of an offset: what today's code derives. Where the two
differ, one of four things has happened, and each of them can be told from the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from ledger.events import AnyEvent, LedgerErased, PolicySet, PromptRendered
from ledger.log import FileLog
from ledger.problems import DAMAGE, Kind, Problem
from ledger.source import split_source
from projections.facts import Known
from projections.hot.delivery import hot_due, system_due
from projections.hot.view import hot_view
from projections.policy import policy_digest, policy_from_document
from projections.prompts import block_digest
from projections.world import World, WorldState

__all__ = ["Cause", "Difference", "Rerendered", "rerender"]

Cause = Literal["purge", "damage", "policy", "version", "unknown"]

_SWITCHED_OFF = block_digest("")


class Difference(Struct, frozen=True):
    """A receipt that names another prompt than the log gives.

    Attributes:
        offset: of the receipt.
        session: who was given it; None for no session's.
        kind: ``workspace``, ``hot`` or ``delta``.
        position: offset that the prompt was made from.
        cause: ``purge``: a later purge took words out of it. ``damage``: events before it are lost. ``policy``: a
            policy before it means something else today. ``version``: another version of memfold made it.
            ``unknown``: none of these; then it is a mistake in memfold, or the receipt isn't true.
    """

    offset: int
    session: str | None
    kind: str
    position: int
    cause: Cause


class Rerendered(Struct, frozen=True):
    """What came of it: how many receipts there are, and those that differ, in file order."""

    receipts: int
    differences: tuple[Difference, ...] = ()


def rerender(log: FileLog, version: str, known: Known | None = None) -> Rerendered:
    """Make the prompt of every receipt again, and compare its digest.

    Args:
        log: the log.
        version: of the program that asks.
        known: facts at hand.

    Returns:
        What was found. Two passes over the log, one of them a whole fold.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    one = _Pass(log, version, known)
    differences = tuple(one.run())
    return Rerendered(one.receipts, differences)


class _Pass:
    """A fold that stops at the offsets that receipts name."""

    def __init__(self, log: FileLog, version: str, known: Known | None) -> None:
        self._log, self._version = log, version
        self._world = World(known=known)
        self._wanted: dict[int, list[PromptRendered]] = {}
        self._made: dict[str, frozenset[str]] = {}
        self._purged = -1
        self._lost = self._odd = False
        self.receipts = 0

    def run(self) -> Iterator[Difference]:
        """The differences, in file order."""
        for event in self._log.read():
            self._look(event)
        state = self._world.copy(self._world.initial())
        for record in self._log.scan():
            if isinstance(record.item, Problem):
                self._lost |= record.item.kind in DAMAGE or record.item.kind is Kind.SEQ_GAP
                continue
            event = record.item
            if isinstance(event, PolicySet):
                self._odd |= policy_digest(policy_from_document(event.data.policy)) != event.data.digest
            if isinstance(event, PromptRendered):
                self.receipts += 1
                if not self._is_same(event, state):
                    yield self._difference(event)
            self._world.step(state, event)
            for receipt in self._wanted.pop(event.seq, ()):
                self._made[receipt.id] = frozenset(_hot_digests(state, receipt))

    def _look(self, event: AnyEvent) -> None:
        if isinstance(event, LedgerErased):
            self._purged = event.seq
        elif isinstance(event, PromptRendered) and event.data.kind != "workspace":
            self._wanted.setdefault(event.data.position, []).append(event)

    def _is_same(self, receipt: PromptRendered, state: WorldState) -> bool:
        data = receipt.data
        if data.kind != "workspace":
            return data.digest in self._made.pop(receipt.id, frozenset())
        epochs = state.prompts.epochs.get(receipt.source, ())
        digests = {epoch.digest for epoch in epochs if epoch.offset == data.epoch}
        return data.digest in digests or data.digest == _SWITCHED_OFF

    def _difference(self, receipt: PromptRendered) -> Difference:
        data = receipt.data
        return Difference(receipt.seq, split_source(receipt.source)[1], data.kind, data.position, self._cause(receipt))

    def _cause(self, receipt: PromptRendered) -> Cause:
        if self._purged > receipt.seq:
            return "purge"
        if self._lost:
            return "damage"
        if self._odd:
            return "policy"
        return "version" if receipt.data.program not in ("", self._version) else "unknown"


def _hot_digests(state: WorldState, receipt: PromptRendered) -> Iterator[str]:
    """Digests of what a session could be given of its hot state at a position: the whole, a change, nothing left."""
    source, instance = receipt.source, receipt.data.instance
    for part in (hot_due(state, source, instance), system_due(state, source, instance)):
        if part is not None:
            yield block_digest(part.text)
    yield block_digest(hot_view(state, source).text)
