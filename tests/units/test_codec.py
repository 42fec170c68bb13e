"""Bytes ↔ events: nothing raises, every failure has a name, and what is written can be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger import codec
from ledger.codec import SEQ_LIMIT, TYPE_NAMES, decode, encode
from ledger.events import (
    AnyEvent,
    MemoryAdded,
    MemoryAddedData,
    PolicySet,
    PolicySetData,
    SessionLinked,
    SessionLinkedData,
    UnknownEvent,
    type_name,
)
from ledger.problems import KINDS, Kind, Problem
from ledger.upcast import UPCASTERS, upcast
from tests.support.logs import line_of, memory, of_kind

GOOD = line_of(7, "use pnpm").rstrip()
UNKNOWN = b'{"type":"later.thing","specversion":"1.0","id":"x","source":"h","seq":3,"data":{"n":1.5}}'


def test_key_order() -> None:
    """``type`` is the first key and ``data`` the last; keys without a value are left out."""
    event = SessionLinked(
        specversion="1.0", id="i", source="h/s", time="t", seq=1, causationid="c", data=SessionLinkedData("s", "p")
    )
    keys = list(json.loads(encode(event)))
    assert keys == ["type", "specversion", "id", "source", "time", "seq", "causationid", "data"]


def test_round_trip() -> None:
    """An event is the same after encode and decode, and its line ends with the only line feed in it."""
    event = memory(7, "two\nlines \u2028 é")
    line = encode(event)
    assert line.count(b"\n") == 1
    assert line.endswith(b"}\n")
    assert decode(line) == event


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\ud800", "a\ufffd"), ("\udc00\ud800b", "\ufffd\ufffdb"), ("\ud83d\ude00", "😀"), ("plain", "plain")],
)
def test_lone_surrogates_are_replaced(text: str, expected: str) -> None:
    """A lone surrogate is written as U+FFFD, anywhere in the data; halves that belong together are joined."""
    policy = PolicySet(
        specversion="1.0",
        id="i",
        source="h",
        seq=0,
        data=PolicySetData(digest=text, policy={text: [text, 1, {"k": text}, None]}),
    )
    read = decode(encode(policy))
    assert isinstance(read, PolicySet)
    assert read.data.digest == expected
    assert read.data.policy == {expected: [expected, 1, {"k": expected}, None]}


def test_tuples_with_surrogates() -> None:
    """Replacing surrogates keeps lists of texts lists of texts."""
    event = MemoryAdded(specversion="1.0", id="i", source="h", seq=0, data=MemoryAddedData("t", tags=("\ud800", "b")))
    read = decode(encode(event))
    assert isinstance(read, MemoryAdded)
    assert read.data.tags == ("\ufffd", "b")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"", Kind.NOT_JSON),
        (b"not json", Kind.NOT_JSON),
        (GOOD[:60], Kind.NOT_JSON),
        (GOOD + b" x", Kind.NOT_JSON),
        (GOOD.replace(b'"seq":7', b'"seq":NaN'), Kind.NOT_JSON),
        (GOOD[:-1] + b',"x":Infinity}', Kind.NOT_JSON),
        (GOOD[:-1] + b',"x":-Infinity}', Kind.NOT_JSON),
        (GOOD.replace(b"pnpm", b"pn\x01pm"), Kind.NOT_JSON),
        (GOOD.replace(b"pnpm", b"\\ud800"), Kind.NOT_JSON),
        (b"\0" * 512, Kind.NUL_BYTES),
        (b"\0\0" + GOOD, Kind.NUL_BYTES),
        (b"<<<<<<< HEAD", Kind.MERGE_MARKER),
        (b"=======", Kind.MERGE_MARKER),
        (b">>>>>>> feature", Kind.MERGE_MARKER),
        (b"||||||| base", Kind.MERGE_MARKER),
        (b"\xff\xfe garbage", Kind.NOT_UTF8),
        (GOOD.replace(b"pnpm", b"\xe4\xb8"), Kind.NOT_UTF8),
        (GOOD.replace(b"pnpm", b"\xed\xa0\x80"), Kind.NOT_UTF8),
        (b"[1,2]", Kind.NOT_AN_EVENT),
        (b"null", Kind.NOT_AN_EVENT),
        (b"17", Kind.NOT_AN_EVENT),
        (b"{}", Kind.NOT_AN_EVENT),
        (b'{"type":"later.thing","seq":1}', Kind.NOT_AN_EVENT),
        (b'{"type":5}', Kind.NOT_AN_EVENT),
        (GOOD.replace(b'"seq":7', b'"seq":"7"'), Kind.NOT_AN_EVENT),
        (GOOD.replace(b'"seq":7', b'"seq":-1'), Kind.INVALID_EVENT),
        (GOOD.replace(b'"seq":7', b'"seq":%d' % SEQ_LIMIT), Kind.INVALID_EVENT),
        (UNKNOWN.replace(b'"seq":3', b'"seq":99999999999999999999999'), Kind.INVALID_EVENT),
        (GOOD.replace(b'"use pnpm"', b"5"), Kind.INVALID_EVENT),
        (GOOD.replace(b'"1.0"', b'"2.0"'), Kind.INVALID_EVENT),
        (GOOD.replace(b'{"title":"use pnpm"}', b"{}"), Kind.INVALID_EVENT),
        (UNKNOWN.replace(b"1.5", b"NaN"), Kind.NOT_JSON),
        (UNKNOWN.replace(b"1.5", b"1e999"), Kind.NOT_AN_EVENT),
        (UNKNOWN.replace(b"1.5", b'"\xff"'), Kind.NOT_UTF8),
        (GOOD[:-1] + b',"x":' + b"[" * 100_000, Kind.NOT_JSON),
        (b'{"a":' * 100_000, Kind.NOT_JSON),
    ],
)
def test_damage_is_a_value(line: bytes, kind: Kind) -> None:
    """Whatever is wrong with a line is named, with its place and what to do."""
    found = decode(line, line=12, byte=345)
    assert isinstance(found, Problem)
    assert found.kind == kind
    assert (found.line, found.byte, found.length) == (12, 345, len(line))
    assert found.message.startswith(KINDS[kind][0] + ": ")
    assert found.fix == KINDS[kind][1]


def test_message_says_the_values() -> None:
    """A problem shows what was found, cut short, and no control byte of it."""
    found = decode(b"\x1b[31m" + b"y" * 100)
    assert isinstance(found, Problem)
    assert "'\\x1b[31myyy" in found.message
    assert "…" in found.message
    assert "\x1b" not in found.message
    wrong = decode(GOOD.replace(b'"use pnpm"', b"5"))
    assert isinstance(wrong, Problem)
    assert "memory.added" in wrong.message
    assert "$.data.title" in wrong.message


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"\0a\0b\x01", "2 of 5 bytes are NUL"),
        (b"=======", "'======='"),
        (b"y" * 48, f"JSON is malformed: invalid character (byte 0) in '{'y' * 48}'"),
        (b"y" * 49, f"JSON is malformed: invalid character (byte 0) in '{'y' * 48}'…"),
        (b"ab\xff", "byte 0xff at 2 of 'ab\\xff'"),
    ],
)
def test_a_message_ends_with_what_stands_there(line: bytes, told: str) -> None:
    """Counted, at its place, and all of it up to 48 bytes."""
    found = decode(line)
    assert isinstance(found, Problem)
    assert found.message == f"{KINDS[found.kind][0]}: {told}"


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 1 << 20])
def test_the_first_byte_that_is_no_utf8_is_named(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a long line is cut for the search, and a character by its end: the place is that of Python's decoder."""
    monkeypatch.setattr(codec, "_PIECE", piece)
    text = "é€😀a".encode()
    lines = [text * 2 + bad for bad in (b"\xff", b"\x80a", b"\xe4\xb8x", b"\xf0\x9f\x98")]
    for line in [*lines, *(text[:cut] for cut in (1, 3, 4, 6, 7, 8))]:
        with pytest.raises(UnicodeDecodeError) as bad:
            line.decode()
        found = decode(line)
        assert isinstance(found, Problem)
        assert f"byte {line[bad.value.start]:#04x} at {bad.value.start} of" in found.message
    assert of_kind(decode(text)) == Kind.NOT_JSON


