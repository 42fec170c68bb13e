"""From drafts to lines: what every log does with a batch before it is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from msgspec import MsgspecError

from ledger.codec import TYPE_NAMES, decode, encode
from ledger.errors import InvalidDraft
from ledger.events import DATA_TO_EVENT, Draft, Event
from ledger.problems import Problem

__all__ = ["Stamped", "given_ids", "stamp"]

Stamped = tuple[list[Event], list[bytes]]
"""Events as a reader will see them, and the line of each."""


def given_ids(drafts: Sequence[Draft]) -> frozenset[str]:
    """Ids that the drafts bring along: only these can stand in the log already."""
    return frozenset(draft.id for draft in drafts if draft.id is not None)


def stamp(drafts: Sequence[Draft], next_seq: int, new_id: Callable[[], str], stored: frozenset[str]) -> Stamped:
    """Give each draft its seq and, if it has none, an id; leave out those whose id is ``stored`` or came before.

    Each line is read back before anything is written: what a log returns is exactly what its readers will see, and
    no writer can store a line that a reader refuses.

    Raises:
        InvalidDraft: if a draft can't be read back.
    """
    seen = set(stored)
    events: list[Event] = []
    lines: list[bytes] = []
    for draft in drafts:
        if draft.id in seen:
            continue
        event, line = _line(draft, next_seq + len(events), draft.id or new_id())
        seen.add(event.id)
        events.append(event)
        lines.append(line)
    return events, lines


def _line(draft: Draft, seq: int, event_id: str) -> tuple[Event, bytes]:
    cls = DATA_TO_EVENT[type(draft.data)]
    made = cast("Callable[..., Event]", cls)(  # the table pairs each payload with its event, a type checker can't
        specversion="1.0",
        id=event_id,
        source=draft.source,
        time=draft.time,
        seq=seq,
        subject=draft.subject,
        causationid=draft.causationid,
        data=draft.data,
    )
    try:
        line = encode(made)
    except (MsgspecError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidDraft(TYPE_NAMES[cls], str(error)) from error
    event = decode(line)
    if isinstance(event, cls):
        return event, line
    raise InvalidDraft(TYPE_NAMES[cls], event.message if isinstance(event, Problem) else "another type came back")
