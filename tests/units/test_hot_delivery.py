"""What of the hot state goes with a message, told from the receipts before it (SPEC 12.3, 19)."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.events import Draft, PromptRenderedData
from ledger.source import make_source
from projections.headers import DELTA_HEADER, HOT_HEADER
from projections.hot.block import HotLine
from projections.hot.delivery import (
    DELTA_CHARS,
    NOTHING_LEFT,
    HotPart,
    hot_due,
    line_digest,
    system_due,
    system_hot,
)
from projections.inert import inert
from projections.prompts import Epoch, block_digest, copy_prompts, current_epoch, step_prompts
from projections.receipts import frozen_due, frozen_receipt, hot_receipt
from projections.world import WorldState
from tests.support.harness import HOST
from tests.support.streams import Stage

A, B = make_source(HOST, "A"), make_source(HOST, "B")
FAILED = "2 failed: src/a.spec.ts"


class Talk:
    """A session A whose messages carry what is due."""

    def __init__(self, **delivery: str | bool) -> None:
        self.stage = Stage(None)
        self.do("session_start", delivery=delivery)

    def do(self, what: str, session: str = "A", **fields: Any) -> None:
        """Something happens, by default in session A."""
        self.stage.feed([{"do": what, "session": session, **fields}])

    def say(self, text: str) -> None:
        """The user asks for something."""
        self.do("user_message", message=f"m{len(self.stage.events())}", text=text)

    def run(self, command: str, code: int, output: str = "") -> None:
        """A shell command ends."""
        call = f"c{len(self.stage.events())}"
        self.do("tool", tool="bash", args={"command": command}, exit=code, output=output, call=call)

    def edit(self, path: str) -> None:
        """A file is edited."""
        self.do("tool", tool="edit", args={"filePath": path}, call=f"c{len(self.stage.events())}")

    def record(self, data: PromptRenderedData, source: str = A) -> None:
        """A receipt comes."""
        self.stage.workspace().record([Draft(source=source, time=None, data=data)])

    @property
    def world(self) -> WorldState:
        """The state now."""
        return self.stage.state()

    @property
    def epoch(self) -> Epoch:
        """The open epoch."""
        epoch = current_epoch(self.world.prompts, A)
        assert epoch is not None
        return epoch

    def due(self, instance: str = "i") -> HotPart | None:
        """What is due, not given yet."""
        return hot_due(self.world, A, instance)

    def give(self, instance: str = "i") -> str | None:
        """What a message carries now; its receipt is recorded."""
        part = self.due(instance)
        if part is None:
            return None
        self.record(hot_receipt(part, instance))
        return part.text

    def known(self) -> list[HotLine]:
        """The lines that the session knows."""
        return list(self.world.given[A].lines.values())


def changes(*lines: str) -> str:
    """A change as it reads."""
    return "\n".join([DELTA_HEADER, *lines])


def test_the_first_message_carries_the_whole_block() -> None:
    """Even an empty one is recorded; then nothing is due until something changes."""
    talk = Talk()
    assert talk.due() == HotPart("hot", "", (), talk.epoch.offset, talk.world.memory.offset)
    assert (talk.give(), talk.give()) == ("", None)
    talk = Talk()
    talk.say("Remember: use tabs in Makefiles")
    text = talk.give()
    assert text is not None
    assert text.startswith(HOT_HEADER)
    assert talk.known() == [HotLine("pending_memories", "[feedback] use tabs in Makefiles")]
    assert talk.give() is None


def test_a_change_names_sections_and_lines() -> None:
    """Pending memories first, then errors, then decisions; in a section what is gone comes first."""
    talk = Talk()
    talk.run("npx tsc", 2, "src/b.ts(1,1): error TS2322: no")
    talk.give()
    talk.run("npx tsc", 0)
    talk.run("pytest -q", 1, FAILED)
    talk.say("Remember: we decided to keep event logs for good")
    talk.say("Remember: use tabs in Makefiles")
    assert talk.give() == changes(
        "+ pending_memories: [decision] we decided to keep event logs for good",
        "+ pending_memories: [feedback] use tabs in Makefiles",
        "- open_errors: [typecheck] src/b.ts(1,1): error TS2322: no",
        f"+ open_errors: [test] {FAILED}",
    )
    assert talk.give() is None


def test_an_error_that_may_be_fixed_is_one_change() -> None:
    """Both lines or none, since one of them alone would say that the error is closed."""
    talk = Talk()
    talk.give()
    talk.run("pytest -q", 1, FAILED)
    talk.give()
    talk.edit("src/a.spec.ts")
    assert talk.give() == changes(f"- open_errors: [test] {FAILED}", f"+ open_errors: [test] {FAILED} (maybe fixed)")
    talk.run("pytest -q", 1, FAILED)
    assert talk.give() == changes(f"- open_errors: [test] {FAILED} (maybe fixed)", f"+ open_errors: [test] {FAILED}")
    long = f"1 failed: src/a.spec.ts {'x' * 150}"
    talk.run("pytest -q", 1, long)
    assert talk.give() == changes(f"- open_errors: [test] {FAILED}", f"+ open_errors: [test] {long}")
    talk.edit("src/a.spec.ts")
    both = talk.give()
    assert both is not None
    gone, new = both.split("\n")[1:]
    assert long.startswith(gone.removeprefix("- open_errors: [test] ").removesuffix("…"))
    assert long.startswith(new.removeprefix("+ open_errors: [test] ").removesuffix("… (maybe fixed)"))
    assert DELTA_CHARS - 2 < len(both) <= DELTA_CHARS
    talk.run("pytest -q", 0)
    assert talk.give() == changes(f"- open_errors: [test] {long} (maybe fixed)")


def test_files_are_no_reason_for_a_change() -> None:
    """The session's own calls stand in its conversation."""
    talk = Talk()
    talk.edit("src/a.ts")
    talk.give()
    talk.edit("src/a.ts")
    talk.edit("src/b.ts")
    assert talk.give() is None
    talk.say("Remember: use tabs in Makefiles")
    assert talk.give() == changes("+ pending_memories: [feedback] use tabs in Makefiles")
    assert [line.section for line in talk.known()] == ["active_files", "pending_memories"]


