"""Laws of damage: whatever the bytes are, reading never raises, never writes, and loses nothing it need not lose."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ledger.check import check
from ledger.codec import SEQ_LIMIT, decode, encode
from ledger.errors import InvalidDraft
from ledger.events import Draft, PolicySetData
from ledger.ids import MonotonicIds
from ledger.memory import MemoryLog
from ledger.problems import DAMAGE, Kind, Problem
from ledger.reader import IdsBefore
from ledger.recovery import recover
from ledger.repair import repair
from ledger.sequence import can_be
from ledger.steps import open_steps
from tests.support.logs import draft, events_of, line_of, memory, problems_of, raw_log

LINES = [line_of(seq) for seq in range(6)]
TORN = st.builds(lambda line, cut: line[:cut], st.sampled_from(LINES), st.integers(1, 150))
JUNK = st.one_of(
    st.binary(max_size=12),
    TORN,
    st.sampled_from(
        [b"\0" * 5, b'{"type":"', b"{}", b"[]", b'"', b"\\", b"\xef\xbb\xbf", b"<<<<<<< HEAD", b"NaN", b"\r"]
    ),
)
FOREIGN = [line_of(seq) for seq in (700, 7000, SEQ_LIMIT - 1)]
CONTENT = st.lists(st.one_of(st.sampled_from(LINES + FOREIGN), JUNK, st.just(b"\n")), max_size=12).map(b"".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


def _separate(junk: bytes) -> bool:
    """Whether the junk leaves what follows on the line alone: it holds no line feed and no event."""
    return b"\n" not in junk and not events_of(recover(junk + b"\n"))


@given(st.one_of(st.binary(max_size=200), CONTENT))
def test_decode_is_total(data: bytes) -> None:
    """Any bytes are an event or a problem."""
    found = decode(data)
    assert isinstance(found, Problem) or decode(encode(found)) == found


@settings(deadline=None)
@given(CONTENT)
def test_i22_reading_is_harmless(content: bytes) -> None:
    """No reading operation raises or changes a byte; all tell the same story, and every place is in the file."""
    with tempfile.TemporaryDirectory() as folder:
        log = raw_log(Path(folder), content)
        events = list(log.read())
        records = list(log.scan())
        assert events_of(records) == events
        assert len({event.id for event in events}) == len(events)
        health = log.health()
        assert health.events == len(events)
        assert health.damaged == sum(problem.kind in DAMAGE for problem in problems_of(records))
        for record in records:
            assert record.line == content[: record.byte].count(b"\n") + 1
            assert 0 < record.length <= len(content) - record.byte
        assert {problem.byte for problem in problems_of(records)} <= {problem.byte for problem in check(folder)}
        assert Path(log.path).read_bytes() == content


@settings(deadline=None)
@given(CONTENT)
def test_a_repaired_ledger_is_healthy(content: bytes) -> None:
    """Whatever hit a log, after a repair nothing is left but what concerns the folder, events themselves, and notes."""
    with tempfile.TemporaryDirectory() as folder:
        raw_log(Path(folder), content)
        repair(folder, time=None, new_id=MonotonicIds())
        assert {found.kind for found in check(folder) if not found.is_note} <= {Kind.NO_CREATED, Kind.ID_REUSED}
        assert repair(folder, time=None, new_id=MonotonicIds()) == ()


@settings(deadline=None)
@given(st.sets(st.integers(1, 8)), st.permutations(range(1, 9)))
def test_lost_lines_that_come_again_are_missing_no_more(lost: set[int], order: list[int]) -> None:
    """In any order; as long as one lacks, there is a gap. What was lost at the end leaves none."""
    with tempfile.TemporaryDirectory() as folder:
        kept = [line_of(seq) for seq in range(10) if seq not in lost]
        again = [number for number in order if number in lost]
        for count in range(len(again) + 1):
            back = [line_of(10 + index, number=number) for index, number in enumerate(again[:count])]
            log = raw_log(Path(folder), b"".join([*kept, *back]))
            assert bool(open_steps(log.path)) == (count < len(again))


@settings(deadline=None)
@given(CONTENT)
def test_i10_next_append_is_readable(content: bytes) -> None:
    """Whatever a file holds, an append keeps all that was read before and stands behind it."""
    with tempfile.TemporaryDirectory() as folder:
        log = raw_log(Path(folder), content)
        before = list(log.read())
        counted = [
            record.item.seq
            for record in log.scan()
            if not isinstance(record.item, Problem) and can_be(record.item.seq, record.byte + record.length)
        ]
        following = log.size()
        (event,) = log.append([draft("next")])
        assert event.seq == following > max(counted[-1:], default=-1)
        assert list(log.read()) == [*before, event]
        assert Path(log.path).read_bytes().startswith(content)


@settings(deadline=None)
@given(CONTENT, st.integers(0, 2000))
def test_a_follower_reads_what_a_reader_reads(content: bytes, cut: int) -> None:
    """Reading in two passes, with the file growing in between at any byte, gives what one pass gives."""
    with tempfile.TemporaryDirectory() as folder:
        log = raw_log(Path(folder), content[:cut])
        first = log.reader()
        events = list(first)
        Path(log.path).write_bytes(content)
        events.extend(log.reader(first.cursor))
        assert events == list(log.read())


@given(st.lists(JUNK.filter(_separate), min_size=1, max_size=5), st.data())
def test_i11_damage_is_local(junk: list[bytes], data: st.DataObject) -> None:
    """Lines of junk between events cost no event, and each is at most one piece."""
    lines = list(LINES)
    for piece in junk:
        lines.insert(data.draw(st.integers(0, len(lines))), piece + b"\n")
    with tempfile.TemporaryDirectory() as folder:
        log = raw_log(Path(folder), b"".join(lines))
        assert list(log.read()) == [memory(seq) for seq in range(6)]
        assert log.health().damaged <= len(junk)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(10_000, SEQ_LIMIT - 1), st.integers(0, 6)), max_size=5), st.integers(0, 2500))
def test_i11_a_foreign_number_is_local(foreign: list[tuple[int, int]], cut: int) -> None:
    """Lines whose numbers can't have been counted each count once, and change nothing for the numbers of others."""
    lines = list(LINES)
    for seq, place in foreign:
        lines.insert(place, line_of(seq))
    with tempfile.TemporaryDirectory() as folder:
        content = b"".join(lines)
        log = raw_log(Path(folder), content[:cut])
        first = log.reader()
        events = list(first)
        Path(log.path).write_bytes(content)
        events.extend(log.reader(first.cursor))
        assert events == list(log.read()) == events_of(log.scan())
        numbers = {seq for seq, _ in foreign}
        assert sorted(event.seq for event in events) == [*range(6), *sorted(numbers)]
        assert log.size() == 6
        kinds = [problem.kind for problem in problems_of(log.scan())]
        assert kinds.count(Kind.SEQ_FAR) == len(numbers)
        assert kinds.count(Kind.DUPLICATE_ID) == len(kinds) - len(numbers) == len(foreign) - len(numbers)


