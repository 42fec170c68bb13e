"""What happens when two meet: a candidate goes into an active entry, which keeps its id (SPEC 9.2, 10.3)."""

from __future__ import annotations

import msgspec

from projections.memory import indexes
from projections.memory.model import SOURCE_RANK, Absorbed, CandidateState, Entry, MemoryState, Proposal, Ref
from projections.memory.retention import reinforce_outcome
from projections.memory.turn import Turn

__all__ = ["absorb", "reinforce", "reword", "words_better"]

_LONGER_BY = 10


def absorb(
    turn: Turn,
    proposal: Proposal,
    into: Ref,
    reason: str,
    *,
    before: CandidateState | None = None,
    as_it_is: bool = False,
) -> None:
    """Merge a candidate into an active entry, which keeps its id; the better wording wins (SPEC 9.2, 9.3).

    ``as_it_is`` leaves the entry alone. So does a text that an import has brought before: it says nothing new, and a
    file that is edited and imported again changes nothing about the rest (SPEC 17).
    """
    state = turn.state
    if proposal.imported:
        as_it_is = as_it_is or proposal.exact in state.imported
        state.imported[proposal.exact] = into
    if as_it_is:
        state.absorbed[proposal.ref] = Absorbed(proposal, into)
        turn.record(proposal, before, "absorbed", reason, into=into)
        return
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
        after = msgspec.structs.replace(
            entry,
            reinforcements=entry.reinforcements + (outcome == "increment"),
            clock=time,
            reinforced_at=time,
            sessions=entry.sessions if session is None else (*entry.sessions, session),
        )
        indexes.refile(state, entry, after)
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


def words_better(newcomer: Proposal, entry: Entry) -> bool:
    """Higher source rank, then confidence, then longer by more than 10 characters, then newer (SPEC 9.2)."""
    present = entry.proposal
    ours = (SOURCE_RANK[newcomer.source], newcomer.confidence)
    theirs = (SOURCE_RANK[present.source], present.confidence)
    if ours != theirs:
        return ours > theirs
    longer = newcomer.length - present.length
    if abs(longer) > _LONGER_BY:
        return longer > 0
    return newcomer.time > entry.worded
