"""What a session cost: requests, parts, tokens, and what is read again in which layout."""

from __future__ import annotations

from unittest import mock

import msgspec

from ledger.events import (
    AnyEvent,
    Delivery,
    PromptRendered,
    SessionDeletedData,
    SessionLinkedData,
    SessionStartedData,
)
from projections.hot.view import hot_view
from replay.usage import EpochUse, SessionUse, Survey, Tokens, Turn, survey, tokens_of, usage_of
from tests.support.usage import HOST, Tale


def used(tale: Tale) -> SessionUse:
    """What the session of a tale cost."""
    (use,) = usage_of(tale.log.read(), [tale.source]).sessions
    return use


def the_epoch(tale: Tale) -> EpochUse:
    """The only epoch of the session of a tale."""
    (epoch,) = used(tale).epochs
    return epoch


def test_an_epoch_knows_its_block_its_parts_and_its_turns() -> None:
    """Sizes are characters; an empty hot receipt is no part."""
    tale = Tale()
    tale.start()
    tale.compact()
    tale.give("workspace", 200)
    tale.give("hot", 0)
    tale.give("hot", 120)
    tale.give("delta", 30)
    tale.measure(3, 100, 2000, 50)
    tale.measure(1, 10, 900)
    first, second = used(tale).epochs
    assert (first.open, first.block, first.receipts, first.turns) == (False, 0, 0, ())
    assert second.open
    assert second.block > len("Prices must be computed in integer cents")
    assert (second.receipts, second.block_changes, second.parts, second.part_characters) == (1, 0, 2, 150)
    assert second.requests == 3, "the compaction's own request carries no block"
    assert tokens_of(second.turns) == Tokens(4, 110, 2900, 50)
    assert tokens_of(second.turns).prompt == 3060
    assert second.placement == "user-part"


def test_another_digest_in_an_epoch_is_a_change() -> None:
    """The same one again is none; going back is one more."""
    tale = Tale()
    tale.start()
    for digest in ("a", "a", "b", "a"):
        tale.give("workspace", 10, digest)
    tale.measure(4, 4000)
    epoch = the_epoch(tale)
    assert (epoch.receipts, epoch.given, epoch.block_changes) == (4, ("a", "b", "a"), 2)
    assert epoch.again_here(100) == 2 * 900


def test_a_receipt_of_an_unknown_epoch_counts_for_nothing() -> None:
    """It may come from a log that was cut."""
    tale = Tale()
    tale.start()
    tale.give("workspace", 10)
    (*rest, receipt) = tale.log.read()
    assert isinstance(receipt, PromptRendered)
    elsewhere = msgspec.structs.replace(receipt, data=msgspec.structs.replace(receipt.data, epoch=99))
    (use,) = usage_of([*rest, elsewhere], [tale.source]).sessions
    assert use.epochs[0].receipts == 0


def test_hot_changes_count_per_request_and_not_before_the_first() -> None:
    """What the user says first is read with everything else; then each change stands before a request."""
    tale = Tale()
    tale.start()
    tale.ask("Remember: use integer cents in every API")
    tale.edit("a.py")
    tale.edit("b.py")
    tale.measure(3, 9000)
    tale.ask("Remember: keep the docs in English")
    tale.measure(1, 4000)
    tale.measure(1, 4000)
    turns = the_epoch(tale).turns
    assert [(turn.carrying, turn.changed) for turn in turns] == [(3, 2), (1, 1), (1, 0)]


def test_no_more_changes_than_requests() -> None:
    """Tools that are asked for at once stand before one request."""
    tale = Tale()
    tale.start()
    for name in "abcde":
        tale.edit(f"{name}.py")
    tale.measure(2, 2000)
    for name in "fghij":
        tale.edit(f"{name}.py")
    tale.measure(2, 2000)
    assert [turn.changed for turn in the_epoch(tale).turns] == [1, 2]


def test_calls_that_change_nothing_cost_nothing() -> None:
    """Nor is a hot block rendered for them, or for other sessions."""
    tale = Tale()
    other = Tale(tale.log, "other")
    tale.start()
    tale.edit("a.py")
    quiet = list(tale.log.read())
    other.start()
    for _ in range(20):
        tale.edit("a.py", tool="weather")
        other.edit("b.py")
    with mock.patch("replay.usage.hot_view", wraps=hot_view) as rendered:
        usage_of(quiet, [tale.source])
        few = rendered.call_count
        usage_of(tale.log.read(), [tale.source])
        assert rendered.call_count == 2 * few
    tale.measure(21, 21_000)
    assert the_epoch(tale).hot_changes == 1


