"""The one place where candidates are decided: promoted, absorbed, superseded, rejected, deleted, expired (SPEC 9).

Functions here change the state of a ``Turn``, which is a copy that only the running step can see, and write down
each decision as a ``Move``. Nothing else in the project decides about a candidate.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ledger.times import DAY_MS
from projections.memory import indexes
from projections.memory.merging import absorb
from projections.memory.model import (
    HIGHEST_NUMBER,
    CandidateState,
    Entry,
    MemoryState,
    Proposal,
    Ref,
    Retired,
    Tombstone,
)
from projections.memory.sameness import same_fact, was_erased
from projections.memory.selection import fits_caps, weakest
from projections.memory.turn import Turn, turn_down

__all__ = [
    "PENDING_DAYS",
    "STORE_CAP",
    "archive",
    "decide",
    "drop",
    "expire_pending",
    "find_duplicate",
    "find_imported",
    "find_tombstone",
    "has_room",
    "keep_pending",
    "promote",
    "reactivate",
    "retire",
]

STORE_CAP = 200
PENDING_DAYS = 30
_IDENTITY_TYPES = ("project", "reference")


def keep_pending(turn: Turn, proposal: Proposal, *reasons: str, before: CandidateState | None = None) -> None:
    """Take a candidate in undecided; one from a summary has a date on which it expires (SPEC 9.5)."""
    state = turn.state
    state.pending[proposal.ref] = proposal
    turn.record(proposal, before, "pending", *reasons)
    if proposal.source == "compaction":
        expires = proposal.time + PENDING_DAYS * DAY_MS
        state.expires = expires if state.expires is None else min(state.expires, expires)


def decide(turn: Turn, proposal: Proposal, before: CandidateState | None = None, *, number: int | None = None) -> None:
    """Decide one candidate by the first rule of SPEC 9.4 that applies.

    What was refused when taken in, or comes from a sub-agent, never gets here. ``number`` is the id an import wants.
    """
    state = turn.state
    state.pending.pop(proposal.ref, None)
    if proposal.source == "compaction" or proposal.imported:
        grave = find_tombstone(state, proposal)
        if grave is not None:
            turn_down(turn, proposal, f"{grave.kind}_before", before=before)
            return
    match = find_duplicate(state, proposal)
    known = find_imported(state, proposal)
    if match is not None:
        absorb(turn, proposal, *match, before=before)
    elif known is not None and known.state in ("promoted", "deleted", "superseded"):
        reason = "imported_before" if known.state == "promoted" else f"{known.state}_before"
        turn_down(turn, proposal, reason, before=before)
    elif proposal.source == "compaction" and not has_room(state, proposal):
        turn_down(turn, proposal, "rejected_capacity", before=before)
    else:
        promote(turn, proposal, before=before, number=number)


def has_room(state: MemoryState, proposal: Proposal) -> bool:
    """Whether a candidate would be within the caps of SPEC 11.1 if it were active now."""
    return fits_caps(state, _as_entry(proposal, number=state.next_number))


def find_duplicate(state: MemoryState, proposal: Proposal) -> tuple[Ref, str] | None:
    """The active entry that a candidate repeats, and how: exact before identity, then the lowest id (SPEC 9.1).

    A candidate from a summary also repeats an entry of another type that has its text (SPEC 9.3).
    """
    exact = state.exact.get(proposal.exact)
    if exact is not None:
        return exact, "absorbed_exact"
    if proposal.type in _IDENTITY_TYPES:
        for ref in sorted(state.identities.get(proposal.identity, ()), key=lambda ref: state.entries[ref].number):
            if same_fact(state.entries[ref].proposal, proposal, state.context.root):
                return ref, "absorbed_identity"
    if proposal.source == "compaction":
        others = state.texts.get(proposal.key, ())
        if others:
            return min(others, key=lambda ref: state.entries[ref].number), "absorbed_cross_type"
    return None


def find_tombstone(state: MemoryState, proposal: Proposal) -> Tombstone | None:
    """The tombstone that keeps a summary's or an import's text away: same text key or identity (SPEC 15.2, 15.4).

    A text that is active can't be brought back by anyone: it is then absorbed, not refused.
    """
    if proposal.key in state.texts:
        return None
    graves = state.graves.get(proposal.key)
    if graves:
        return graves[-1]
    for grave in reversed(state.identity_graves.get(proposal.identity, ())):
        if same_fact(grave.proposal, proposal, state.context.root):
            return grave
    return Tombstone("deleted", proposal) if was_erased(state, proposal) else None


def find_imported(state: MemoryState, proposal: Proposal) -> Entry | None:
    """The entry that an imported text has become when it was imported before, however that is worded now (SPEC 17)."""
    ref = state.imported.get(proposal.exact) if proposal.imported else None
    return None if ref is None else state.entries[ref]


def promote(
    turn: Turn,
    proposal: Proposal,
    *reasons: str,
    before: CandidateState | None = None,
    supersedes: Ref | None = None,
    number: int | None = None,
) -> Entry:
    """Make a candidate an active entry under a new id; a tombstone of its text no longer applies (SPEC 15.2)."""
    state = turn.state
    entry = _as_entry(proposal, number=take_number(state, number), supersedes=supersedes)
    state.entries[entry.ref] = entry
    state.numbers[entry.number] = entry.ref
    if proposal.imported:
        state.imported[proposal.exact] = entry.ref
    indexes.lift_tombstones(state, proposal)
    indexes.add(state, entry)
    turn.record(proposal, before, "promoted", *(reasons or ("new_entry",)), into=entry.ref)
    if proposal.source == "compaction":
        _enforce_store_cap(turn)
    return entry


def take_number(state: MemoryState, wanted: int | None = None) -> int:
    """The wanted number if it is free, else the next one; the counter only rises (SPEC 2.5)."""
    is_free = wanted is not None and 0 < wanted <= HIGHEST_NUMBER and wanted not in state.numbers
    number = wanted if wanted is not None and is_free else state.next_number
    state.next_number = max(state.next_number, number + 1)
    return number


def retire(turn: Turn, entry: Entry, after: CandidateState, *reasons: str, superseded_by: Ref | None = None) -> Entry:
    """Take an active entry out of all future blocks; deleted and replaced texts leave a tombstone (SPEC 15.2)."""
    state = turn.state
    indexes.remove(state, entry)
    retired = msgspec.structs.replace(entry, state=after, superseded_by=superseded_by, updated=state.now)
    state.entries[entry.ref] = retired
    if after == "deleted" or after == "superseded":  # noqa: PLR1714 - only this form narrows the type
        indexes.bury(state, entry.proposal, after)
    turn.record(entry.proposal, "promoted", after, *reasons, into=superseded_by)
    return retired


def archive(
    turn: Turn,
    proposal: Proposal,
    after: Literal["deleted", "superseded"],
    *reasons: str,
    number: int | None = None,
) -> Entry:
    """Take in a memory that has left where it comes from: history and a tombstone, never active here (SPEC 17)."""
    state = turn.state
    entry = msgspec.structs.replace(_as_entry(proposal, number=take_number(state, number)), state=after)
    state.entries[entry.ref] = entry
    state.numbers[entry.number] = entry.ref
    state.revision += 1
    if proposal.imported:
        state.imported[proposal.exact] = entry.ref
    indexes.bury(state, proposal, after)
    turn.record(proposal, None, after, *reasons)
    return entry


def reactivate(turn: Turn, entry: Entry, *reasons: str) -> Entry:
    """Make a retired entry active again under its id (SPEC 15.3)."""
    state = turn.state
    active = msgspec.structs.replace(entry, state="promoted", superseded_by=None, updated=state.now)
    state.entries[entry.ref] = active
    indexes.lift_tombstones(state, entry.proposal)
    indexes.add(state, active)
    turn.record(entry.proposal, entry.state, "promoted", *reasons, into=entry.ref)
    return active


def drop(
    turn: Turn,
    proposal: Proposal,
    reason: str = "deleted",
    *,
    before: CandidateState | None = "pending",
    event: str | None = None,
) -> None:
    """Delete a candidate that never became an entry; its text leaves a tombstone all the same (SPEC 15.1, I6)."""
    state = turn.state
    state.pending.pop(proposal.ref, None)
    state.retired[proposal.ref] = Retired(proposal, "deleted")
    indexes.bury(state, proposal, "deleted")
    turn.record(proposal, before, "deleted", reason, event=event)


def expire_pending(turn: Turn) -> None:
    """Let pending summary candidates older than 30 days go (SPEC 9.5)."""
    state = turn.state
    limit = state.now - PENDING_DAYS * DAY_MS
    waiting = [one for one in state.pending.values() if one.source == "compaction"]
    for proposal in waiting:
        if proposal.time < limit:
            del state.pending[proposal.ref]
            state.retired[proposal.ref] = Retired(proposal, "expired")
            turn.record(proposal, "pending", "expired", "pending_expired")
    left = [one.time for one in waiting if one.time >= limit]
    state.expires = min(left) + PENDING_DAYS * DAY_MS if left else None


def _as_entry(proposal: Proposal, *, number: int, supersedes: Ref | None = None) -> Entry:
    return Entry(
        ref=proposal.ref,
        number=number,
        state="promoted",
        proposal=proposal,
        first=proposal,
        worded_by=proposal.ref,
        created=proposal.time,
        order=proposal.order,
        clock=proposal.time,
        worded=proposal.time,
        sessions=() if proposal.session is None else (proposal.session,),
        supersedes=supersedes,
    )


def _enforce_store_cap(turn: Turn) -> None:
    """Over 200 active entries from summaries: the weakest expire (SPEC 9.5)."""
    state = turn.state
    while state.compaction_active > STORE_CAP:
        retire(turn, weakest(state, "compaction"), "expired", "store_cap")
