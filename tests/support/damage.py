"""A ledger of a thousand events of all kinds that sessions bring, to be damaged; and what a damaged one holds."""

from __future__ import annotations

import itertools
import os
import random
from itertools import islice
from pathlib import Path

from bench.ledgers import Mix, drafts
from ledger.codec import encode
from ledger.events import AnyEvent, Draft, LedgerCreated, LedgerCreatedData, UnknownEvent
from ledger.ids import MonotonicIds
from ledger.log import FileLog
from ledger.memory import MemoryLog
from ledger.source import OWN_SOURCE
from tests.support.logs import KEY, ROOT

__all__ = ["CONTENT", "EVENTS", "FULL", "LINES", "STARTS", "WHOLE"]

EVENTS = 1000
FULL = os.environ.get("MEMFOLD_DAMAGE") == "full"
"""Whether every place is tried (``make damage``), or a sample that takes seconds."""

_RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "ledgers"
_MADE = 1_797_000_000_000


def _events() -> list[AnyEvent]:
    """Synthetic history, then what recorded sessions of a real client brought, as one ledger."""
    recorded = [_draft(event) for folder in sorted(_RECORDED.iterdir()) for event in FileLog.open(folder).read()]
    late = [one for one in recorded if one is not None]
    ids = MonotonicIds(lambda: _MADE, random.Random(1000).randbytes)  # noqa: S311 - a fixed seed, no secret
    log = MemoryLog(ids)
    log.append([Draft(source=OWN_SOURCE, time=None, data=LedgerCreatedData(1, ids(), ROOT, KEY))])
    log.append(list(islice(drafts(seed=5, mix=Mix(tools=860, memories=80, session=60)), EVENTS - 1 - len(late))))
    log.append(late)
    return list(log.read())


def _draft(event: AnyEvent) -> Draft | None:
    if isinstance(event, UnknownEvent | LedgerCreated):
        return None
    return Draft(source=event.source, time=event.time, data=event.data, causationid=event.causationid)


WHOLE: list[AnyEvent] = _events()
"""The events before anything happened."""

LINES: list[bytes] = [encode(event) for event in WHOLE]
CONTENT = b"".join(LINES)
STARTS: list[int] = [0, *itertools.accumulate(len(line) for line in LINES)]
"""The byte at which each line begins, and the end of the last one."""