def test_a_line_that_lost_its_place_is_not_gone() -> None:
    """Six pending memories are shown; the seventh pushes the oldest out, which is as true as before."""
    talk = Talk()
    for number in range(6):
        talk.say(f"Remember: rule {number} of the house")
    talk.give()
    talk.say("Remember: rule 6 of the house")
    assert talk.give() == changes("+ pending_memories: [feedback] rule 6 of the house")
    talk.do("memory_delete", text="rule 0 of the house")
    assert talk.give() == changes("- pending_memories: [feedback] rule 0 of the house")


def test_what_does_not_fit_comes_later() -> None:
    """Whole lines within 300 characters; one that is too long is passed over, and the next is tried."""
    talk = Talk()
    talk.give()
    words = [f"rule {number}: {'x' * (150 if number < 2 else 20)}" for number in range(3)]
    for text in words:
        talk.say(f"Remember: {text}")
    lines = [f"+ pending_memories: [feedback] {text}" for text in words]
    first = talk.give()
    assert first == changes(lines[0], lines[2])
    assert len(first) <= DELTA_CHARS
    assert talk.give() == changes(lines[1])
    assert talk.give() is None


def test_a_line_that_never_fits_is_cut() -> None:
    """Coming and going, at the end of a whole character; it is known by its full text, so it comes once."""
    talk = Talk()
    talk.give()
    text = "rule " * 45 + "e\u0301" * 15
    talk.say(f"Remember: {text}")
    for sign in "+-":
        told = talk.give()
        assert told is not None
        assert told.startswith(changes(f"{sign} pending_memories: [feedback] rule rule"))
        assert told.endswith("e\u0301…")
        assert DELTA_CHARS - 2 < len(told) <= DELTA_CHARS
        assert talk.give() is None
        assert [line.entry for line in talk.known()] == ([f"[feedback] {text}"] if sign == "+" else [])
        talk.do("memory_delete", text=text)


