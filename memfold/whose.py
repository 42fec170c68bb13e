"""Whose a ledger is, as its first event says."""

from __future__ import annotations

from ledger.errors import LedgerError
from ledger.events import LedgerCreatedData
from ledger.log import FileLog

__all__ = ["id_in", "root_in"]


def root_in(folder: str) -> str:
    """The workspace root that a ledger's first event names; empty where there is none, or none that can be read."""
    first = _created(folder)
    return "" if first is None else first.root


def id_in(folder: str) -> str:
    """The id of a ledger, as ``root_in``."""
    first = _created(folder)
    return "" if first is None else first.ledger


def _created(folder: str) -> LedgerCreatedData | None:
    try:
        first = FileLog.open(folder).created()
    except LedgerError:  # whoever needs the ledger meets the same refusal
        return None
    return None if first is None else first.data
