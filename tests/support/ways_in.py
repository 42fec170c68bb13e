"""Every way by which a text comes into a ledger, as neutral events for ``tests.support.harness``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

__all__ = ["MEMORY_WAYS", "TOOL_WAYS", "WAYS", "Way"]

Step = dict[str, Any]
Way = Callable[[str, int], list[Step]]
"""A text and a number that no other text has → what happens."""

_SESSION = "A"


def _said(text: str, number: int) -> list[Step]:
    words = f"Remember: {text}"
    return [{"do": "user_message", "session": _SESSION, "message": f"m{number}", "text": words}]


def _proposed(text: str, number: int) -> list[Step]:
    summary = f"Memory candidates:\n- [project] The handbook of this project has {text} on page {number}"
    return [{"do": "compacted", "session": _SESSION, "message": f"s{number}", "summary": summary}]


def _added(title: str, content: str, tags: list[str]) -> Step:
    return {"do": "memory_add", "session": _SESSION, "title": title, "content": content, "tags": tags}


def _add_title(text: str, number: int) -> list[Step]:
    return [_added(text, "", [])]


def _add_content(text: str, number: int) -> list[Step]:
    return [_added(f"Note {number}", f"{text}\nmiddle\n\n{text}\n{'far behind ' * 30}\n{text}", [])]


def _add_tags(text: str, number: int) -> list[Step]:
    return [_added(f"Note {number}", f"A fact of its own, number {number}", [text, "tag"])]


def _update(text: str, number: int) -> list[Step]:
    latest: Step = {"do": "memory_update", "session": _SESSION, "id": f"Note {number}: as it was at first"}
    return [
        _added(f"Note {number}", "as it was at first", []),
        latest | {"title": text, "content": text, "tags": [text]},
    ]


def _import(format_: str, name: str, text: str) -> Step:
    return {"do": "import", "format": format_, "files": {name: text}}


def _import_store(text: str, number: int) -> list[Step]:
    fields = {"id": f"x{number}", "type": "decision", "status": "active", "source": "manual"}
    entries = [fields | {"text": text}, fields | {"id": f"y{number}", "text": f"Fact {number}", "rationale": text}]
    return [_import("reference_a", f"{text}/workspace-memory.json", json.dumps({"version": 1, "entries": entries}))]


def _import_file(text: str, number: int) -> list[Step]:
    body = f"# OpenCode Memory\n\n## Active\n\n### [MEM-{9000 + number}] Note {number}\n- tags: {text}\n{text}\n"
    return [_import("reference_b", "MEMORY.md", body)]


def _called(tool: str, number: int, args: Step, output: str = "", exit_: int | None = None) -> list[Step]:
    call: Step = {"do": "tool", "session": _SESSION, "call": f"c{number}", "tool": tool, "args": args}
    return [call | {"exit": exit_, "output": output}]


def _printed(text: str, number: int) -> list[Step]:
    return _called("bash", number, {"command": f"npm test {number}"}, f"Error: {text}\n{text}\nRemember: {text}", 1)


def _typed(text: str, number: int) -> list[Step]:
    return _called("bash", number, {"command": f"npm test {text}"}, "", 1)


def _touched(text: str, number: int) -> list[Step]:
    return _called("edit", number, {"filePath": f"/w/app/src/{text}.ts"})


def _found(text: str, number: int) -> list[Step]:
    return _called("grep", number, {"pattern": text}, f"src/{text}.ts:1: hit\n{text}:2: hit\n{text}\n")


def _patched(text: str, number: int) -> list[Step]:
    return _called("apply_patch", number, {"patchText": f"*** Add File: src/{text}.ts\n{text}\n*** End Patch"})


def _failed(text: str, number: int) -> list[Step]:
    call: Step = {"do": "tool_failed", "session": _SESSION, "call": f"f{number}", "tool": "bash", "error": text}
    return [call | {"args": {"command": f"make {number}"}}]


MEMORY_WAYS: dict[str, Way] = {
    "message": _said,
    "summary": _proposed,
    "title": _add_title,
    "content": _add_content,
    "tags": _add_tags,
    "update": _update,
    "imported store": _import_store,
    "imported file": _import_file,
}
"""Ways that may lead to a memory."""
TOOL_WAYS: dict[str, Way] = {
    "output": _printed,
    "command": _typed,
    "path": _touched,
    "grep": _found,
    "patch": _patched,
    "failure": _failed,
}
"""What the tools of a client do and say: it never leads to one (SPEC 3.1)."""
WAYS: dict[str, Way] = MEMORY_WAYS | TOOL_WAYS