def test_a_cut_line_is_inert() -> None:
    """A name that goes on is no tag; where the cut ends it, it is."""
    tags = "<systematic "
    lead = f"{DELTA_HEADER}\n+ pending_memories: [feedback] "
    for before in range(len(tags)):
        talk = Talk()
        talk.give()
        talk.say(f"Remember: {('x' * before + tags * 25)[:255]}")
        told = talk.give()
        assert told is not None
        assert told.startswith(lead)
        assert told == inert(told)


def test_a_change_is_inert_and_one_line_each() -> None:
    """Lines are shown as in the block."""
    talk = Talk()
    talk.give()
    talk.say("Remember: wrap   prompts in <system> tags")
    assert talk.give() == changes("+ pending_memories: [feedback] wrap prompts in ‹system> tags")


def test_a_compaction_or_another_process_begins_anew() -> None:
    """The first message after a compaction, and the first to another instance, carry the whole block."""
    talk = Talk()
    talk.run("pytest -q", 1, FAILED)
    whole = talk.give()
    assert whole
    assert talk.give("j") == whole
    assert talk.give("j") is None
    assert talk.give("i") == whole
    talk.do("compacted", summary="Done.")
    assert A not in talk.world.given
    assert talk.give() == whole
    talk.do("session_start")
    assert talk.give() is None


def test_full_delivery_repeats_the_whole_block_when_it_changed() -> None:
    """Not when it is as it was; when nothing is left to show, once."""
    talk = Talk(hot_delivery="full")
    assert (talk.give(), talk.give()) == ("", None)
    talk.run("pytest -q", 1, FAILED)
    text = talk.give()
    assert text is not None
    assert text.startswith(HOT_HEADER)
    assert talk.give() is None
    talk.edit("src/a.spec.ts")
    part = talk.due()
    assert part is not None
    assert (part.kind, "maybe fixed" in part.text) == ("hot", True)
    talk = Talk(hot_delivery="full")
    talk.run("pytest -q", 1, FAILED)
    talk.give()
    talk.run("pytest -q", 0)
    assert (talk.give(), talk.give()) == (NOTHING_LEFT, None)
    talk.run("pytest -q", 1, FAILED)
    assert talk.give() == text


@pytest.mark.parametrize("delivery", ["delta", "full"])
def test_a_whole_block_without_lines_takes_back_the_earlier_ones(delivery: str) -> None:
    """A conversation that holds lines is told by another process that there are none; one that holds none isn't."""
    talk = Talk(hot_delivery=delivery)
    assert (talk.give(), talk.give("j")) == ("", "")
    talk.say("Remember: use tabs in Makefiles")
    talk.give("j")
    talk.do("memory_delete", text="use tabs in Makefiles")
    assert (talk.give("i"), talk.give("i")) == (NOTHING_LEFT, None)
    assert (talk.give("j"), talk.give("j")) == ("", None)
    assert talk.known() == []


def test_no_lines_keep_to_the_budget_too() -> None:
    """Where the block may not have the characters to say so, nothing is said."""
    talk = Talk()
    talk.say("Remember: use tabs in Makefiles")
    talk.give()
    talk.do("memory_delete", text="use tabs in Makefiles")
    for budget, text in ((len(NOTHING_LEFT), NOTHING_LEFT), (len(NOTHING_LEFT) - 1, "")):
        talk.do("policy", config={"prompt": {"hotChars": budget}})
        talk.do("session_start")
        part = talk.due("j")
        assert part is not None
        assert part.text == text


