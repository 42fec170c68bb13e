"""How people name a memory (SPEC 2.5, 15.1)."""

from __future__ import annotations

from typing import Any

import pytest

from replay.names import entry_by_id, live_by_text, parse_id, refs_by_text
from tests.support.harness import Harness

STEPS: list[dict[str, Any]] = [
    {"do": "session_start", "session": "A"},
    {
        "do": "user_message",
        "session": "A",
        "message": "m1",
        "text": "Remember: use pnpm here\nRemember: use pnpm here in CI only",
    },
    {"do": "compacted", "session": "A", "summary": "x"},
    {"do": "user_message", "session": "A", "message": "m2", "text": "Remember: Use pnpm here!"},
]


@pytest.fixture
def harness() -> Harness:
    """Two active memories, one of them asked for again."""
    harness = Harness(None)
    harness.feed(STEPS)
    return harness


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("MEM-001", 1),
        (" mem-1 ", 1),
        ("MEM-1000", 1000),
        ("MEM-", None),
        ("1", None),
        ("MEM-𝟘𝟘3", None),
        ("MEM-٣", None),
    ],
)
def test_ids_are_compared_by_number(text: str, number: int | None) -> None:
    """In any case, with or without leading zeros; digits are ASCII."""
    assert parse_id(text) == number


def test_an_id_names_its_entry(harness: Harness) -> None:
    """And none where nobody has it."""
    memory = harness.state().memory
    entry = entry_by_id(memory, "mem-2")
    assert entry is not None
    assert entry.proposal.text == "use pnpm here in CI only"
    assert entry_by_id(memory, "MEM-009") is None
    assert entry_by_id(memory, "pnpm") is None


def test_a_whole_text_wins_over_a_part(harness: Harness) -> None:
    """Several partial matches are all named."""
    memory = harness.state().memory
    assert len(live_by_text(memory, "use pnpm here")) == 1
    assert len(live_by_text(memory, "pnpm")) == 2
    assert live_by_text(memory, " ") == ()


def test_the_same_words_active_and_waiting_are_one(harness: Harness) -> None:
    """Deleting them by text deletes both."""
    harness.step({"do": "memory_delete", "text": "use pnpm here"})
    world = harness.state()
    assert [one.proposal.text for one in world.memory.entries.values() if one.state == "promoted"] == [
        "use pnpm here in CI only"
    ]
    assert world.memory.pending == {}


def test_every_candidate_is_found_by_its_text(harness: Harness) -> None:
    """Those that are gone too."""
    world = harness.state()
    assert len(refs_by_text(world, "Use pnpm here!")) == 1
    assert len(refs_by_text(world, "USE PNPM")) == 3
