"""One change of the memory, as a tool, a command or a hand edit asks for it: append it, then say what came of it.

Nobody but the fold decides. So a change is looked at before it is written, to spare an event that would do nothing, and
its answer is read from the state behind it: another process may have been quicker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from ledger.events import Draft, Event, MemoryAddedData, MemoryUpdatedData
from memfold.capture import Capture
from projections.memory.model import Entry, MemoryState, Proposal, Ref, shown_id
from projections.policy import type_order
from projections.text.clean import clean
from projections.world import WorldState
from replay.names import entry_by_id, latest_by_text, live_by_text, parse_id

__all__ = ["Done", "Kind", "Store", "add", "delete", "find", "restore", "update"]

Origin = Literal["tool", "cli", "hand_edit"]
Kind = Literal[
    "saved", "duplicate", "updated", "unchanged", "archived", "restored", "not_found", "ambiguous", "refused"
]
_GONE = frozenset({"deleted", "superseded", "expired"})


class Store(Protocol):
    """A ledger as whoever changes memories needs it."""

    @property
    def capture(self) -> Capture:
        """What turns a change into drafts."""
        ...

    @property
    def keeps(self) -> bool:
        """Whether the change that couldn't be stored waits here and is tried again."""
        ...

    def world(self, source: str | None = None) -> WorldState:
        """The state at the end of the log.

        Raises:
            LedgerError: if it can't be read.
        """
        ...

    def append(self, drafts: Sequence[Draft]) -> tuple[Event, ...]:
        """Store drafts for good.

        Raises:
            LedgerError: if they aren't stored.
        """
        ...


class Done(Struct, frozen=True, kw_only=True):
    """What came of a change.

    Attributes:
        kind: what happened.
        id: the memory's id as people see it; of one that isn't there, the one that was asked for.
        entry: the memory as it is now; for ``duplicate`` and a refused update the other one, which has the text.
        reasons: codes of ``projections.reasons``, for ``refused``.
        choices: for ``ambiguous``, what a text may mean (SPEC 15.1).
        event: id of the event that was written; empty if none was.
    """

    kind: Kind
    id: str = ""
    entry: Entry | None = None
    reasons: tuple[str, ...] = ()
    choices: tuple[Proposal, ...] = ()
    event: str = ""


def find(memory: MemoryState, name: str, *, gone: bool = False) -> Ref | Done:
    """What a person or model means by a name: an id in any form, or a text, a whole match before partial ones.

    Args:
        memory: the state.
        name: the id or text.
        gone: look among memories that left, for a restore; else among those that are active or pending.

    Returns:
        The candidate, or ``not_found`` or ``ambiguous``, which says what there is.
    """
    number = parse_id(name)
    if number is not None:
        entry = entry_by_id(memory, name)
        is_meant = entry is not None and (entry.state in _GONE if gone else entry.state == "promoted")
        return entry.ref if entry is not None and is_meant else Done(kind="not_found", id=shown_id(number), entry=entry)
    if gone:
        left = {one.ref: one.proposal for one in memory.entries.values() if one.state in _GONE}
        left |= {ref: one.proposal for ref, one in memory.retired.items()}
        refs = latest_by_text(left, name)
    else:
        left = {ref: one.proposal for ref, one in memory.entries.items()} | memory.pending
        refs = live_by_text(memory, name)
    if len(refs) == 1:
        return refs[0]
    return Done(kind="ambiguous" if refs else "not_found", id=name, choices=tuple(left[ref] for ref in refs))


def add(
    store: Store,
    *,
    session: str | None,
    title: str,
    content: str,
    tags: Sequence[str] = (),
    type: str | None = None,  # noqa: A002 - the tool's own word
    origin: Origin,
    reason: str = "",
    call: str = "",
    time: str | None,
) -> Done:
    """Add a memory: ``saved``, ``duplicate`` where an active one has its text, or ``refused`` with reasons (SPEC 16.6).

    A text that is refused for what it says is recorded all the same, so that ``why`` can explain it.

    Raises:
        LedgerError: of the store.
    """
    source = _source(store, session)
    world = store.world(source)
    if earlier := _earlier(store, world, session, call):
        return _added(world, earlier)
    drafts = store.capture.memory_added(
        session, title=title, content=content, tags=tags, type=type, origin=origin, reason=reason, call=call, time=time
    )
    if not drafts:
        return _silent(store)
    data = drafts[0].data
    assert isinstance(data, MemoryAddedData)  # noqa: S101 - capture gives nothing else
    if gone := _why_gone(title, data.title) or _why_gone(content, data.content):
        return Done(kind="refused", reasons=(gone,))
    if (known := _same_text(world.memory, data)) is not None:
        return Done(kind="duplicate", id=known.id, entry=known)
    event = store.append(drafts)[-1].id
    return _added(store.world(source), event)


def update(
    store: Store,
    target: Ref,
    *,
    session: str | None,
    title: str | None = None,
    content: str | None = None,
    tags: Sequence[str] | None = None,
    type: str | None = None,  # noqa: A002 - the command's own word
    origin: Origin,
    reason: str = "",
    call: str = "",
    time: str | None,
) -> Done:
    """Change fields of an active memory: ``updated``, ``unchanged`` where they are equal, or ``refused``.

    Raises:
        LedgerError: of the store.
    """
    source = _source(store, session)
    world = store.world(source)
    entry = world.memory.entries[target]
    if earlier := _earlier(store, world, session, call):
        return Done(kind="updated", id=entry.id, entry=entry, event=earlier)
    drafts = store.capture.memory_updated(
        session,
        target,
        title=title,
        content=content,
        tags=tags,
        type=type,
        origin=origin,
        reason=reason,
        call=call,
        time=time,
    )
    if not drafts:
        return _silent(store)
    data = drafts[0].data
    assert isinstance(data, MemoryUpdatedData)  # noqa: S101 - capture gives nothing else
    if gone := _why_gone(title, data.title) or _why_gone(content, data.content):
        return Done(kind="refused", id=entry.id, entry=entry, reasons=(gone,))
    if (refusal := _refused_update(world.memory, entry, data)) is not None:
        return refusal
    event = store.append(drafts)[-1].id
    after = store.world(source).memory
    kind: Kind = "updated" if event in after.changes else "refused"  # somebody else was quicker
    return Done(kind=kind, id=entry.id, entry=after.entries[target], event=event)


