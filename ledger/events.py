"""The closed table of events: one frozen struct per stored type, in the order of DESIGN 3.

A line of the log is a CloudEvents 1.0 JSON event in a narrow profile. Every event class below is that envelope
plus a typed ``data``; the class attribute ``tag`` is the stored type name. Names are our own strings and never
change: a changed meaning becomes a new type and an upcaster (``ledger.upcast``).

Rules for whoever extends the table:

* new fields have defaults and a field never changes its type, so that every release reads every ledger;
* no float anywhere: NaN would be written as null. Confidence is in hundredths, times are RFC 3339 text;
* free text lives only in ``data``, which has passed redaction before it came here (SPEC 7.1).
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

__all__ = [
    "DATA_TO_EVENT",
    "EVENT_TYPES",
    "AnyEvent",
    "CompactionPrepared",
    "CompactionPreparedData",
    "Data",
    "Delivery",
    "Draft",
    "Envelope",
    "Event",
    "FileWritten",
    "FileWrittenData",
    "LedgerCreated",
    "LedgerCreatedData",
    "LedgerErased",
    "LedgerErasedData",
    "LedgerRepaired",
    "LedgerRepairedData",
    "LedgerSealed",
    "LedgerSealedData",
    "MemoryAdded",
    "MemoryAddedData",
    "MemoryDeleted",
    "MemoryDeletedData",
    "MemoryImported",
    "MemoryImportedData",
    "MemoryRequested",
    "MemoryRequestedData",
    "MemoryRestored",
    "MemoryRestoredData",
    "MemoryUndone",
    "MemoryUndoneData",
    "MemoryUpdated",
    "MemoryUpdatedData",
    "NumberedTarget",
    "PolicySet",
    "PolicySetData",
    "PromptRendered",
    "PromptRenderedData",
    "RulesLoaded",
    "RulesLoadedData",
    "SessionCompacted",
    "SessionCompactedData",
    "SessionDeleted",
    "SessionDeletedData",
    "SessionLinked",
    "SessionLinkedData",
    "SessionMeasured",
    "SessionMeasuredData",
    "SessionStarted",
    "SessionStartedData",
    "Target",
    "ToolArguments",
    "ToolCompleted",
    "ToolCompletedData",
    "UnknownEvent",
    "type_name",
]

Origin = Literal["tool", "cli", "hand_edit"]
"""Who wrote a ``memory.*`` event: a tool the model called, a command of a person, an edit of MEMORY.md."""


class Envelope(Struct, kw_only=True, frozen=True, omit_defaults=True, tag_field="type", gc=False):
    """The CloudEvents attributes every event has, in the order they are written (after ``type``).

    Attributes:
        specversion: always ``"1.0"``; it doubles as the version of the envelope.
        id: UUIDv7; a second event with the same id counts once (SPEC 21).
        source: ``<host>/<session>`` with the session percent-encoded, or ``<host>`` alone (``ledger.source``).
        time: RFC 3339, when it happened; absent when the host gave none that can be read (SPEC 1.2).
        seq: the offset, dense from 0.
        subject: the memory it concerns, for people who grep; no rule reads it.
        causationid: id of the event that caused this one.
    """

    specversion: Literal["1.0"]
    id: str
    source: str
    time: str | None = None
    seq: int
    subject: str | None = None
    causationid: str | None = None


class Target(Struct, frozen=True, gc=False):
    """Names a candidate for ever: the event that proposed it and its index among that event's candidates."""

    event: str
    index: int


class NumberedTarget(Struct, frozen=True, gc=False):
    """One line of a numbered list (SPEC 11.4): what ``[M<n>]`` meant when the list was made.

    ``key`` is a digest of the exact key, so that a purge need not look for text here.
    """

    event: str
    index: int
    key: str
    source: str


class LedgerCreatedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """First line of every ledger. ``root`` is the workspace's real path, ``key`` its digest (SPEC 1.6)."""

    format: int
    ledger: str
    root: str
    key: str
    project: bool = True
    """False for places that are no project (home, ``/``, temporary folders): hot state only (SPEC 1.6)."""


class Delivery(Struct, frozen=True, omit_defaults=True, gc=False):
    """Delivery settings of a session (SPEC 19): fixed for its epoch, never part of the policy."""

    enabled: bool = True
    placement: Literal["user-part", "system"] = "user-part"
    hot_delivery: Literal["delta", "full", "off"] = "delta"
    injection: Literal["workspace", "summary"] = "workspace"
    tools: bool = True


class SessionStartedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A session's first hook that can lead to a prompt; again, with another reason, on resume or restart."""

    session: str
    parent: str | None = None
    host: str = ""
    host_version: str = ""
    instance: str = ""
    reason: Literal["new", "resume", "restart"] = "new"
    delivery: Delivery = Delivery()


class SessionLinkedData(Struct, frozen=True, gc=False):
    """The parent of a session became known late (SPEC 3.4)."""

    session: str
    parent: str


class MemoryRequestedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A user's message that holds a remember form, reduced to what extraction reads (DESIGN 3).

    ``notes`` say what taking the text in has changed (``invisible_removed``, SPEC 1.3).
    """

    message: str
    text: str
    notes: tuple[str, ...] = ()


class ToolArguments(Struct, frozen=True, omit_defaults=True, gc=False):
    """The tool arguments that matter, redacted: a file, a command line."""

    path: str = ""
    command: str = ""


class ToolCompletedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A tool call that ended. ``output`` is the bounded excerpt of DESIGN 3, never the whole output.

    ``status``: ``completed`` ran to its end, whatever the exit; ``failed`` was reported as a failure;
    ``aborted`` never ran to an exit (denied, cancelled, timed out). ``exit`` is the structured code or None.
    """

    call: str
    tool: str
    args: ToolArguments = ToolArguments()
    exit: int | None = None
    status: Literal["completed", "failed", "aborted"] = "completed"
    output: str = ""


class CompactionPreparedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A numbered list was given to the host; the event's id is the snapshot id (SPEC 5.4)."""

    position: int
    targets: tuple[NumberedTarget, ...] = ()


class SessionCompactedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A compaction summary exists. ``section`` holds the lines that extraction reads (SPEC 5).

    ``digest`` is the SHA-256 (hex) of the redacted summary; empty means the summary was empty or missing.
    """

    message: str = ""
    section: str = ""
    digest: str = ""
    notes: tuple[str, ...] = ()


class SessionDeletedData(Struct, frozen=True, gc=False):
    """The host deleted the session."""


class SessionMeasuredData(Struct, frozen=True, omit_defaults=True, gc=False):
    """End of a turn: requests made and tokens as the host reported them."""

    requests: int
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0


class RulesLoadedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """The host loaded an instruction file; digests of its canonical lines and sentences (SPEC 3.6)."""

    path: str
    digests: tuple[str, ...] = ()


class MemoryAddedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A memory written by a tool, a command or a hand edit (SPEC 14.6)."""

    title: str
    content: str = ""
    tags: tuple[str, ...] = ()
    type: str | None = None
    origin: Origin = "tool"
    reason: str = ""


class MemoryUpdatedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """New fields of a memory; None means unchanged, an empty tuple of tags clears them."""

    target: Target
    title: str | None = None
    content: str | None = None
    tags: tuple[str, ...] | None = None
    origin: Origin = "tool"
    reason: str = ""


class MemoryDeletedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A delete (SPEC 15.1): of one target, or of all that a message proposed, even if it comes later."""

    target: Target | None = None
    message: str | None = None
    origin: Origin = "tool"
    reason: str = ""


class MemoryRestoredData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A deleted, superseded or expired memory is active again (SPEC 15.3)."""

    target: Target
    origin: Origin = "cli"
    reason: str = ""


class MemoryUndoneData(Struct, frozen=True, omit_defaults=True, gc=False):
    """The change made by the event with id ``undone`` is reverted (SPEC 15.3)."""

    undone: str
    origin: Origin = "cli"
    reason: str = ""


class MemoryImportedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """One line of an imported file (SPEC 17); times are RFC 3339 text, confidence in hundredths."""

    file: str
    digest: str
    line: int
    text: str
    type: str = "feedback"
    source: Literal["explicit", "compaction", "manual"] = "manual"
    state: Literal["active", "pending", "deleted", "superseded"] = "active"
    confidence: int = 90
    title: str = ""
    content: str = ""
    tags: tuple[str, ...] = ()
    rationale: str = ""
    importance: Literal["low", "normal", "high"] = "normal"
    safety_critical: bool = False
    reinforcements: int = 0
    created: str | None = None
    updated: str | None = None
    number: int | None = None


