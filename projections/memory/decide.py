"""The one place where candidates are decided: promoted, absorbed, superseded, rejected, deleted, expired (SPEC 9).

Functions here change the state of a ``Turn``, which is a copy that only the running step can see, and write down
each decision as a ``Move``. Nothing else in the project decides about a candidate.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ledger.times import DAY_MS
from projections.memory import indexes
from projections.memory.model import (
    SOURCE_RANK,
    Absorbed,
    CandidateState,
    Entry,
    MemoryState,
    Move,
    Proposal,
    Ref,
    Retired,
    Tombstone,
)
from projections.memory.retention import reinforce_outcome
from projections.memory.sameness import same_fact
from projections.memory.selection import fits_caps, weakest

__all__ = [
    "PENDING_DAYS",
    "STORE_CAP",
    "Turn",
    "absorb",
    "decide",
    "drop",
    "expire_pending",
    "find_duplicate",
    "find_tombstone",
    "has_room",
    "keep_pending",
    "promote",
    "reactivate",
    "reinforce",
    "reject",
    "retire",
    "reword",
    "turn_down",
    "words_better",
]

STORE_CAP = 200
PENDING_DAYS = 30
_LONGER_BY = 10
_IDENTITY_TYPES = ("project", "reference")


class Turn(Struct):
    """One event being folded: the state it changes, and the moves it makes."""

    state: MemoryState
    event: str
    offset: int
    moves: list[Move]

    def record(
        self,
        proposal: Proposal,
        before: CandidateState | None,
        after: CandidateState,
        *reasons: str,
        into: Ref | None = None,
        outcome: str = "",
        event: str | None = None,
    ) -> None:
        """Write a decision down; ``event`` names the deciding event where it isn't the running one."""
        self.moves.append(
            Move(
                proposal=proposal,
                before=before,
                after=after,
                reasons=reasons,
                event=self.event if event is None else event,
                offset=self.offset,
                into=into,
                outcome=outcome,
            )
        )


def reject(turn: Turn, proposal: Proposal, *reasons: str, before: CandidateState | None = None) -> None:
    """Refuse a candidate with all its reasons."""
    turn.record(proposal, before, "rejected", *reasons)


def turn_down(
    turn: Turn,
    proposal: Proposal,
    *reasons: str,
    taken_in: tuple[str, ...] = (),
    before: CandidateState | None = None,
) -> None:
    """Refuse a candidate for what the state holds, not for what it says.

    ``taken_in`` are the reasons in its text, if any. Had it been known to come from a sub-agent, they or that would
    have been the reason, whatever the state held; a late parent link says so then (I16).
    """
    reject(turn, proposal, *reasons, before=before)
    if proposal.session is not None:
        refused = turn.state.turned_down
        entry = (proposal, taken_in or ("subagent_session",))
        refused[proposal.session] = (*refused.get(proposal.session, ()), entry)


def keep_pending(turn: Turn, proposal: Proposal) -> None:
    """Take a candidate in undecided; one from a summary has a date on which it expires (SPEC 9.5)."""
    state = turn.state
    state.pending[proposal.ref] = proposal
    turn.record(proposal, None, "pending")
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
    if match is not None:
        absorb(turn, proposal, *match, before=before)
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
    """The tombstone that keeps a summary's or an import's text away: same text key or identity (SPEC 15.2).

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
    return None


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
    indexes.lift_tombstones(state, proposal)
    indexes.add(state, entry)
    turn.record(proposal, before, "promoted", *(reasons or ("new_entry",)), into=entry.ref)
    if proposal.source == "compaction":
        _enforce_store_cap(turn)
    return entry


def take_number(state: MemoryState, wanted: int | None = None) -> int:
    """The wanted number if it is free, else the next one; the counter only rises (SPEC 2.5)."""
    number = wanted if wanted is not None and wanted > 0 and wanted not in state.numbers else state.next_number
    state.next_number = max(state.next_number, number + 1)
    return number


def absorb(turn: Turn, proposal: Proposal, into: Ref, reason: str, *, before: CandidateState | None = None) -> None:
    """Merge a candidate into an active entry, which keeps its id; the better wording wins (SPEC 9.2, 9.3)."""
    state = turn.state
    entry = state.entries[into]
    if reason != "absorbed_cross_type" and words_better(proposal, entry):
        reword(state, entry, proposal, at=state.now)
    state.absorbed[proposal.ref] = Absorbed(proposal, into)
    outcome = reinforce(turn, into, proposal.time, proposal.session)
    turn.record(proposal, before, "absorbed", reason, into=into, outcome=outcome)


def reinforce(turn: Turn, ref: Ref, time: int, session: str | None) -> str:
    """Apply SPEC 10.3 to an active entry and say what came of it."""
    state = turn.state
    entry = state.entries[ref]
    outcome = reinforce_outcome(entry, time, session, state.context.policy.retention)
    if outcome in ("increment", "refresh_only"):
        state.entries[ref] = msgspec.structs.replace(
            entry,
            reinforcements=entry.reinforcements + (outcome == "increment"),
            clock=time,
            reinforced_at=time,
            sessions=entry.sessions if session is None else (*entry.sessions, session),
        )
        indexes.refile(state, ref)
    return outcome


def reword(state: MemoryState, entry: Entry, proposal: Proposal, *, at: int) -> Entry:
    """Give an active entry another wording; id, creation, history and links stay (SPEC 9.2).

    Importance and safety belong to the entry; only its own tags change them.
    """
    indexes.remove(state, entry)
    wording = msgspec.structs.replace(
        proposal,
        ref=entry.ref,
        importance=entry.proposal.importance,
        safety_critical=entry.proposal.safety_critical,
        tags=entry.proposal.tags if not proposal.tags else proposal.tags,
    )
    changed = msgspec.structs.replace(entry, proposal=wording, worded=proposal.time, worded_by=proposal.ref, updated=at)
    state.entries[entry.ref] = changed
    indexes.add(state, changed)
    return changed


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
    turn: Turn, proposal: Proposal, *, before: CandidateState | None = "pending", event: str | None = None
) -> None:
    """Delete a candidate that never became an entry; its text leaves a tombstone all the same (SPEC 15.1, I6)."""
    state = turn.state
    state.pending.pop(proposal.ref, None)
    state.retired[proposal.ref] = Retired(proposal, "deleted")
    indexes.bury(state, proposal, "deleted")
    turn.record(proposal, before, "deleted", "deleted", event=event)


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


def words_better(newcomer: Proposal, entry: Entry) -> bool:
    """Higher source rank, then confidence, then longer by more than 10 characters, then newer (SPEC 9.2)."""
    present = entry.proposal
    ours = (SOURCE_RANK[newcomer.source], newcomer.confidence)
    theirs = (SOURCE_RANK[present.source], present.confidence)
    if ours != theirs:
        return ours > theirs
    longer = len(newcomer.text) - len(present.text)
    if abs(longer) > _LONGER_BY:
        return longer > 0
    return newcomer.time > entry.worded


def _enforce_store_cap(turn: Turn) -> None:
    """Over 200 active entries from summaries: the weakest expire (SPEC 9.5)."""
    state = turn.state
    while state.compaction_active > STORE_CAP:
        retire(turn, weakest(state, "compaction"), "expired", "store_cap")
