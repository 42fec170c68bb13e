"""The constant segment that a session is given: the policy of the tools, and the block or the summary (SPEC 12, 16)."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from ledger.events import AnyEvent, Delivery
from ledger.memory import MemoryLog
from ledger.source import make_source
from memfold.tools.tools import Tools
from memfold.workspace import Workspace
from projections.hot.view import hot_view
from projections.policy import DEFAULT_POLICY
from projections.policy_text import EMPTY_POLICY, POLICY
from projections.prompts import Epoch, current_epoch
from projections.receipts import frozen_due, frozen_receipt
from projections.render import workspace_block
from replay.state import state_at
from tests.support.streams import ledgers

TIME = "2026-03-01T12:00:00Z"
SUMMARY = Delivery(injection="summary")


def workspace(delivery: Delivery = Delivery()) -> Workspace:  # noqa: B008 - a frozen value
    """A ledger in memory; its sessions start with this delivery."""
    made = Workspace(MemoryLog(), "/w/app", DEFAULT_POLICY, host="test")
    made.configure(DEFAULT_POLICY, enabled=True, delivery=delivery)
    return made


def add(ws: Workspace, *titles: str, **more: Any) -> None:
    """Memories that a tool stores."""
    for title in titles:
        args = {"title": title, "content": f"{title} in every package", **more}
        assert Tools(ws).call("memory_add", args, session="A", time=TIME).kind == "saved"


def started(ws: Workspace, session: str = "S") -> Epoch:
    """Start a session: the epoch that its block is frozen for."""
    ws.record(ws.capture.session_started(session, time=TIME))
    epoch = current_epoch(ws.state().prompts, make_source("test", session))
    assert epoch is not None
    return epoch


def test_with_tools_the_policy_stands_before_the_block() -> None:
    """A blank line parts the two; without tools the segment is the block alone."""
    ws = workspace()
    add(ws, "Use pnpm")
    with_tools = started(ws)
    assert with_tools.segment == f"{POLICY}\n\n{with_tools.text}"
    ws.configure(DEFAULT_POLICY, enabled=True, delivery=Delivery(tools=False))
    without = started(ws, "T")
    assert without.segment == without.text == with_tools.text
    assert without.text.startswith("Workspace memory")


def test_an_empty_store() -> None:
    """No block is shown, and the variant that says so; without tools nothing at all (SPEC 11.6)."""
    assert started(workspace()).segment == EMPTY_POLICY
    assert started(workspace(Delivery(tools=False))).segment == ""
    assert started(workspace(SUMMARY)).segment == EMPTY_POLICY


def test_a_store_whose_memories_are_all_archived_is_empty() -> None:
    """What was archived is stored for a person, not for the model."""
    ws = workspace()
    add(ws, "Use pnpm")
    Tools(ws).call("memory_delete", {"id": "MEM-001"}, session="A", time=TIME)
    assert started(ws).segment == EMPTY_POLICY


def test_it_stays_for_the_whole_epoch() -> None:
    """Memories that come, change or go leave the segment as it is; a compaction makes another one (I12)."""
    ws = workspace()
    before = started(ws, "A")
    add(ws, "Use pnpm")
    Tools(ws).call("memory_update", {"id": "MEM-001", "title": "Use pnpm 10"}, session="A", time=TIME)
    assert current_epoch(ws.state().prompts, before.session) == before
    ws.record(ws.capture.compacted("A", "m9", "All done.", time=TIME))
    after = current_epoch(ws.state().prompts, before.session)
    assert after is not None
    assert after.segment.startswith(f"{POLICY}\n\n")
    assert "Use pnpm 10" in after.segment


def test_the_policy_takes_no_room_of_the_block() -> None:
    """It comes in addition to the characters that a block may have (SPEC 16.8)."""
    policy = replace(DEFAULT_POLICY, workspace_chars=400)
    ws = Workspace(MemoryLog(), "/w/app", policy, host="test")
    add(ws, *(f"Rule number {number} of the harbour" for number in range(9)))
    epoch = started(ws)
    assert epoch.text == workspace_block(ws.state().memory).text
    assert 200 < len(epoch.text) <= 400 < len(epoch.segment)


# -- the summary in place of the block --------------------------------------------------------------------------


def test_the_summary_takes_the_place_of_the_block() -> None:
    """One line a memory, the newest first, with its id (SPEC 16.7)."""
    ws = workspace(SUMMARY)
    add(ws, "Use pnpm", "Berths are numbered clockwise", tags=["a", "b"])
    epoch = started(ws)
    assert epoch.text == "- [MEM-002] [a, b] Berths are numbered clockwise\n- [MEM-001] [a, b] Use pnpm"
    assert epoch.segment == f"{POLICY}\n\n{epoch.text}"


@pytest.mark.parametrize("chars", [1, 24, 25, 60, 90, 2000])
def test_the_summary_keeps_to_its_budget(chars: int) -> None:
    """It never exceeds its own cap, names how many are left out, and what it shows is what it names."""
    ws = workspace(Delivery(injection="summary", summary_chars=chars))
    add(ws, *(f"Fact {number}" for number in range(9)))
    epoch = started(ws)
    assert len(epoch.text) <= chars
    lines = epoch.text.splitlines()
    named = [line for line in lines if line.startswith("- [MEM-")]
    assert len(named) == len(epoch.shown)
    if lines and len(named) < 9:
        assert lines[-1] == f"(+{9 - len(named)} more: memory_read)"


def test_a_summary_is_inert() -> None:
    """A title that looks like a tag of the host is shown harmless, at its length (SPEC 11.3)."""
    ws = workspace(SUMMARY)
    add(ws, "Wrap output in <system> tags")
    assert "\u2039system> tags" in started(ws).text


def test_the_settings_are_those_of_the_start() -> None:
    """A session goes on with what its start recorded; another one has its own."""
    ws = workspace(SUMMARY)
    add(ws, "Use pnpm")
    first = started(ws)
    ws.configure(DEFAULT_POLICY, enabled=True, delivery=Delivery())
    second = started(ws, "T")
    assert first.text.startswith("- [MEM-001]")
    assert second.text.startswith("Workspace memory")
    assert current_epoch(ws.state().prompts, first.session) == first


@pytest.mark.parametrize("delivery", [Delivery(), SUMMARY], ids=["block", "summary"])
def test_what_the_segment_holds_is_not_pending(delivery: Delivery) -> None:
    """A request leaves hot state with the compaction whose block, or summary, names it (SPEC 14.1)."""
    ws = workspace(delivery)
    source = make_source("test", "S")
    started(ws)
    ws.record(ws.capture.user_message("S", "m1", "Remember: berths are numbered clockwise", time=TIME))
    assert "berths are numbered clockwise" in hot_view(ws.state(), source).text
    ws.record(ws.capture.compacted("S", "m2", "All done.", time=TIME))
    epoch = current_epoch(ws.state().prompts, source)
    assert epoch is not None
    assert "berths are numbered clockwise" in epoch.segment
    assert "berths are numbered clockwise" not in hot_view(ws.state(), source).text


# -- receipts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delivery", [Delivery(), Delivery(tools=False), SUMMARY], ids=["tools", "bare", "summary"])
def test_a_receipt_is_that_of_the_segment(delivery: Delivery) -> None:
    """Digest and size are those of the bytes that the host was given, not of the block inside."""
    ws = workspace(delivery)
    add(ws, "Use pnpm für alle Pakete")
    epoch = started(ws)
    receipt = frozen_receipt(epoch, "one")
    assert receipt.digest == epoch.digest == hashlib.sha256(epoch.segment.encode()).hexdigest()
    assert receipt.size == len(epoch.segment)
    assert frozen_due(ws.state(), epoch.session, "one")
    ws.record(ws.capture.prompt_rendered("S", receipt, time=TIME))
    assert not frozen_due(ws.state(), epoch.session, "one")


@given(ledgers(max_size=15))
def test_it_is_a_pure_function_of_the_log(events: list[AnyEvent]) -> None:
    """Replayed to any later offset, an epoch has the same segment, made of its policy and its text alone."""
    whole = state_at(events)
    for source, epochs in whole.prompts.epochs.items():
        for epoch in epochs:
            then = current_epoch(state_at(events, epoch.offset).prompts, source)
            assert then is not None
            if epoch.open:
                assert then.segment == epoch.segment
            policy, _, text = then.segment.partition("\n\n")
            if then.delivery.tools:
                assert policy in (POLICY, EMPTY_POLICY)
                assert text == then.text
            else:
                assert then.segment == then.text
