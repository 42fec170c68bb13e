"""Undo: the outcomes that a command told by folding the log without the undone event (SPEC 15.3)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ledger.events import MemoryUndone, Outcome
from projections.memory import decide, indexes
from projections.memory.intake import remember_proposal
from projections.memory.model import CandidateState, Change, MemoryState, Proposal
from projections.memory.proposals import reworded
from projections.memory.sameness import is_purged
from projections.memory.turn import Turn

__all__ = ["on_undone", "reverted"]


def on_undone(turn: Turn, event: MemoryUndone) -> None:
    """Revert a change that isn't undone yet; undoing an undo brings the change back."""
    state, undone = turn.state, event.data.undone
    change = state.changes.get(undone)
    if change is None or change.undone:
        return
    state.changes[event.id] = Change("undone", reverts=undone)
    gone = reverted(state.changes)
    state.changes = {
        name: msgspec.structs.replace(one, undone=name in gone) if one.undone != (name in gone) else one
        for name, one in state.changes.items()
    }
    state.deleted_messages = {
        message: deleted_by for message, deleted_by in state.deleted_messages.items() if deleted_by != undone
    }
    # What leaves goes first, so that its text is free for what comes; all that is reworded leaves the indexes before
    # any of it returns, since two memories may have changed their texts.
    for outcome in event.data.outcomes:
        _leave(turn, outcome)
    coming = [outcome for outcome in event.data.outcomes if outcome.state == "promoted"]
    for outcome in coming:
        entry = state.entries.get(outcome.target)
        if entry is not None and entry.state == "promoted":
            indexes.remove(state, entry)
    for outcome in coming:
        _come(turn, outcome)


def reverted(changes: Mapping[str, Change]) -> frozenset[str]:
    """The events that are undone: by an undo that isn't undone itself, which is told from the last one backwards."""
    gone: set[str] = set()
    for event, change in reversed(list(changes.items())):
        if change.reverts and event not in gone:
            gone.add(change.reverts)
    return frozenset(gone)


def _leave(turn: Turn, outcome: Outcome) -> None:
    """An active memory retires, or a candidate that was deleted while it waited waits again."""
    state, ref = turn.state, outcome.target
    entry = state.entries.get(ref)
    if outcome.state == "pending":
        retired = state.retired.get(ref)
        if retired is not None and retired.state == "deleted" and _may_come(state, retired.proposal, retired.proposal):
            del state.retired[ref]
            decide.keep_pending(turn, retired.proposal, "undone", before="deleted")
    elif outcome.state == "deleted" and ref in state.pending:
        decide.drop(turn, state.pending[ref])
    elif outcome.state != "promoted" and entry is not None and entry.state == "promoted":
        decide.retire(turn, entry, outcome.state, "undone", superseded_by=outcome.into)


def _come(turn: Turn, outcome: Outcome) -> None:
    """A memory gets the wording that it would have, and is active; its text may not be taken meanwhile."""
    state, ref = turn.state, outcome.target
    entry = state.entries.get(ref)
    if entry is None:
        _let_in(turn, outcome)
        return
    wording = _wording(turn, entry.proposal, outcome)
    if wording.exact in state.exact or not _may_come(state, entry.first, wording):
        if entry.state == "promoted" and entry.proposal.exact not in state.exact:
            indexes.add(state, entry)
        return
    changed = msgspec.structs.replace(entry, proposal=wording, worded=state.now, updated=state.now)
    if entry.state == "promoted":
        state.entries[ref] = changed
        indexes.lift_tombstones(state, wording)
        indexes.add(state, changed)
    elif entry.state in ("deleted", "superseded", "expired"):
        decide.reactivate(turn, changed, "undone")


def _let_in(turn: Turn, outcome: Outcome) -> None:
    """A candidate that became no memory because of the undone event becomes one."""
    state, ref = turn.state, outcome.target
    before: CandidateState
    if ref in state.absorbed:
        before, proposal = "absorbed", state.absorbed[ref].proposal
    elif ref in state.retired:
        before, proposal = state.retired[ref].state, state.retired[ref].proposal
    elif ref in state.pending:
        before, proposal = "pending", state.pending[ref]
    elif ref in state.refused:
        before, proposal = "rejected", state.refused[ref]
    else:
        return
    proposal = _wording(turn, proposal, outcome)
    if proposal.exact in state.exact or not _may_come(state, proposal, proposal):
        return
    if before == "rejected":
        _forget_refusal(turn, proposal)
    for table in (state.absorbed, state.retired, state.pending):
        table.pop(ref, None)
    decide.promote(turn, proposal, "undone", before=before)


def _may_come(state: MemoryState, first: Proposal, wording: Proposal) -> bool:
    """Whether a candidate may be let in: it is no sub-agent's (SPEC 3.4), and its text wasn't purged (SPEC 15.4)."""
    return first.session not in state.subagents and not is_purged(state, first.ref, wording)


def _forget_refusal(turn: Turn, proposal: Proposal) -> None:
    """It is a candidate like any other from now on, also for a late parent link (I16)."""
    state, session = turn.state, proposal.session
    del state.refused[proposal.ref]
    if session is not None and session in state.turned_down:
        state.turned_down[session] = tuple(pair for pair in state.turned_down[session] if pair[0].ref != proposal.ref)
    remember_proposal(turn, proposal)


def _wording(turn: Turn, present: Proposal, outcome: Outcome) -> Proposal:
    """The wording with the fields that the outcome names."""
    given = (outcome.type, outcome.title, outcome.content, outcome.tags, outcome.erased)
    if all(field is None for field in given):
        return present
    return reworded(turn.state.context, present, outcome)
