"""Every cut and many flipped bits in a thousand events: nothing raises, only what was touched is lost, check names it.

Each run tries a sample; ``make damage`` tries a cut at every byte and a flipped bit at 20,000 places.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec
import pytest

from bench.damage import KINDS
from ledger.check import check
from ledger.codec import decode
from ledger.events import AnyEvent
from ledger.log import FileLog
from ledger.problems import DAMAGE, NOTES, Kind, Problem
from ledger.reader import Reader
from projections.protocol import fold
from projections.world import World, WorldState
from replay.state import state_at
from tests.support.damage import CONTENT, EVENTS, FULL, LINES, STARTS, WHOLE
from tests.support.logs import draft, raw_log

PARTS = range(8 if FULL else 2)
FLIPS = 20_000 if FULL else 30
NUMBERS = frozenset({Kind.SEQ_GAP, Kind.SEQ_BACK, Kind.SEQ_FAR})

part = pytest.mark.parametrize("part", PARTS)


@lru_cache(maxsize=32)
def world_without(lost: frozenset[int]) -> WorldState:
    """What the ledger means without some of its lines."""
    return state_at(event for index, event in enumerate(WHOLE) if index not in lost)


def _cuts(line: bytes, number: int) -> Sequence[int]:
    """Where a line is cut: everywhere, or at its ends and one place within."""
    if FULL:
        return range(len(line))
    return sorted({0, 1, number % len(line), len(line) - 2, len(line) - 1})


@part
def test_i10_cut_at_every_byte(part: int, tmp_path: Path) -> None:
    """Cutting the log at any byte keeps every earlier event; check names the one place where it is torn.

    The lines before the last three are left out here: the next test reads all of them.
    """
    log = raw_log(tmp_path, b"")
    for number in range(part, EVENTS, len(PARTS) if FULL else 4):
        first, line = max(0, number - 2), LINES[number]
        before = b"".join(LINES[first:number])
        for cut in _cuts(line, number):
            Path(log.path).write_bytes(before + line[:cut])
            whole = cut == len(line) - 1  # only the line end is missing
            assert list(Reader(log.path)) == WHOLE[first : number + whole]
            torn = [(one.kind, one.line, one.byte, one.length) for one in check(tmp_path) if one.kind in DAMAGE]
            place = (Kind.TORN_TAIL, number - first + 1, len(before), len(line[:cut].rstrip()))
            assert torn == ([] if whole or not cut else [place])


@part
def test_i10_a_cut_ledger_means_what_its_whole_lines_mean(part: int, tmp_path: Path) -> None:
    """Cut within any line, the whole ledger folds to the state before that line, and check names the torn one."""
    log = raw_log(tmp_path, b"")
    step = len(PARTS) if FULL else 140
    for number in range(part + 1, EVENTS, step):
        start, cut = STARTS[number], len(LINES[number]) // 2
        Path(log.path).write_bytes(CONTENT[: start + cut])
        assert state_at(log.read()) == world_without(frozenset(range(number, EVENTS)))
        torn = [(one.line, one.byte, one.length) for one in check(tmp_path) if one.kind in DAMAGE]
        assert torn == [(number + 1, start, len(CONTENT[start : start + cut].rstrip()))]


@pytest.mark.parametrize("number", [0, 7, EVENTS - 1])
def test_i10_append_after_any_cut(number: int, tmp_path: Path) -> None:
    """After a cut at any byte of a line the file reads to there, and the next append is read behind it."""
    log = raw_log(tmp_path, b"")
    path = Path(log.path)
    first = max(0, number - 3)
    before = b"".join(LINES[first:number])
    for cut in range(len(LINES[number])):
        path.write_bytes(before + LINES[number][:cut])
        events = list(Reader(log.path))
        assert events[: number - first] == WHOLE[first:number]
        (event,) = FileLog.open(tmp_path, durability="never").append([draft("next")])
        assert list(Reader(log.path)) == [*events, event]


class Flip:
    """A bit that is flipped: the bytes then, and the lines that it touches."""

    def __init__(self, place: int, bit: int) -> None:
        self.line = bisect_right(STARTS, place) - 1
        self.content = bytearray(CONTENT)
        self.content[place] ^= 1 << bit
        ends_a_line = place == STARTS[self.line + 1] - 1
        self.touched = range(self.line, min(self.line + 1 + ends_a_line, EVENTS))


def _flips(part: int) -> list[Flip]:
    """A share of the flips, from the front of the log to its end."""
    chance = random.Random(part)  # noqa: S311 - a fixed seed, no secret
    places = sorted(chance.randrange(len(CONTENT)) for _ in range(FLIPS // len(PARTS)))
    return [Flip(place, chance.randrange(8)) for place in places]


@part
def test_i11_flipped_bits(part: int, tmp_path: Path) -> None:
    """A flipped bit costs at most the lines it touches, in the log and in what it means, and check names the place."""
    log = raw_log(tmp_path, CONTENT)
    assert [one for one in check(tmp_path) if one.kind not in NOTES] == []
    state, folded = World().initial(), 0
    lost: set[range] = set()
    for flip in _flips(part):
        Path(log.path).write_bytes(flip.content)
        events = list(log.read())
        after = EVENTS - flip.touched.stop
        middle = events[flip.line : len(events) - after]
        assert events[: flip.line] == WHOLE[: flip.line]
        assert events[len(events) - after :] == WHOLE[flip.touched.stop :]
        assert len(middle) <= len(flip.touched)
        _check_names_the_place(flip, middle, tmp_path)
        if not middle and flip.touched in lost:
            continue  # the same events as before
        # From the last state before the flip on: a fold in two pieces is one (I2).
        state, folded = fold(World(), WHOLE[folded : flip.line], state), flip.line
        world = fold(World(), events[flip.line :], state)
        if not middle:
            lost.add(flip.touched)
            assert world == world_without(frozenset(flip.touched))
        elif middle == WHOLE[flip.touched.start : flip.touched.stop]:
            assert world == world_without(frozenset())


def _check_names_the_place(flip: Flip, middle: list[AnyEvent], folder: Path) -> None:
    """What no longer decodes, or contradicts the numbers, is named; and nothing but in the lines there."""
    found = [one for one in check(folder) if one.kind not in NOTES]
    start, stop = STARTS[flip.line], STARTS[flip.touched.stop]
    piece = bytes(flip.content[start:stop])
    _require_named(piece, found, flip.line, start)
    for event, was in zip(middle, WHOLE[flip.line :], strict=False):
        if event.seq != was.seq:
            assert any(one.kind in NUMBERS and one.line == flip.line + 1 for one in found)
    # What follows a lost event, or one with another number, contradicts it.
    assert all(flip.line < one.line <= flip.line + piece.count(b"\n") + 2 for one in found)


def _require_named(content: bytes, found: Sequence[Problem], before: int = 0, byte: int = 0) -> None:
    """Each line that doesn't decode as it stands is named, by its number and a place within it."""
    named: dict[int, list[int]] = {}
    for one in found:
        named.setdefault(one.line, []).append(one.byte)
    for number, line in enumerate(content.split(b"\n"), before + 1):
        text = line.removeprefix(b"\xef\xbb\xbf").strip()
        if text and isinstance(decode(text), Problem):
            assert any(byte <= place < byte + len(line) for place in named[number])
        byte += len(line) + 1


