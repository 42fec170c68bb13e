"""What an imported file brings: one candidate a line, taken in once (SPEC 17)."""

from __future__ import annotations

import msgspec

from ledger.events import FileImported, MemoryImported
from projections.facts import Facts
from projections.memory import decide, indexes, merging
from projections.memory.intake import all_reasons, refuse
from projections.memory.model import Proposal, Ref
from projections.memory.proposals import from_import
from projections.memory.turn import Turn

__all__ = ["on_file_imported", "on_imported"]


def on_file_imported(turn: Turn, event: FileImported) -> None:
    """Take over what the file says as a whole."""


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
