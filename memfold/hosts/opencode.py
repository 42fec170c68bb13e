"""The OpenCode adapter: recorded or live hook payloads in, calls of the capture layer out.

Where each fact comes from: what the user said, from ``chat.message``; tool results, from ``tool.execute.after``;
tool failures, which have no hook, from error parts; a summary, from the text parts of the compaction's answer,
once ``session.compacted`` says that it counts; parents and deletions, from ``session.*``; tokens, from
``step-finish`` parts, summed up to ``session.idle``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from msgspec import ValidationError, convert
from msgspec.structs import replace

from ledger.events import Delivery, Draft
from memfold.capture import Capture
from memfold.config import Config
from memfold.hosts import opencode_payloads as payloads
from memfold.hosts.opencode_payloads import mapping, spoken, text
from projections.hot.tools import kind_of

__all__ = ["OpenCodeTranslator", "delivery_of", "session_of"]


@dataclass(slots=True)
class _Summary:
    """A compaction's answer while it is being written: its text parts by id, in order."""

    message: str
    texts: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True)
class _Session:
    """What must be remembered of one session.

    Attributes:
        created: milliseconds since the epoch; None if the session was created before the records begin.
        instances: the instances of the client in which it has started.
        replayed: messages that a fork copied from the session it was made of.
        running: tool calls that have begun and not ended.
        command: text that the last slash command was expanded to, and what the user typed.
        requests: those of the running turn: id of the ``step-finish`` part → tokens.
    """

    parent: str | None = None
    version: str = ""
    created: float | None = None
    instances: set[str] = field(default_factory=set[str])
    replayed: set[str] = field(default_factory=set[str])
    running: set[str] = field(default_factory=set[str])
    command: tuple[str, str] | None = None
    summary: _Summary | None = None
    requests: dict[str, payloads.Tokens] = field(default_factory=dict[str, payloads.Tokens])