class FileWrittenData(Struct, frozen=True, gc=False):
    """MEMORY.md was written: as of which position, and the digest of what was written."""

    position: int
    digest: str


class PromptRenderedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A receipt: a block was handed to a host. What the host was given is a fact (DESIGN 3)."""

    kind: Literal["workspace", "hot", "delta"]
    position: int
    epoch: int
    digest: str
    size: int
    instance: str = ""
    targets: tuple[Target, ...] = ()
    lines: tuple[str, ...] = ()


class PolicySetData(Struct, frozen=True, gc=False):
    """The policy changed. Appended in the same write, before the first event judged by it (DESIGN 5)."""

    digest: str
    policy: dict[str, Any]


class LedgerSealedData(Struct, frozen=True, gc=False):
    """A Merkle head: number of leaves and root in hex (RFC 6962)."""

    size: int
    root: str


class LedgerRepairedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """Damaged bytes were set aside by ``repair``: how many pieces, and where they are kept."""

    pieces: int
    quarantine: str = ""


class LedgerErasedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A purge (SPEC 15.4): what was erased, by digest only, and the Merkle roots before and after."""

    targets: tuple[Target, ...]
    old_root: str = ""
    new_root: str = ""
    key: str = ""
    digests: tuple[str, ...] = ()
    reason: str = ""


class LedgerCreated(Envelope, frozen=True, kw_only=True, tag="ledger.created", gc=False):  # noqa: D101
    data: LedgerCreatedData


class SessionStarted(Envelope, frozen=True, kw_only=True, tag="session.started", gc=False):  # noqa: D101
    data: SessionStartedData


class SessionLinked(Envelope, frozen=True, kw_only=True, tag="session.linked", gc=False):  # noqa: D101
    data: SessionLinkedData


class MemoryRequested(Envelope, frozen=True, kw_only=True, tag="memory.requested", gc=False):  # noqa: D101
    data: MemoryRequestedData


class ToolCompleted(Envelope, frozen=True, kw_only=True, tag="tool.completed", gc=False):  # noqa: D101
    data: ToolCompletedData


class CompactionPrepared(Envelope, frozen=True, kw_only=True, tag="compaction.prepared", gc=False):  # noqa: D101
    data: CompactionPreparedData


class SessionCompacted(Envelope, frozen=True, kw_only=True, tag="session.compacted", gc=False):  # noqa: D101
    data: SessionCompactedData


class SessionDeleted(Envelope, frozen=True, kw_only=True, tag="session.deleted", gc=False):  # noqa: D101
    data: SessionDeletedData


class SessionMeasured(Envelope, frozen=True, kw_only=True, tag="session.measured", gc=False):  # noqa: D101
    data: SessionMeasuredData


class RulesLoaded(Envelope, frozen=True, kw_only=True, tag="rules.loaded", gc=False):  # noqa: D101
    data: RulesLoadedData


class MemoryAdded(Envelope, frozen=True, kw_only=True, tag="memory.added", gc=False):  # noqa: D101
    data: MemoryAddedData


class MemoryUpdated(Envelope, frozen=True, kw_only=True, tag="memory.updated", gc=False):  # noqa: D101
    data: MemoryUpdatedData


class MemoryDeleted(Envelope, frozen=True, kw_only=True, tag="memory.deleted", gc=False):  # noqa: D101
    data: MemoryDeletedData


class MemoryRestored(Envelope, frozen=True, kw_only=True, tag="memory.restored", gc=False):  # noqa: D101
    data: MemoryRestoredData


class MemoryUndone(Envelope, frozen=True, kw_only=True, tag="memory.undone", gc=False):  # noqa: D101
    data: MemoryUndoneData


class MemoryImported(Envelope, frozen=True, kw_only=True, tag="memory.imported", gc=False):  # noqa: D101
    data: MemoryImportedData


class FileWritten(Envelope, frozen=True, kw_only=True, tag="file.written", gc=False):  # noqa: D101
    data: FileWrittenData


class PromptRendered(Envelope, frozen=True, kw_only=True, tag="prompt.rendered", gc=False):  # noqa: D101
    data: PromptRenderedData


class PolicySet(Envelope, frozen=True, kw_only=True, tag="policy.set", gc=False):  # noqa: D101
    data: PolicySetData


