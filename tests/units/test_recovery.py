"""What is saved of a damaged line."""

from __future__ import annotations

import pytest

from ledger.problems import DAMAGE, Kind, Problem
from ledger.recovery import recover
from tests.support.logs import events_of, line_of, memory, problems_of

ONE, TWO, THREE = (line_of(seq).rstrip() for seq in (1, 2, 3))
BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize("line", [ONE + b"\n", ONE + b"\r\n", BOM + ONE + b"\n", b" \t" + ONE, ONE])
def test_healthy_lines(line: bytes) -> None:
    """A byte order mark, blanks and line ends around an event are no damage; the place is that of the event."""
    (record,) = recover(line, line=4, byte=100)
    assert record.item == memory(1)
    assert (record.line, record.byte, record.length) == (4, 100 + line.index(b"{"), len(ONE))


@pytest.mark.parametrize("line", [b"", b"\n", b"\r\n", b" \t \n", BOM, BOM + b"\r\n"])
def test_blank_lines(line: bytes) -> None:
    """Blank lines hold nothing and are no damage."""
    assert recover(line) == []


@pytest.mark.parametrize(
    ("line", "seqs", "pieces"),
    [
        (ONE + TWO, [1, 2], []),
        (ONE + b" " + TWO + b"\t" + THREE, [1, 2, 3], []),
        (b"".join(line_of(seq).rstrip() for seq in range(1, 7)), [1, 2, 3, 4, 5, 6], []),
        (ONE[:50] + TWO, [2], [ONE[:50]]),
        (ONE[:-1] + TWO, [2], [ONE[:-1]]),
        (ONE + TWO[:40], [1], [TWO[:40]]),
        (ONE + b"\0" * 9 + TWO, [1, 2], [b"\0" * 9]),
        (b"\0" * 512 + TWO, [2], [b"\0" * 512]),
        (ONE[:30] + TWO[:40] + THREE, [3], [ONE[:30] + TWO[:40]]),
        (b"x" + ONE + b"y" + TWO + b"z", [1, 2], [b"x", b"y", b"z"]),
        (ONE[: ONE.index(b"data") + 6] + TWO, [2], [ONE[: ONE.index(b"data") + 6]]),
        (ONE[: ONE.index(b"title") + 9] + TWO, [2], [ONE[: ONE.index(b"title") + 9]]),
        (ONE[: ONE.index(b"title") + 9] + b"\\" + TWO, [2], [ONE[: ONE.index(b"title") + 9] + b"\\"]),
        (ONE.replace(b"m1", b"\xff") + TWO, [2], [ONE.replace(b"m1", b"\xff")]),
        (b'{"type":"' * 50 + TWO, [2], [b'{"type":"' * 50]),
        (b'{"type":"a","x":[' * 5 + TWO, [2], [b'{"type":"a","x":[' * 5]),
        (b'{"type":"memory.added"}' + TWO, [2], [b'{"type":"memory.added"}']),
        (b"x" * 100_000, [], [b"x" * 100_000]),
    ],
)
def test_damaged_lines(line: bytes, seqs: list[int], pieces: list[bytes]) -> None:
    """Each event on the line is found; each run of bytes between them is one piece, named with its place."""
    records = recover(line + b"\n", line=2, byte=1000)
    assert [event.seq for event in events_of(records)] == seqs
    damage = [found for found in problems_of(records) if found.kind in DAMAGE]
    assert [line[found.byte - 1000 :][: found.length] for found in damage] == pieces
    assert all(found.line == 2 for found in damage)
    fused = [found for found in problems_of(records) if found.kind == Kind.FUSED_LINE]
    assert bool(fused) == (len(seqs) > 1)


def test_what_has_no_place_stands_at_the_beginning() -> None:
    """Who looks at a line by itself is told of its first line and byte."""
    assert [(one.line, one.byte) for one in recover(ONE)] == [(1, 0)]
    assert [(one.line, one.byte) for one in recover(b"x" + ONE)] == [(1, 0), (1, 1)]


