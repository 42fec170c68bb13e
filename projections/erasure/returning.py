"""What another copy of a log still says of texts that a purge has taken out of this one (SPEC 15.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

import msgspec

from ledger.codec import encode
from ledger.events import (
    AnyEvent,
    LedgerErased,
    MemoryAdded,
    MemoryImported,
    MemoryRequested,
    SessionCompacted,
    UnknownEvent,
)
from projections.erasure.fields import OURS
from projections.erasure.needles import Needles, named_needles
from projections.facts import facts_of
from projections.policy import Context
from projections.text.erased import ERASED, keyed_digest

__all__ = ["Purged"]

_MARK = ERASED.encode()
_ANYTHING = "(.+)"


class Purged:
    """What the purges of a log have taken, as far as the log and copies of it tell.

    A log knows its purged texts by digests alone. A copy that still has them gives them away: they stand there where
    the log has a mark.

    Args:
        own: the events of the log.
        context: what judges the texts of messages and summaries.

    Attributes:
        purges: the records of the purges.
    """

    def __init__(self, own: Iterable[AnyEvent], context: Context) -> None:
        self._context = context
        self._marked: dict[str, AnyEvent] = {}
        self._texts: dict[str, None] = {}
        self._needles: Needles | None = None
        self.purges: list[LedgerErased] = []
        for event in own:
            if isinstance(event, LedgerErased):
                self.purges.append(event)
            elif _may_be_marked(event):
                self._marked.setdefault(event.id, event)

    def learn(self, theirs: AnyEvent) -> bool:
        """Look at an event of a copy; whether it says what was taken out of ours. Linear in its length."""
        ours = self._marked.get(theirs.id) if self.purges else None
        if ours is None or ours == theirs or _said(ours) == _said(theirs):
            return False
        self._texts.update(dict.fromkeys(text for text in self._taken(ours, theirs) if text.strip()))
        self._needles = None
        return True

    def holds(self, event: AnyEvent) -> bool:
        """Whether an event that only a copy has says one of the texts that were learnt, or one known by its digest."""
        if self._needles is None:
            self._needles = named_needles(self._texts)
        return self._needles.are_in_bytes(encode(event)) or self._is_known(event)

    def _is_known(self, event: AnyEvent) -> bool:
        if not self.purges or not isinstance(event, MemoryRequested | SessionCompacted | MemoryAdded | MemoryImported):
            return False
        keys = [line.key for line in facts_of(event, self._context).lines]
        return any(
            keyed_digest(purge.data.key, "text", key) in purge.data.digests for purge in self.purges for key in keys
        )

    def _taken(self, ours: AnyEvent, theirs: AnyEvent) -> Iterator[str]:
        """The texts that stand in theirs where ours has a mark, or nothing any more."""
        if isinstance(theirs, MemoryRequested | SessionCompacted):
            left = facts_of(ours, self._context).lines if isinstance(ours, type(theirs)) else ()
            lines = facts_of(theirs, self._context).lines
            kept = {line.text for line in left if line.erased is None}
            yield from (line.text for line in lines if line.text not in kept)
            if not lines:
                yield theirs.data.text if isinstance(theirs, MemoryRequested) else theirs.data.section
        else:
            yield from _differing(_said(ours), _said(theirs))


def _may_be_marked(event: AnyEvent) -> bool:
    """Whether a purge may have been at an event: a message or summary of which it took all has no mark."""
    if isinstance(event, MemoryRequested):
        return event.data.text == ""
    if isinstance(event, SessionCompacted):
        return event.data.section == ""
    return _MARK in encode(event)


def _said(event: AnyEvent) -> Any:
    """What an event says but for digests and times, which a purge of a copy may have given other values."""
    line = msgspec.json.decode(event.line) if isinstance(event, UnknownEvent) else msgspec.to_builtins(event)
    return _without_ours(line)


def _without_ours(value: Any) -> Any:
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {name: _without_ours(one) for name, one in items if name not in OURS and name != "seq"}
    if isinstance(value, list | tuple):
        return [_without_ours(one) for one in cast("list[Any]", value)]
    return value


def _differing(ours: Any, theirs: Any) -> Iterator[str]:
    """The pieces of strings in which two values differ: what stands where ours has the mark, else the whole string."""
    if isinstance(theirs, str):
        if ours != theirs:
            yield from _pieces(ours if isinstance(ours, str) else "", theirs)
    elif isinstance(theirs, dict):
        fields = cast("dict[str, Any]", ours) if isinstance(ours, dict) else {}
        for name, one in cast("dict[str, Any]", theirs).items():
            yield from _differing(fields.get(name), one)
    elif isinstance(theirs, list | tuple):
        others = cast("list[Any]", ours if isinstance(ours, list | tuple) else [])
        for at, one in enumerate(cast("list[Any]", theirs)):
            yield from _differing(others[at] if at < len(others) else None, one)


def _pieces(ours: str, theirs: str) -> tuple[str, ...]:
    pattern = _ANYTHING.join(map(re.escape, ours.split(ERASED)))
    found = re.fullmatch(pattern, theirs, re.DOTALL)
    return found.groups() if found is not None and found.groups() else (theirs,)
