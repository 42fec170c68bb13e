"""Feeds neutral events to ledgers on disk through the capture layer that host adapters use."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from ledger.events import AnyEvent, Draft, LedgerCreatedData
from ledger.log import FileLog, Log
from ledger.memory import MemoryLog
from ledger.times import format_time, parse_time
from memfold.clock import host_time
from memfold.config import Layer, resolve
from memfold.editing import delete, find, restore, update
from memfold.errors import NotFoundError
from memfold.imports.apply import record_import
from memfold.imports.reference_a import read_reference_a
from memfold.imports.reference_b import read_reference_b
from memfold.paths import is_project, ledger_dir, workspace_key
from memfold.purge.naming import of_message, of_name
from memfold.purge.purge import Purge
from memfold.workspace import Workspace
from projections.memory.model import Ref
from projections.world import WorldState

HOST = "test"
FIRST = 1_767_225_600_000  # 2026-01-01T00:00:00Z
STEP = 60_000


class UnknownOperationError(Exception):
    """A row asks for something that the harness doesn't know."""


class Harness:
    """Workspaces below one data folder, fed one neutral event after the other.

    Args:
        data: the data folder; None for ledgers in memory.
        workspace: root of the workspace where an event names none.
        config: keys of SPEC 19.
    """

    def __init__(self, data: str | None, workspace: str = "/w/app", config: dict[str, Any] | None = None) -> None:
        self.data = data
        self.root = workspace
        self.config = resolve([Layer("workspace", config or {})]).config
        self.offsets: list[int] = []
        self.last_session: str | None = None
        self.last_ms = FIRST - STEP
        self.first_ms = FIRST
        self._open: dict[str, Workspace] = {}
        self._logs: dict[str, MemoryLog] = {}
        self._snapshots: dict[str, str] = {}

    def workspace(self, root: str | None = None) -> Workspace:
        """The ledger of a workspace, made where there is none."""
        name = self.root if root is None else root
        if name not in self._open:
            self._open[name] = Workspace(
                self._log(name), name, self.config.policy, host=HOST, enabled=self.config.enabled
            )
        return self._open[name]

    def _log(self, root: str) -> Log:
        """The ledger of a workspace; it begins at the time of its first event, not at today's."""
        key = workspace_key(root)
        if self.data is not None:
            return FileLog.create(
                ledger_dir(self.data, key),
                root=root,
                key=key,
                project=is_project(root, {}),
                clock=lambda: self.first_ms,
            )
        if root not in self._logs:
            self._logs[root] = MemoryLog()
            created = LedgerCreatedData(format=1, ledger="test", root=root, key=key, project=is_project(root, {}))
            self._logs[root].append([Draft(source="memfold", time=format_time(self.first_ms), data=created)])
        return self._logs[root]

    def feed(self, events: list[dict[str, Any]]) -> None:
        """Feed all events of a row."""
        for event in events:
            self.step(event)

    def step(self, event: dict[str, Any]) -> None:
        """Feed one event; afterwards ``offsets[-1]`` is the last offset of the workspace it belongs to."""
        at = event.get("at", format_time(self.last_ms + STEP))
        time = host_time(at)
        if not self.offsets:
            self.first_ms = parse_time(time) or FIRST
        if "session" in event:
            self.last_session = event["session"]
        root = event.get("workspace", self.root)
        if root is None:
            # Nobody knows where it belongs, so it is nobody's memory (SPEC 1.6).
            self.offsets.append(self.offsets[-1] if self.offsets else -1)
            return
        operation = getattr(self, f"do_{event['do']}", None)
        if operation is None:
            raise UnknownOperationError(event["do"])
        operation(event, self.workspace(root), time)
        moment = parse_time(time)
        self.last_ms = self.last_ms + STEP if moment is None else moment
        self.offsets.append(self.workspace(root).log.size() - 1)

    def state(self, root: str | None = None, offset: int | None = None) -> WorldState:
        """The state of a workspace, read back from disk."""
        return self.workspace(root).state(offset)

    def events(self, root: str | None = None) -> list[AnyEvent]:
        """The events of a workspace, read back from disk."""
        return list(self.workspace(root).log.read())

    def all_bytes(self) -> dict[str, bytes]:
        """Every file below the data folder."""
        files = (path for path in Path(self.data or "").rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files}

    def ledger_bytes(self, root: str | None = None) -> int:
        """The length of a workspace's ledger file."""
        folder = ledger_dir(self.data or "", workspace_key(self.root if root is None else root))
        return Path(folder, "events.jsonl").stat().st_size

    def do_session_start(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``session_start``."""
        ws.record(ws.capture.session_started(event["session"], parent=event.get("parent"), time=time))

    def do_session_parent(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``session_parent``."""
        ws.record(ws.capture.session_linked(event["session"], event["parent"], time=time))

    def do_prompt(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """A later prompt of an epoch records nothing: the block is the same bytes."""

    def do_session_idle(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """The end of a turn without measured tokens records nothing."""

    def do_assistant_message(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """What an assistant says is never read for memories (SPEC 3.1)."""

    def do_user_message(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``user_message``."""
        ws.record(ws.capture.user_message(event["session"], event["message"], event["text"], time=time))

    def do_tool(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``tool``."""
        ws.record(
            ws.capture.tool_completed(
                event["session"],
                event.get("call", ""),
                event["tool"],
                event.get("args", {}),
                exit=event.get("exit"),
                output=event.get("output", ""),
                time=time,
            )
        )

    def do_tool_failed(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``tool_failed``."""
        ws.record(
            ws.capture.tool_failed(
                event["session"],
                event.get("call", ""),
                event["tool"],
                event.get("args", {}),
                event["error"],
                time=time,
            )
        )

    def do_compaction_started(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``compaction_started``."""
        self._snapshots[event["session"]] = ws.prepare_compaction(event["session"], time=time)[0]

    def do_compacted(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``compacted``."""
        summary = event["summary"]
        if summary is not None:
            summary = summary.replace("{snapshot}", self._snapshots.get(event["session"], "{snapshot}"))
        ws.record(ws.capture.compacted(event["session"], event.get("message", ""), summary, time=time))

    def do_session_deleted(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``session_deleted``."""
        ws.record(ws.capture.session_deleted(event["session"], time=time))

    def do_memory_add(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``memory_add``."""
        ws.record(
            ws.capture.memory_added(
                event["session"],
                title=event["title"],
                content=event["content"],
                tags=event.get("tags", []),
                type=event.get("type"),
                time=time,
            )
        )

    def do_memory_update(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``memory_update``."""
        target = find(ws.world().memory, event["id"])
        if isinstance(target, Ref):
            fields: dict[str, Any] = {key: event.get(key) for key in ("title", "content", "tags")}
            update(ws, target, session=event.get("session"), origin="tool", time=time, **fields)

    def do_memory_delete(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``memory_delete``."""
        session, message, reason = event.get("session"), event.get("message"), event.get("reason", "")
        if message is not None:
            ws.record(ws.capture.memory_deleted(session, message=message, reason=reason, time=time))
            return
        target = find(ws.world().memory, event.get("id") or event["text"])
        if isinstance(target, Ref):
            delete(ws, target, session=session, origin="tool", reason=reason, time=time)

    def do_memory_restore(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``memory_restore``."""
        target = find(ws.world().memory, event["id"], gone=True)
        if isinstance(target, Ref):
            restore(ws, target, time=time)

    def do_undo(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Undo the latest change."""
        plan = ws.plan_undo()
        if plan is not None:
            ws.undo(plan, time=time)

    def do_import(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Import files of another program."""
        read = {"reference_a": read_reference_a, "reference_b": read_reference_b}[event["format"]]
        for name, text in event["files"].items():
            record_import(ws, read(name, text.encode("utf-8", "surrogatepass"), self.config.policy), time=time)

    def do_purge(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Purge a memory, or what a message proposed; nothing where there is none."""
        name, message = event.get("id"), event.get("message", "")
        purge = Purge(
            ledger_dir(self.data or "", workspace_key(event.get("workspace", self.root))),
            data=self.data or "",
            key=workspace_key(event.get("workspace", self.root)),
            named=lambda world: of_message(world, message) if name is None else of_name(world, name),
            containing=event.get("containing", "purge"),
            time=time,
        )
        with suppress(NotFoundError):
            preview = purge.look()
            if not preview.choice.is_empty:
                purge.run(preview)

    def do_rules_file(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """Report ``rules_file``."""
        ws.record(ws.capture.rules_file(event["path"], event["text"], time=time))

    def do_restart(self, event: dict[str, Any], ws: Workspace, time: str | None) -> None:
        """All processes end; what comes next is read from disk."""
        self._open.clear()
