# ruff: noqa: PTH108, PTH118, PTH208 - pathlib costs more than a look at a folder that isn't there
"""Events that can't be stored yet wait on disk too, in ``spool/``: whoever appends next stores them, once (DESIGN 4).

Each file holds lines as those of the log, with a ``seq`` that doesn't count, and is never changed: a process that has
more to keep writes another one first. So whoever stores what is in a file may remove it, and a kill at any moment
leaves each event in the log, in a file, or in both; its id tells that it is one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress

from msgspec.structs import replace

from ledger.codec import decode
from ledger.drafts import stamp
from ledger.errors import InvalidDraft
from ledger.events import (
    AnyEvent,
    Draft,
    Event,
    PromptRenderedData,
    SessionLinkedData,
    SessionMeasuredData,
    SessionStartedData,
    ToolCompletedData,
    UnknownEvent,
)
from ledger.files import close_file, make_private_folder, open_private_new, write_all
from ledger.ids import MonotonicIds
from ledger.problems import Problem
from ledger.times import parse_time
from ledger.trust import SPOOL, open_own
from projections.erasure.returning import Purged
from projections.policy import Context

__all__ = ["DISPENSABLE", "SPOOL", "Spool", "is_spool_file", "read_spool", "spooled", "without_purged"]

DISPENSABLE = (ToolCompletedData, SessionMeasuredData, PromptRenderedData)
"""What no memory hangs on."""

_ENDING = ".jsonl"


class Spool:
    """One process's end of a ledger's spool; a spool that can't be written keeps nothing, and disturbs nobody.

    Args:
        directory: the ledger's folder.
    """

    def __init__(self, directory: str) -> None:
        self._folder = os.path.join(directory, SPOOL)
        self._new_id = MonotonicIds()
        self._own: list[str] = []
        self._taken: list[str] = []
        self._kept: list[str | None] = []

    def keep(self, waiting: Sequence[Draft]) -> list[Draft]:
        """Keep what waits in this process, in place of what was kept before.

        Returns:
            The drafts, each with the id under which it has to be stored.
        """
        drafts = [draft if draft.id is not None else replace(draft, id=self._new_id()) for draft in waiting]
        ids = [draft.id for draft in drafts]
        if ids != self._kept:
            with suppress(OSError, InvalidDraft):
                before, self._own = self._own, self._write(drafts)
                self._kept = ids
                self._remove(before)
        return drafts

    def take(self) -> list[Draft]:
        """What others have kept and not stored, in the order in which it came; each file is given once.

        One that can't be read now is left for later: only what was read goes with ``clear``.
        """
        found: list[Draft] = []
        for name in _names(self._folder):
            if name not in self._own and name not in self._taken:
                with suppress(OSError):
                    found += _read(os.path.join(self._folder, name))
                    self._taken.append(name)
        return found

    def clear(self) -> None:
        """All that was kept and taken is stored."""
        if self._own or self._taken:
            self._remove([*self._own, *self._taken])
            self._own, self._taken, self._kept = [], [], []

    def _write(self, drafts: Sequence[Draft]) -> list[str]:
        """Write a new file, if there is anything to keep; its name sorts behind those of earlier ones."""
        kept = [one for draft in drafts if (one := _lasting(draft)) is not None]
        if not kept:
            return []
        _, lines = stamp(kept, 0, self._new_id, frozenset())
        make_private_folder(self._folder)
        name = self._new_id() + _ENDING
        descriptor = open_private_new(os.path.join(self._folder, name), os.O_WRONLY)
        try:
            write_all(descriptor, b"".join(lines))
        finally:
            close_file(descriptor)
        return [name]

    def _remove(self, names: Sequence[str]) -> None:
        for name in names:
            with suppress(OSError):  # another process has stored it too
                os.unlink(os.path.join(self._folder, name))


def spooled(directory: str) -> int:
    """How many events of a ledger wait in its spool."""
    return len(read_spool(directory))


def read_spool(directory: str) -> tuple[Draft, ...]:
    """What waits in a ledger's spool, each event once, in the order in which it came; nothing is taken."""
    folder = os.path.join(directory, SPOOL)
    found: dict[str | None, Draft] = {}
    for name in _names(folder):
        with suppress(OSError):
            for draft in _read(os.path.join(folder, name)):
                found.setdefault(draft.id, draft)
    return tuple(found.values())


def is_spool_file(path: str) -> bool:
    """Whether a file holds events that wait, or may; all others in the spool are in nobody's use."""
    try:
        return path.endswith(_ENDING) and bool(_read(path))
    except FileNotFoundError:
        return False
    except OSError:
        return True


def without_purged(drafts: Sequence[Draft], own: Iterable[AnyEvent], context: Context) -> list[Draft]:
    """What of the drafts may still be stored, after purges that came while they waited.

    What a purge found in the spool stands in the log, erased; with that copy at hand it is known what went. What no
    memory hangs on may say it in any words, and goes unread. A draft that is younger than all purges says it anew.

    Args:
        drafts: what has waited, in its order.
        own: the events of the log.
        context: what judges the texts of messages and summaries.
    """
    purged = Purged(own, context)
    last = max((parse_time(one.time) or 0 for one in purged.purges), default=-1)
    waiting = [(draft, _event(draft)) for draft in drafts]
    old = {event.id for draft, event in waiting if (parse_time(draft.time) or 0) <= last}
    stored = {event.id for _, event in waiting if event.id in old and purged.learn(event)}
    return [
        draft
        for draft, event in waiting
        if event.id not in old or not (event.id in stored or isinstance(draft.data, DISPENSABLE) or purged.holds(event))
    ]


def _event(draft: Draft) -> Event:
    return stamp([draft], 0, MonotonicIds(), frozenset())[0][0]


def _lasting(draft: Draft) -> Draft | None:
    """What of a draft outlives its process: a start doesn't, for a block that nobody was given (DESIGN 4).

    But that a session has a parent does: what is said in it is no user's word (SPEC 3.4).
    """
    if isinstance(draft.data, DISPENSABLE):
        return None
    if not isinstance(draft.data, SessionStartedData):
        return draft
    if draft.data.parent is None:
        return None
    return replace(draft, id=None, data=SessionLinkedData(draft.data.session, draft.data.parent))


def _names(folder: str) -> list[str]:
    try:
        if not os.access(folder, os.F_OK):  # as nearly always, and each append looks: cheaper than an exception
            return []
        return sorted(name for name in os.listdir(folder) if name.endswith(_ENDING))
    except OSError:
        return []


def _read(path: str) -> list[Draft]:
    """The drafts in a file; a line that a kill has torn was never more than a line of the process that died."""
    with open(path, "rb", opener=open_own) as file:
        events = [decode(line.rstrip(b"\n")) for line in file]
    return [
        Draft(
            source=event.source,
            time=event.time,
            data=event.data,
            id=event.id,
            subject=event.subject,
            causationid=event.causationid,
        )
        for event in events
        if not isinstance(event, Problem | UnknownEvent)
    ]
