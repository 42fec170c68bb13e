"""The hooks of one workspace: what each leads to in the ledger, and what the client is given (SPEC 12.3, 18)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

from msgspec.structs import replace

from ledger.events import Draft, MemoryRequested, MemoryRequestedData, PromptRenderedData, SessionStartedData
from ledger.ids import MonotonicIds
from memfold.bridge.ledger import Ledger
from memfold.bridge.memory_file import MemoryFileBeside
from memfold.bridge.notice import (
    NOTICE_LINES,
    notice_of,
    notice_of_failure,
    notice_of_file,
    notice_of_length,
    notice_of_move,
    notice_of_settings,
)
from memfold.bridge.private_log import PrivateLog
from memfold.bridge.protocol import Answer, Refusal, Request
from memfold.bridge.rule_files import RuleFiles
from memfold.bridge.settings import Settings
from memfold.clock import host_time
from memfold.hosts.opencode import OpenCodeTranslator, session_of
from memfold.hosts.opencode_payloads import mapping, text
from memfold.ledgers import moved_from
from memfold.paths import is_project
from projections.compaction import compaction_context
from projections.hot.delivery import hot_due, system_due, system_hot
from projections.prompts import current_epoch
from projections.receipts import frozen_due, frozen_receipt, hot_receipt
from projections.render import numbered_block
from projections.world import WorldState

if TYPE_CHECKING:
    from memfold.bridge.tools import BridgeTools

__all__ = ["HOST", "Hooks"]

HOST = "opencode"
_MESSAGE, _SYSTEM, _COMPACTING = "chat.message", "experimental.chat.system.transform", "experimental.session.compacting"
_TOOLS, _TOOL = "tools", "tool"
_PROMPTS = frozenset({_MESSAGE, _SYSTEM, _COMPACTING})
"""The hooks that lead to a prompt; the client waits for their answers."""
_ENDS = frozenset({"session.compacted", "session.idle"})
_OPEN_TODOS = frozenset({"pending", "in_progress"})
_RULES = ("projections.rules.candidates", "projections.rules.explicit")
"""What the first message needs and would wait for."""
_HASHED_AT_ONCE = 8 << 20
"""Bytes of the log that are hashed for a head between two hooks: a tenth of a second."""
_HASHED_AT_THE_END = 64 << 20
_FOLDED_IN_AN_ANSWER = 16
"""Events that the next question may find unread: folding them takes some hundred microseconds, and reading a log for
each one would take several times as long."""
_KEPT_AT_ONCE = 20_000
"""Keys that are written for a checkpoint between two hooks: a tenth of a second."""


class _Asked(NamedTuple):
    """Who asks: a session, its source, the process of the client, and when."""

    session: str
    source: str
    instance: str
    time: str | None


class Hooks:
    """Takes the hooks of one client in one workspace.

    Args:
        settings: where the ledger is, and what is configured.
        environ: the environment.
        clock: seconds that only rise.

    Attributes:
        unfinished: whether the last line is one half of something, whose other half comes with a later line and of
            which nothing stands in the ledger yet.
    """

    def __init__(
        self, settings: Settings, environ: Mapping[str, str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._log = PrivateLog(settings.data)
        self._project = project = is_project(settings.root, environ)
        self._ledger = Ledger(
            settings.ledger,
            settings.root,
            project=project,
            host=HOST,
            config=settings.config,
            log=self._log,
            clock=clock,
        )
        self._capture = self._ledger.capture
        self._translator = OpenCodeTranslator(self._capture)
        self._environ = environ
        self._rules = self._rule_files()
        self._tools: BridgeTools | None = None
        self._new_id = MonotonicIds()
        self._untold = settings.findings
        self._file = MemoryFileBeside(settings, project=project, report=self._told_of_file)
        self._of_file: list[str] = []
        self._before: list[str] = []
        self._owed: list[tuple[_Asked, PromptRenderedData]] = []
        self.unfinished = False

    def take(self, request: Request) -> Answer:
        """Record what a hook says, then say what the client is to be given.

        Raises:
            Refusal: if the line can't be read.
        """
        if self._settings.refresh():
            self._ledger.configure(self._settings.config)
            self._rules = self._rule_files()
            self._untold = self._settings.findings
            self._file.configure()
        enabled = self._settings.config.enabled
        if enabled:
            self._ledger.store()
        record, hook = request.record, request.hook
        self.unfinished = _is_half(record) or (self.unfinished and not _is_whole(record))
        asked = self._asked(record) if hook in _PROMPTS or hook == _TOOL else None  # other hooks only tell
        if enabled and asked is not None:
            self._file.absorb()  # before a block is frozen, and before the model changes what a person has changed
            self._renew(asked)
        drafts = self._translator.feed(record)
        if self._translator.problem:
            raise Refusal(f"unreadable: {self._translator.problem}", request.id)
        if drafts and isinstance(drafts[0].data, SessionStartedData):
            drafts = self._at_start(drafts, asked or self._asked(record))
        if drafts:
            self._ledger.record(drafts)
        answer = self._of_tools(request, asked) or self._answer(request, asked, recorded=bool(drafts))
        return self._to_message(answer, asked, drafts, record) if hook == _MESSAGE and asked is not None else answer

    def catch_up(self, requests: Sequence[Request]) -> None:
        """Record lines that came before the workspace could be seen, and were refused: nobody gets their answers."""
        for request in requests:
            with suppress(Refusal):
                self.take(request)
            self._owed.clear()

    def settle(self) -> None:
        """Record what the client has been given, now that it was handed over.

        A receipt that is lost means that something is given twice. One that comes before its answer could be lost
        with this process between the two, and then the client would never be given what it tells of.
        """
        owed, self._owed = self._owed, []
        if self._settings.config.enabled:
            drafts = [
                draft
                for asked, data in owed
                for draft in self._capture.prompt_rendered(asked.session, data, time=asked.time)
            ]
            if drafts:
                self._ledger.record(drafts)
            if self._file.follows and (world := self._ledger.world()) is not None:
                self._file.follow(world.memory)
            self._ledger.seal(_HASHED_AT_ONCE)
            self._ledger.catch_up(_FOLDED_IN_AN_ANSWER)
            self._ledger.keep(_KEPT_AT_ONCE)

    def warm_up(self) -> None:
        """Read the log and the rule files while the client still starts, so that its first prompt need not wait."""
        if self._settings.config.enabled:
            for name in _RULES:
                import_module(name)
        if self._settings.config.enabled and (world := self._ledger.world()) is not None:
            list(self._rules.changed(world.memory, self._capture, None))
            self._file.follow(world.memory)
            if self._project and world.memory.offset < 0:  # no ledger yet: what was remembered may be elsewhere
                folder = os.path.dirname(self._settings.ledger)  # noqa: PTH120 - pathlib costs more than the look
                self._before = [one.root for one in moved_from(self._settings.root, folder, self._environ)]
            self._ledger.keep()

    def close(self) -> None:
        """Store what waits, if that can be done soon."""
        if self._settings.config.enabled:
            self._ledger.finish()
            self._ledger.seal(_HASHED_AT_THE_END)
            self._ledger.keep()
        self._file.close()
        self._ledger.close()

    def refused(self, why: str) -> None:
        """Note a line that can't be read, so that ``doctor`` tells of it; its words quote nothing of the line."""
        if self._settings.config.enabled:
            self._log.note("bridge", why)

    def surprised(self, error: Exception) -> None:
        """Note an error that is a fault of ours: its kind and place, since its words may quote anything."""
        self._owed.clear()  # what would have been answered isn't
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        where = "" if frame is None else f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}"  # noqa: PTH119 - a name
        if self._settings.config.enabled:
            self._log.note("bridge", f"unexpected {type(error).__name__} at {where}")

    # -- what is recorded -----------------------------------------------------------------------------------------

    def _rule_files(self) -> RuleFiles:
        return RuleFiles(self._settings.directory, self._settings.root, self._environ)

    def _asked(self, record: Mapping[str, object]) -> _Asked | None:
        session = session_of(record)
        if session is None:
            return None
        # Receipts name the instance as starts do.
        instance = self._capture.id_of(self._translator.instance_of(record))
        return _Asked(session, self._capture.source_of(session), instance, host_time(record.get("t")))

    def _renew(self, asked: _Asked) -> None:
        """A start or a parent that isn't there went lost, with its ledger or while memory was off: it is told anew."""
        if self._ledger.waits or (world := self._ledger.world(asked.source)) is None:
            return
        memory, source = world.memory, asked.source
        if source in memory.subagents:
            return
        if source not in memory.epochs:
            self._translator.forget_start(asked.session)
        elif (parent := self._translator.parent_of(asked.session)) is not None:
            self._ledger.record(self._capture.session_linked(asked.session, parent, time=asked.time))

    def _at_start(self, drafts: list[Draft], asked: _Asked | None) -> list[Draft]:
        """The drafts that start a session, with the rule files that count for it before them.

        A start that another process recorded for this instance of the client isn't recorded again: a child that
        replaces a dead one is no restart. Nor is what comes late for a session that any process saw deleted.
        """
        world = None if asked is None else self._ledger.world(asked.source)
        if asked is None or world is None:
            return drafts
        session = world.sessions.sessions.get(asked.source)
        if session is not None and session.deleted:
            self._translator.end(asked.session)
            return []
        epoch, given = current_epoch(world.prompts, asked.source), world.given.get(asked.source)
        started = given is not None and given.instance == asked.instance
        if epoch is not None and asked.instance and (started or not frozen_due(world, asked.source, asked.instance)):
            return drafts[1:]
        return [*self._rules.changed(world.memory, self._capture, asked.time), *drafts]

    # -- what is answered -----------------------------------------------------------------------------------------

    def _answer(self, request: Request, asked: _Asked | None, *, recorded: bool) -> Answer:
        if not self._settings.config.enabled:
            return Answer(request.id, system=[]) if request.hook == _SYSTEM else Answer(request.id)
        if asked is not None and request.hook in _PROMPTS:
            world = self._ledger.world(asked.source)
            if world is None:
                return Answer(request.id, refused=f"unreadable: {self._ledger.problem}")
            if request.hook == _SYSTEM:
                return Answer(request.id, system=self._system(world, asked))
            if request.hook == _COMPACTING:
                todos = mapping(request.record.get("input")).get("todos")
                return Answer(request.id, context=self._context(world, asked, _open_todos(todos)))
            if not self._ledger.waits and (part := self._part(world, asked)) is not None:
                return Answer(request.id, part=part)
        if recorded and self._ledger.problem:
            return Answer(request.id, refused=f"not stored: {self._ledger.problem}")
        return Answer(request.id)

    def _of_tools(self, request: Request, asked: _Asked | None) -> Answer | None:
        """The answer to what concerns our own tools; None for other hooks.

        The client says whether it has taken the tools that it was offered: with a line of its own, and to a successor
        with ``init``.
        """
        given = mapping(request.record.get("input"))
        if request.hook in (_TOOLS, "init") and given.get("tools") is True:
            self._ledger.note_tools()
        elif request.hook == _TOOLS:
            return Answer(request.id, tools=self._offered())
        elif request.hook == _TOOL and asked is not None:
            return Answer(request.id, result=self._result(given, asked))
        return None

    def _offered(self) -> list[dict[str, object]]:
        """The tools that the client is to offer while it runs; none where memory or they are switched off."""
        config = self._settings.config
        if not (config.enabled and config.delivery.tools):
            return []
        from memfold.bridge.tools import definitions

        return definitions()

    def _result(self, given: Mapping[str, object], asked: _Asked) -> str:
        """What the model reads as the result of its call; off the record nothing is written (SPEC 3.7)."""
        # Imported with the first call: most sessions make none, and a start waits for this process.
        from memfold.bridge.tools import BridgeTools

        if self._tools is None:
            self._tools = BridgeTools(self._ledger, self._settings.ledger)
        return self._tools.answer(given, time=asked.time, logged=self._settings.config.enable_log)

    def _to_message(
        self, answer: Answer, asked: _Asked, drafts: Sequence[Draft], record: Mapping[str, object]
    ) -> Answer:
        """The answer with what the user is told, and whether a successor must know that nothing is to be recorded."""
        hushed = self._capture.is_off_the_record(asked.session)
        told = [] if hushed or not self._settings.config.enabled else [self._settings_notice(), self._file_notice()]
        told += [
            self._notice(asked, draft.data.message) for draft in drafts if isinstance(draft.data, MemoryRequestedData)
        ]
        if told and self._translator.parent_of(asked.session) is None:
            told.append(notice_of_length(_written(record)))
            before, self._before = self._before, []
            told.append(notice_of_move(before, self._environ.get("HOME", "")))
        # Of sub-agents a successor learns by their heads, which it gets as well: their mark ends with their root's.
        private = self._capture.spoke_off_the_record(asked.session)
        return replace(answer, notice="\n".join(filter(None, told)) or None, private=private)

    def _settings_notice(self) -> str:
        """What the user is told of settings that can't be used, once after they were read (SPEC 19)."""
        findings, self._untold = self._untold, ()
        return notice_of_settings(findings, self._environ.get("HOME", ""))

    def _told_of_file(self, sentence: str) -> None:
        """Something about MEMORY.md that a person should know, possibly from the thread that watches it."""
        self._log.note("memory file", sentence)
        self._of_file.append(sentence)

    def _file_notice(self) -> str:
        """What the user is told of the memory file, once."""
        told, self._of_file = self._of_file, []
        return "\n".join(notice_of_file(sentence, self._environ.get("HOME", "")) for sentence in told[:NOTICE_LINES])

    def _notice(self, asked: _Asked, message: str) -> str:
        world = self._ledger.world(asked.source)
        if world is None or self._ledger.error is not None:
            return notice_of_failure(self._ledger.error)
        stored = (event for event in self._ledger.latest if isinstance(event, MemoryRequested))
        event = next((one.id for one in stored if one.data.message == message), "")
        return notice_of(world, asked.source, event, message)

    def _part(self, world: WorldState, asked: _Asked) -> str | None:
        """What of the hot state goes with a message (SPEC 12.3)."""
        if self._capture.is_off_the_record(asked.session):
            return None
        part = hot_due(world, asked.source, asked.instance)
        if part is None:
            return None
        self._owed.append((asked, hot_receipt(part, asked.instance)))
        return part.text or None

    def _system(self, world: WorldState, asked: _Asked) -> list[str]:
        """The frozen block of the open epoch, and the hot block behind it where a session's settings say so."""
        epoch = current_epoch(world.prompts, asked.source)
        if epoch is None:
            return []
        hot = "" if self._capture.is_off_the_record(asked.session) else system_hot(world, asked.source)
        if not self._ledger.waits:  # else the receipts would pile up, step by step
            if frozen_due(world, asked.source, asked.instance):
                self._owed.append((asked, frozen_receipt(epoch, asked.instance)))
            if hot and (part := system_due(world, asked.source, asked.instance)) is not None:
                self._owed.append((asked, hot_receipt(part, asked.instance)))
        return [segment for segment in (epoch.segment, hot) if segment]

    def _context(self, world: WorldState, asked: _Asked, todos: Sequence[str]) -> list[str]:
        """The numbered list of all that came before, and how to write candidates (SPEC 18.1).

        The list's id is given here, so that it holds even where its event has to wait.
        """
        started = current_epoch(world.prompts, asked.source) is not None or self._ledger.waits
        if asked.source in world.memory.subagents or not started:
            return []
        rules = list(self._rules.changed(world.memory, self._capture, asked.time))
        block, position = numbered_block(world.memory), world.memory.offset
        prepared = self._capture.compaction_prepared(asked.session, position, block.shown, time=asked.time)
        snapshot = self._new_id()
        self._ledger.record([*rules, *(replace(draft, id=snapshot) for draft in prepared)])
        context = compaction_context(block, snapshot, self._settings.config.policy, todos)
        return [context] if context else []


