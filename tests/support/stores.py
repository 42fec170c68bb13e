"""Files of other programs, made for tests: nothing in them is anybody's."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ledger.events import Event
from memfold.imports.apply import record_import
from memfold.imports.formats import read
from memfold.imports.model import Format, Import
from memfold.workspace import Workspace
from projections.memory.model import Entry
from projections.policy import DEFAULT_POLICY
from tests.support.harness import Harness

__all__ = ["TIME", "active", "bring", "found", "mcp", "memory_md", "retired", "store", "workspace"]

TIME = "2026-03-01T00:00:00Z"


def store(*entries: Any, **document: Any) -> bytes:
    """A store of the working-memory plugin."""
    return json.dumps({"version": 1, "entries": list(entries), **document}, indent=2).encode()


def mcp(*lines: Any) -> bytes:
    """A file of the MCP memory server."""
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def memory_md(*entries: str, archived: Iterable[str] = (), counter: int | None = None) -> bytes:
    """A MEMORY.md; an entry is what stands behind ``### [MEM-``."""
    count = "" if counter is None else f"<!-- nextSeq: {counter} -->\n"
    parts = [f"# OpenCode Memory\n{count}\n## Active\n", *entries, "## Archived\n", *archived]
    heads = [part if part.startswith("#") else f"### [MEM-{part}\n" for part in parts]
    return "\n".join(heads).encode()


def workspace() -> Workspace:
    """A workspace in memory whose ledger has begun."""
    return Harness(None).workspace()


def bring(ws: Workspace, name: str, data: bytes, format: Format, *, time: str = TIME) -> tuple[Event, ...]:  # noqa: A002
    """Import one file."""
    return record_import(ws, found(name, data, format), time=time)


def found(name: str, data: bytes, format: Format) -> Import:  # noqa: A002
    """One file as events."""
    return read(name, data, DEFAULT_POLICY, format)


def active(ws: Workspace) -> dict[str, Entry]:
    """Active memories by text."""
    entries = ws.world().memory.entries.values()
    return {one.proposal.text: one for one in entries if one.state == "promoted"}


def retired(ws: Workspace) -> dict[str, str]:
    """State of each memory that has left, by text."""
    entries = ws.world().memory.entries.values()
    return {one.proposal.text: one.state for one in entries if one.state != "promoted"}
