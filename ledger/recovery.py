"""What can be saved of one physical line: the events that stand in it, and the pieces that are set aside."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ledger.codec import UNREADABLE, decode
from ledger.events import AnyEvent
from ledger.problems import Kind, Problem, problem

__all__ = ["Record", "recover"]

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_START = b'{"type":"'  # every line of ours begins so, and inside a JSON string the quotes would be escaped
_EFFORT = 16  # bytes parsed in all, per byte of the line

_skim = msgspec.json.Decoder(msgspec.Raw).decode


class Record(Struct, frozen=True):
    """A place in the file and what is there: an event, or what is wrong.

    ``line`` counts from 1; ``byte`` and ``length`` are in bytes of the file.
    """

    item: AnyEvent | Problem
    line: int
    byte: int
    length: int


def recover(data: bytes, *, line: int = 1, byte: int = 0) -> list[Record]:
    """Everything in one line, in order; nothing for a blank one (SPEC 21).

    Bytes without a line feed are the file's last line, whose end may be torn. A healthy line gives one event. Of
    two records on one line, or a record glued behind torn text, each is found, and each run of bytes between them
    is one problem. A byte order mark and white space at the edges are ignored. Linear in the length, whatever the
    bytes are.
    """
    text = data.removeprefix(_BOM).lstrip(_BLANK)
    body = text.rstrip(_BLANK)
    if not body:
        return []
    start = byte + len(data) - len(text)
    whole = decode(body, line=line, byte=start)
    if not isinstance(whole, Problem):
        return [Record(whole, line, start, len(body))]
    torn = not data.endswith(b"\n")
    spans = _spans(body)
    if not spans:
        return [_record(whole, line, start, len(body), torn=torn)]
    records: list[Record] = []
    position = 0
    for begin, end, event in spans:
        _set_aside(records, body[position:begin], line, start + position)
        records.append(Record(event, line, start + begin, end - begin))
        position = end
    _set_aside(records, body[position:], line, start + position, torn=torn)
    events = sum(not isinstance(record.item, Problem) for record in records)
    if events > 1:
        fused = problem(Kind.FUSED_LINE, f"{events} events", line=line, byte=start, length=len(body))
        records.append(Record(fused, line, fused.byte, fused.length))
    return records


def _set_aside(records: list[Record], piece: bytes, line: int, byte: int, *, torn: bool = False) -> None:
    """Add the piece between two events, unless it is blank. An event of another key order is found only here."""
    body = piece.strip(_BLANK)
    if body:
        byte += len(piece) - len(piece.lstrip(_BLANK))
        records.append(_record(decode(body, line=line, byte=byte), line, byte, len(body), torn=torn))


def _record(item: AnyEvent | Problem, line: int, byte: int, length: int, *, torn: bool) -> Record:
    """What stands at a place; what doesn't decode at the end of a last line is torn, whatever it looks like."""
    if torn and isinstance(item, Problem):
        item = problem(Kind.TORN_TAIL, item.message, line=line, byte=byte, length=length)
    return Record(item, line, byte, length)


def _spans(body: bytes) -> list[tuple[int, int, AnyEvent]]:
    """The events in a damaged line as (begin, end, event), left to right, never overlapping.

    Each place where an event may begin is parsed once, as far as it is JSON. Starts nested in each other could
    make that quadratic, so effort is bounded: when it is spent, starts inside parsed text are passed over.
    """
    found: list[tuple[int, int, AnyEvent]] = []
    view = memoryview(body)
    effort = _EFFORT * len(body)
    begin = body.find(_START)
    while begin >= 0:
        parsed, closed = _extent(view[begin:])
        effort -= parsed
        after = begin + (len(_START) if effort > 0 else max(parsed, len(_START)))
        if closed:
            event = decode(body[begin : begin + parsed])
            if not isinstance(event, Problem):
                after = begin + parsed
                found.append((begin, after, event))
        begin = body.find(_START, after)
    return found


def _extent(view: memoryview) -> tuple[int, bool]:
    """How many bytes from the start were parsed as one JSON value, and whether it is closed there.

    Where no position is told, the parser ran to the end of the bytes (or, for a nesting too deep, may have).
    """
    try:
        _skim(view)
    except UNREADABLE as error:
        told = _told(error)
        return (len(view), False) if told is None else (told - _BIAS, "trailing characters" in str(error))
    return len(view), True


def _told(error: Exception) -> int | None:
    """The position in a parser's message; the parser has no other way to tell it."""
    number = str(error).rpartition("(byte ")[2].rstrip(")")
    return int(number) if number.isdecimal() else None


def _bias() -> int:
    """By how much a told position lies behind the first byte that doesn't belong: asked, not assumed."""
    try:
        _skim(b"{}x")
    except UNREADABLE as error:
        return (_told(error) or 2) - 2
    return 0  # pragma: no cover - a parser that accepts this would be no JSON parser


_BIAS = _bias()