def _open_todos(todos: object) -> list[str]:
    """The contents of what the host still has to do; read here and stored nowhere (SPEC 18.2)."""
    if not isinstance(todos, list):
        return []
    listed = map(mapping, cast("list[object]", todos))
    return [text(todo.get("content")) for todo in listed if text(todo.get("status")) in _OPEN_TODOS]


def _written(message: Mapping[str, object]) -> str:
    """What the user wrote; a part of the client's own is none of it."""
    parts: object = mapping(message.get("output")).get("parts")
    written = map(mapping, cast("list[object]", parts if isinstance(parts, list) else []))
    return "\n".join(text(part.get("text")) for part in written if part.get("synthetic") is not True)


def _is_half(record: Mapping[str, object]) -> bool:
    """Whether a line only prepares a later one.

    An expanded command belongs to its message, a summary to its compaction, and a parent to its child's first message.
    """
    event = record.get("event")
    if event is None:
        return record.get("hook") == "command.execute.before"
    info = mapping(mapping(mapping(event).get("properties")).get("info"))
    match mapping(event).get("type"):
        case "message.updated":
            return info.get("summary") is True
        case "session.created":
            return info.get("parentID") is not None
        case _:
            return record.get("hook") == "command.execute.before"


def _is_whole(record: Mapping[str, object]) -> bool:
    """Whether a line completes what others began or says that nothing will, or is waited for."""
    return record.get("hook") in _PROMPTS or text(mapping(record.get("event")).get("type")) in _ENDS
