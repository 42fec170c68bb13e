"""Area ``tools``: calls of the four tools on a file or a store, and the options of a host (SPEC 16.6, 19)."""

from __future__ import annotations

from typing import Any

from ledger.log import Log
from ledger.memory import MemoryLog
from memfold.config import Layer, resolve
from memfold.imports.apply import record_import
from memfold.imports.model import Import
from memfold.imports.reference_b import read_reference_b
from memfold.tools.answers import Result
from memfold.tools.tools import Tools
from memfold.workspace import Workspace
from projections.memory_file.entries import file_entries
from projections.memory_file.writing import write_file
from projections.policy import DEFAULT_POLICY
from tests.conformance.areas.memory_file import entry_from, entry_row
from tests.conformance.runner import UnknownKey

_SESSION = "A"


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Make the calls, or resolve the options."""
    if "op" in given:
        if given["op"] != "options":
            raise UnknownKey(given["op"])
        return {"config": resolve([Layer("plugin", given["options"])]).values}
    log: Log = MemoryLog()
    workspace = Workspace(log, "/w/app", DEFAULT_POLICY, host="test")
    found = _stored(given)
    if found is not None:
        record_import(workspace, found, time="2026-01-31T00:00:00Z")
    tools = Tools(workspace)
    results = [
        tools.call(
            call["tool"],
            call["args"],
            session=_SESSION,
            call=f"call-{index}",
            time=f"{call.get('day', '2026-09-01')}T12:00:00Z",
        )
        for index, call in enumerate(given["calls"])
    ]
    memory = workspace.world().memory
    return {
        "results": [_row(result) for result in results],
        "entries": [entry_row(entry) for entry in sorted(file_entries(memory), key=lambda one: one.number)],
        "next_seq": memory.next_number,
    }


def compare(key: str, expected: Any, actual: Any) -> bool:
    """The comparisons of the row schema, by key."""
    if key == "results":
        return len(expected) == len(actual) and all(map(_fits, expected, actual))
    if key == "entries":
        return len(expected) == len(actual) and all(
            all(have.get(name) == value for name, value in want.items())
            for want, have in zip(expected, actual, strict=True)
        )
    if key == "config":
        return all(actual.get(name) == value for name, value in expected.items())
    return bool(expected == actual)


def _fits(want: dict[str, Any], have: dict[str, Any]) -> bool:
    if not all(part in have["text"] for part in want.get("mentions", ())):
        return False
    if len(have["text"]) > want.get("max_chars", len(have["text"])):
        return False
    rest = {key: value for key, value in want.items() if key not in ("mentions", "max_chars")}
    return rest.items() <= have.items()


def _row(result: Result) -> dict[str, Any]:
    return {
        "kind": result.kind,
        "id": result.id,
        "total": result.total,
        "ids": list(result.ids),
        "text": result.text,
    }


def _stored(given: dict[str, Any]) -> Import | None:
    """What is there before the calls: a file, or entries as such a file would hold them."""
    if given.get("file") is not None:
        return read_reference_b("MEMORY.md", given["file"].encode(), DEFAULT_POLICY)
    store = given.get("store")
    if store is None:
        return None
    entries = [entry_from({"content": ""} | row) for row in store["entries"]]
    text = write_file(entries, store.get("next_seq", 1))
    return read_reference_b("MEMORY.md", text.encode(), DEFAULT_POLICY)
