"""``why``: what became of a text or an entry, and for which reasons, from the log alone (SPEC 22)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ledger.events import AnyEvent, PromptRendered
from ledger.log import FileLog
from ledger.runs import Run, one_by_one
from ledger.source import split_source
from ledger.times import format_time
from projections.accounting import Record
from projections.facts import Known
from projections.hot.block import hot_lines
from projections.hot.delivery import line_digest
from projections.memory.model import CandidateState, Proposal, Ref
from projections.memory.selection import ranked, select
from projections.render import render_workspace
from projections.world import WorldState
from replay.evidence import ReasonLine, plain_reason, reason_lines
from replay.flips import Flip, smallest_flip
from replay.history import with_history
from replay.names import Accounted, current_wording, entry_by_id, parse_id, refs_by_text
from replay.past import Chosen, EventLine, Events, Past, past_of
from replay.positions import events_until
from replay.unseen import Unseen, judge_unseen
from replay.wording import Wording, wording_of

__all__ = ["MAX_STORIES", "EventLine", "Explanation", "Given", "Shown", "Standing", "Story", "why"]

MAX_STORIES = 20


class Related(Struct, frozen=True):
    """Another memory that an explanation names."""

    id: str
    text: str
    state: CandidateState


class Shown(Struct, frozen=True):
    """A prompt that held the memory: derived from the log, or also handed to the host, as a receipt says."""

    session: str
    offset: int
    digest: str
    receipt: bool


class Given(Struct, frozen=True):
    """A memory as hot state of the session that asked for it: the first receipt, the whole block or a change."""

    session: str
    offset: int
    kind: str


class Standing(Struct, frozen=True):
    """Where an active memory stands at the position: its rank from 1, and what keeps it out of the block."""

    rank: int
    of: int
    omitted: ReasonLine | None


class Story(Struct, frozen=True, kw_only=True):
    """Everything the log knows about one candidate."""

    id: str | None
    candidate: Ref
    type: str
    text: str
    wording: Wording | None = None
    source: str
    state: CandidateState
    reasons: tuple[ReasonLine, ...]
    proposed: EventLine
    decided: EventLine
    into: Related | None = None
    outcome: ReasonLine | None = None
    replaced_by: Related | None = None
    standing: Standing | None = None
    prompts: tuple[Shown, ...] = ()
    given: Given | None = None
    flip: Flip | None = None
    notes: tuple[ReasonLine, ...] = ()


class Explanation(Struct, frozen=True, kw_only=True):
    """The answer: stories of every candidate the query names, or what the rules would say of a text never seen.

    ``more`` counts matching candidates beyond those that are told, newest first. ``later`` is the event that proposed
    the text behind the position.
    """

    query: str
    position: int
    now: str
    stories: tuple[Story, ...] = ()
    more: int = 0
    unseen: Unseen | None = None
    later: EventLine | None = None


def why(
    events: Events,
    query: str,
    offset: int | None = None,
    *,
    most: int | None = MAX_STORIES,
    known: Known | None = None,
    log: FileLog | None = None,
) -> Explanation:
    """Explain a text or an id at a position.

    Args:
        events: gives the log; it is read a few times.
        query: an id as shown anywhere (``MEM-001``, any case), or a text: whole or in part.
        offset: the position, the end of the log by default.
        most: how many stories are told; None for all.
        known: facts at hand; they change the time this takes and nothing else.
        log: the log itself; what the query names is looked up in its checkpoints then, which saves a pass.

    Returns:
        An answer in any case; the same log gives the same one. O(length of the log), and once more for each story of
        a refused candidate and each policy that might flip one.
    """

    def prefix() -> Iterable[AnyEvent | Run]:
        return events() if offset is None else events_until(one_by_one(events()), offset)

    chosen: Chosen = {}
    if log is not None:
        chosen, _ = with_history(log, offset, lambda state: _chosen(state, query, most))
    past = past_of(prefix(), chosen, known)
    chosen, more = _chosen(past.world, query, most)
    if chosen != past.chosen:  # without checkpoints, or where others go on writing
        past = past_of(prefix(), chosen, known)
    world = past.world
    stories = tuple(_story(prefix, past, ref, known) for ref in past.chosen)
    unseen = None if stories else judge_unseen(world, query)
    return Explanation(
        query=query,
        position=world.memory.offset,
        now=format_time(world.memory.now),
        stories=stories,
        more=more,
        unseen=unseen,
        later=_later(past_of(events(), {}, known), query, offset) if unseen and offset is not None else None,
    )


def _chosen(world: Accounted, query: str, most: int | None) -> tuple[Chosen, int]:
    """What a query names, newest first, with the memory that stands in blocks for it; and how many more there are."""
    refs = _named(world, query)
    told = refs[::-1][:most]
    return {ref: _standing_for(world, ref) for ref in told}, len(refs) - len(told)


def _standing_for(world: Accounted, ref: Ref) -> Ref | None:
    if ref in world.memory.entries:
        return ref
    record = world.accounts.records[ref]
    return record.into if record.state == "absorbed" else None


def _later(past: Past, query: str, offset: int) -> EventLine | None:
    """The event behind a position that first proposes a text."""
    refs = refs_by_text(past.world, query) if parse_id(query) is None else ()
    ref = next((ref for ref in refs if past.world.accounts.records[ref].proposal.order[0] > offset), None)
    return None if ref is None else past.cited[ref.event]


def _named(world: Accounted, query: str) -> tuple[Ref, ...]:
    if parse_id(query) is None:
        return refs_by_text(world, query)
    entry = entry_by_id(world.memory, query)
    return () if entry is None else (entry.ref,)


def _story(prefix: Events, past: Past, ref: Ref, known: Known | None) -> Story:
    world = past.world
    record = world.accounts.records[ref]
    entry = world.memory.entries.get(ref)
    wording = current_wording(world, ref)
    codes = record.reasons
    into = None if record.into in (None, ref) else _related(world, record.into)
    standing = _standing(world, ref)
    return Story(
        id=None if entry is None else entry.id,
        candidate=ref,
        type=wording.type,
        text=wording.text,
        wording=wording_of(world, ref),
        source=wording.source,
        state=record.state,
        # Words are evidence of refusals alone: all else lies in other events.
        reasons=reason_lines(prefix(), ref, codes, known)
        if record.state == "rejected"
        else tuple(map(plain_reason, codes)),
        proposed=past.cited[ref.event],
        decided=past.cited[record.decided],
        into=into if record.state == "absorbed" else None,
        outcome=_outcome(record),
        replaced_by=into if record.state == "superseded" else None,
        standing=standing,
        prompts=_prompts(world, past.chosen[ref]),
        given=_given(past.receipts, record.proposal),
        flip=smallest_flip(
            prefix,
            ref,
            record,
            standing.omitted.code if standing and standing.omitted else None,
            world.memory.context.policy,
            known=known,
            proposed=past.proposed.get(ref.event),
        ),
        notes=tuple(plain_reason(code) for code in _notes(wording, record)),
    )


def _notes(wording: Proposal, record: Record) -> tuple[str, ...]:
    """What else is to be said of a candidate: also that its text is gone, where that isn't why it is (SPEC 15.4)."""
    is_told = wording.erased is None or "erased" in record.reasons
    return record.proposal.notes if is_told else (*record.proposal.notes, "erased")


