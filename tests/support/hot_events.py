"""Strategies for tool calls and the events of sessions, small enough that values recur."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from ledger.events import Event
from tests.support.hot_rows import events_of

PROGRAMS = ["pytest", "npm test", "npx tsc", "grep x f", "node a.js", "make", "ls", "git diff", "FOO=1", "cd a"]
OPERATORS = [" && ", " || ", "; ", " | ", "\n", " & ", " > f ", " <<X\n", " '", " $(", ")", " src/a.ts ", " -k a "]
LINES = [
    "Error: src/a.ts broke",
    "error[E1]: x",
    "src/a.ts(3,1): error TS2322: x",
    "1 failed, 2 passed",
    "Tests: 0 failed, 3 passed",
    "4 passed",
    "ok",
    "FAIL b.spec.ts",
    "not ok 1",
    "npm ERR! x",
    "ls: no",
    "some failure",
    "... output truncated ...",
    "<shell_metadata>",
    "</shell_metadata>",
    "/w/app/src/a.ts:",
    "./src/a.ts:3: x",
    "src//a.ts:3: x",
    "logo.png: x",
    "*** Update File: src/a.ts",
    "*** Add File: ./src/a.ts",
    "*** Delete File: src/a.ts",
    "x" * 1100 + " error",
    "",
    "  ",
    "plain",
]
ROOT = "/w/app"

texts = st.text(st.characters(codec="utf-8"), max_size=40)
commands = (
    st.lists(st.sampled_from(PROGRAMS + OPERATORS), min_size=1, max_size=6).map("".join)
    | st.text(st.sampled_from("ab '\"\\$()<>|&;#`\n-="), max_size=30)
    | texts
)
outputs = st.lists(st.sampled_from(LINES) | texts, max_size=16).map("\n".join)
exits = st.sampled_from([0, 0, 1, 1, 2, 130, None])
statuses = st.sampled_from(["completed", "completed", "failed", "aborted"])
tools = st.sampled_from(["bash", "bash", "edit", "read", "write", "grep", "apply_patch", "memory_add", "glob"])
paths = st.sampled_from([f"src/{name}.ts" for name in "abc"] + ["/w/app/src/a.ts", "", "MEMORY.md"]) | texts


@st.composite
def arguments(draw: st.DrawFn) -> dict[str, object]:
    """Arguments of some tool."""
    return {"filePath": draw(paths), "command": draw(commands), "patchText": draw(outputs)}


@st.composite
def steps(draw: st.DrawFn) -> dict[str, Any]:
    """Something that happens in one of three sessions; C may turn out to be a sub-agent."""
    step: dict[str, Any] = {"session": draw(st.sampled_from("ABC"))}
    kind = draw(st.sampled_from(["tool"] * 8 + ["tool_failed", "user_message", "session_start", "session_deleted"]))
    step["do"] = kind
    if kind in ("tool", "tool_failed"):
        step |= {"tool": draw(tools), "args": draw(arguments()), "exit": draw(exits)}
        step |= {"output": draw(outputs), "error": draw(outputs), "call": draw(st.sampled_from(["", "1", "2", "3"]))}
    elif kind == "session_start" and step["session"] == "C":
        step["parent"] = "A"
    elif kind == "user_message":
        step["message"] = draw(st.sampled_from(["m1", "m2", "m3"]))
        step["text"] = f"remember we decided on {draw(st.sampled_from(['Redis 7', 'Kafka 3', 'Postgres 16']))}"
    return step


histories = st.lists(steps(), max_size=12)


def recorded(history: list[dict[str, Any]]) -> list[Event]:
    """The events of a history."""
    return list(events_of(history, ROOT))


def renumbered(events: list[Event]) -> list[Event]:
    """The events as a log would hold them: dense offsets."""
    return [replace(event, seq=seq) for seq, event in enumerate(events)]
