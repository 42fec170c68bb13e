"""Memories as the JSON store of the working-memory plugin; read again, it gives the same active ones (SPEC 17)."""

from __future__ import annotations

import msgspec

from ledger.times import format_time
from projections.memory.model import Entry, MemoryState, Proposal
from projections.text.clean import decode

__all__ = ["journal_bytes", "store_bytes"]

_VERSION = 1
_RETIRED = ("deleted", "superseded")


def store_bytes(memory: MemoryState, root: str, key: str) -> bytes:
    """The store: active memories, then those that were deleted or replaced, which it knows as superseded.

    A memory is one line of text there, so that contents and what stands beyond 260 characters don't go along.
    """
    entries = [one for one in memory.entries.values() if not one.proposal.erased]
    active = [one for one in entries if one.state == "promoted"]
    retired = [one for one in entries if one.state in _RETIRED]
    fields = [_entry_fields(memory, one) for one in (*active, *retired)]
    limits = {
        "maxRenderedChars": memory.context.policy.workspace_chars,
        "maxEntries": memory.context.policy.max_entries,
    }
    return _document(memory, root, key, {"limits": limits, "entries": fields, "migrations": []})


def journal_bytes(memory: MemoryState, root: str, key: str) -> bytes:
    """The journal: what is pending. None of it has an owner, since sessions of one program are none of the other's."""
    pending = [one for one in memory.pending.values() if not one.erased]
    fields = [_fields(one, f"{one.ref.event}/{one.ref.index}", one.time, None) for one in pending]
    return _document(memory, root, key, {"entries": fields})


def _document(memory: MemoryState, root: str, key: str, parts: dict[str, object]) -> bytes:
    now = format_time(memory.now)
    document = {"version": _VERSION, "workspace": {"root": decode(root), "key": key}, **parts, "updatedAt": now}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _entry_fields(memory: MemoryState, entry: Entry) -> dict[str, object]:
    fields = _fields(entry.proposal, entry.id, entry.created, entry.updated)
    fields["status"] = "active" if entry.state == "promoted" else "superseded"
    fields["retentionClock"] = entry.clock
    if entry.reinforcements:
        fields["reinforcementCount"] = entry.reinforcements
    if entry.reinforced_at is not None:
        fields["lastReinforcedAt"] = entry.reinforced_at
    if entry.supersedes is not None and entry.supersedes in memory.entries:
        fields["supersedes"] = [memory.entries[entry.supersedes].id]
    return fields


def _fields(wording: Proposal, id_: str, created: int, updated: int | None) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": id_,
        "type": wording.type,
        "text": wording.text,
        "source": wording.source,
        "confidence": wording.confidence / 100,
        "status": "active",
        "createdAt": format_time(created),
        "updatedAt": format_time(created if updated is None else updated),
    }
    if wording.rationale:
        fields["rationale"] = wording.rationale
    if wording.tags:
        fields["tags"] = list(wording.tags)
    if wording.importance != "normal":
        fields["userImportance"] = wording.importance
    if wording.safety_critical:
        fields["safetyCritical"] = True
    return fields
