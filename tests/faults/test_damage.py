"""Every cut and many flipped bits: nothing raises, only touched lines are lost, and check names them."""

from __future__ import annotations

import itertools
import os
import random
from pathlib import Path

import pytest

from ledger.check import check
from ledger.codec import decode
from ledger.log import FileLog
from ledger.problems import DAMAGE, Kind, Problem
from ledger.reader import Cursor, Reader
from ledger.recovery import recover
from tests.support.logs import draft, events_of, line_of, memory, raw_log

EVENTS = 300
LINES = [line_of(seq, "é" if seq % 7 == 0 else "") for seq in range(EVENTS)]
CONTENT = b"".join(LINES)
WHOLE = [memory(seq, "é" if seq % 7 == 0 else "") for seq in range(EVENTS)]
STARTS = [0, *itertools.accumulate(len(line) for line in LINES)]


def test_i10_cut_at_every_byte() -> None:
    """Cutting the log at any byte keeps every earlier complete event, and sets at most one piece aside."""
    for number, start in enumerate(STARTS[:-1]):
        line = LINES[number]
        for cut in range(len(line)):
            records = recover(line[:cut], line=number + 1, byte=start)
            whole = cut == len(line) - 1
            assert len(events_of(records)) == whole
            assert len(records) == (cut > 0)
            if cut and not whole:
                assert isinstance(records[0].item, Problem)
                assert records[0].item.kind == Kind.TORN_TAIL
                assert (records[0].byte, records[0].length) == (start, cut)


def test_i10_truncated_file_at_every_byte(tmp_path: Path) -> None:
    """The file, truncated at every byte from its end on, reads to there; check names what was cut.

    Each cut is read from two lines before it; at three places of every line the whole file is read and checked.
    """
    log = raw_log(tmp_path, CONTENT)
    for number in range(EVENTS - 1, -1, -1):
        start, line = STARTS[number], LINES[number]
        first = max(0, number - 2)
        cursor = Cursor(byte=STARTS[first], seq=first, highest=first - 1)
        for cut in range(len(line) - 1, -1, -1):
            os.truncate(log.path, start + cut)
            whole = cut == len(line) - 1  # only the line end is missing
            assert list(Reader(log.path, cursor)) == WHOLE[first : number + whole]
            if cut in {0, len(line) // 2, len(line) - 1}:
                assert list(log.read()) == WHOLE[: number + whole]
                torn = [one for one in check(tmp_path) if one.kind in DAMAGE]
                assert [(one.line, one.byte) for one in torn] == ([] if whole or not cut else [(number + 1, start)])


@pytest.mark.parametrize("number", [0, 7, 299])
def test_i10_append_after_any_cut(number: int, tmp_path: Path) -> None:
    """After a cut at any byte of a line the file reads to there, and the next append is read behind it."""
    log = raw_log(tmp_path, b"")
    path = Path(log.path)
    kept = [memory(seq, "é" if seq % 7 == 0 else "") for seq in range(max(0, number - 3), number)]
    before = b"".join(LINES[event.seq] for event in kept)
    for cut in range(len(LINES[number])):
        path.write_bytes(before + LINES[number][:cut])
        events = list(Reader(log.path))
        assert events[: len(kept)] == kept
        (event,) = FileLog.open(tmp_path, durability="never").append([draft("next")])
        assert list(Reader(log.path)) == [*events, event]


def _flipped(rng: random.Random) -> tuple[int, bytes]:
    """A place, and the log with one bit flipped there."""
    place = rng.randrange(len(CONTENT))
    damaged = bytearray(CONTENT)
    damaged[place] ^= 1 << rng.randrange(8)
    return place, bytes(damaged)


def test_i11_flipped_bits(tmp_path: Path) -> None:
    """At 2,000 places: a flipped bit costs at most the lines it touches, and check names every damage there."""
    rng = random.Random(11)  # noqa: S311 - a fixed seed, no secret
    log = raw_log(tmp_path, CONTENT)
    path = Path(log.path)
    for _ in range(2000):
        place, damaged = _flipped(rng)
        touched = CONTENT.count(b"\n", 0, place)
        path.write_bytes(damaged)
        lost = {touched, touched + 1} if CONTENT[place : place + 1] == b"\n" else {touched}
        events = list(log.read())
        untouched = [event for event in WHOLE if event.seq not in lost]
        assert [event for event in events if event in untouched] == untouched
        assert len(events) <= EVENTS + 1
        _check_names_the_place(path, damaged)


def _check_names_the_place(path: Path, content: bytes) -> None:
    """Each line that doesn't decode, or contradicts the numbers and ids before it, is named by line and byte."""
    places = {(problem.line, problem.byte) for problem in check(path.parent)}
    expected: int | None = 0  # None behind a damaged line, from which events may have been saved
    byte, highest = 0, -1
    seen: set[str] = set()
    for number, line in enumerate(content.split(b"\n"), 1):
        found = decode(line)
        if line and isinstance(found, Problem):
            assert any(at == number for at, _ in places)
            expected = None
        elif not isinstance(found, Problem):
            if (expected is not None and found.seq != expected) or found.id in seen:
                assert (number, byte) in places
            if found.seq > highest or found.id not in seen:
                expected = found.seq + 1
            highest = max(highest, found.seq)
            seen.add(found.id)
        byte += len(line) + 1


def test_whole_log_with_many_flips(tmp_path: Path) -> None:
    """A log with a flipped bit in each of 60 lines keeps the other 240 events and counts each piece."""
    rng = random.Random(5)  # noqa: S311 - a fixed seed, no secret
    hit = set(rng.sample(range(EVENTS), 60))
    lines = [b"\xff" + line[1:] if number in hit else line for number, line in enumerate(LINES)]
    log = raw_log(tmp_path, b"".join(lines))
    assert {event.seq for event in log.read()} == set(range(EVENTS)) - hit
    assert log.health().damaged == 60
    damage = [problem for problem in check(tmp_path) if problem.kind in DAMAGE]
    assert [problem.byte for problem in damage] == [STARTS[number] for number in sorted(hit)]
