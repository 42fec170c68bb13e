"""What an imported file brings: one candidate a line, taken in once (SPEC 17)."""

from __future__ import annotations

import msgspec

from ledger.events import FileImported, MemoryImported, MemoryImportedData
from ledger.times import parse_time
from projections.facts import Facts
from projections.memory import decide, indexes, merging
from projections.memory.intake import all_reasons, refuse, warn
from projections.memory.model import HIGHEST_NUMBER, Change, Proposal, Ref
from projections.memory.proposals import from_import
from projections.memory.turn import Turn

__all__ = ["on_file_imported", "on_imported"]


def on_file_imported(turn: Turn, event: FileImported) -> None:
    """Take over what the file says as a whole: its counter, and what of it could not be read."""
    state, data = turn.state, event.data
    state.files[data.digest] = None
    if data.counter is not None and data.counter <= HIGHEST_NUMBER:
        state.next_number = max(state.next_number, data.counter)
    if data.damaged:
        warn(state, "import_damaged")
    if data.skipped:
        warn(state, "import_skipped")
    if not data.damaged:
        state.changes[event.id] = Change("imported")


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
        _take_over(turn, proposal.ref, event.data)
    else:
        _import_retired(turn, proposal, data)


def _take_over(turn: Turn, ref: Ref, data: MemoryImportedData) -> None:
    """What the memory had become where it comes from: its reinforcements, and when it last changed."""
    entry = turn.state.entries.get(ref)
    if entry is None:
        return
    updated = parse_time(data.updated)
    turn.state.entries[ref] = msgspec.structs.replace(
        entry,
        reinforcements=max(0, data.reinforcements),
        updated=entry.updated if updated is None else min(updated, turn.state.now),
    )
    indexes.refile(turn.state, ref)


def _import_retired(turn: Turn, proposal: Proposal, data: MemoryImportedData) -> None:
    """An entry that was archived where it comes from: history and tombstone, never active here.

    A text that is active here stays; what another store retired says nothing about it.
    """
    state = turn.state
    if proposal.exact in state.exact:
        merging.absorb(turn, proposal, state.exact[proposal.exact], "absorbed_exact")
        return
    entry = decide.promote(turn, proposal, number=data.number)
    decide.retire(turn, entry, "deleted" if data.state == "deleted" else "superseded", "imported")
    _take_over(turn, proposal.ref, data)
