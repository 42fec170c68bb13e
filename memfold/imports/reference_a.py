"""Reads the JSON stores of the working-memory plugin: its memories, its journal, what its sessions left (SPEC 17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

from ledger.times import format_time, parse_time
from memfold.imports.json_text import elements, load, mapping, word
from memfold.imports.model import Import, Sheet
from projections.memory.model import CONFIDENCE, Source
from projections.policy import Policy, type_order

__all__ = ["JOURNAL_NAME", "STORE_NAME", "read_reference_a"]

STORE_NAME = "workspace-memory.json"
JOURNAL_NAME = "workspace-pending-journal.json"

_LISTS = ("entries", "pendingMemories", "pending", "memories")
"""Names of the lists that hold memories, in the store, a session's file and the journal."""
_SOURCES: dict[str, Source] = {"explicit": "explicit", "compaction": "compaction", "manual": "manual"}
_GONE: dict[str, Literal["deleted", "superseded"]] = {"deleted": "deleted", "superseded": "superseded"}
_IMPORTANCE: dict[str, Literal["low", "normal", "high"]] = {"low": "low", "normal": "normal", "high": "high"}
_SEVERAL = 2**31


def read_reference_a(name: str, data: bytes, policy: Policy) -> Import:
    """One file of the store as events; entries keep their order and get new ids.

    Args:
        name: of the file; those of the journal and of sessions hold pending memories.
        data: its bytes.
        policy: what redacts, and which types there are.
    """
    sheet = Sheet(name, data, "reference_a", policy)
    try:
        value = load(data)
    except ValueError as error:
        return sheet.damaged(str(error))
    pending = not name.endswith(STORE_NAME)
    key, listed = _list_of(value)
    if listed is None:
        return sheet.damaged("it holds no list of entries")
    for line, element in elements(data, key, listed):
        fields = mapping(element)
        if not word(fields, "text").strip():
            sheet.skip(line, "it has no text")
        elif word(fields, "type") not in type_order(policy):
            sheet.skip(line, "its type is none of ours")
        else:
            _add(sheet, line, fields, pending=pending)
    return sheet.done()


def _list_of(value: object) -> tuple[str, list[object] | None]:
    """The list of memories, and the key under which it stands."""
    if isinstance(value, list):
        return "", cast("list[object]", value)
    fields = mapping(value)
    for key in _LISTS:
        found = fields.get(key)
        if isinstance(found, list):
            return key, cast("list[object]", found)
    return "", None


def _add(sheet: Sheet, line: int, fields: Mapping[str, object], *, pending: bool) -> None:
    source = _SOURCES.get(word(fields, "source"), "manual")
    gone = _GONE.get(word(fields, "status"))
    state: Literal["active", "pending", "deleted", "superseded"] = gone or ("pending" if pending else "active")
    sheet.add(
        line,
        text=word(fields, "text"),
        type=word(fields, "type"),
        rationale=word(fields, "rationale"),
        source=source,
        state=state,
        confidence=_confidence(fields.get("confidence"), source),
        importance=_IMPORTANCE.get(word(fields, "importance") or word(fields, "userImportance"), "normal"),
        safety_critical=fields.get("safetyCritical") is True,
        reinforcements=_count(fields.get("reinforcementCount")),
        created=_time(fields.get("createdAt")),
        updated=_time(fields.get("updatedAt")) if fields.get("updatedAt") != fields.get("createdAt") else None,
    )


def _confidence(value: object, source: Source) -> int:
    """Hundredths, 0 to 100; by source where there is none."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return round(value * 100)
    return CONFIDENCE[source]


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _SEVERAL else 0


def _time(value: object) -> str | None:
    """A time as events have it; stores write text or milliseconds."""
    if isinstance(value, str):
        moment = parse_time(value.strip())
        return None if moment is None else format_time(moment)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 253_402_300_800_000:
        return format_time(value)
    return None