class OpenCodeTranslator:
    """Turns hook records of one workspace into drafts. The result depends on the records fed, and nothing else.

    Attributes:
        skipped: why records were skipped, and how often: unknown hooks and payloads of an unexpected shape.
        problem: why the last record was skipped; empty if it wasn't.
    """

    def __init__(self, capture: Capture) -> None:
        self.skipped: Counter[str] = Counter()
        self.problem = ""
        self._capture = capture
        self._sessions: dict[str, _Session] = {}
        self._deleted: set[str] = set()
        self._instances: dict[int | None, str] = {}

    def feed(self, record: Mapping[str, object]) -> list[Draft]:
        """The drafts that one record leads to, often none.

        Never raises on a record, whatever is in it. O(size of the record).
        """
        hook, self.problem = record.get("hook"), ""
        if session_of(record) in self._deleted:
            return []
        try:
            return self._translate(hook, record)
        except (ValidationError, UnicodeError) as problem:  # the latter: a key with a lone surrogate
            self.problem = f"{text(hook)[:60]!a}: {problem}"
            self.skipped[self.problem] += 1
            return []

    def instance_of(self, record: Mapping[str, object]) -> str:
        """The instance of the client that a record came from."""
        pid = record.get("pid")
        return self._instances.get(pid, "") if isinstance(pid, int | None) else ""

    def parent_of(self, session: str) -> str | None:
        """The session that a sub-agent works for, once the client has named it."""
        return self._session(session).parent

    def forget_start(self, session: str) -> None:
        """The session's start went lost: its next hook starts it again."""
        self._session(session).instances.clear()

    def end(self, session: str) -> None:
        """The session is deleted: what was under way may still end, and must not start it again."""
        self._deleted.add(session)
        self._sessions.pop(session, None)

    def _translate(self, hook: object, record: Mapping[str, object]) -> list[Draft]:
        match hook:
            case "event":
                return self._event(convert(record, payloads.EventHook))
            case "chat.message":
                return self._chat_message(convert(record, payloads.ChatMessage))
            case "tool.execute.before":
                return self._tool_before(convert(record, payloads.ToolBefore))
            case "tool.execute.after":
                return self._tool_after(convert(record, payloads.ToolAfter))
            case "command.execute.before":
                return self._command_before(convert(record, payloads.CommandBefore))
            case "experimental.chat.system.transform" | "experimental.session.compacting" | "tool":
                prompt = convert(record, payloads.SessionHook)
                return self._started(prompt.input.sessionID, prompt)
            case "init":
                return self._init(convert(record, payloads.Init))
            case "tools" | "mark" | "dispose" | "config" | "experimental.compaction.autocontinue":
                return []
            case _:
                raise ValidationError("unknown hook")

    def _event(self, hook: payloads.EventHook) -> list[Draft]:
        properties = hook.event.properties
        match hook.event.type:
            case "session.created" | "session.updated":
                return self._session_changed(convert(properties, payloads.SessionChanged).info, hook)
            case "session.deleted":
                return self._session_deleted(convert(properties, payloads.SessionChanged).info.id, hook)
            case "session.compacted":
                return self._compacted(convert(properties, payloads.InSession).sessionID, hook)
            case "session.idle":
                return self._idle(convert(properties, payloads.InSession).sessionID, hook)
            case "message.updated":
                return self._message_updated(convert(properties, payloads.MessageUpdated))
            case "message.part.updated":
                return self._part_updated(convert(properties, payloads.PartUpdated), hook)
            case _:  # the client's bus carries dozens of types that say nothing here, and each release adds some
                return []

    # -- sessions -------------------------------------------------------------------------------------------------

    def _init(self, hook: payloads.Init) -> list[Draft]:
        self._instances[hook.pid] = hook.input.instance or f"{hook.pid}@{hook.time}"
        for session in hook.input.private:
            self._capture.keep_off_the_record(session)
        return []

    def _session(self, session: str) -> _Session:
        known = self._sessions.get(session)
        if known is None:  # not ``setdefault``, which would make one each time
            known = self._sessions[session] = _Session()
        return known

    def _started(self, session: str, hook: payloads.Hook) -> list[Draft]:
        """The start of a session, once per instance of the client, before anything else of it."""
        known = self._session(session)
        instance = self._instances.get(hook.pid, "")
        if instance in known.instances:
            return []
        # Only the instance that creates a session announces it: --session and --continue don't.
        reason: Literal["new", "resume"] = "resume" if known.instances or known.created is None else "new"
        known.instances.add(instance)
        return self._capture.session_started(
            session,
            time=hook.time,
            parent=known.parent,
            reason=reason,
            host_version=known.version,
            instance=instance,
        )

    def _session_changed(self, info: payloads.Session, hook: payloads.EventHook) -> list[Draft]:
        known = self._session(info.id)
        known.version = info.version or known.version
        if hook.event.type == "session.created" and info.time:
            known.created = info.time.created
        if info.parentID is None or known.parent is not None:
            return []
        known.parent = info.parentID
        self._capture.note_parent(info.id, info.parentID)
        return self._capture.session_linked(info.id, info.parentID, time=hook.time) if known.instances else []

    def _session_deleted(self, session: str, hook: payloads.EventHook) -> list[Draft]:
        self.end(session)
        return self._capture.session_deleted(session, time=hook.time)

    # -- messages -------------------------------------------------------------------------------------------------

    def _command_before(self, hook: payloads.CommandBefore) -> list[Draft]:
        typed = f"{hook.input.command}\n{hook.input.arguments}"
        self._session(hook.input.sessionID).command = (spoken(hook.output.parts), typed)
        return []

    def _chat_message(self, hook: payloads.ChatMessage) -> list[Draft]:
        session, message = hook.input.sessionID, hook.output.message.id
        drafts = self._started(session, hook)
        known = self._session(session)
        words = spoken(hook.output.parts)
        if known.command and known.command[0] == words:
            # A template may hold files and the output of commands, which never propose anything (SPEC 3.1):
            # the user's own words are the command's name and its arguments.
            words = known.command[1]
        known.command = None
        return drafts + self._capture.user_message(session, message, _unquoted(words), time=hook.time)

    def _message_updated(self, change: payloads.MessageUpdated) -> list[Draft]:
        known, info = self._session(change.sessionID), change.info
        # A fork announces copies of all old messages, with their old times, before its first own one (SPEC 3.5).
        if known.created is not None and info.time and info.time.created < known.created:
            known.replayed.add(info.id)
        elif info.is_summary and (known.summary is None or known.summary.message != info.id):
            known.summary = _Summary(info.id)
        return []

    def _part_updated(self, change: payloads.PartUpdated, hook: payloads.EventHook) -> list[Draft]:
        known, part = self._session(change.sessionID), change.part
        if part.messageID in known.replayed:
            return []
        if part.type == "step-finish":
            # The next message may come before the turn ends, and would bring those off the record into its sum.
            if not self._capture.is_off_the_record(change.sessionID):
                known.requests[part.id] = part.tokens
        elif part.type == "text" and known.summary and known.summary.message == part.messageID:
            known.summary.texts[part.id] = part.text
        elif part.type == "tool" and part.state.status == "error":
            return self._tool_failed(change.sessionID, part, hook)
        return []

    def _compacted(self, session: str, hook: payloads.EventHook) -> list[Draft]:
        drafts = self._started(session, hook)
        known = self._session(session)
        summary, known.summary = known.summary, None
        if summary is None:  # its message came before the records begin: the event stands for it
            return drafts + self._capture.compacted(session, hook.event.id, None, time=hook.time)
        words = "\n".join(summary.texts.values())
        return drafts + self._capture.compacted(session, summary.message, words, time=hook.time)

    def _idle(self, session: str, hook: payloads.EventHook) -> list[Draft]:
        """The end of a turn; after an abort it is reported twice, and what is left may come in between."""
        known = self._session(session)
        requests, known.requests = list(known.requests.values()), {}
        if not requests:
            return []
        return self._capture.measured(
            session,
            requests=len(requests),
            input=sum(tokens.input for tokens in requests),
            cache_read=sum(tokens.cache.read for tokens in requests),
            cache_write=sum(tokens.cache.write for tokens in requests),
            time=hook.time,
        )

    # -- tools ----------------------------------------------------------------------------------------------------

    def _tool_before(self, hook: payloads.ToolBefore) -> list[Draft]:
        self._session(hook.input.sessionID).running.add(hook.input.callID)
        return []

    def _tool_after(self, hook: payloads.ToolAfter) -> list[Draft]:
        call, result = hook.input, hook.output
        drafts = self._started(call.sessionID, hook)
        self._session(call.sessionID).running.discard(call.callID)
        if result.isError is True:  # how an MCP server reports a failure
            return drafts + self._capture.tool_failed(
                call.sessionID, call.callID, call.tool, mapping(call.args), result.text, time=hook.time
            )
        return drafts + self._capture.tool_completed(
            call.sessionID,
            call.callID,
            call.tool,
            mapping(call.args),
            exit=result.exit,
            output=result.text,
            time=hook.time,
            ran=result.ran,
        )

    def _tool_failed(self, session: str, part: payloads.Part, hook: payloads.EventHook) -> list[Draft]:
        """A call that threw. The user's own ``!`` commands have such parts too, but no ``tool.execute.before``."""
        known = self._session(session)
        if part.callID not in known.running:
            return []
        known.running.discard(part.callID)
        return self._started(session, hook) + self._capture.tool_failed(
            session,
            part.callID,
            part.tool,
            mapping(part.state.input),
            text(part.state.error),
            time=hook.time,
            # A command that came to an exit, whatever its status, is a result: this one was denied or cancelled.
            ran=kind_of(part.tool) != "shell",
        )


def delivery_of(config: Config, *, tools: bool) -> Delivery:
    """How sessions of this client are given their blocks.

    Args:
        config: the settings.
        tools: whether the client has our tools: it takes them when it starts, or not at all.
    """
    delivery = replace(config.delivery, tools=tools and config.delivery.tools, memory_file=config.memory_file)
    if config.max_summary_chars == delivery.summary_chars:
        return delivery  # the codec leaves out what is the very default, not what equals it
    return replace(delivery, summary_chars=config.max_summary_chars)


def session_of(record: Mapping[str, object]) -> str | None:
    """The session that a record names, wherever it stands."""
    holder = mapping(record.get("input")) or mapping(mapping(record.get("event")).get("properties"))
    session = holder.get("sessionID")
    return session if isinstance(session, str) else None


def _unquoted(text: str) -> str:
    """Take off the quotation marks that ``opencode run "a b"`` puts around an argument with a space."""
    inner = text[1:-1]
    if len(text) < 2 or text[0] != '"' or text[-1] != '"' or '"' in inner.replace('\\"', ""):
        return text
    return inner.replace('\\"', '"')
