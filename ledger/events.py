"""The closed table of events: one frozen struct per stored type, in the order of DESIGN 3.

A line of the log is a CloudEvents 1.0 JSON event in a narrow profile. Every event class below is that envelope
plus a typed ``data``; the class attribute ``tag`` is the stored type name. Names are our own strings and never
change: a changed meaning becomes a new type and an upcaster (``ledger.upcast``). ``ledger.payloads`` has the data and
the rules for whoever extends it.
"""

# No annotations of the future here: msgspec would evaluate each of them as a text, and a start waits for that.

from typing import Literal

from msgspec import Struct

from ledger.payloads import (
    CompactionPreparedData,
    Delivery,
    ErasedText,
    FileImportedData,
    FileWrittenData,
    JudgedLine,
    LedgerCreatedData,
    LedgerErasedData,
    LedgerRepairedData,
    LedgerSealedData,
    MemoryAddedData,
    MemoryDeletedData,
    MemoryImportedData,
    MemoryRequestedData,
    MemoryRestoredData,
    MemoryUndoneData,
    MemoryUpdatedData,
    NumberedTarget,
    Outcome,
    PolicySetData,
    PromptRenderedData,
    RulesLoadedData,
    SessionCompactedData,
    SessionDeletedData,
    SessionLinkedData,
    SessionMeasuredData,
    SessionStartedData,
    Skipped,
    Target,
    ToolArguments,
    ToolCompletedData,
)

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
    "ErasedText",
    "Event",
    "FileImported",
    "FileImportedData",
    "FileWritten",
    "FileWrittenData",
    "JudgedLine",
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
    "Outcome",
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
    "Skipped",
    "Target",
    "ToolArguments",
    "ToolCompleted",
    "ToolCompletedData",
    "UnknownEvent",
    "type_name",
]


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


class FileImported(Envelope, frozen=True, kw_only=True, tag="file.imported", gc=False):  # noqa: D101
    data: FileImportedData


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
    | FileImported
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
    | FileImportedData
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
    FileImportedData: FileImported,
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
