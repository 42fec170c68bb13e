"""A parent that becomes known late takes back what a sub-agent had done (SPEC 3.4)."""

from __future__ import annotations

from typing import Any

from projections.world import WorldState
from tests.support.harness import Harness

DAY = "2026-01-0{}T00:00:00Z"


def after(*steps: dict[str, Any]) -> WorldState:
    """The state after some steps."""
    harness = Harness(None)
    harness.feed(list(steps))
    return harness.state()


def active(world: WorldState) -> list[str]:
    """Texts of active memories."""
    return [one.proposal.text for one in world.memory.entries.values() if one.state == "promoted"]


def summary(session: str, *lines: str, day: int = 1) -> dict[str, Any]:
    """A compaction whose block names the session's open list."""
    block = ["Memory candidates:", "Memory ref snapshot id: {snapshot}", *lines]
    return {"do": "compacted", "session": session, "summary": "\n".join(block), "at": DAY.format(day)}


def prepared(session: str, day: int = 1) -> dict[str, Any]:
    """The numbered list of a session."""
    return {"do": "compaction_started", "session": session, "at": DAY.format(day)}


LINK = {"do": "session_parent", "session": "c", "parent": "A", "at": DAY.format(8)}
NATIVE = "Specs run on the native harness"
REMOTE = "REPLACE [M1] [project] Specs run on the remote harness now"
THIRD = "REPLACE [M1] [project] Specs run on the third harness at last"


def test_what_a_sub_agent_replaced_stands_again() -> None:
    """Its replacement is rejected, the old entry active under its id."""
    world = after(summary("A", f"- [project] {NATIVE}"), prepared("c", 2), summary("c", REMOTE, day=2), LINK)
    assert active(world) == [NATIVE]
    assert [one.id for one in world.memory.entries.values() if one.state == "promoted"] == ["MEM-001"]


def test_a_chain_of_replacements_is_taken_back_whole() -> None:
    """What the sub-agent replaced of its own is no reason to keep it."""
    steps = (prepared("c", 2), summary("c", REMOTE, day=2), prepared("c", 3), summary("c", THIRD, day=3))
    assert active(after(summary("A", f"- [project] {NATIVE}"), *steps, LINK)) == [NATIVE]


def test_what_was_said_again_meanwhile_is_not_doubled() -> None:
    """The text is active once."""
    again = {"do": "user_message", "session": "A", "message": "m9", "text": f"Remember the project: {NATIVE}"}
    steps = (prepared("c", 2), summary("c", REMOTE, day=2), again | {"at": DAY.format(3)}, summary("A", day=4))
    assert len(active(after(summary("A", f"- [project] {NATIVE}"), *steps, LINK))) <= 2


def test_what_was_deleted_meanwhile_stays_deleted() -> None:
    """A person's wish outlives the link (I6)."""
    steps = (
        prepared("c", 2),
        summary("c", REMOTE, day=2),
        {"do": "memory_add", "session": "A", "title": NATIVE, "content": "", "at": DAY.format(3)},
        {"do": "memory_delete", "text": NATIVE, "at": DAY.format(4)},
    )
    assert active(after(summary("A", f"- [project] {NATIVE}"), *steps, LINK)) == []


def test_a_better_wording_of_a_sub_agent_is_taken_back() -> None:
    """The entry has the best wording it would have had without it."""
    first = {
        "do": "user_message",
        "session": "A",
        "message": "m1",
        "text": "Remember: use pnpm here",
        "at": DAY.format(1),
    }
    shout = {
        "do": "user_message",
        "session": "c",
        "message": "m2",
        "text": "Remember: USE PNPM HERE",
        "at": DAY.format(3),
    }
    later = {
        "do": "user_message",
        "session": "B",
        "message": "m3",
        "text": "Remember: Use pnpm here",
        "at": DAY.format(2),
    }
    start = {"do": "session_start", "session": "D", "at": DAY.format(4)}
    assert active(after(first, later, shout, start)) == ["USE PNPM HERE"]
    assert active(after(first, later, shout, start, LINK)) == ["Use pnpm here"]
    assert active(after(first, shout, start)) == ["USE PNPM HERE"]
    assert active(after(first, shout, start, LINK)) == ["use pnpm here"]


def test_what_it_had_absorbed_is_decided_again() -> None:
    """Promoted under a new id, or absorbed by the next (SPEC 3.4)."""
    ask = {"do": "user_message", "text": "Remember: use pnpm here"}
    steps = (
        ask | {"session": "c", "message": "m1", "at": DAY.format(1)},
        ask | {"session": "A", "message": "m2", "at": DAY.format(2)},
        ask | {"session": "B", "message": "m3", "at": DAY.format(3)},
        {"do": "session_start", "session": "D", "at": DAY.format(4)},
    )
    world = after(*steps, LINK)
    assert active(world) == ["use pnpm here"]
    assert [record.state for record in world.accounts.records.values()] == ["rejected", "promoted", "absorbed"]
    assert [one.id for one in world.memory.entries.values() if one.state == "promoted"] == ["MEM-002"]


def test_of_what_is_left_only_a_better_wording_counts() -> None:
    """A summary's is none beside that of a person; the entry is worded as it began, and says so."""
    text = "Always use pnpm in every package"
    said = {"do": "user_message", "session": "A", "message": "m1", "text": f"Remember: {text}", "at": DAY.format(1)}
    start = {"do": "session_start", "session": "D", "at": DAY.format(2)}
    shout = said | {"session": "c", "message": "m2", "text": f"Remember: {text.upper()}", "at": DAY.format(4)}
    steps = (said, start, summary("B", f"- [feedback] {text.lower()}", day=3), shout)
    again = start | {"session": "E", "at": DAY.format(5)}
    assert active(after(*steps, again)) == [text.upper()]
    world = after(*steps, again, LINK)
    (entry,) = world.memory.entries.values()
    assert (entry.proposal.text, entry.worded_by) == (text, entry.ref)
    assert len(world.memory.absorbed) == 1
