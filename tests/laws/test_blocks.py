"""Reading by outlines is reading: the same events from any bytes, and the same state from any history (law 8)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ledger.blocks import BlockReader, whole_blocks
from ledger.codec import encode
from ledger.events import AnyEvent, SessionMeasured, ToolCompleted
from ledger.log import FileLog
from ledger.outlines import NO_OUTLINE, Outline, checksum, is_sound, looked_at, outline_of
from ledger.reader import START, Cursor, Reader
from ledger.runs import Run, one_by_one
from projections.memory.fold import WorkspaceMemory
from projections.protocol import fold
from projections.world import World
from replay.outlines import BLOCKS_NAME, by_blocks, keep_outlines
from replay.recheck import Rechecked, recheck
from tests.support.effort import examples
from tests.support.logs import TIME, line_of, raw_log
from tests.support.runs import call, ledgers_with_runs
from tests.support.streams import ledgers

SIZES = st.sampled_from([300, 1000, 4000])
Kept = dict[int, Outline]


def kept_of(path: str, size: int) -> Kept:
    """The outlines of a file, by where a block begins."""
    found = ((block.begin, outline_of(block.data)) for block in whole_blocks(path, size=size))
    return {begin: outline for begin, outline in found if outline is not None}


@st.composite
def damaged(draw: st.DrawFn, events: list[AnyEvent]) -> bytes:
    """The lines of a history after a few accidents: lost, copied, torn and changed bytes."""
    content = b"".join(map(encode, events))
    for _ in range(draw(st.integers(0, 4))):
        at, other = sorted((draw(st.integers(0, len(content))), draw(st.integers(0, len(content)))))
        kind = draw(st.sampled_from(["flip", "cut out", "copy", "feed", "carriage return", "number"]))
        if kind == "flip" and at < len(content):
            content = content[:at] + bytes([content[at] ^ 1 << draw(st.integers(0, 7))]) + content[at + 1 :]
        elif kind == "cut out":
            content = content[:at] + content[min(other, at + 700) :]
        elif kind == "copy":
            begin = content.rfind(b"\n", 0, at) + 1
            content += content[begin : content.find(b"\n", begin) + 1]
        elif kind == "number":
            content = content[:at] + content[at:].replace(b'"seq":', b'"seq":9', 1)
        else:
            content = content[:at] + (b"\n" if kind == "feed" else b"\r") + content[at:]
    return content


@settings(max_examples=examples(60))
@given(events=ledgers() | ledgers_with_runs(), size=SIZES, data=st.data())
def test_any_bytes_give_the_same_events(events: list[AnyEvent], size: int, data: st.DataObject) -> None:
    """Whichever outlines are at hand: of these bytes, of those before they were damaged, of both or none.

    A block of which all that a reader looks at is as it was counts as what it was.
    """
    before, content = b"".join(map(encode, events)), data.draw(damaged(events))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(raw_log(Path(folder), before).path)
        kept = kept_of(str(path), size) if data.draw(st.booleans()) else {}
        meant = _as_it_was(content, before, kept)
        path.write_bytes(content)
        if data.draw(st.booleans()):
            kept = kept_of(str(path), size) | kept
        seen = BlockReader(str(path), kept.get, size=size)
        told = list(map(_told, seen))
        decoded = list(one_by_one(BlockReader(str(path), kept.get, size=size)))
        assert all(event in decoded for event in Reader(str(path)))
        path.write_bytes(meant)
        plain = Reader(str(path))
        expected = list(plain)
        reader = BlockReader(str(path), kept.get, size=size)
        assert list(one_by_one(reader)) == expected
        assert seen.cursor == reader.cursor == plain.cursor
        assert told == list(map(_told, BlockReader(str(path), kept.get, size=size)))


def _as_it_was(content: bytes, before: bytes, kept: Kept) -> bytes:
    """Content in which changes that a reader by outlines can't see are taken back: those between the lines it reads."""
    for begin, outline in kept.items():
        block = before[begin : begin + outline.size]
        hidden = bytearray(content[begin : begin + outline.size])
        for run in outline.runs:
            hidden[run.begin : run.tail] = block[run.begin : run.tail]
        if hidden == block:
            content = content[:begin] + block + content[begin + outline.size :]
    return content


def _told(piece: AnyEvent | Run) -> object:
    """An event, or all that a run says before it is decoded."""
    if type(piece) is not Run:
        return piece
    return piece.block.begin, piece.place, piece.stretch