class LedgerSealed(Envelope, frozen=True, kw_only=True, tag="ledger.sealed", gc=False):  # noqa: D101
    data: LedgerSealedData


class LedgerRepaired(Envelope, frozen=True, kw_only=True, tag="ledger.repaired", gc=False):  # noqa: D101
    data: LedgerRepairedData


class LedgerErased(Envelope, frozen=True, kw_only=True, tag="ledger.erased", gc=False):  # noqa: D101
    data: LedgerErasedData


Event = (
    LedgerCreated
    | SessionStarted
    | SessionLinked
    | MemoryRequested
    | ToolCompleted
    | CompactionPrepared
    | SessionCompacted
    | SessionDeleted
    | SessionMeasured
    | RulesLoaded
    | MemoryAdded
    | MemoryUpdated
    | MemoryDeleted
    | MemoryRestored
    | MemoryUndone
    | MemoryImported
    | FileWritten
    | PromptRendered
    | PolicySet
    | LedgerSealed
    | LedgerRepaired
    | LedgerErased
)
"""Every known event: one tagged union, decoded in one phase."""

Data = (
    LedgerCreatedData
    | SessionStartedData
    | SessionLinkedData
    | MemoryRequestedData
    | ToolCompletedData
    | CompactionPreparedData
    | SessionCompactedData
    | SessionDeletedData
    | SessionMeasuredData
    | RulesLoadedData
    | MemoryAddedData
    | MemoryUpdatedData
    | MemoryDeletedData
    | MemoryRestoredData
    | MemoryUndoneData
    | MemoryImportedData
    | FileWrittenData
    | PromptRenderedData
    | PolicySetData
    | LedgerSealedData
    | LedgerRepairedData
    | LedgerErasedData
)
"""The payload of a known event."""


class UnknownEvent(Struct, kw_only=True, frozen=True, gc=False):
    """A well-formed event of a type this release doesn't know: carried byte for byte, and skipped by folds.

    ``line`` holds the exact bytes without the line end.
    """

    type: str
    specversion: str
    id: str
    source: str
    time: str | None = None
    seq: int
    line: bytes


AnyEvent = Event | UnknownEvent
"""What a reader yields."""

DATA_TO_EVENT: dict[type[Data], type[Event]] = {
    LedgerCreatedData: LedgerCreated,
    SessionStartedData: SessionStarted,
    SessionLinkedData: SessionLinked,
    MemoryRequestedData: MemoryRequested,
    ToolCompletedData: ToolCompleted,
    CompactionPreparedData: CompactionPrepared,
    SessionCompactedData: SessionCompacted,
    SessionDeletedData: SessionDeleted,
    SessionMeasuredData: SessionMeasured,
    RulesLoadedData: RulesLoaded,
    MemoryAddedData: MemoryAdded,
    MemoryUpdatedData: MemoryUpdated,
    MemoryDeletedData: MemoryDeleted,
    MemoryRestoredData: MemoryRestored,
    MemoryUndoneData: MemoryUndone,
    MemoryImportedData: MemoryImported,
    FileWrittenData: FileWritten,
    PromptRenderedData: PromptRendered,
    PolicySetData: PolicySet,
    LedgerSealedData: LedgerSealed,
    LedgerRepairedData: LedgerRepaired,
    LedgerErasedData: LedgerErased,
}
"""Payload class → event class. What you ask to write (``Draft``) is not what was written (``Event``)."""

EVENT_TYPES: tuple[type[Event], ...] = tuple(DATA_TO_EVENT.values())


class Draft(Struct, kw_only=True, frozen=True, gc=False):
    """What a writer asks to append: the ledger adds ``seq``, and an id if none is given.

    Attributes:
        source: ``<host>/<session>`` or ``<host>`` (``ledger.source``).
        time: RFC 3339 or None; when it happened, not when it is written.
        data: the payload; its class decides the event's type.
        id: the id of an event delivered before, for an idempotent second delivery; None for a new one.
    """

    source: str
    time: str | None
    data: Data
    id: str | None = None
    subject: str | None = None
    causationid: str | None = None


def type_name(event: AnyEvent) -> str:
    """The stored type name of an event, such as ``memory.added``."""
    return event.type if isinstance(event, UnknownEvent) else str(type(event).__struct_config__.tag)