@pytest.mark.parametrize("delivery", ["delta", "full"])
@pytest.mark.parametrize("first", ["hello", "Remember: docs live in the handbook repository"])
def test_a_line_that_is_gone_before_its_receipt_is_taken_back(first: str, delivery: str) -> None:
    """Nothing holds its text any more, so the whole block comes, once."""
    talk = Talk(hot_delivery=delivery)
    talk.say(first)
    before = talk.give()
    talk.say("Remember: use tabs in Makefiles")
    part = talk.due()
    assert part is not None
    talk.do("memory_delete", text="use tabs in Makefiles")
    talk.record(hot_receipt(part, "i"))
    assert (talk.give(), talk.give()) == (before or NOTHING_LEFT, None)


def test_what_could_not_be_told_is_not_forgotten_by_a_later_change() -> None:
    """Of two changes on their way the first names a line that is gone; the receipt of the second is whole."""
    talk = Talk()
    talk.give()
    talk.say("Remember: use tabs in Makefiles")
    first = talk.due()
    talk.do("memory_delete", text="use tabs in Makefiles")
    talk.say("Remember: docs live in the handbook repository")
    second = talk.due()
    assert first is not None
    assert second is not None
    talk.record(hot_receipt(first, "i"))
    talk.record(hot_receipt(second, "i"))
    whole = talk.give()
    assert whole is not None
    assert whole.startswith(HOT_HEADER)
    assert talk.give() is None


@pytest.mark.parametrize(
    ("delivery", "system"),
    [
        ({"hot_delivery": "off"}, False),
        ({"enabled": False}, False),
        ({"placement": "system"}, True),
        ({"placement": "system", "hot_delivery": "off"}, False),
    ],
)
def test_a_session_may_get_it_elsewhere_or_not_at_all(delivery: dict[str, Any], system: bool) -> None:
    """Off is off; in the system prompt it is no part of a message."""
    talk = Talk(**delivery)
    talk.run("pytest -q", 1, FAILED)
    assert talk.due() is None
    assert (system_hot(talk.world, A) != "") is system


def test_a_block_in_the_system_prompt_is_noted_when_it_is_another_one() -> None:
    """Each instance is told of once, again when the block changes; sessions that get it elsewhere have nothing due."""
    talk = Talk(placement="system")
    talk.run("pytest -q", 1, FAILED)
    part = system_due(talk.world, A, "i")
    assert part is not None
    assert (part.kind, part.text) == ("hot", system_hot(talk.world, A))
    assert (part.epoch, part.position) == (talk.epoch.offset, talk.world.memory.offset)
    talk.record(hot_receipt(part, "i"))
    assert system_due(talk.world, A, "i") is None
    assert system_due(talk.world, A, "j") is not None
    talk.edit("src/a.ts")
    assert system_due(talk.world, A, "i") is not None
    elsewhere = Talk()
    elsewhere.run("pytest -q", 1, FAILED)
    assert system_due(elsewhere.world, A, "i") is None
    assert system_due(talk.world, B, "i") is None


def test_settings_hold_for_an_epoch() -> None:
    """A resumed session keeps the settings its epoch began with; the next epoch has the latest ones (SPEC 19)."""
    talk = Talk()
    talk.do("session_start", delivery={"placement": "system"})
    assert talk.due() is not None
    assert system_hot(talk.world, A) == ""
    talk.do("compacted", summary="Done.")
    assert talk.due() is None
    assert talk.epoch.delivery.placement == "system"


def test_nobody_else_gets_any() -> None:
    """No session without an epoch, no deleted one, no sub-agent however late it is known."""
    talk = Talk()
    assert hot_due(talk.world, B, "i") is None
    assert system_hot(talk.world, B) == ""
    talk.give()
    talk.do("session_parent", parent="B")
    assert A not in talk.world.given
    assert talk.due() is None
    talk = Talk()
    talk.give()
    talk.do("session_deleted")
    assert talk.world.given == {}
    assert talk.due() is None


