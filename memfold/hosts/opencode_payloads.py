"""The shapes of OpenCode's hook payloads, as far as memfold reads them.

Keys that aren't named here are ignored, so that a newer client may add some. A value of another shape makes
``msgspec.convert`` raise ``ValidationError``, and the translator skips the record. Measured on ``opencode-ai``
1.18.33.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, cast

from msgspec import Meta, Struct

from memfold.capture import ID_LIMIT
from memfold.clock import host_time

__all__ = [
    "ChatMessage",
    "CommandBefore",
    "EventHook",
    "Hook",
    "InSession",
    "Init",
    "MessageUpdated",
    "Part",
    "PartUpdated",
    "Session",
    "SessionChanged",
    "SessionHook",
    "Tokens",
    "ToolAfter",
    "ToolBefore",
    "mapping",
    "spoken",
    "text",
]

_MAX_EXIT = 2**32
Count = Annotated[int, Meta(ge=0, le=2**53)]
SessionId = Annotated[str, Meta(max_length=ID_LIMIT)]
"""It names the session in each of its events, so it can't be shortened like other ids."""


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] - from JSON


def text(value: object) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


class Hook(Struct, kw_only=True, frozen=True):
    """What every record has: ``t`` is seconds since the epoch, ``pid`` the client's process."""

    t: Any = None
    pid: int | None = None

    @property
    def time(self) -> str | None:
        """When the client reported it: the one clock that all records have; None if it can't be read."""
        return host_time(self.t)


class InSession(Struct, frozen=True):
    """The session that a hook or an event is about."""

    sessionID: SessionId  # noqa: N815  # the client's spelling, here and below


class Place(Struct, frozen=True):
    """Where the client works. The last two are set by memfold's own plugin.

    Attributes:
        instance: the client's process, whichever child serves it.
        private: sessions whose newest message is off the record, as a child before this one was told.
    """

    directory: str = ""
    worktree: str = ""
    instance: str = ""
    private: tuple[str, ...] = ()


class Init(Hook, frozen=True):
    """A plugin was loaded: a new instance of the client."""

    input: Place


class SessionHook(Hook, frozen=True):
    """A hook of which only the session matters."""

    input: InSession


class Tokens(Struct, frozen=True):
    """Tokens of one request as the provider reported them."""

    class Cache(Struct, frozen=True):
        """The part of the prompt that was read from, or written to, the provider's cache."""

        read: Count = 0
        write: Count = 0

    input: Count = 0
    cache: Cache = Cache()


class ToolState(Struct, frozen=True):
    """The state of a tool part: pending, running, completed or error."""

    status: str = ""
    input: Any = None
    error: Any = None


class Part(Struct, frozen=True):
    """One part of a message. ``synthetic`` text was written by the client or a plugin."""

    type: str
    id: str = ""
    messageID: str = ""  # noqa: N815
    text: str = ""
    synthetic: bool = False
    tool: str = ""
    callID: str = ""  # noqa: N815
    state: ToolState = ToolState()
    tokens: Tokens = Tokens()


def spoken(parts: Iterable[Part]) -> str:
    """What the user wrote: the text parts, without those that the client or a plugin put beside them."""
    return "\n".join(part.text for part in parts if part.type == "text" and not part.synthetic)


class Created(Struct, frozen=True):
    """When something came to be, in milliseconds since the epoch."""

    created: float


class Message(Struct, frozen=True):
    """The head of a message. ``summary`` is true on a compaction's answer; on a user's message it is an object."""

    id: str
    role: str = ""
    summary: Any = None
    mode: Any = None
    time: Created | None = None

    @property
    def is_summary(self) -> bool:
        """Whether a compaction's answer is in this message."""
        return self.role == "assistant" and (self.summary is True or self.mode == "compaction")


class ChatMessage(Hook, frozen=True):
    """A message is about to be answered: the user's own, or the prompt of a sub-agent."""

    class Output(Struct, frozen=True):
        """The message and its parts."""

        message: Message
        parts: list[Part]

    input: InSession
    output: Output


class CommandBefore(Hook, frozen=True):
    """A slash command was expanded to the parts of a message."""

    class Input(InSession, frozen=True):
        """What the user typed."""

        command: str
        arguments: str = ""

    class Output(Struct, frozen=True):
        """What the template made of it."""

        parts: list[Part]

    input: Input
    output: Output


class ToolBefore(Hook, frozen=True):
    """A tool call of the model is about to run."""

    class Input(InSession, frozen=True):
        """The call."""

        tool: str
        callID: str  # noqa: N815

    input: Input


class ToolAfter(Hook, frozen=True):
    """A tool call came to its end without an exception."""

    class Input(ToolBefore.Input, frozen=True):
        """The call, with its arguments."""

        args: Any = None

    class Output(Struct, frozen=True):
        """Title, output and metadata of a built-in tool, or content of an MCP result."""

        output: Any = None
        metadata: Any = None
        content: object = None
        isError: Any = None  # noqa: N815

        @property
        def text(self) -> str:
            """What the call printed or answered."""
            content = self.content
            if not isinstance(content, list):
                return text(self.output)
            items = map(mapping, cast("list[object]", content))
            return "\n".join(text(item.get("text")) for item in items if item.get("type") == "text")

        @property
        def exit(self) -> int | None:
            """The structured exit status (SPEC 13.2); whatever isn't one says nothing."""
            value: object = mapping(self.metadata).get("exit")
            if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= _MAX_EXIT:
                return None
            return value

        @property
        def ran(self) -> bool:
            """False for a command that was aborted or timed out: its exit status is there, and null."""
            return self.exit is not None or "exit" not in mapping(self.metadata)

    input: Input
    output: Output


class EventHook(Hook, frozen=True):
    """Something on the client's bus; its properties depend on the type."""

    class Event(Struct, frozen=True):
        """The envelope of the client's events."""

        type: str
        id: str = ""
        properties: Any = None

    event: Event


class Session(Struct, frozen=True):
    """The head of a session."""

    id: SessionId
    parentID: SessionId | None = None  # noqa: N815
    version: str = ""
    time: Created | None = None


class SessionChanged(Struct, frozen=True):
    """Properties of ``session.created``, ``session.updated`` and ``session.deleted``."""

    info: Session


class MessageUpdated(InSession, frozen=True):
    """Properties of ``message.updated``."""

    info: Message


class PartUpdated(InSession, frozen=True):
    """Properties of ``message.part.updated``."""

    part: Part