def _related(world: WorldState, ref: Ref | None) -> Related | None:
    if ref is None or ref not in world.memory.entries:
        return None
    entry = world.memory.entries[ref]
    return Related(entry.id, entry.proposal.text, entry.state)


def _outcome(record: Record) -> ReasonLine | None:
    return plain_reason(record.outcome) if record.outcome else None


def _standing(world: WorldState, ref: Ref) -> Standing | None:
    entry = world.memory.entries.get(ref)
    if entry is None or entry.state != "promoted":
        return None
    memory = world.memory
    order, policy = ranked(memory), memory.context.policy
    omitted = render_workspace(select(order, policy), memory.now, policy).omitted
    code = next((code for one, code in omitted if one.ref == ref), None)
    rank = next(rank for rank, one in enumerate(order, 1) if one.ref == ref)
    return Standing(rank, len(order), None if code is None else plain_reason(code))


def _given(receipts: Iterable[PromptRendered], asked: Proposal) -> Given | None:
    """The first receipt of hot state that names the line of a request, in its own session (SPEC 12.3, 14.1)."""
    digests = {line_digest(line) for line in hot_lines([], [], [], [(asked.type, asked.text)])}
    for event in receipts:
        if event.source == asked.session and digests & set(event.data.lines):
            return Given(split_source(event.source)[1] or "", event.seq, event.data.kind)
    return None


def _prompts(world: WorldState, ref: Ref | None) -> tuple[Shown, ...]:
    """The frozen blocks that held an entry, in ledger order; those a receipt confirms are marked."""
    if ref is None:
        return ()
    receipts = (one for found in world.prompts.receipts.values() for one in found if ref in one.shown)
    handed = {(one.session, one.epoch) for one in receipts if one.kind == "workspace"}
    epochs = (one for epochs in world.prompts.epochs.values() for one in epochs if ref in one.shown)
    return tuple(
        Shown(split_source(one.session)[1] or "", one.offset, one.digest, (one.session, one.offset) in handed)
        for one in sorted(epochs, key=lambda one: one.offset)
    )
