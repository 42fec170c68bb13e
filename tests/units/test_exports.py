"""Memories as the store of the working-memory plugin: each field has its place there, and none is invented."""

from __future__ import annotations

import json
from typing import Any

from memfold.exports.reference_a import journal_bytes, store_bytes
from projections.memory.model import MemoryState
from tests.support.harness import Harness
from tests.support.stores import bring, store
from tests.support.streams import summary_of

RULE = {"type": "decision", "text": "Use small commits", "source": "explicit", "status": "active"}
OLD = "- [project] The main config lives in src/config.ts"
NEW = "REPLACE [M1] [project] The main config lives in config/main.toml"


def _entries(memory: MemoryState) -> list[dict[str, Any]]:
    document = json.loads(store_bytes(memory, "/w/app", "0" * 16))
    assert document["workspace"] == {"root": "/w/app", "key": "0" * 16}
    assert document["version"] == 1
    entries: list[dict[str, Any]] = document["entries"]
    return entries


def test_every_field_of_a_store_comes_back_as_it_was() -> None:
    """What the plugin wrote is what it is given, but for the id."""
    harness = Harness(None)
    entry = RULE | {
        "confidence": 0.8,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-05T00:00:00.000Z",
        "rationale": "Reviews stay quick",
        "tags": ["git"],
        "userImportance": "low",
        "safetyCritical": True,
        "reinforcementCount": 3,
        "lastReinforcedAt": 1_767_571_200_000,
        "retentionClock": 1_767_571_200_000,
    }
    bring(harness.workspace(), "workspace-memory.json", store(entry), "reference_a")
    assert _entries(harness.state().memory) == [entry | {"id": "MEM-001"}]


def test_what_was_replaced_is_superseded_and_named() -> None:
    """Active memories come first; the one that took another's place names it."""
    harness = Harness(None)
    step = {"session": "A"}
    for line in (OLD, NEW):
        harness.step(step | {"do": "compaction_started"})
        harness.step(step | {"do": "compacted", "summary": summary_of([line])})
    new, old = _entries(harness.state().memory)
    assert (new["status"], new["supersedes"], old["status"]) == ("active", ["MEM-001"], "superseded")
    assert "supersedes" not in old


def test_the_journal_holds_what_is_pending() -> None:
    """Without an owner: sessions of one program are none of the other's."""
    harness = Harness(None)
    text = "Remember: use tabs in Makefiles"
    harness.step({"do": "user_message", "session": "A", "message": "m", "text": text})
    document = json.loads(journal_bytes(harness.state().memory, "/w/app", "0" * 16))
    (entry,) = document["entries"]
    assert (entry["text"], entry["source"], entry["status"]) == ("use tabs in Makefiles", "explicit", "active")
    assert "pendingOwnerSessionID" not in entry
    assert _entries(harness.state().memory) == []
