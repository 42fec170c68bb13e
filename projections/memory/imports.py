"""What an imported file brings: one candidate a line, taken in once (SPEC 17)."""

from __future__ import annotations

from typing import Literal

import msgspec

from ledger.events import FileImported, MemoryImported, MemoryImportedData
from ledger.times import parse_time
from projections.facts import Facts
from projections.memory import decide, indexes, merging
from projections.memory.intake import all_reasons, refuse, warn
from projections.memory.model import HIGHEST_NUMBER, Change, Proposal, Ref
from projections.memory.proposals import from_import
from projections.memory.turn import Turn, turn_down

__all__ = ["on_file_imported", "on_imported"]


def on_file_imported(turn: Turn, event: FileImported) -> None:
    """Take over what the file says as a whole: its counter, and what of it could not be read."""
    state, data = turn.state, event.data
    if data.counter is not None and data.counter <= HIGHEST_NUMBER:
        state.next_number = max(state.next_number, data.counter)
    if data.digest in state.files:
        return
    state.files[data.digest] = None
    if data.damaged:
        warn(state, "import_damaged")
    if data.skipped:
        warn(state, "import_skipped")


def on_imported(turn: Turn, event: MemoryImported, facts: Facts) -> None:
    """Decide one line of an imported file; importing it twice changes nothing (SPEC 17)."""
    state, data = turn.state, event.data
    place = (data.digest, data.line, data.item)
    if place in state.imports:
        return
    state.imports[place] = None
    line = facts.lines[0]
    proposal = from_import(state, event, data, line)
    if refuse(turn, proposal, all_reasons(turn, line) if data.source == "compaction" else line.reasons):
        return
    known, first = proposal.exact in state.imported, len(turn.moves)
    if data.state == "pending":
        decide.keep_pending(turn, proposal)
    elif data.state == "active":
        decide.decide(turn, proposal, number=data.number)
        _take_over(turn, proposal.ref, event.data)
    else:
        _import_retired(turn, proposal, data)
    after = turn.moves[first].after
    if event.causationid is not None and after != "rejected" and not (known and after == "absorbed"):
        # The event of the file stands for all of its lines: an undo takes them together (SPEC 15.3).
        state.changes.setdefault(event.causationid, Change("imported"))


def _take_over(turn: Turn, ref: Ref, data: MemoryImportedData) -> None:
    """What the memory had become where it comes from: its reinforcements, and when it last changed."""
    entry, now = turn.state.entries.get(ref), turn.state.now
    if entry is None:
        return
    updated, clock = parse_time(data.updated), parse_time(data.clock)
    after = msgspec.structs.replace(
        entry,
        reinforcements=max(0, data.reinforcements),
        updated=entry.updated if updated is None else min(updated, now),
        clock=entry.clock if clock is None else min(clock, now),
        reinforced_at=entry.reinforced_at if clock is None else min(clock, now),
    )
    indexes.refile(turn.state, entry, after)


def _import_retired(turn: Turn, proposal: Proposal, data: MemoryImportedData) -> None:
    """An entry that was archived where it comes from: history and tombstone, never active here.

    A text that is active here stays; what another store retired says nothing about it. Nor does one that retired when
    an earlier version of the file was imported retire once more.
    """
    state = turn.state
    if proposal.exact in state.exact:
        merging.absorb(turn, proposal, state.exact[proposal.exact], "absorbed_exact", as_it_is=True)
    elif proposal.exact in state.imported:
        turn_down(turn, proposal, "imported_before")
    else:
        after: Literal["deleted", "superseded"] = "deleted" if data.state == "deleted" else "superseded"
        decide.archive(turn, proposal, after, "imported", number=data.number)
        _take_over(turn, proposal.ref, data)
