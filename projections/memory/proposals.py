"""Proposals from events: what a message, a summary, a command or an import puts forward, with its keys (SPEC 2)."""

from __future__ import annotations

from typing import Literal

import msgspec

from ledger.events import Envelope, MemoryAddedData, MemoryImportedData, MemoryUpdatedData, Outcome
from ledger.times import parse_time
from projections.facts import LineFacts
from projections.memory.model import CONFIDENCE, MemoryState, Proposal, Ref, Source
from projections.policy import Context, type_order
from projections.text.erased import ERASED, erased_key

__all__ = ["from_added", "from_import", "from_line", "reworded"]

_HAND_CONFIDENCE = 100
Importance = Literal["low", "normal", "high"]


def from_line(
    state: MemoryState,
    event: Envelope,
    index: int,
    line: LineFacts,
    *,
    source: Source,
    session: str | None,
    message: str = "",
    origin: str,
    notes: tuple[str, ...] = (),
) -> Proposal:
    """A candidate made from one line of a message or summary; the line is its title (SPEC 2.1)."""
    exact = line.exact
    return Proposal(
        ref=Ref(event.id, index),
        order=(event.seq, index),
        time=state.now,
        type=line.type,
        text=line.text,
        source=source,
        confidence=CONFIDENCE[source],
        session=session,
        message=message,
        origin=origin,
        title=line.title or line.text,
        content=line.text if line.title else "",
        notes=notes,
        exact=exact,
        key=line.key,
        identity=line.identity or exact,
        erased=line.erased,
    )


def from_added(
    state: MemoryState, event: Envelope, data: MemoryAddedData, line: LineFacts, session: str | None
) -> Proposal:
    """A memory that a tool, a command or a hand edit adds (SPEC 2.3, 14.6)."""
    importance, safety = read_tags(data.tags)
    return msgspec.structs.replace(
        from_line(state, event, 0, line, source="manual", session=session, origin=data.origin),
        confidence=CONFIDENCE["manual"] if data.origin == "tool" else _HAND_CONFIDENCE,
        title=data.title,
        content=data.content,
        tags=data.tags,
        importance=importance,
        safety_critical=safety,
    )


def from_import(state: MemoryState, event: Envelope, data: MemoryImportedData, line: LineFacts) -> Proposal:
    """A line of an imported file, owned by no session (SPEC 17); a time after now counts as now (SPEC 1.2)."""
    created = parse_time(data.created)
    importance, safety = read_tags(data.tags)
    proposal = from_line(state, event, 0, line, source=data.source, session=None, origin="import")
    return msgspec.structs.replace(
        proposal,
        time=state.now if created is None else min(created, state.now),
        confidence=data.confidence,
        title=data.title or proposal.title,
        content=data.content,
        tags=data.tags,
        rationale=data.rationale,
        importance=importance if importance != "normal" else data.importance,
        safety_critical=safety or data.safety_critical,
        imported=True,
    )


def reworded(context: Context, wording: Proposal, given: MemoryUpdatedData | Outcome) -> Proposal:
    """A wording with the fields of an update or undo, and what follows from them (SPEC 16.6).

    A field that isn't given stays as it is; so does the type where the given one is unknown. Of a purged text the
    fields say nothing (SPEC 15.4).
    """
    title = wording.title if given.title is None else given.title
    content = wording.content if given.content is None else given.content
    tags = wording.tags if given.tags is None else given.tags
    importance, safety = read_tags(tags)
    type_ = given.type if given.type in type_order(context.policy) else wording.type
    erased = given.erased
    wording = msgspec.structs.replace(
        wording, type=type_, title=title, content=content, tags=tags, importance=importance, safety_critical=safety
    )
    if erased is not None:
        key = erased_key(erased.key)
        identity = erased_key(erased.identity) if erased.identity else f"{type_}:{key}"
        return msgspec.structs.replace(
            wording, text=ERASED, exact=f"{type_}:{key}", key=key, identity=identity, erased=erased
        )
    # Updates are rare, and what they import isn't: see projections.facts.
    from projections.text.canonical import text_key
    from projections.text.entry import entry_text
    from projections.text.identity import identity_key
    from projections.text.redact import redact_lines

    # An update may bring a title that labels the content it found, or the other way round.
    content = redact_lines(content, context.policy.redaction, above=title)
    text = entry_text(title, content, context.policy)
    key = text_key(text, context.root)
    return msgspec.structs.replace(
        wording,
        text=text,
        content=content,
        exact=f"{type_}:{key}",
        key=key,
        identity=identity_key(type_, text, context.root),
        erased=None,
    )


def read_tags(tags: tuple[str, ...]) -> tuple[Importance, bool]:
    """Importance and the safety flag that an entry's tags set (SPEC 2.1)."""
    importance: Importance = "normal"
    if "importance-high" in tags:
        importance = "high"
    elif "importance-low" in tags:
        importance = "low"
    return importance, "safety-critical" in tags