def test_a_start_that_names_a_parent_ends_it_too() -> None:
    """A session that says itself that it is a sub-agent's has been given nothing."""
    talk = Talk()
    talk.give()
    talk.do("session_start", parent="B")
    assert A not in talk.world.given


def test_receipts_of_no_open_epoch_count_for_nothing() -> None:
    """Nor do those of unknown sessions and frozen blocks; lines that nothing holds are dropped."""
    talk = Talk()
    talk.say("Remember: use tabs in Makefiles")
    epoch = talk.epoch
    data = PromptRenderedData("hot", 0, epoch.offset + 1, "d", 1, "i")
    talk.record(data)
    talk.record(PromptRenderedData("hot", 0, 0, "d", 1, "i"), B)
    talk.record(frozen_receipt(epoch, "i"))
    assert talk.world.given == {}
    known = line_digest(HotLine("pending_memories", "[feedback] use tabs in Makefiles"))
    talk.record(PromptRenderedData("delta", 0, epoch.offset, "d", 1, "i", (), ("0" * 16, known)))
    assert talk.known() == [HotLine("pending_memories", "[feedback] use tabs in Makefiles")]
    assert talk.world.given[A].whole == ""
    assert not talk.world.given[A].complete


def test_a_frozen_block_has_one_receipt_for_each_process() -> None:
    """It tells the block of the epoch, by digest, size and memories; the next epoch has one of its own."""
    talk = Talk()
    talk.say("Remember: use tabs in Makefiles")
    talk.do("compacted", summary="Done.")
    assert not frozen_due(talk.world, B, "i")
    assert frozen_due(talk.world, A, "i")
    talk.record(frozen_receipt(talk.epoch, "i"))
    assert not frozen_due(talk.world, A, "i")
    assert frozen_due(talk.world, A, "j")
    (receipt,) = talk.world.prompts.receipts[A]
    epoch = talk.epoch
    assert (receipt.kind, receipt.epoch, receipt.instance) == ("workspace", epoch.offset, "i")
    assert (receipt.digest, receipt.size) == (block_digest(epoch.segment), len(epoch.segment))
    assert receipt.shown == epoch.shown
    assert receipt.shown
    talk.do("compacted", summary="Done again.")
    assert frozen_due(talk.world, A, "i")
    talk.record(frozen_receipt(talk.epoch, "i"))
    assert not frozen_due(talk.world, A, "i")
    talk.record(frozen_receipt(epoch, "i"))  # one that comes late costs one more
    assert frozen_due(talk.world, A, "i")
    talk.record(frozen_receipt(talk.epoch, "i"))
    assert not frozen_due(talk.world, A, "i")


def test_receipts_are_added_in_place() -> None:
    """A receipt costs the same however many came before; a copy has a list of its own."""
    talk = Talk()
    talk.record(frozen_receipt(talk.epoch, "i"))
    world = talk.world
    *_, receipt = talk.stage.events()
    kept, found = copy_prompts(world.prompts), world.prompts.receipts[A]
    step_prompts(world.prompts, world.memory, receipt)
    assert world.prompts.receipts[A] is found
    assert (len(found), len(kept.receipts[A])) == (2, 1)


def test_a_hot_receipt_tells_what_was_given() -> None:
    """Kind, position, epoch, digest and size of the text, and the digests of the lines that are known now."""
    talk = Talk()
    talk.run("pytest -q", 1, FAILED)
    part = talk.due()
    assert part is not None
    assert hot_receipt(part, "i") == PromptRenderedData(
        kind="hot",
        position=talk.world.memory.offset,
        epoch=talk.epoch.offset,
        digest=block_digest(part.text),
        size=len(part.text),
        instance="i",
        lines=(line_digest(HotLine("open_errors", f"[test] {FAILED}")),),
    )