def test_events_with_starts_inside_them() -> None:
    """An event that holds nested objects that look like the start of one is found whole."""
    nested = b'{"type":"later.thing","specversion":"1.0","id":"x","source":"h","seq":3,"data":[{"type":"a"}]}'
    records = recover(ONE + nested + TWO + b"\n")
    assert [event.seq for event in events_of(records)] == [1, 3, 2]
    assert [found.kind for found in problems_of(records)] == [Kind.FUSED_LINE]


def test_foreign_key_order_behind_an_event() -> None:
    """An event of another program, whose keys stand in another order, is found between two pieces that are ours."""
    foreign = b'{"seq":9,"id":"x","source":"h","specversion":"1.0","data":{"title":"t"},"type":"memory.added"}'
    records = recover(ONE + foreign + TWO + b"\n")
    assert [event.seq for event in events_of(records)] == [1, 9, 2]


@pytest.mark.parametrize("torn", [ONE[:40], b"\0" * 10, b"x" + TWO + ONE[:40]])
def test_a_last_line_is_torn(torn: bytes) -> None:
    """What doesn't decode at the end of a last line is a torn tail; with a line feed it is plain damage."""
    assert problems_of(recover(torn))[-1].kind == Kind.TORN_TAIL
    assert Kind.TORN_TAIL not in {found.kind for found in problems_of(recover(torn + b"\n"))}


def test_pieces_around_an_event_at_the_end() -> None:
    """Only the last piece of a last line is a torn tail."""
    kinds = [found.kind for found in problems_of(recover(b"x" + ONE + b"y"))]
    assert kinds == [Kind.NOT_JSON, Kind.TORN_TAIL]


@pytest.mark.parametrize(
    "hostile",
    [
        b'{"type":"' * 100_000,
        b'{"type":"a","x":[' * 60_000,
        b'{"type":"a","x":{"y":[' * 400 + b'{"type":"b"},' * 100_000,
        b'{"type":"a"}' * 100_000,
        b'{"type":"\\ud800' * 100_000,
        b'"' * 1_000_000,
        b"\\" * 1_000_000,
        b"{" * 1_000_000,
    ],
)
def test_hostile_lines_end(hostile: bytes) -> None:
    """Lines made to cost much are set aside as one piece; an event glued behind most of them is still found."""
    (record,) = recover(hostile + b"\n")
    assert isinstance(record.item, Problem)
    assert record.length == len(hostile)


@pytest.mark.parametrize("hostile", [b'{"type":"' * 100_000, b'{"type":"a"}' * 100_000, b"\0" * 1_000_000])
def test_an_event_behind_many_false_starts(hostile: bytes) -> None:
    """A hundred thousand false starts don't hide the event behind them."""
    assert events_of(recover(hostile + TWO + b"\n")) == [memory(2)]


def test_parsing_effort_is_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes parsed in all are a bounded multiple of the line's length, however starts are nested."""
    parsed = 0
    from ledger import recovery

    real = recovery._extent

    def counting(view: memoryview) -> tuple[int, bool]:
        nonlocal parsed
        extent = real(view)
        parsed += extent[0]
        return extent

    monkeypatch.setattr(recovery, "_extent", counting)
    hostile = b'{"type":"a","x":[' * 300 + b"[]," * 100_000
    recover(hostile + b"\n")
    assert parsed <= 18 * len(hostile)


@pytest.mark.parametrize("odd", [b"\x0b", b"\x0c"])
def test_other_white_space_is_damage(odd: bytes) -> None:
    """JSON knows four blanks; what no writer leaves behind an event is set aside and named."""
    records = recover(ONE + odd + b"\n")
    assert events_of(records) == [memory(1)]
    assert [(found.kind, found.byte, found.length) for found in problems_of(records)] == [(Kind.NOT_JSON, len(ONE), 1)]
