"""What workspace memory is made of: proposals, entries, moves, and the state they live in (SPEC 2, 9)."""

from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from ledger.events import ErasedText, Target
from projections.policy import Context

__all__ = [
    "CANDIDATE_STATES",
    "CONFIDENCE",
    "HIGHEST_NUMBER",
    "SOURCE_RANK",
    "Absorbed",
    "CandidateState",
    "Change",
    "Cohort",
    "Entry",
    "MemoryState",
    "Move",
    "Proposal",
    "Ref",
    "Retired",
    "Snapshot",
    "Source",
    "Tombstone",
    "shown_id",
]

CandidateState = Literal["pending", "promoted", "absorbed", "superseded", "rejected", "deleted", "expired"]
CANDIDATE_STATES: tuple[CandidateState, ...] = (
    "pending",
    "promoted",
    "absorbed",
    "superseded",
    "rejected",
    "deleted",
    "expired",
)
Source = Literal["explicit", "manual", "compaction"]
SOURCE_RANK: dict[Source, int] = {"explicit": 2, "manual": 1, "compaction": 0}
CONFIDENCE: dict[Source, int] = {"explicit": 100, "manual": 90, "compaction": 75}
"""Confidence in hundredths (SPEC 2.3)."""

Ref: TypeAlias = Target
"""Names a candidate for ever: the event that proposed it and its index there."""


HIGHEST_NUMBER = 2**53 - 1
"""The highest number that a file can bring: what every JSON reader can hold."""


def shown_id(number: int) -> str:
    """``MEM-001`` of an entry's number (SPEC 2.5)."""
    return f"MEM-{number:03d}"


class Proposal(Struct, frozen=True, kw_only=True, gc=False):
    """A candidate as it was proposed. ``time`` is in milliseconds; ``order`` is (offset, index).

    ``session`` is the source of the proposing event, or None where no session owns it.
    """

    ref: Ref
    order: tuple[int, int]
    time: int
    type: str
    text: str
    source: Source
    confidence: int
    session: str | None
    message: str = ""
    origin: str = ""
    title: str = ""
    content: str = ""
    tags: tuple[str, ...] = ()
    rationale: str = ""
    importance: Literal["low", "normal", "high"] = "normal"
    safety_critical: bool = False
    exact: str = ""
    key: str = ""
    identity: str = ""
    imported: bool = False
    erased: ErasedText | None = None
    """What a purge has left of the text; the keys are made of keyed digests then (SPEC 15.4)."""
    notes: tuple[str, ...] = ()

    @property
    def beside(self) -> tuple[str, ...]:
        """What it says beside its text (SPEC 2.1)."""
        return (self.title, self.content, ", ".join(self.tags), self.rationale)

    @property
    def length(self) -> int:
        """Characters of the text, a purged one as it was."""
        return len(self.text) if self.erased is None else self.erased.length


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """A memory: a candidate that was promoted, active or retired. Times are milliseconds (SPEC 2.1).

    ``first`` is what was promoted, ``proposal`` the present wording, ``worded_by`` the candidate it came from and
    ``worded`` when that was proposed; ``updated`` is when the entry last changed (None: never).
    """

    ref: Ref
    number: int
    state: CandidateState
    proposal: Proposal
    first: Proposal
    worded_by: Ref
    created: int
    order: tuple[int, int]
    clock: int
    worded: int
    updated: int | None = None
    reinforcements: int = 0
    reinforced_at: int | None = None
    sessions: tuple[str, ...] = ()
    supersedes: Ref | None = None
    superseded_by: Ref | None = None

    @property
    def id(self) -> str:
        """The id people see, ``MEM-001``."""
        return shown_id(self.number)


class Cohort(NamedTuple):
    """What entries of one type must share to decay alike: of two such, the one with the later clock is stronger."""

    source: Source
    importance: Literal["low", "normal", "high"]
    safety_critical: bool
    reinforcements: int


class Absorbed(Struct, frozen=True, gc=False):
    """A candidate that went into an entry: kept, since a late parent link decides it again (SPEC 3.4)."""

    proposal: Proposal
    into: Ref


class Retired(Struct, frozen=True, gc=False):
    """A candidate that left while it was pending, and how."""

    proposal: Proposal
    state: Literal["deleted", "expired"]


class Move(Struct, frozen=True, kw_only=True, gc=False):
    """One decision: a candidate went from one state to another (SPEC 9.6).

    ``before`` is None where the candidate is proposed. ``outcome`` tells what an absorption did to the entry
    (SPEC 10.3). ``event`` and ``offset`` are those of the deciding event. Moving from ``absorbed`` to
    ``absorbed`` only changes ``into``.
    """

    proposal: Proposal
    before: CandidateState | None
    after: CandidateState
    reasons: tuple[str, ...]
    event: str
    offset: int
    into: Ref | None = None
    outcome: str = ""


class Tombstone(Struct, frozen=True, gc=False):
    """A text that was deleted or replaced and doesn't return from a summary (SPEC 15.2)."""

    kind: Literal["deleted", "superseded"]
    proposal: Proposal


