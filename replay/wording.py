"""Where the present wording of an entry comes from, if it isn't the one it was promoted with (SPEC 9.2, 16.6)."""

from __future__ import annotations

from msgspec import Struct

from ledger.times import format_time
from projections.memory.model import CandidateState, Ref
from projections.world import WorldState

__all__ = ["Wording", "wording_of"]


class Wording(Struct, frozen=True):
    """Whose words an entry shows.

    Attributes:
        first: its text when it became a memory.
        offset: offset of the event that proposed the present wording; null where a command changed the fields.
        state: what became of the candidate that this event proposed, or null.
        since: offset of the event that gave the entry this wording, or null.
        changed: when it was given this wording, or a command last changed its fields.
    """

    first: str
    offset: int | None
    state: CandidateState | None
    since: int | None
    changed: str


def wording_of(world: WorldState, ref: Ref) -> Wording | None:
    """Whose words an entry shows; None for those it was promoted with, and for a candidate that is no entry."""
    entry = world.memory.entries.get(ref)
    if entry is None or entry.proposal.text == entry.first.text:
        return None
    giver = world.accounts.records.get(entry.worded_by)
    return Wording(
        first=entry.first.text,
        offset=None if giver is None else giver.proposal.order[0],
        state=None if giver is None else giver.state,
        since=None if giver is None else giver.offset,
        changed=format_time(entry.worded),
    )
