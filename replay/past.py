"""One pass over the log for ``why``: the state, the events to cite, and of all frozen blocks those that may matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from ledger.events import (
    AnyEvent,
    Delivery,
    MemoryDeleted,
    MemoryImported,
    MemoryRestored,
    MemoryUpdated,
    PromptRendered,
    SessionStarted,
    type_name,
)
from ledger.runs import Run
from ledger.source import split_source
from projections.accounting import record_moves
from projections.facts import Known
from projections.memory.activity import calls_taken_in
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState, Ref
from projections.memory.selection import fits_caps
from projections.policy import Context
from projections.prompts import step_prompts
from projections.world import World, WorldState

__all__ = ["Chosen", "EventLine", "Events", "Past", "past_of"]

_DIGEST_SHOWN = 12

Events = Callable[[], Iterable[AnyEvent | Run]]
"""Gives the log from its first event, as often as it is asked."""

Chosen = Mapping[Ref, Ref | None]
"""The candidates that are explained, and the memory that stands in blocks for each."""


class EventLine(Struct, frozen=True):
    """An event as an explanation cites it.

    Attributes:
        offset: its offset.
        id: its id.
        type: its type.
        time: when it says that it happened.
        session: whose it was, or null.
        file: of an import, the file, the line and the first digits of the file's digest; else empty.
        reason: what was given as the reason of a change, a deletion or a return; else empty.
    """

    offset: int
    id: str
    type: str
    time: str
    session: str | None
    file: str = ""
    reason: str = ""


class Past(Struct, frozen=True):
    """What one pass over the log gives for explanations.

    Attributes:
        chosen: what it was made for.
        world: the state, without hot state, and of frozen blocks those alone that may hold what was chosen.
        cited: the events that decided something, by id.
        receipts: what sessions were given.
        proposed: the events that proposed what was chosen, by id, and the context that each was judged in.
    """

    chosen: Chosen
    world: WorldState
    cited: dict[str, EventLine] = {}
    receipts: list[PromptRendered] = []
    proposed: dict[str, tuple[AnyEvent, Context]] = {}


def past_of(events: Iterable[AnyEvent | Run], chosen: Chosen, known: Known | None) -> Past:
    """Fold the log. O(its length), and a block for each that may hold what was chosen."""
    memory = WorkspaceMemory(known)
    past = Past(chosen, World(frozenset()).initial())
    world = past.world
    proposing = {ref.event for ref in chosen}
    for event in calls_taken_in(world.memory, events):
        if event.id in proposing:
            past.proposed.setdefault(event.id, (event, world.memory.context))
        memory.step(world.memory, event)
        record_moves(world.accounts, world.memory.moves)
        _take_prompt(past, event)
        if isinstance(event, PromptRendered):
            past.receipts.append(event)
        elif world.memory.moves or isinstance(event, MemoryDeleted):  # a message may be deleted before it comes
            past.cited.setdefault(event.id, _event_line(event))
    return past


def _take_prompt(past: Past, event: AnyEvent) -> None:
    """As ``step_prompts``, but no block is rendered that can't hold what was chosen."""
    memory, prompts = past.world.memory, past.world.prompts
    if memory.opened is not None:
        if isinstance(event, SessionStarted):
            prompts.deliveries[event.source] = event.data.delivery
        delivery = prompts.deliveries.get(memory.opened, Delivery())
        if not any(_may_stand(memory, ref, delivery) for ref in past.chosen.values() if ref is not None):
            return
    step_prompts(prompts, memory, event)


def _may_stand(memory: MemoryState, ref: Ref, delivery: Delivery) -> bool:
    """Whether a block may hold a memory; most are out of it since others of their type are stronger."""
    entry = memory.entries.get(ref)
    if entry is None or entry.state != "promoted":
        return False
    return delivery.injection != "workspace" or entry.proposal.safety_critical or fits_caps(memory, entry)


def _event_line(event: AnyEvent) -> EventLine:
    _, session = split_source(event.source)
    file = ""
    if isinstance(event, MemoryImported):
        file = f"{event.data.file}:{event.data.line}, {event.data.digest[:_DIGEST_SHOWN]}"
    reason = event.data.reason if isinstance(event, MemoryDeleted | MemoryRestored | MemoryUpdated) else ""
    return EventLine(event.seq, event.id, type_name(event), event.time or "", session, file, reason)