def test_a_compaction_makes_the_cache_anew() -> None:
    """Its own request carries nothing, and the first one behind it reads everything anyway."""
    tale = Tale()
    tale.start()
    tale.edit("a.py")
    tale.measure(2, 2000)
    tale.compact()
    tale.measure(1, 5000)
    tale.ask("Remember: use integer cents in every API")
    tale.edit("b.py")
    tale.measure(2, 2000)
    first, second = used(tale).epochs
    assert [(turn.carrying, turn.changed) for turn in first.turns] == [(2, 1)]
    assert [(turn.carrying, turn.changed) for turn in second.turns] == [(0, 0), (2, 1)]


def test_a_compaction_inside_a_turn() -> None:
    """The turn counts where it ended."""
    tale = Tale()
    tale.start()
    tale.measure(1, 1000)
    tale.edit("a.py")
    tale.compact()
    tale.edit("b.py")
    tale.measure(3, 3000)
    first, second = used(tale).epochs
    assert first.requests == 1
    assert [(turn.carrying, turn.changed) for turn in second.turns] == [(2, 1)]


def test_classic_reads_again_what_stands_behind_the_first_block() -> None:
    """An average prompt of the turn less the first block, for each change; never less than nothing."""
    turn = Turn(Tokens(4, 1000, 38_000, 1000), carrying=4, changed=3)
    epoch = EpochUse(0, 0, 0, "", "user-part", turns=(turn,))
    assert epoch.again_classic(4000) == 3 * 6000
    assert epoch.again_here(4000) == 0
    assert epoch.again_classic(20_000) == 0
    assert Turn(Tokens(), 0, 0).behind(10) == 0


def test_hot_state_in_the_system_prompt_is_the_classic_layout() -> None:
    """Then nothing is gained, and that is said."""
    tale = Tale()
    tale.note(SessionStartedData("s", host=HOST, delivery=Delivery(placement="system")))
    tale.edit("a.py")
    tale.edit("b.py")
    tale.measure(3, 9000)
    epoch = the_epoch(tale)
    assert epoch.placement == "system"
    assert epoch.again_here(1000) == epoch.again_classic(1000) == 2 * 2000


def test_a_second_delivery_changes_nothing() -> None:
    """Every event twice costs what it costs once (I9)."""
    tale = Tale()
    tale.start()
    tale.give("workspace", 10)
    tale.give("hot", 20)
    tale.edit("a.py")
    tale.measure(2, 2000, 100)
    tale.compact()
    tale.measure(1, 500)
    events = list(tale.log.read())
    twice = [event for event in events for _ in range(2)]
    assert usage_of(twice, [tale.source]) == usage_of(events, [tale.source])


def test_turns_without_an_epoch_and_odd_numbers_are_kept() -> None:
    """A log may begin in the middle of a session, and a host may report nonsense."""
    tale = Tale()
    tale.measure(2, 2000)
    tale.measure(-5, -1, -1, -1)
    use = used(tale)
    assert use.epochs == []
    assert tokens_of(use.turns) == Tokens(2, 2000)
    assert tokens_of(()) == Tokens()


def test_a_deleted_session_has_no_open_epoch() -> None:
    """What it cost stays known."""
    tale = Tale()
    tale.start()
    tale.measure(1, 1000)
    tale.note(SessionDeletedData())
    epoch = the_epoch(tale)
    assert (epoch.open, epoch.requests) == (False, 1)


def looked_at(tale: Tale) -> Survey:
    """The survey of a tale."""
    return survey(tale.log.read())


def test_a_survey_finds_sessions_the_latest_first() -> None:
    """Those that were measured or given a block; sub-agents, however late they are known, are left out."""
    tale = Tale()
    for session in ("a", "b", "c", "d", "e"):
        tale.session = session
        tale.start("a" if session == "d" else None)
        if session != "e":
            tale.measure(1, 9000)
    tale.session = "a"
    tale.give("workspace", 10)
    before = looked_at(tale)
    assert before.sources == ("test/a", "test/c", "test/b")
    assert (before.subagents, before.measured, before.receipts) == (1, True, True)
    tale.note(SessionLinkedData("c", "a"))
    assert looked_at(tale).sources == ("test/a", "test/b")


def test_the_first_block_is_as_large_as_the_smallest_prompt() -> None:
    """Turns of sub-agents, turns with a compaction and those without tokens tell nothing."""
    tale = Tale()
    assert looked_at(tale) == Survey((), 0, 0, 0, measured=False, receipts=False)
    tale.start()
    tale.measure(0, 0)
    tale.measure(1, 0)
    tale.measure(2, 1000, 15_000, 2000)
    tale.compact()
    tale.measure(1, 600)
    tale.measure(3, 30_000)
    tale.session = "child"
    tale.start("s")
    tale.measure(1, 50)
    found = looked_at(tale)
    assert (found.first, found.plain) == (9000, 2)


def test_the_position_is_that_of_the_whole_log() -> None:
    """Also where no session is asked for."""
    tale = Tale()
    tale.start()
    events: list[AnyEvent] = list(tale.log.read())
    found = usage_of(events, ())
    assert (found.sessions, found.offset) == ((), events[-1].seq)
