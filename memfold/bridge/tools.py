"""The tools as a bridge offers them: definitions for the client, and calls over a ledger that may have to wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ledger.errors import LedgerError
from ledger.events import Draft, Event
from memfold.bridge.ledger import Ledger
from memfold.capture import Capture
from memfold.hosts.opencode_payloads import mapping, text
from memfold.tools.definitions import DEFINITIONS
from memfold.tools.operation_log import OperationLog
from memfold.tools.similar import SimilarTexts
from memfold.tools.tools import Tools
from projections.world import WorldState

__all__ = ["TRIES", "BridgeTools", "definitions"]

TRIES = 6
"""How often a call waits for another writer: the model waits longer than a hook may."""


def definitions() -> list[dict[str, object]]:
    """What a client is to offer to the model."""
    return [msgspec.to_builtins(one) for one in DEFINITIONS]


class BridgeTools:
    """Answers calls of the model, one after another.

    Args:
        ledger: the bridge's ledger.
        folder: the ledger's folder, where the log of operations is.
    """

    def __init__(self, ledger: Ledger, folder: str) -> None:
        self._store = _Patient(ledger)
        self._folder = folder
        self._texts = SimilarTexts()

    def answer(self, given: Mapping[str, object], *, time: str | None, logged: bool) -> str:
        """What the model reads as the result of one call."""
        log = OperationLog(self._folder) if logged else None
        result = Tools(self._store, log, self._texts).call(
            text(given.get("tool")),
            mapping(given.get("args")),
            session=text(given.get("sessionID")),
            call=text(given.get("callID")),
            time=time,
        )
        return result.text


class _Patient:
    """The bridge's ledger as a store of changes: what couldn't be stored is told, and waits (``memfold.editing``).

    Attributes:
        keeps: whether the change waits, or stands in the log. Where already the look before it failed, there is
            nothing to wait, and the model must not be told so.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.keeps = False
        self._ledger = ledger

    @property
    def capture(self) -> Capture:
        """What turns a change into drafts."""
        return self._ledger.capture

    def world(self, source: str | None = None) -> WorldState:
        """The state at the end of the log.

        Raises:
            LedgerError: if it can't be read.
        """
        world = self._ledger.world(source)
        if world is None:
            raise self._ledger.error or LedgerError("the ledger can't be read")
        return world

    def append(self, drafts: Sequence[Draft]) -> tuple[Event, ...]:
        """Store drafts for good, behind those that wait.

        Raises:
            LedgerError: if they have to wait.
        """
        self.keeps = True
        self._ledger.record(drafts, urgent=True, patience=TRIES)
        if self._ledger.error is not None:
            raise self._ledger.error
        return self._ledger.latest
