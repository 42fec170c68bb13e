"""What tools, commands and hand edits do to the memory: at once, and undoable (SPEC 14.6, 15)."""

from __future__ import annotations

import msgspec

from ledger.events import (
    MemoryAdded,
    MemoryDeleted,
    MemoryRestored,
    MemoryUpdated,
)
from projections.facts import Facts
from projections.memory import decide, indexes
from projections.memory.intake import refuse, remember_proposal
from projections.memory.model import Change, Entry, MemoryState, Proposal, Ref
from projections.memory.proposals import from_added, reworded
from projections.memory.sameness import is_purged
from projections.memory.turn import Turn

__all__ = ["call_key", "on_added", "on_deleted", "on_restored", "on_updated"]


def on_added(turn: Turn, event: MemoryAdded, facts: Facts) -> None:
    """Decide a memory that a tool, a command or a hand edit adds."""
    state = turn.state
    if not _note_call(turn, event):
        return
    session = event.source if "/" in event.source else None
    line = facts.lines[0]
    proposal = from_added(state, event, event.data, line, session)
    if refuse(turn, proposal, line.reasons):
        return
    remember_proposal(turn, proposal)
    if session is not None:
        state.said[session] = (*state.said.get(session, ()), proposal.ref)
    decide.decide(turn, proposal, number=event.data.number)
    state.changes[event.id] = Change("added")


def on_updated(turn: Turn, event: MemoryUpdated) -> None:
    """Replace the given fields; nothing happens to what isn't active, or where another entry has the text."""
    state, data = turn.state, event.data
    entry = state.entries.get(data.target)
    if not _note_call(turn, event) or entry is None or entry.state != "promoted":
        return
    wording = reworded(state.context, entry.proposal, data)
    if state.exact.get(wording.exact, entry.ref) != entry.ref or _refused(turn, wording):
        return
    _put_wording(turn, entry, wording)
    state.changes[event.id] = Change("updated")


def on_deleted(turn: Turn, event: MemoryDeleted) -> None:
    """Delete one target, or all that a message proposed, whenever it comes (SPEC 15.1)."""
    state, data = turn.state, event.data
    if not _note_call(turn, event):
        return
    refs = () if data.target is None else (data.target,)
    if data.message is not None:
        refs = (*refs, *state.messages.get(data.message, ()))
        state.deleted_messages.setdefault(data.message, event.id)
    before = [gone for ref in refs if (gone := _delete(turn, ref)) is not None]
    if data.target is not None:
        before += _delete_pending_copies(turn, before)
    if before:
        state.changes[event.id] = Change("deleted")


def on_restored(turn: Turn, event: MemoryRestored) -> None:
    """Make what was deleted, superseded or expired active again; it retires what had replaced it (SPEC 15.3)."""
    if _restore(turn, event.data.target, "restored"):
        turn.state.changes[event.id] = Change("restored")


def call_key(source: str, call: str) -> str:
    """Names a call of one of our tools; its host gives the id."""
    return f"{source.partition('/')[0]}:{call}"


def _note_call(turn: Turn, event: MemoryAdded | MemoryUpdated | MemoryDeleted) -> bool:
    """Whether a tool call comes for the first time; a host that hears no answer may send it again (SPEC 3.5)."""
    if not event.data.call:
        return True
    key = call_key(event.source, event.data.call)
    return turn.state.calls.setdefault(key, event.id) == event.id


def _refused(turn: Turn, wording: Proposal) -> bool:
    if wording.erased is not None:
        return bool(wording.erased.reasons)
    # Updates are rare, and what they import isn't: see projections.facts.
    from projections.rules.refusals import text_refusals

    return bool(text_refusals(wording.text, turn.state.context.policy, wording.beside))


def _put_wording(turn: Turn, entry: Entry, wording: Proposal) -> None:
    """Give an active entry a wording that no other active entry has."""
    state = turn.state
    indexes.remove(state, entry)
    changed = msgspec.structs.replace(
        entry, proposal=wording, worded=state.now, worded_by=Ref(turn.event, 0), updated=state.now
    )
    state.entries[entry.ref] = changed
    indexes.lift_tombstones(state, wording)
    indexes.add(state, changed)


def _delete(turn: Turn, ref: Ref) -> Entry | Proposal | None:
    """Delete a pending candidate or an active entry; what was absorbed names the entry it went into."""
    state = turn.state
    if ref in state.pending:
        proposal = state.pending[ref]
        decide.drop(turn, proposal)
        return proposal
    while ref in state.absorbed:
        ref = state.absorbed[ref].into
    return _retire_active(turn, ref)


def _delete_pending_copies(turn: Turn, gone: list[Entry | Proposal]) -> list[Proposal]:
    """Who deletes a memory means its text: requests for it that still wait would bring it back (I6)."""
    keys = {(one.proposal if isinstance(one, Entry) else one).key for one in gone}
    copies = [waiting for waiting in turn.state.pending.values() if waiting.key in keys]
    for waiting in copies:
        decide.drop(turn, waiting)
    return copies


def _retire_active(turn: Turn, ref: Ref) -> Entry | None:
    """Delete an active entry; the entry as it was, None where there is none."""
    entry = turn.state.entries.get(ref)
    if entry is None or entry.state != "promoted":
        return None
    decide.retire(turn, entry, "deleted", "deleted")
    return entry


def _restore(turn: Turn, ref: Ref, reason: str) -> bool:
    """Bring one memory back under its id, unless its text is active again already; whether it was."""
    state = turn.state
    retired = state.retired.get(ref)
    if retired is not None and _may_return(state, retired.proposal, retired.proposal):
        del state.retired[ref]
        decide.promote(turn, retired.proposal, reason, before=retired.state)
        return True
    entry = state.entries.get(ref)
    if entry is None or entry.state not in ("deleted", "superseded", "expired"):
        return False
    if not _may_return(state, entry.first, entry.proposal):
        return False
    replacement = state.entries.get(entry.superseded_by) if entry.superseded_by is not None else None
    if replacement is not None and replacement.state == "promoted" and replacement.supersedes == ref:
        decide.retire(turn, replacement, "superseded", "superseded_by_restore", superseded_by=ref)
    decide.reactivate(turn, entry, reason)
    return True


def _may_return(state: MemoryState, first: Proposal, present: Proposal) -> bool:
    """Whether a memory can be restored: it has a text, which isn't active already, and is no sub-agent's (SPEC 3.4)."""
    may_be_active = first.session not in state.subagents and not is_purged(state, first.ref, present)
    return may_be_active and present.exact not in state.exact
