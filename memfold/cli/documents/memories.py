"""The documents of commands that show memories and what became of candidates."""

from __future__ import annotations

from msgspec import Struct

from ledger.events import Target
from replay.wording import Wording

__all__ = [
    "AccountDocument",
    "DetailPart",
    "ListDocument",
    "MemoryPart",
    "ReasonCountPart",
    "ShowDocument",
]


class MemoryPart(Struct, frozen=True, kw_only=True):
    """A candidate, and the memory it became if it did.

    Attributes:
        id: the memory's id; null for a candidate that never became one.
        candidate: what names it for ever.
        type: its type.
        text: its text; empty where it isn't kept.
        source: `explicit`, `manual` or `compaction`.
        state: one of the seven states.
        reasons: codes of the reasons for that state.
        strength: strength at the position; null unless active.
        rank: place among active memories, from 1; null unless active.
        reinforcements: how often it was reinforced.
        age_days: whole days since it was proposed.
        proposed: time at which it was proposed.
        shown: whether the block as of the position shows it.
        omitted: code of the reason why the block leaves it out; null unless it is active and left out.
    """

    id: str | None
    candidate: Target
    type: str
    text: str
    source: str
    state: str
    reasons: tuple[str, ...]
    strength: float | None
    rank: int | None
    reinforcements: int
    age_days: int
    proposed: str
    shown: bool
    omitted: str | None


class DetailPart(MemoryPart, frozen=True, kw_only=True):
    """A memory with all its fields.

    Attributes:
        confidence: in hundredths.
        title: title in the memory file.
        content: content in the memory file.
        tags: its tags.
        rationale: why it holds; may be empty.
        importance: `low`, `normal` or `high`.
        safety_critical: whether caps of types don't count for it.
        updated: when it last changed, or null.
        clock: when its decay started.
        half_life_days: days in which its strength halves.
        reinforced: when it was last reinforced, or null.
        sessions: ids of the sessions that have stated it.
        supersedes: id of the memory it replaced, or null.
        superseded_by: id of the memory that replaced it, or null.
        into: id of the memory that absorbed it, or null.
        session: id of the session that proposed it, or null.
        message: the host's id of the message or summary; empty if there was none.
        offset: offset of the event that proposed it.
        decided: offset of the event that decided it.
        wording: whose words it shows, or null where it shows its own.
    """

    confidence: int
    title: str
    content: str
    tags: tuple[str, ...]
    rationale: str
    importance: str
    safety_critical: bool
    updated: str | None
    clock: str | None
    half_life_days: float | None
    reinforced: str | None
    sessions: tuple[str, ...]
    supersedes: str | None
    superseded_by: str | None
    into: str | None
    session: str | None
    message: str
    offset: int
    decided: int
    wording: Wording | None = None


class ListDocument(Struct, frozen=True, tag_field="schema", tag="memfold.list/1"):
    """Memories or candidates (`memfold list --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        memories: active ones by rank; others newest first, behind them.
    """

    ledger: str
    position: int
    now: str
    memories: tuple[MemoryPart, ...]


class ShowDocument(Struct, frozen=True, tag_field="schema", tag="memfold.show/1"):
    """Everything about the memories that a name fits (`memfold show --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        memories: newest first.
        more: how many further ones fit.
    """

    ledger: str
    position: int
    now: str
    memories: tuple[DetailPart, ...]
    more: int


class ReasonCountPart(Struct, frozen=True):
    """How many candidates a reason counts for.

    Attributes:
        state: their state.
        code: code of the reason.
        rule: section of the specification.
        text: the reason as a sentence.
        count: number of candidates; one with several reasons counts in each.
    """

    state: str
    code: str
    rule: str
    text: str
    count: int


class AccountDocument(Struct, frozen=True, tag_field="schema", tag="memfold.account/1"):
    """The account of all candidates (`memfold account --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        counts: candidates, and how many are in each of the seven states.
        adds_up: whether the seven states add up to the candidates; anything but true is a bug of memfold.
        reasons: candidates by state and reason.
    """

    ledger: str
    position: int
    now: str
    counts: dict[str, int]
    adds_up: bool
    reasons: tuple[ReasonCountPart, ...]
