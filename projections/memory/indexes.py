"""Indexes over active entries and tombstones, kept in step with every change (SPEC 8, 15.2).

No two active entries have the same exact key: a candidate that would is absorbed, an update or restore refused.
"""

from __future__ import annotations

from typing import Literal, TypeVar

from projections.memory.model import Entry, MemoryState, Proposal, Tombstone
from projections.memory.sameness import same_fact

__all__ = ["add", "bury", "lift_tombstones", "remove"]


def add(state: MemoryState, entry: Entry) -> None:
    """Index an entry that became active."""
    wording = entry.proposal
    state.by_type.setdefault(wording.type, {})[entry.ref] = None
    state.exact[wording.exact] = entry.ref
    state.texts[wording.key] = (*state.texts.get(wording.key, ()), entry.ref)
    state.identities[wording.identity] = (*state.identities.get(wording.identity, ()), entry.ref)
    state.compaction_active += wording.source == "compaction"


def remove(state: MemoryState, entry: Entry) -> None:
    """Take an entry out of the indexes before it changes or retires."""
    wording = entry.proposal
    of_type = state.by_type[wording.type]
    del of_type[entry.ref]
    if not of_type:
        del state.by_type[wording.type]
    del state.exact[wording.exact]
    _drop(state.texts, wording.key, entry.ref)
    _drop(state.identities, wording.identity, entry.ref)
    state.compaction_active -= wording.source == "compaction"


def bury(state: MemoryState, proposal: Proposal, kind: Literal["deleted", "superseded"]) -> None:
    """Leave a tombstone for a text that was deleted or replaced."""
    grave = Tombstone(kind, proposal)
    state.graves[proposal.key] = (*state.graves.get(proposal.key, ()), grave)
    state.identity_graves[proposal.identity] = (*state.identity_graves.get(proposal.identity, ()), grave)


def lift_tombstones(state: MemoryState, proposal: Proposal) -> None:
    """A text that is active again has no tombstone, whichever memory left it; nor has a text of its identity."""
    root = state.context.root
    graves = state.graves.get(proposal.key, ()) + tuple(
        grave for grave in state.identity_graves.get(proposal.identity, ()) if same_fact(grave.proposal, proposal, root)
    )
    for grave in graves:
        _drop(state.graves, grave.proposal.key, grave)
        _drop(state.identity_graves, grave.proposal.identity, grave)


T = TypeVar("T")


def _drop(index: dict[str, tuple[T, ...]], key: str, item: T) -> None:
    left = tuple(one for one in index.get(key, ()) if one != item)
    if left:
        index[key] = left
    else:
        index.pop(key, None)
