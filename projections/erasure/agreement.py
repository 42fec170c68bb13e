"""Whether a log says the same but for the texts that went: what must hold before it takes the other's place."""

from __future__ import annotations

from collections.abc import Iterator

from projections.erasure.texts import Choice
from projections.memory.model import Entry, MemoryState
from projections.world import WorldState

__all__ = ["differences"]

_SAME_FIELDS = ("next_number", "epochs", "subagents", "calls", "deleted_messages", "changes", "files", "imports")
"""What of a memory state holds no text."""


def differences(old: WorldState, new: WorldState, choice: Choice) -> Iterator[str]:
    """What differs between two states and must not, in words; O(candidates).

    Every candidate has the same state, number and entry that it went into; all else of those whose text stays is the
    same too.
    """
    before, after = old.accounts.records, new.accounts.records
    if list(before) != list(after):
        yield f"{len(before)} candidates became {len(after)}, or their order changed"
        return
    targets = frozenset(choice.targets)
    for ref, record in before.items():
        other = after[ref]
        if (record.state, record.into, record.decided) != (other.state, other.into, other.decided):
            yield f"candidate {ref.index} of event {ref.event} was {record.state} and would be {other.state}"
        elif ref not in targets and record != other:
            yield f"candidate {ref.index} of event {ref.event} would have other reasons or another text"
    yield from _memory_differences(old.memory, new.memory, choice)


def _memory_differences(old: MemoryState, new: MemoryState, choice: Choice) -> Iterator[str]:
    if old.numbers != new.numbers:
        yield "ids would name other memories"
    yield from (f"{name} would differ" for name in _SAME_FIELDS if getattr(old, name) != getattr(new, name))
    targets = frozenset(choice.targets)
    for ref, entry in old.entries.items():
        other = new.entries.get(ref)
        if other is None:
            yield f"{entry.id} would be no memory"
            continue
        if ref not in targets and entry.first == other.first and entry != other:
            # Its first text stays; a later one may have gone, and with it what a merge compares.
            yield f"{entry.id} would have other fields"
        same = ("number", "state", "created", "clock", "updated", "reinforcements", "sessions", "superseded_by")
        if any(getattr(entry, name) != getattr(other, name) for name in same):
            yield f"{entry.id} would have another history"
        if entry.proposal.key not in choice.keys and entry.proposal.erased is None and _said(entry) != _said(other):
            yield f"{entry.id} would have another text"


def _said(entry: Entry) -> tuple[object, ...]:
    wording = entry.proposal
    return wording.type, wording.text, wording.title, wording.content, wording.tags, wording.importance
