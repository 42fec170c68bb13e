"""What tools, commands, hand edits and imports do to the memory: at once, and undoable (SPEC 14.6, 15, 17)."""

from __future__ import annotations

import msgspec

from ledger.events import (
    MemoryAdded,
    MemoryDeleted,
    MemoryImported,
    MemoryRestored,
    MemoryUndone,
    MemoryUpdated,
)
from projections.facts import Facts
from projections.memory import decide, indexes, merging
from projections.memory.intake import all_reasons, refuse, remember_proposal
from projections.memory.model import Change, Entry, MemoryState, Proposal, Ref
from projections.memory.proposals import from_added, from_import, with_text
from projections.memory.turn import Turn

__all__ = ["on_added", "on_deleted", "on_imported", "on_restored", "on_undone", "on_updated"]


def on_added(turn: Turn, event: MemoryAdded, facts: Facts) -> None:
    """Decide a memory that a tool, a command or a hand edit adds."""
    state = turn.state
    session = event.source if "/" in event.source else None
    line = facts.lines[0]
    proposal = from_added(state, event, event.data, line, session)
    if refuse(turn, proposal, line.reasons):
        return
    remember_proposal(turn, proposal)
    if session is not None:
        state.said[session] = (*state.said.get(session, ()), proposal.ref)
    decide.decide(turn, proposal)
    state.changes[event.id] = Change("added", ())


def on_updated(turn: Turn, event: MemoryUpdated) -> None:
    """Replace the given fields; nothing happens to what isn't active, or where another entry has the text."""
    state, data = turn.state, event.data
    entry = state.entries.get(data.target)
    if entry is None or entry.state != "promoted":
        return
    old = entry.proposal
    wording = with_text(
        state.context,
        old,
        old.title if data.title is None else data.title,
        old.content if data.content is None else data.content,
        old.tags if data.tags is None else data.tags,
    )
    if state.exact.get(wording.exact, entry.ref) != entry.ref or _refused(turn, wording.text):
        return
    _put_wording(turn, entry, wording)
    state.changes[event.id] = Change("updated", (entry,))


def on_deleted(turn: Turn, event: MemoryDeleted) -> None:
    """Delete one target, or all that a message proposed, whenever it comes (SPEC 15.1)."""
    state, data = turn.state, event.data
    refs = () if data.target is None else (data.target,)
    if data.message is not None:
        refs = (*refs, *state.messages.get(data.message, ()))
        state.deleted_messages.setdefault(data.message, event.id)
    before = [gone for ref in refs if (gone := _delete(turn, ref)) is not None]
    if data.target is not None:
        before += _delete_pending_copies(turn, before)
    if before:
        state.changes[event.id] = Change("deleted", tuple(before))


def on_restored(turn: Turn, event: MemoryRestored) -> None:
    """Make what was deleted, superseded or expired active again; it retires what had replaced it (SPEC 15.3)."""
    restored = _restore(turn, event.data.target, "restored")
    if restored is not None:
        turn.state.changes[event.id] = Change("restored", (restored,))


def on_undone(turn: Turn, event: MemoryUndone) -> None:
    """Revert a change that isn't undone yet (SPEC 15.3)."""
    state, undone = turn.state, event.data.undone
    change = state.changes.get(undone)
    if change is None or change.undone:
        return
    state.changes[undone] = msgspec.structs.replace(change, undone=True)
    if change.kind == "added":
        _retire_active(turn, Ref(undone, 0))
    for before in change.before:
        if change.kind == "restored":
            _retire_active(turn, before.ref)
        elif change.kind == "deleted":
            _restore(turn, before.ref, "undone")
        elif isinstance(before, Entry):
            _put_back(turn, before)


def on_imported(turn: Turn, event: MemoryImported, facts: Facts) -> None:
    """Decide one line of an imported file; importing it twice changes nothing (SPEC 17)."""
    state, data = turn.state, event.data
    if (data.digest, data.line) in state.imports:
        return
    state.imports[(data.digest, data.line)] = None
    line = facts.lines[0]
    proposal = from_import(state, event, data, line)
    if refuse(turn, proposal, all_reasons(turn, line) if data.source == "compaction" else line.reasons):
        return
    if data.state == "pending":
        decide.keep_pending(turn, proposal)
    elif data.state == "active":
        decide.decide(turn, proposal, number=data.number)
        _take_over(turn, proposal.ref, data.reinforcements)
    else:
        _import_retired(turn, proposal, data.state == "deleted", data.number)


def _refused(turn: Turn, text: str) -> bool:
    # Updates are rare, and what they import isn't: see projections.facts.
    from projections.rules.refusals import text_refusals

    return bool(text_refusals(text, turn.state.context.policy))


def _take_over(turn: Turn, ref: Ref, reinforcements: int) -> None:
    entry = turn.state.entries.get(ref)
    if entry is not None and reinforcements:
        turn.state.entries[ref] = msgspec.structs.replace(entry, reinforcements=max(0, reinforcements))
        indexes.refile(turn.state, ref)


def _import_retired(turn: Turn, proposal: Proposal, was_deleted: bool, number: int | None) -> None:
    """An entry that was archived where it comes from: history and tombstone, never active here.

    A text that is active here stays; what another store retired says nothing about it.
    """
    state = turn.state
    if proposal.exact in state.exact:
        merging.absorb(turn, proposal, state.exact[proposal.exact], "absorbed_exact")
        return
    entry = decide.promote(turn, proposal, number=number)
    decide.retire(turn, entry, "deleted" if was_deleted else "superseded", "imported")


def _put_wording(turn: Turn, entry: Entry, wording: Proposal) -> None:
    state = turn.state
    indexes.remove(state, entry)
    changed = msgspec.structs.replace(
        entry, proposal=wording, worded=state.now, worded_by=Ref(turn.event, 0), updated=state.now
    )
    state.entries[entry.ref] = changed
    indexes.lift_tombstones(state, wording)
    indexes.add(state, changed)


def _put_back(turn: Turn, before: Entry) -> None:
    """Give an updated entry its earlier fields, unless another entry has taken its text meanwhile."""
    state = turn.state
    entry = state.entries[before.ref]
    if entry.state == "promoted" and state.exact.get(before.proposal.exact, before.ref) == before.ref:
        _put_wording(turn, entry, before.proposal)


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
    entry = turn.state.entries.get(ref)
    if entry is None or entry.state != "promoted":
        return None
    decide.retire(turn, entry, "deleted", "deleted")
    return entry


def _restore(turn: Turn, ref: Ref, reason: str) -> Entry | Proposal | None:
    """Bring one memory back under its id, unless its text is active again already."""
    state = turn.state
    retired = state.retired.get(ref)
    if retired is not None and _may_return(state, retired.proposal, retired.proposal):
        del state.retired[ref]
        decide.promote(turn, retired.proposal, reason, before=retired.state)
        return retired.proposal
    entry = state.entries.get(ref)
    if entry is None or entry.state not in ("deleted", "superseded", "expired"):
        return None
    if not _may_return(state, entry.first, entry.proposal):
        return None
    replacement = state.entries.get(entry.superseded_by) if entry.superseded_by is not None else None
    if replacement is not None and replacement.state == "promoted" and replacement.supersedes == ref:
        decide.retire(turn, replacement, "superseded", "superseded_by_restore", superseded_by=ref)
    decide.reactivate(turn, entry, reason)
    return entry


def _may_return(state: MemoryState, first: Proposal, present: Proposal) -> bool:
    """Whether a memory can be restored: its text isn't active already, and no sub-agent proposed it (SPEC 3.4)."""
    return present.exact not in state.exact and first.session not in state.subagents