@given(TORN, st.sampled_from(LINES))
def test_a_record_behind_torn_text(torn: bytes, line: bytes) -> None:
    """A record glued behind a line torn anywhere is recovered."""
    assert events_of(recover(torn.rstrip(b"\n") + line))[-1:] == events_of(recover(line))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8)), max_size=6))
def test_i9_copies_anywhere_later_count_once(copies: list[tuple[int, int]]) -> None:
    """Copies of lines, any number of them and anywhere behind the first, change nothing that is read."""
    lines = list(LINES)
    for which, later in copies:
        lines.insert(min(len(lines), lines.index(LINES[which]) + 1 + later), LINES[which])
    with tempfile.TemporaryDirectory() as folder:
        log = raw_log(Path(folder), b"".join(lines))
        assert list(log.read()) == [memory(seq) for seq in range(6)]
        assert log.health().duplicates == len(copies)
        assert log.health().status == "ok"


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["", " ", "\n", "\n\n", "junk\n"])), max_size=8),
    st.sampled_from(["{}", "zz{}", "é{}"]),
)
def test_an_id_that_came_before_is_named(ids: list[tuple[int, str]], odd: str) -> None:
    """Whatever the order of ids is, of which ``check`` keeps none as long as they rise; and wherever lines end."""
    named, content = set[int](), b""
    seen = set[str]()
    for seq, (which, end) in enumerate(ids):
        event = replace(memory(seq), id=odd.format(which) if which == 4 else memory(which).id)
        if event.id in seen:
            named.add(len(content))
        seen.add(event.id)
        content += encode(event).removesuffix(b"\n") + end.encode()
    with tempfile.TemporaryDirectory() as folder:
        raw_log(Path(folder), content)
        assert {one.byte for one in check(folder) if one.kind is Kind.ID_REUSED} == named


def test_ids_of_one_line_are_looked_up_once() -> None:
    """A line of thousands of events, each with a lower id, takes no square of that."""
    count = 4000
    events = (replace(memory(seq), id=memory(count - seq).id) for seq in range(count))
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(IdsBefore, "before", autospec=True) as before:
        before.return_value = set()
        raw_log(Path(folder), b"".join(encode(event).removesuffix(b"\n") for event in events) + b"\n")
        check(folder)
    assert {call.args[1] for call in before.mock_calls} == {0}


@given(st.permutations(range(6)))
def test_order_is_that_of_the_file(order: list[int]) -> None:
    """Lines in any order all count, in that order."""
    with tempfile.TemporaryDirectory() as folder:
        log = raw_log(Path(folder), b"".join(LINES[seq] for seq in order))
        assert [event.seq for event in log.read()] == order


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.text(alphabet=st.characters(), max_size=20))
def test_what_is_appended_is_what_is_read(policy: dict[str, object], text: str) -> None:
    """Any payload, surrogates and large numbers included, is read as it was returned, or refused."""
    log = MemoryLog()
    new = Draft(source="h", time=text, subject=text, data=PolicySetData(digest=text, policy=policy))
    try:
        (event,) = log.append([new])
    except InvalidDraft:
        assert list(log.read()) == []
    else:
        assert decode(encode(event)) == event