@pytest.mark.parametrize("name", KINDS)
def test_i11_many_damaged_lines(name: str, tmp_path: Path) -> None:
    """Whatever hits one line in twenty costs these lines alone, in the log and in what it means; each is named."""
    content, lost = KINDS[name](LINES)
    log = raw_log(tmp_path, content)
    events = list(log.read())
    expected = [event for index, event in enumerate(WHOLE) if index not in lost]
    numbers = {event.id: event.seq for event in WHOLE}
    assert [msgspec.structs.replace(event, seq=numbers[event.id]) for event in events] == expected
    if events == expected:  # else a number was touched: see below
        assert state_at(events) == world_without(lost)
    _require_named(content, check(tmp_path))
    assert Path(log.path).read_bytes() == content


def _digits(line: bytes) -> list[int]:
    """Where the digits of its seq stand in a line."""
    begin = line.index(b'"seq":') + 6
    return list(range(begin, line.index(b",", begin)))


@part
def test_i11_a_flipped_digit_of_a_number(part: int, tmp_path: Path) -> None:
    """The event counts where it stands, all others stay as they are, and so do all texts, states, blocks and ids."""
    log = raw_log(tmp_path, b"")
    whole = _meaning(world_without(frozenset()))
    step = len(PARTS) if FULL else 300
    for number in range(part + 1, EVENTS, step):
        start = STARTS[number]
        for place in _digits(LINES[number]):
            content = bytearray(CONTENT)
            content[start + place] ^= 1 << (number + place) % 4
            Path(log.path).write_bytes(content)
            events = list(log.read())
            if len(events) < EVENTS:
                continue  # it is no number any more: a lost line, as above
            assert [event.id for event in events] == [event.id for event in WHOLE]
            assert events[:number] + events[number + 1 :] == WHOLE[:number] + WHOLE[number + 1 :]
            named = {one.line for one in check(tmp_path) if one.kind in NUMBERS}
            assert named == {number + 1, min(number + 2, EVENTS)}
            assert _meaning(state_at(events)) == whole


def _meaning(world: WorldState) -> object:
    """What a world says without its positions."""
    entries = {ref: (one.id, one.state, one.proposal.text) for ref, one in world.memory.entries.items()}
    blocks = {source: [one.digest for one in epochs] for source, epochs in world.prompts.epochs.items()}
    return entries, set(world.memory.pending), blocks, world.sessions
