"""What follows from the fields of an update or undo: text, keys, importance, type (SPEC 16.6, 15.4)."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.events import ErasedText, MemoryUpdatedData, Outcome
from projections.memory.model import Ref
from projections.memory.proposals import reworded
from projections.policy import Context
from projections.text.erased import ERASED, erased_key
from tests.support.entries import proposal

CONTEXT = Context(root="/w/app")
TARGET = Ref("e", 0)
PORTS = proposal({"id": "e", "type": "project", "text": "Ports start at 7400"}, 0)


def outcome(**fields: Any) -> Outcome:
    """What an undo makes of a memory."""
    return Outcome(TARGET, "promoted", **fields)


def test_what_is_not_given_stays() -> None:
    """Each field by itself, and what no field names."""
    before = reworded(CONTEXT, PORTS, outcome(title="Ports", content="They start at 7400", tags=("safety-critical",)))
    assert (before.text, before.safety_critical) == ("Ports: They start at 7400", True)
    after = reworded(CONTEXT, before, MemoryUpdatedData(TARGET, title="Sockets"))
    assert (after.title, after.content, after.tags) == ("Sockets", before.content, before.tags)
    assert (after.ref, after.time, after.source, after.safety_critical) == (
        before.ref,
        before.time,
        before.source,
        True,
    )
    cleared = reworded(CONTEXT, after, MemoryUpdatedData(TARGET, tags=()))
    assert (cleared.tags, cleared.safety_critical, cleared.importance) == ((), False, "normal")
    assert reworded(CONTEXT, after, MemoryUpdatedData(TARGET, tags=("importance-low",))).importance == "low"


@pytest.mark.parametrize(("given", "type_"), [("reference", "reference"), (None, "project"), ("nonsense", "project")])
def test_a_known_type_is_taken_into_every_key(given: str | None, type_: str) -> None:
    """One that isn't known changes nothing; paths are named from the workspace on."""
    said = reworded(CONTEXT, PORTS, outcome(type=given, title="/w/app/src/a.ts has the ports", content=""))
    assert said.type == type_
    assert said.exact == f"{type_}:src/a.ts has the ports"
    assert (said.key, said.identity) == ("src/a.ts has the ports", f"{type_}:path:src/a.ts")


@pytest.mark.parametrize("identity", ["", "d2"])
def test_of_a_purged_text_the_digests_are_its_keys(identity: str) -> None:
    """Where it names nothing, its text alone is its identity."""
    erased = ErasedText(key="k", identity=identity, length=7)
    gone = reworded(CONTEXT, PORTS, outcome(type="decision", title="", content="", erased=erased))
    assert (gone.type, gone.text, gone.length, gone.erased) == ("decision", ERASED, erased.length, erased)
    assert (gone.key, gone.exact) == (erased_key(erased.key), f"decision:{gone.key}")
    assert gone.identity == (erased_key(identity) if identity else gone.exact)
    assert reworded(CONTEXT, gone, outcome(title="Ports", content="")).erased is None