def delete(
    store: Store,
    target: Ref,
    *,
    session: str | None,
    origin: Origin,
    reason: str = "",
    call: str = "",
    time: str | None,
) -> Done:
    """Delete an active memory or a pending candidate; its history stays (SPEC 15.1).

    Raises:
        LedgerError: of the store.
    """
    drafts = store.capture.memory_deleted(session, target=target, origin=origin, reason=reason, call=call, time=time)
    if not drafts:
        return _silent(store)
    event = store.append(drafts)[-1].id
    entry = store.world(_source(store, session)).memory.entries.get(target)
    return Done(kind="archived", id="" if entry is None else entry.id, entry=entry, event=event)


def restore(
    store: Store, target: Ref, *, session: str | None = None, origin: Origin = "cli", reason: str = "", time: str | None
) -> Done:
    """Make a memory that left active again under its id, unless its text is active already (SPEC 15.3).

    Raises:
        LedgerError: of the store.
    """
    memory = store.world().memory
    entry = memory.entries.get(target)
    wording = memory.retired[target].proposal if entry is None else entry.proposal
    if wording.exact in memory.exact:
        other = memory.entries[memory.exact[wording.exact]]
        return Done(kind="refused", id=other.id, entry=other, reasons=("absorbed_exact",))
    if wording.erased:
        return Done(kind="refused", id="" if entry is None else entry.id, entry=entry, reasons=("erased",))
    drafts = store.capture.memory_restored(session, target, origin=origin, reason=reason, time=time)
    if not drafts:
        return _silent(store)
    event = store.append(drafts)[-1].id
    after = store.world().memory.entries.get(target)
    if after is None or after.state != "promoted":
        return Done(kind="refused", reasons=("subagent_session",), event=event)
    return Done(kind="restored", id=after.id, entry=after, event=event)


def _why_gone(given: str | None, kept: str | None) -> str:
    """Why nothing is left of a text: all of it was invisible, or is to be withheld (SPEC 1.3, 7.6); else empty."""
    if kept or not given or not given.strip():
        return ""
    return "secret_only" if clean(given).text.strip() else "empty_text"


def _source(store: Store, session: str | None) -> str | None:
    """The source of a session; None for a person's command, which belongs to none."""
    return None if session is None else store.capture.source_of(session)


def _silent(store: Store) -> Done:
    """Capture gave nothing to write: memory is off, or the message is off the record (SPEC 3.7)."""
    return Done(kind="refused", reasons=("off_the_record" if store.capture.enabled else "memory_off",))


def _earlier(store: Store, world: WorldState, session: str | None, call: str) -> str:
    """The event that the same call of a tool has led to before; empty if none."""
    return world.memory.calls.get(store.capture.call_of(session, call), "") if call and session is not None else ""


def _added(world: WorldState, event: str) -> Done:
    """What became of the candidate of an event."""
    record = world.accounts.records.get(Ref(event, 0))
    if record is None:  # the same call was recorded by another process
        return Done(kind="unchanged", event=event)
    entry = None if record.into is None else world.memory.entries.get(record.into)
    if record.state == "rejected" or entry is None:
        return Done(kind="refused", reasons=record.reasons, event=event)
    kind: Kind = "duplicate" if record.state == "absorbed" else "saved"
    return Done(kind=kind, id=entry.id, entry=entry, event=event)


def _same_text(memory: MemoryState, data: MemoryAddedData) -> Entry | None:
    """The active memory that has the text; of any type, unless one was asked for."""
    from projections.text.canonical import text_key
    from projections.text.entry import entry_text

    context = memory.context
    key = text_key(entry_text(data.title, data.content, context.policy), context.root)
    if data.type in type_order(context.policy):
        exact = memory.exact.get(f"{data.type}:{key}")
        return None if exact is None else memory.entries[exact]
    return min((memory.entries[ref] for ref in memory.texts.get(key, ())), key=lambda one: one.number, default=None)


def _refused_update(memory: MemoryState, entry: Entry, data: MemoryUpdatedData) -> Done | None:
    """Why an update need not be written; None if it must."""
    from projections.memory.proposals import reworded
    from projections.rules.refusals import text_refusals

    old = entry.proposal
    wording = reworded(memory.context, old, data)
    if (wording.type, wording.title, wording.content, wording.tags) == (old.type, old.title, old.content, old.tags):
        return Done(kind="unchanged", id=entry.id, entry=entry)
    if not wording.text:
        return Done(kind="refused", id=entry.id, entry=entry, reasons=("empty_text",))
    other = memory.entries[memory.exact.get(wording.exact, entry.ref)]
    if other.ref != entry.ref:
        return Done(kind="refused", id=other.id, entry=other, reasons=("absorbed_exact",))
    if reasons := text_refusals(wording.text, memory.context.policy, wording.beside):
        return Done(kind="refused", id=entry.id, entry=entry, reasons=reasons)
    return None