def test_what_has_no_place_stands_at_the_beginning() -> None:
    """Who reads a line by itself is told of its first line and byte."""
    found = decode(b"x")
    assert isinstance(found, Problem)
    assert (found.line, found.byte) == (1, 0)


@pytest.mark.parametrize("around", [b"%s\r\n", b"  %s\t", b"%s\n", b"%s"])
def test_white_space_around_an_event_is_ignored(around: bytes) -> None:
    """A carriage return before the line feed, or blanks, make no difference."""
    assert decode(around % GOOD) == memory(7, "use pnpm")


def test_key_order_is_free_for_readers() -> None:
    """A line whose keys stand in another order, with unknown ones, is the same event."""
    keys = list(reversed(json.loads(GOOD).items()))
    assert decode(json.dumps(dict([*keys, ("extra", {"a": [1]})])).encode()) == memory(7, "use pnpm")


def test_unknown_type_is_carried() -> None:
    """An event of an unknown type keeps its exact bytes through decode and encode."""
    event = decode(b" " + UNKNOWN + b"\r\n")
    assert event == UnknownEvent(type="later.thing", specversion="1.0", id="x", source="h", seq=3, line=UNKNOWN)
    assert isinstance(event, UnknownEvent)
    assert encode(event) == UNKNOWN + b"\n"
    assert type_name(event) == "later.thing"


