"""Reads the JSON stores of the working-memory plugin: its memories, its journal, what its sessions left (SPEC 17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

from memfold.imports.json_text import elements, load, mapping, text_of, texts, word
from memfold.imports.model import Import, Sheet
from memfold.imports.values import count, importance_of, share, source_of, time_of
from projections.policy import Policy, type_order

__all__ = ["JOURNAL_NAME", "STORE_NAME", "list_of", "read_reference_a"]

STORE_NAME = "workspace-memory.json"
JOURNAL_NAME = "workspace-pending-journal.json"

_LISTS = ("entries", "pendingMemories", "pending", "memories")
"""Names of the lists that hold memories, in the store and the journal, in a session's file, and in odd ones."""
_PENDING = ("pendingMemories", "pending")
_GONE: dict[str, Literal["deleted", "superseded"]] = {"deleted": "deleted", "superseded": "superseded"}


def read_reference_a(name: str, data: bytes, policy: Policy) -> Import:
    """One file of the store as events; entries keep their order and get new ids.

    Args:
        name: of the file; the journal holds pending memories, as what a session left does.
        data: its bytes.
        policy: what redacts, and which types there are.
    """
    sheet = Sheet(name, data, "reference_a", policy)
    try:
        text = text_of(data)
        value = load(text)
    except ValueError as error:
        return sheet.damaged(str(error))
    key, listed = list_of(value)
    pending = key in _PENDING or name.endswith(JOURNAL_NAME)
    if listed is None:
        return sheet.damaged("it holds no list of entries")
    for line, element in elements(text, key, listed):
        fields = mapping(element)
        if not word(fields, "text").strip():
            sheet.skip(line, "it has no text")
        elif word(fields, "type") not in type_order(policy):
            sheet.skip(line, "its type is none of ours")
        else:
            _add(sheet, line, fields, pending=pending)
    return sheet.done()


def list_of(value: object) -> tuple[str, list[object] | None]:
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
    source = source_of(word(fields, "source"))
    gone = _GONE.get(word(fields, "status"))
    state: Literal["active", "pending", "deleted", "superseded"] = gone or ("pending" if pending else "active")
    sheet.add(
        line,
        text=word(fields, "text"),
        type=word(fields, "type"),
        tags=texts(fields.get("tags")),
        rationale=word(fields, "rationale"),
        source=source,
        state=state,
        confidence=share(fields.get("confidence"), source),
        importance=importance_of(word(fields, "importance") or word(fields, "userImportance")),
        safety_critical=fields.get("safetyCritical") is True,
        reinforcements=count(fields.get("reinforcementCount")),
        created=time_of(fields.get("createdAt")),
        updated=time_of(fields.get("updatedAt")) if fields.get("updatedAt") != fields.get("createdAt") else None,
        clock=time_of(fields.get("lastReinforcedAt")),
    )