_NUMBERS = st.sampled_from([-(2**64), -(2**63), -5, -1, 0, 1, 7, 300, 2**40, 2**62, 2**63, 2**64])


@st.composite
def _other(draw: st.DrawFn, outline: Outline, rest: bytes) -> Outline:
    """An outline with another number, and if that may be one, the checksum that it would have of these bytes."""
    name = draw(st.sampled_from(["size", "begin", "tail", "end"]))
    number = draw(_NUMBERS | st.integers(0, outline.size))
    changed = draw(st.integers(0, len(outline.runs)))
    runs = [replace(run, **{name: number}) if name != "size" else run for run in outline.runs[changed : changed + 1]]
    outline = replace(outline, runs=(*outline.runs[:changed], *runs, *outline.runs[changed + 1 :]))
    if name == "size":
        outline = replace(outline, size=number)
    if is_sound(outline):
        pieces = looked_at(outline.runs, outline.size)
        outline = replace(outline, looked_at=checksum(*(rest[begin:end] for begin, end in pieces)))
    return outline


@settings(max_examples=examples(60))
@given(events=ledgers() | ledgers_with_runs(), size=SIZES, data=st.data())
def test_an_outline_that_is_none_of_ours_breaks_nothing(events: list[AnyEvent], size: int, data: st.DataObject) -> None:
    """Whatever its numbers are, and also where it has the checksum of what it would have a reader look at."""
    content = b"".join(map(encode, events))
    with tempfile.TemporaryDirectory() as folder:
        path = raw_log(Path(folder), content).path
        kept = kept_of(path, size)
        others = {begin: data.draw(_other(outline, content[begin:])) for begin, outline in kept.items()}
        for piece in BlockReader(path, others.get, size=size):
            if type(piece) is Run:
                list(piece.events())


def test_what_changed_in_the_middle_of_a_run(tmp_path: Path) -> None:
    """It counts as what it was, as before a checkpoint; whoever decodes it gets the lines that can be read."""
    calls = [replace(call("test/A", TIME, seq), seq=seq) for seq in range(4)]
    lines = list(map(encode, calls))
    log = raw_log(tmp_path, b"".join(lines))
    outline = outline_of(b"".join(lines)) or NO_OUTLINE
    (run,) = outline.runs
    assert (run.begin, run.tail, run.end) == (0, outline.size - len(lines[-1]), outline.size)
    for place in range(outline.size):
        content = bytearray(b"".join(lines))
        content[place] ^= 1
        Path(log.path).write_bytes(content)
        pieces = list(BlockReader(log.path, {0: outline}.get))
        if place >= run.tail:
            assert pieces == list(log.read())
            continue
        (piece,) = pieces
        assert isinstance(piece, Run)
        assert (piece.stretch.count, piece.stretch.last) == (4, 3)
        assert list(piece.events()) == list(log.read())


