"""Sub-agent sessions: a session with a parent contributes nothing, however late the parent is known (SPEC 3.4)."""

from __future__ import annotations

import msgspec

from projections.memory import decide, merging
from projections.memory.model import Entry, Proposal, Ref
from projections.memory.turn import Turn, reject

__all__ = ["link"]


def link(turn: Turn, session: str) -> None:
    """Note that a session is a sub-agent's and take back what it had proposed; a second time changes nothing.

    What its entries had absorbed is decided again; clocks, ids and activity stand, and so do deletions: they were
    somebody's wish.
    """
    state = turn.state
    if session in state.subagents:
        return
    state.subagents[session] = None
    for table in (state.epochs, state.snapshots, state.said):
        table.pop(session, None)
    mine = state.proposed.get(session, ())
    for ref in mine:
        _take_back(turn, ref)
    for proposal, reasons in state.turned_down.pop(session, ()):
        reject(turn, proposal, *reasons, before="rejected")
    if not mine:
        return
    taken = frozenset(mine)
    for ref, absorbed in list(state.absorbed.items()):
        if absorbed.into in taken:
            _decide_again(turn, ref, absorbed.proposal)
    for entry in [one for one in state.entries.values() if one.worded_by in taken and one.state == "promoted"]:
        _reword_without(turn, entry, taken)


def _take_back(turn: Turn, ref: Ref) -> None:
    state = turn.state
    if ref in state.pending:
        reject(turn, state.pending.pop(ref), "subagent_session", before="pending")
    elif ref in state.absorbed:
        reject(turn, state.absorbed.pop(ref).proposal, "subagent_session", before="absorbed")
    else:
        entry = state.entries.get(ref)
        if entry is not None and entry.state == "promoted":
            decide.retire(turn, entry, "rejected", "subagent_session")
            _give_back(turn, entry)


def _give_back(turn: Turn, entry: Entry) -> None:
    """What a sub-agent's memory had replaced stands again, unless it was deleted or said again meanwhile (I6)."""
    state = turn.state
    replaced = state.entries.get(entry.supersedes) if entry.supersedes is not None else None
    if replaced is None or replaced.state != "superseded" or replaced.superseded_by != entry.ref:
        return
    if replaced.first.session in state.subagents:
        # It had replaced a memory of its own, which itself may have replaced somebody's.
        _give_back(turn, replaced)
        return
    wording = replaced.proposal
    deleted = any(grave.kind == "deleted" for grave in state.graves.get(wording.key, ()))
    if not deleted and wording.exact not in state.exact:
        decide.reactivate(turn, replaced, "linked_absorber")


def _decide_again(turn: Turn, ref: Ref, proposal: Proposal) -> None:
    """Promote what a sub-agent's entry had absorbed, or let an entry that is still active have it.

    What was deleted or replaced with that entry stays with it (I6).
    """
    state = turn.state
    if decide.find_tombstone(state, proposal) is not None:
        return
    del state.absorbed[ref]
    match = decide.find_duplicate(state, proposal)
    if match is None:
        decide.promote(turn, proposal, "linked_absorber", before="absorbed")
    else:
        merging.absorb(turn, proposal, *match, before="absorbed")


def _reword_without(turn: Turn, entry: Entry, taken: frozenset[Ref]) -> None:
    """Give an entry the best wording it would have had without the sub-agent's (SPEC 9.2)."""
    state = turn.state
    best = msgspec.structs.replace(entry, proposal=entry.first, worded=entry.first.time, worded_by=entry.ref)
    for absorbed in state.absorbed.values():
        if absorbed.into == entry.ref and absorbed.proposal.ref not in taken:
            candidate = absorbed.proposal
            if candidate.type == best.proposal.type and merging.words_better(candidate, best):
                best = msgspec.structs.replace(best, proposal=candidate, worded=candidate.time, worded_by=candidate.ref)
    if state.exact.get(best.proposal.exact, entry.ref) == entry.ref:
        source = msgspec.structs.replace(best.proposal, ref=best.worded_by)
        merging.reword(state, entry, source, at=state.now)
