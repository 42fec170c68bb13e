"""What ``memfold hook`` reads: one event of a host, whole, in the words of the ledger (docs/reference/hook.md).

Its ``data`` is what the host knows: the message, the arguments, the output. What of it is written is decided here, as
for every other way in (SPEC 3, 4, 7, 13). Names that aren't listed are ignored, so that a newer host may send some.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from memfold.capture import ID_LIMIT

__all__ = [
    "EVENTS",
    "HookEvent",
    "MemoryRequested",
    "RulesLoaded",
    "SessionCompacted",
    "SessionDeleted",
    "SessionLinked",
    "SessionMeasured",
    "SessionStarted",
    "ToolCompleted",
    "decode",
]

_Count = Annotated[int, Meta(ge=0, le=2**53)]
_Host = Annotated[
    str,
    Meta(
        # ``memfold`` is the source of what no client reports.
        pattern=r"^(?!memfold$)[a-z][a-z0-9-]{0,39}$",
        description="The name of the host, the same in all its events, such as claude-code.",
    ),
]
_Session = Annotated[str, Meta(min_length=1, max_length=ID_LIMIT, description="The host's id of the session.")]
_Folder = Annotated[str, Meta(min_length=1, max_length=4096, description="The folder the session works in, absolute.")]
_Time = Annotated[
    str | int | float | None,
    Meta(description="When it happened: RFC 3339, or seconds since 1970. By default now."),
]


class SessionStartedData(Struct, frozen=True):
    """A session begins or goes on."""

    parent: _Session | None = None
    reason: Literal["new", "resume", "restart"] = "new"
    version: Annotated[str, Meta(description="The version of the host.")] = ""
    instance: Annotated[str, Meta(description="What tells one process of the host from the next.")] = ""
    tools: Annotated[bool, Meta(description="Whether the session has memfold's own tools.")] = False


class SessionLinkedData(Struct, frozen=True):
    """Whom a session works for, where that is known late."""

    parent: _Session


class MemoryRequestedData(Struct, frozen=True):
    """A message of the user, whole, whether or not it asks to remember anything."""

    message: Annotated[str, Meta(description="The host's id of the message.")]
    text: str


class ToolCompletedData(Struct, frozen=True):
    """A tool call that ended."""

    call: Annotated[str, Meta(description="The host's id of the call.")]
    tool: Annotated[str, Meta(description="The tool as the host names it.")]
    args: Annotated[dict[str, Any], Meta(description="Its arguments, as the tool got them.")] = {}
    exit: Annotated[int, Meta(ge=-(2**32), le=2**32)] | None = None
    output: Annotated[str, Meta(description="What it printed, or the message of its failure.")] = ""
    status: Annotated[
        Literal["completed", "failed", "aborted"],
        Meta(description="failed: the host reports a failure instead of a result; aborted: it never ran to an exit."),
    ] = "completed"


class SessionCompactedData(Struct, frozen=True):
    """The host has summed a session up."""

    message: Annotated[str, Meta(description="The host's id of the summary.")] = ""
    summary: str | None = None


class SessionDeletedData(Struct, frozen=True):
    """The host has deleted a session."""


class SessionMeasuredData(Struct, frozen=True):
    """The end of a turn: requests to the model, and tokens."""

    requests: _Count
    input: _Count = 0
    cache_read: _Count = 0
    cache_write: _Count = 0


class RulesLoadedData(Struct, frozen=True):
    """The host has loaded an instruction file; only digests of its lines are kept."""

    path: str
    text: str


class _Event(Struct, frozen=True, kw_only=True, tag_field="type"):
    host: _Host
    session: _Session
    cwd: _Folder
    time: _Time = None


class SessionStarted(_Event, frozen=True, kw_only=True, tag="session.started"):  # noqa: D101
    data: SessionStartedData = SessionStartedData()


class SessionLinked(_Event, frozen=True, kw_only=True, tag="session.linked"):  # noqa: D101
    data: SessionLinkedData


class MemoryRequested(_Event, frozen=True, kw_only=True, tag="memory.requested"):  # noqa: D101
    data: MemoryRequestedData


class ToolCompleted(_Event, frozen=True, kw_only=True, tag="tool.completed"):  # noqa: D101
    data: ToolCompletedData


class SessionCompacted(_Event, frozen=True, kw_only=True, tag="session.compacted"):  # noqa: D101
    data: SessionCompactedData = SessionCompactedData()


class SessionDeleted(_Event, frozen=True, kw_only=True, tag="session.deleted"):  # noqa: D101
    data: SessionDeletedData = SessionDeletedData()


class SessionMeasured(_Event, frozen=True, kw_only=True, tag="session.measured"):  # noqa: D101
    data: SessionMeasuredData


class RulesLoaded(_Event, frozen=True, kw_only=True, tag="rules.loaded"):  # noqa: D101
    data: RulesLoadedData


HookEvent = (
    SessionStarted
    | SessionLinked
    | MemoryRequested
    | ToolCompleted
    | SessionCompacted
    | SessionDeleted
    | SessionMeasured
    | RulesLoaded
)
EVENTS: tuple[type[HookEvent], ...] = (
    SessionStarted,
    SessionLinked,
    MemoryRequested,
    ToolCompleted,
    SessionCompacted,
    SessionDeleted,
    SessionMeasured,
    RulesLoaded,
)
"""Every event that a host can send."""

decode = msgspec.json.Decoder(HookEvent).decode
"""The event that stands in some bytes; raises ``MsgspecError`` or ``RecursionError`` if it is none."""
