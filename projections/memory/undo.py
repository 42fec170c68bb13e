"""Undo: the outcomes that a command told by folding the log without the undone event (SPEC 15.3)."""

from __future__ import annotations

import msgspec

from ledger.events import MemoryUndone
from projections.memory.commands import put_wording, restore, retire_active
from projections.memory.model import Entry, Ref
from projections.memory.turn import Turn

__all__ = ["on_undone"]


def on_undone(turn: Turn, event: MemoryUndone) -> None:
    """Revert a change that isn't undone yet (SPEC 15.3)."""
    state, undone = turn.state, event.data.undone
    change = state.changes.get(undone)
    if change is None or change.undone:
        return
    state.changes[undone] = msgspec.structs.replace(change, undone=True)
    if change.kind == "added":
        retire_active(turn, Ref(undone, 0))
    for before in change.before:
        if change.kind == "restored":
            retire_active(turn, before.ref)
        elif change.kind == "deleted":
            restore(turn, before.ref, "undone")
        elif isinstance(before, Entry):
            _put_back(turn, before)


def _put_back(turn: Turn, before: Entry) -> None:
    """Give an updated entry its earlier fields, unless another entry has taken its text meanwhile."""
    state = turn.state
    entry = state.entries[before.ref]
    if entry.state == "promoted" and state.exact.get(before.proposal.exact, before.ref) == before.ref:
        put_wording(turn, entry, before.proposal)
