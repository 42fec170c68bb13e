"""Feed the events of a conformance row to the hot state without the capture layer."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from ledger.events import (
    Event,
    LedgerCreated,
    LedgerCreatedData,
    MemoryRequested,
    MemoryRequestedData,
    SessionDeleted,
    SessionDeletedData,
    SessionLinked,
    SessionLinkedData,
    SessionStarted,
    SessionStartedData,
    ToolCompleted,
    ToolCompletedData,
)
from projections.hot.excerpt import excerpt
from projections.hot.session import HotState
from projections.hot.state import SessionStates, States
from projections.policy import DEFAULT_POLICY, Policy
from projections.protocol import fold
from projections.text.intake import take_in_block

Status = Literal["completed", "failed", "aborted"]

_NEVER_RAN = ("abort", "denied", "rejected", "timed out")


def tool_data(
    tool: str,
    args: dict[str, object],
    *,
    exit_code: int | None = None,
    status: Status = "completed",
    output: str = "",
    call: str = "",
    policy: Policy = DEFAULT_POLICY,
) -> ToolCompletedData:
    """A tool call as it would be recorded: reduced to its excerpt."""
    kept, text = excerpt(tool, args, exit_code, status, output, policy=policy)
    return ToolCompletedData(call=call, tool=tool, args=kept, exit=exit_code, status=status, output=text)


def events_of(steps: Iterable[dict[str, Any]], root: str = "/w/app") -> Iterator[Event]:
    """The events of a row's steps that concern hot state, numbered and with fresh ids."""
    count = itertools.count()

    def envelope(source: str) -> dict[str, Any]:
        seq = next(count)
        return {"specversion": "1.0", "id": f"e{seq}", "source": source, "seq": seq}

    yield LedgerCreated(**envelope("h"), data=LedgerCreatedData(format=1, ledger="l", root=root, key="k"))
    for step in steps:
        session = step["session"]
        head = envelope(f"h/{session}")
        match step["do"]:
            case "session_start":
                yield SessionStarted(**head, data=SessionStartedData(session, step.get("parent")))
            case "session_parent":
                yield SessionLinked(**head, data=SessionLinkedData(session, step["parent"]))
            case "session_deleted":
                yield SessionDeleted(**head, data=SessionDeletedData())
            case "user_message":
                yield MemoryRequested(**head, data=MemoryRequestedData(step["message"], step["text"]))
            case "tool" | "tool_failed":
                yield ToolCompleted(**head, data=_tool(step))


def _tool(step: dict[str, Any]) -> ToolCompletedData:
    status: Status = "completed"
    if step["do"] == "tool_failed":
        error = step["error"].lower()
        status = "aborted" if any(word in error for word in _NEVER_RAN) else "failed"
    return tool_data(
        step["tool"],
        step["args"],
        exit_code=step.get("exit"),
        status=status,
        output=take_in_block(step.get("output", step.get("error", "")), DEFAULT_POLICY).text,
        call=step.get("call", ""),
    )


def fold_steps(steps: Iterable[dict[str, Any]], root: str = "/w/app") -> States:
    """The session states after a row's steps."""
    return fold(SessionStates(), events_of(steps, root))


def hot_after(steps: Iterable[dict[str, Any]], session: str = "A", root: str = "/w/app") -> HotState:
    """The hot state of one session after a row's steps."""
    return fold_steps(steps, root).hot(f"h/{session}")


def bash(command: str, exit_code: int | None = 0, output: str = "", session: str = "A") -> dict[str, Any]:
    """A step: a shell command that ended."""
    return {
        "do": "tool",
        "session": session,
        "tool": "bash",
        "args": {"command": command},
        "exit": exit_code,
        "output": output,
    }


def edit(path: str, tool: str = "edit", session: str = "A") -> dict[str, Any]:
    """A step: a file tool that ended."""
    return {"do": "tool", "session": session, "tool": tool, "args": {"filePath": path}}