class Snapshot(Struct, frozen=True, gc=False):
    """The open numbered list of a session: what each number meant when it was made (SPEC 5.4)."""

    id: str
    targets: tuple[tuple[Ref, str], ...]
    """Per number the entry and the digest of its exact key."""


class Change(Struct, frozen=True, gc=False):
    """What a tool, a command or a hand edit did, and whether it is undone (SPEC 15.3).

    ``reverts`` names the event that an undo undid.
    """

    kind: Literal["added", "updated", "deleted", "restored", "imported", "undone"]
    undone: bool = False
    reverts: str = ""


class MemoryState(Struct):
    """Workspace memory at one position. Only ``projections.memory`` changes it, on a copy that it owns.

    The dictionaries keep ledger order. ``exact``, ``texts`` and ``identities`` index active entries by exact key,
    text key and identity key; ``graves`` and ``identity_graves`` do the same for tombstones.
    """

    context: Context = Context()
    policy_digest: str = ""
    """Names the policy in force together with the version of the rules, as it was recorded; empty without one."""
    project: bool = True
    now: int = 0
    offset: int = -1
    entries: dict[Ref, Entry] = {}
    numbers: dict[int, Ref] = {}
    next_number: int = 1
    pending: dict[Ref, Proposal] = {}
    absorbed: dict[Ref, Absorbed] = {}
    retired: dict[Ref, Retired] = {}
    """Candidates deleted or expired while pending: they can be restored."""
    cohorts: dict[str, dict[Cohort, list[tuple[int, int]]]] = {}
    """(clock, number) of active entries by type and cohort, sorted: in rank order but for equal strengths."""
    exact: dict[str, Ref] = {}
    texts: dict[str, tuple[Ref, ...]] = {}
    identities: dict[str, tuple[Ref, ...]] = {}
    graves: dict[str, tuple[Tombstone, ...]] = {}
    identity_graves: dict[str, tuple[Tombstone, ...]] = {}
    compaction_active: int = 0
    revision: int = 0
    """Rises whenever an entry becomes active, changes its wording or retires: what MEMORY.md shows follows from it."""
    subagents: dict[str, None] = {}
    epochs: dict[str, int] = {}
    """Offset of the event that began the open epoch, per session."""
    proposed: dict[str, tuple[Ref, ...]] = {}
    """All candidates of a session, for a late parent link."""
    turned_down: dict[str, tuple[tuple[Proposal, tuple[str, ...]], ...]] = {}
    """What the state refused of a session, with the reasons it would have had as a sub-agent's (I16)."""
    said: dict[str, tuple[Ref, ...]] = {}
    """What a session asked for by message or tool, for its hot block (SPEC 14.1)."""
    messages: dict[str, tuple[Ref, ...]] = {}
    """All candidates of a host message id, for a delete by message."""
    deleted_messages: dict[str, str] = {}
    """Message id → id of the event that deleted what it proposes, even if it comes later (SPEC 15.1)."""
    delivered: dict[tuple[str, str], str] = {}
    """(host, its id) → digest of what was delivered under it (SPEC 3.5)."""
    calls: dict[str, str] = {}
    """Host and id of a call of our own tools → id of the event that it led to: a call takes effect once (SPEC 3.5)."""
    imports: dict[tuple[str, int, int], None] = {}
    """(digest of a file, line, which of the memories there): each is taken in once (SPEC 17)."""
    imported: dict[str, Ref] = {}
    """Exact key of a text that an import has brought → the entry that it became or went into."""
    written: tuple[int, str] | None = None
    """Position and digest of MEMORY.md as it was written last; None if it never was (SPEC 16.1)."""
    files: dict[str, None] = {}
    """Digests of the files that were imported."""
    events: dict[str, None] = {}
    """Ids of the events that are not tool calls: each counts once (I9)."""
    snapshots: dict[str, Snapshot] = {}
    rules: dict[str, tuple[str, ...]] = {}
    rule_digests: frozenset[str] = frozenset()
    last_activity: int | None = None
    dormant: tuple[tuple[int, int], ...] = ()
    """Past dormant spans in milliseconds, oldest first (SPEC 10.4)."""
    expires: int | None = None
    """When the oldest pending compaction candidate expires, or None."""
    refused: dict[Ref, Proposal] = {}
    """Rejected candidates whose text is kept: an undo of what stood against one lets it in (SPEC 15.3)."""
    erasures: dict[str, frozenset[str]] = {}
    """By the key of a purge, the digests of purged texts that no summary or import may bring back (SPEC 15.4)."""
    purged: dict[Ref, frozenset[str]] = {}
    """By candidate, the digests of the purges that it was a target of: with such a text it isn't active again."""
    changes: dict[str, Change] = {}
    """By event, oldest first: what can be undone."""
    warnings: dict[str, int] = {}
    """Counts of what ``status`` warns about, by code (SPEC 3.5, 5.3)."""
    moves: tuple[Move, ...] = ()
    """What the last event decided; accounting records it."""
    touched: tuple[Ref, ...] = ()
    """Entries that the last event indexed anew, so also those that it changed without deciding anything."""
    fresh: bool = True
    """False where the last event had been delivered before: no projection takes it in again (I9)."""
    opened: str | None = None
    """The session whose epoch the last event began; prompts freeze its block."""
