"""Proposals from events: what a message, a summary, a command or an import puts forward, with its keys (SPEC 2)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from ledger.events import Envelope, MemoryAddedData, MemoryImportedData
from ledger.times import parse_time
from projections.memory.model import CONFIDENCE, MemoryState, Proposal, Ref, Source
from projections.policy import Context, type_order
from projections.rules.kinds import type_of
from projections.text.canonical import canonical, exact_key, text_key
from projections.text.clean import single_line
from projections.text.cut import cut
from projections.text.identity import identity_key

__all__ = ["TEXT_LIMIT", "TITLE_LIMIT", "entry_text", "from_added", "from_import", "from_line", "with_text"]

TEXT_LIMIT = 260
TITLE_LIMIT = 120
_HAND_CONFIDENCE = 100
Importance = Literal["low", "normal", "high"]


def from_line(
    state: MemoryState,
    event: Envelope,
    index: int,
    *,
    type_: str,
    text: str,
    source: Source,
    session: str | None,
    message: str,
    origin: str,
    notes: tuple[str, ...] = (),
) -> Proposal:
    """A candidate made from one line of a message or summary; the line is its title (SPEC 2.1)."""
    title = cut(text, TITLE_LIMIT)
    keys = keys_of(state.context, type_, text)
    return Proposal(
        ref=Ref(event.id, index),
        order=(event.seq, index),
        time=state.now,
        type=type_,
        text=text,
        source=source,
        confidence=CONFIDENCE[source],
        session=session,
        message=message,
        origin=origin,
        title=title,
        content=text if title != text else "",
        notes=notes,
        exact=keys.exact,
        key=keys.text,
        identity=keys.identity,
    )


def from_added(state: MemoryState, event: Envelope, data: MemoryAddedData, session: str | None) -> Proposal:
    """A memory that a tool, a command or a hand edit adds (SPEC 2.3, 14.6)."""
    text = entry_text(data.title, data.content)
    known = type_order(state.context.policy)
    type_ = data.type if data.type in known else type_of(text)
    importance, safety = read_tags(data.tags)
    keys = keys_of(state.context, type_, text)
    return Proposal(
        ref=Ref(event.id, 0),
        order=(event.seq, 0),
        time=state.now,
        type=type_,
        text=text,
        source="manual",
        confidence=CONFIDENCE["manual"] if data.origin == "tool" else _HAND_CONFIDENCE,
        session=session,
        origin=data.origin,
        title=data.title,
        content=data.content,
        tags=data.tags,
        importance=importance,
        safety_critical=safety,
        exact=keys.exact,
        key=keys.text,
        identity=keys.identity,
    )


def from_import(state: MemoryState, event: Envelope, data: MemoryImportedData) -> Proposal:
    """A line of an imported file, owned by no session (SPEC 17); a time after now counts as now (SPEC 1.2)."""
    created = parse_time(data.created)
    known = type_order(state.context.policy)
    type_ = data.type if data.type in known else type_of(data.text)
    importance, safety = read_tags(data.tags)
    keys = keys_of(state.context, type_, data.text)
    return Proposal(
        ref=Ref(event.id, 0),
        order=(event.seq, 0),
        time=state.now if created is None else min(created, state.now),
        type=type_,
        text=data.text,
        source=data.source,
        confidence=data.confidence,
        session=None,
        origin="import",
        title=data.title or cut(data.text, TITLE_LIMIT),
        content=data.content,
        tags=data.tags,
        rationale=data.rationale,
        importance=importance if importance != "normal" else data.importance,
        safety_critical=safety or data.safety_critical,
        imported=True,
        exact=keys.exact,
        key=keys.text,
        identity=keys.identity,
    )


def with_text(context: Context, wording: Proposal, title: str, content: str, tags: tuple[str, ...]) -> Proposal:
    """A wording with new fields and the keys and flags that follow from them (SPEC 16.6)."""
    text = entry_text(title, content)
    importance, safety = read_tags(tags)
    keys = keys_of(context, wording.type, text)
    return msgspec.structs.replace(
        wording,
        text=text,
        title=title,
        content=content,
        tags=tags,
        importance=importance,
        safety_critical=safety,
        exact=keys.exact,
        key=keys.text,
        identity=keys.identity,
    )


def entry_text(title: str, content: str) -> str:
    """The line that prompts show of a tool-made entry (SPEC 2.1).

    The title if the content is empty; the content if it starts with the title (canonically); else both.
    """
    line = single_line(content)
    if not line:
        return cut(single_line(title), TEXT_LIMIT)
    head = canonical(title.rstrip().removesuffix("…"))
    if canonical(line).startswith(head):
        return cut(line, TEXT_LIMIT)
    return cut(f"{single_line(title)}: {line}", TEXT_LIMIT)


def read_tags(tags: tuple[str, ...]) -> tuple[Importance, bool]:
    """Importance and the safety flag that an entry's tags set (SPEC 2.1)."""
    importance: Importance = "normal"
    if "importance-high" in tags:
        importance = "high"
    elif "importance-low" in tags:
        importance = "low"
    return importance, "safety-critical" in tags


class Keys(NamedTuple):
    """What a text is compared by (SPEC 8): exact key, text key, identity key."""

    exact: str
    text: str
    identity: str


def keys_of(context: Context, type_: str, text: str) -> Keys:
    """The keys of a text of a type."""
    root = context.root
    return Keys(exact_key(type_, text, root), text_key(text, root), identity_key(type_, text, root))
