"""How people name a memory: by the id that is shown, or by its text; a whole match wins (SPEC 15.1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias, Union

from projections.memory.model import Entry, MemoryState, Proposal, Ref
from projections.text.clean import clean, single_line
from projections.text.cut import cut
from projections.text.limits import TEXT_LIMIT

if TYPE_CHECKING:
    from projections.histories import HistoryState
    from projections.world import WorldState

__all__ = ["Accounted", "current_wording", "entry_by_id", "latest_by_text", "live_by_text", "parse_id", "refs_by_text"]

Accounted: TypeAlias = Union["WorldState", "HistoryState"]
"""A state that has workspace memory and accounts."""

_ID = re.compile(r"\s*mem-0*([0-9]{1,18})\s*", re.IGNORECASE)


def parse_id(text: str) -> int | None:
    """The number in an id such as ``MEM-001`` or ``mem-1``; None if the text is no id (SPEC 2.5)."""
    match = _ID.fullmatch(text)
    return int(match.group(1)) if match else None


def entry_by_id(memory: MemoryState, text: str) -> Entry | None:
    """The entry an id names, in whatever state it is; None if the text is no id or no entry has it."""
    number = parse_id(text)
    ref = None if number is None else memory.numbers.get(number)
    return None if ref is None else memory.entries[ref]


def live_by_text(memory: MemoryState, text: str) -> tuple[Ref, ...]:
    """What a person can delete by a text: active entries and pending candidates that hold it, whole matches first.

    Several refs mean that the text is ambiguous: the caller lists them and changes nothing.
    """
    live: dict[Ref, Proposal] = {
        ref: entry.proposal for ref, entry in memory.entries.items() if entry.state == "promoted"
    }
    live |= memory.pending
    # The same words may be active and asked for again: deleting one of them deletes both (SPEC 15.1).
    found: dict[str, Ref] = {}
    for ref in _whole_or_partial(text, live):
        found.setdefault(live[ref].key, ref)
    return tuple(found.values())


def refs_by_text(world: Accounted, text: str) -> tuple[Ref, ...]:
    """All candidates that ever held a text, in ledger order: whole matches, else partial ones in any case.

    An entry is found by its present wording and by the one it was proposed with.
    """
    found = _whole_or_partial(text, {ref: record.proposal for ref, record in world.accounts.records.items()})
    reworded = {ref: entry.proposal for ref, entry in world.memory.entries.items() if entry.worded_by != ref}
    return tuple(dict.fromkeys((*found, *_whole_or_partial(text, reworded))))


def current_wording(world: Accounted, ref: Ref) -> Proposal:
    """The wording of a candidate now: its entry's if it became one, else as it was proposed."""
    entry = world.memory.entries.get(ref)
    return world.accounts.records[ref].proposal if entry is None else entry.proposal


def latest_by_text(wordings: dict[Ref, Proposal], text: str) -> tuple[Ref, ...]:
    """Those that hold a text, whole matches first; of several with the same words the latest one alone."""
    found: dict[str, Ref] = {}
    for ref in _whole_or_partial(text, wordings):
        found[wordings[ref].text] = ref
    return tuple(found.values())


def _whole_or_partial(text: str, wordings: dict[Ref, Proposal]) -> tuple[Ref, ...]:
    # As it would be stored: who copies a text has its line breaks, its end, and characters that nobody sees (SPEC 1.3).
    wanted = cut(single_line(clean(text).text), TEXT_LIMIT)
    if not wanted:
        return ()
    whole = tuple(ref for ref, wording in wordings.items() if wording.text == wanted)
    if whole:
        return whole
    folded = wanted.casefold()
    return tuple(ref for ref, wording in wordings.items() if folded in wording.text.casefold())
