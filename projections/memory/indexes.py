"""Indexes over active entries and tombstones, kept in step with every change (SPEC 8, 15.2).

No two active entries have the same exact key: a candidate that would is absorbed, an update or restore refused.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice
from typing import Literal, TypeVar

from projections.memory.model import Entry, MemoryState, Proposal, Tombstone
from projections.memory.retention import cohort_of
from projections.memory.sameness import erased_digests, same_fact

__all__ = ["add", "bury", "lift_tombstones", "refile", "remove"]

_NEAR = 8
"""Places from the end that are looked at before the middle is."""


def add(state: MemoryState, entry: Entry) -> None:
    """Index an entry that became active."""
    wording = entry.proposal
    state.revision += 1
    state.touched = (*state.touched, entry.ref)
    _file(state, entry)
    state.exact[wording.exact] = entry.ref
    state.texts[wording.key] = (*state.texts.get(wording.key, ()), entry.ref)
    state.identities[wording.identity] = (*state.identities.get(wording.identity, ()), entry.ref)
    state.compaction_active += wording.source == "compaction"


def remove(state: MemoryState, entry: Entry) -> None:
    """Take an entry out of the indexes before it changes or retires."""
    wording = entry.proposal
    state.revision += 1
    state.touched = (*state.touched, entry.ref)
    _unfile(state, entry)
    del state.exact[wording.exact]
    _drop(state.texts, wording.key, entry.ref)
    _drop(state.identities, wording.identity, entry.ref)
    state.compaction_active -= wording.source == "compaction"


def refile(state: MemoryState, before: Entry, after: Entry) -> None:
    """Put a changed entry in the place of the one before, whose clock or count of reinforcements it hasn't."""
    state.entries[after.ref] = after
    if before.state == "promoted":  # no other one has a place among the active ones
        state.touched = (*state.touched, after.ref)
        _unfile(state, before)
        _file(state, after)


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
    for key, digests in state.erasures.items():
        state.erasures[key] = digests - erased_digests(key, proposal, root)


def _file(state: MemoryState, entry: Entry) -> None:
    place = entry.clock, entry.number
    members = state.cohorts.setdefault(entry.proposal.type, {}).setdefault(cohort_of(entry), [])
    members.insert(_index(members, place), place)


def _unfile(state: MemoryState, entry: Entry) -> None:
    cohort, of_type = cohort_of(entry), state.cohorts[entry.proposal.type]
    members = of_type[cohort]
    del members[_index(members, (entry.clock, entry.number))]
    if not members:
        del of_type[cohort]
        if not of_type:
            del state.cohorts[entry.proposal.type]


def _index(members: list[tuple[int, int]], place: tuple[int, int]) -> int:
    """Where a place stands, or belongs."""
    if type(members) is list:
        return bisect_left(members, place)
    # A checkpoint's places: the older ones may have to be read from a file, so it is looked for from the end.
    end = len(members)
    for behind, other in enumerate(islice(reversed(members), _NEAR)):
        if other < place:
            return end - behind
    return bisect_left(members, place)


T = TypeVar("T")


def _drop(index: dict[str, tuple[T, ...]], key: str, item: T) -> None:
    left = tuple(one for one in index.get(key, ()) if one != item)
    if left:
        index[key] = left
    else:
        index.pop(key, None)