@settings(max_examples=examples(25))
@given(events=ledgers(), size=SIZES, data=st.data())
def test_a_pass_goes_on_where_another_ended(events: list[AnyEvent], size: int, data: st.DataObject) -> None:
    """Plain or by outlines, in any order."""
    lines = list(map(encode, events))
    cut = data.draw(st.integers(0, len(lines)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(raw_log(Path(folder), b"".join(lines[:cut])).path)
        first: list[AnyEvent] = []
        cursor = _read(path, START, size, first, plain=data.draw(st.booleans()))
        path.write_bytes(b"".join(lines))
        cursor = _read(path, cursor, size, first, plain=data.draw(st.booleans()))
        assert first == events
        assert cursor.byte == path.stat().st_size


def _read(path: Path, cursor: Cursor, size: int, into: list[AnyEvent], *, plain: bool) -> Cursor:
    kept = kept_of(str(path), size).get
    reader = Reader(str(path), cursor) if plain else BlockReader(str(path), kept, cursor, size=size)
    into += one_by_one(reader)
    return reader.cursor


@settings(max_examples=examples(40))
@given(events=ledgers() | ledgers_with_runs(), size=SIZES, data=st.data())
def test_a_fold_of_runs_is_the_fold(events: list[AnyEvent], size: int, data: st.DataObject) -> None:
    """For the sessions that are asked for, for all, and for workspace memory alone."""
    sources = sorted({event.source for event in events})
    only = data.draw(st.none() | st.sets(st.sampled_from(sources)) if sources else st.none())
    with tempfile.TemporaryDirectory() as folder:
        path = raw_log(Path(folder), b"".join(map(encode, events))).path
        kept = kept_of(path, size).get
        assert fold(World(only), BlockReader(path, kept, size=size)) == fold(World(only), Reader(path))
        memory = WorkspaceMemory()
        assert fold(memory, BlockReader(path, kept, size=size)) == fold(memory, Reader(path))


@settings(max_examples=examples(25))
@given(events=ledgers(), size=SIZES)
def test_an_outline_tells_runs_of_calls(events: list[AnyEvent], size: int) -> None:
    """All that is left to decode are events of other kinds, and calls whose time can't be read."""
    with tempfile.TemporaryDirectory() as folder:
        log = raw_log(Path(folder), b"".join(map(encode, events)))
        kept = kept_of(log.path, size)
        whole = sum(outline.count for outline in kept.values())
        for piece in BlockReader(log.path, kept.get, size=size):
            if type(piece) is Run:
                inside = list(piece.events())
                assert all(type(event) in (ToolCompleted, SessionMeasured) for event in inside)
                assert {event.source for event in inside} == piece.stretch.sources.keys()
                assert (inside[-1].seq, len(inside)) == (piece.stretch.last, piece.stretch.count)
                whole -= len(inside)
        assert whole >= 0


def test_a_log_of_many_blocks(tmp_path: Path) -> None:
    """Each is known, and a whole read decodes no call."""
    from bench.ledgers import write_ledger

    write_ledger(tmp_path, 3000)
    log = FileLog.open(tmp_path)
    assert keep_outlines(str(tmp_path), log.path) >= 4
    assert keep_outlines(str(tmp_path), log.path) == 0
    pieces = list(by_blocks(log))
    calls = sum(type(piece) is ToolCompleted for piece in pieces)
    assert list(one_by_one(pieces)) == list(log.read())
    assert calls < 1000  # those of the last, unfinished block
    block = Path(log.path).read_bytes()[: 1 << 18]
    assert outline_of(block[: block.rfind(b"\n") + 1]) is not None


def test_verify_looks_at_what_readers_do_not(tmp_path: Path) -> None:
    """A call that was changed in the middle of a run counts as what it was until then; others are seen anyway."""
    from bench.ledgers import write_ledger

    write_ledger(tmp_path, 3000)
    log = FileLog.open(tmp_path)
    keep_outlines(str(tmp_path), log.path)
    assert recheck(log) == Rechecked()
    content = Path(log.path).read_bytes()
    outline = outline_of(next(whole_blocks(log.path)).data)
    assert outline is not None
    run = max(outline.runs, key=lambda run: run.tail - run.begin)
    hidden = content.rindex(b'"time":"20', run.begin, run.tail) + len(b'"time":"20')
    for place, removed in ((run.tail + 10, ()), (hidden, (BLOCKS_NAME,))):
        Path(log.path).write_bytes(content[:place] + b"0" + content[place + 1 :])
        assert recheck(log).removed == removed
    assert list(one_by_one(by_blocks(log))) == list(log.read())
    assert keep_outlines(str(tmp_path), log.path) > 0
    assert recheck(log).removed == ()


def test_outlines_of_a_log_that_was_replaced_by_a_shorter_one(tmp_path: Path) -> None:
    """They are of other bytes: those of the log that is there are kept instead."""
    from bench.ledgers import write_ledger

    write_ledger(tmp_path, 3000)
    log = FileLog.open(tmp_path)
    keep_outlines(str(tmp_path), log.path)
    data = Path(log.path).read_bytes()
    Path(log.path).write_bytes(data[: data.rfind(b"\n", 0, 2 * (1 << 18) + 5000) + 1])
    assert keep_outlines(str(tmp_path), log.path) == 2
    assert any(type(piece) is Run for piece in by_blocks(log))
    assert list(one_by_one(by_blocks(log))) == list(log.read())


@pytest.mark.parametrize("seqs", [(0, 2), (5, 5), (3, 2), (-1, 0), (0, -1)])
def test_an_outline_is_one_of_dense_numbers(seqs: tuple[int, int]) -> None:
    """A gap, a copy, a number that falls and one below 0 are for a reader to judge."""
    assert outline_of(b"".join(map(line_of, seqs, ("a", "b"), (1, 2)))) is None
    assert outline_of(line_of(7) + line_of(8)) == Outline(
        7, 2, len(line_of(7) + line_of(8)), crc32(line_of(7) + line_of(8)), ()
    )