def test_type_names() -> None:
    """The stored name of an event is that of the closed table."""
    assert type_name(memory(0)) == "memory.added"
    assert "session.started" in TYPE_NAMES.values()


def _rename(plain: dict[str, Any]) -> dict[str, Any]:
    return plain | {"type": "old.two", "data": {"name": plain["data"]["n"]}}


def _finish(plain: dict[str, Any]) -> dict[str, Any]:
    return plain | {"type": "memory.added", "data": {"title": plain["data"]["name"].upper()}}


TABLE = {"old.one": _rename, "old.two": _finish}
OLD = b'{"type":"old.one","specversion":"1.0","id":"x","source":"h","seq":3,"data":{"n":"hi"}}'


def test_upcasting_goes_one_version_at_a_time() -> None:
    """An event two versions old passes both functions; no type of today needs any."""
    event = decode(OLD, upcasters=TABLE)
    assert isinstance(event, MemoryAdded)
    assert (event.data.title, event.seq, event.id) == ("HI", 3, "x")
    assert UPCASTERS == {}
    assert isinstance(decode(OLD), UnknownEvent)


@pytest.mark.parametrize("data", [b'{"n":5}', b"{}", b"null", b'{"m":"hi"}'])
def test_what_an_upcaster_refuses_is_a_problem(data: bytes) -> None:
    """An old event that can't be brought up to date doesn't stop a read."""
    found = decode(OLD.replace(b'{"n":"hi"}', data), upcasters=TABLE)
    assert isinstance(found, Problem)
    assert found.kind == Kind.INVALID_EVENT
    assert "old.one can't be brought up to date: " in found.message


def test_upcasting_leaves_its_input_alone() -> None:
    """An upcaster that changes its argument changes no other's."""

    def careless(plain: dict[str, Any]) -> dict[str, Any]:
        plain["type"] = "new"
        return plain

    plain: dict[str, Any] = {"type": "old"}
    assert upcast(plain, {"old": careless}) == {"type": "new"}
    assert plain == {"type": "old"}


def test_upcasters_in_a_circle() -> None:
    """A table that leads back is refused, and decoding says so as a value."""
    table = {"old.one": _rename, "old.two": lambda plain: plain | {"type": "old.one", "data": {"n": "x"}}}
    with pytest.raises(ValueError, match="circle"):
        upcast({"type": "old.one", "data": {"n": "x"}}, table)
    found: AnyEvent | Problem = decode(OLD, upcasters=table)
    assert of_kind(found) == Kind.INVALID_EVENT


@pytest.mark.parametrize("letter", ["a", "é"])
def test_a_long_event_of_an_unknown_type_is_carried(letter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It isn't made into objects, but each byte of it is looked at."""
    monkeypatch.setattr(codec, "_PIECE", 64)
    line = UNKNOWN.replace(b"1.5", b'"%s"' % (letter * 200).encode())
    event = decode(line)
    assert isinstance(event, UnknownEvent)
    assert event.line == line
    assert of_kind(decode(line.replace(letter.encode() * 200, b"a\xff" * 100))) == Kind.NOT_UTF8
