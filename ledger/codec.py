"""Bytes ↔ events, total: a line that can't be read becomes a ``Problem``, never an exception."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import MsgspecError, Struct, ValidationError

from ledger.events import EVENT_TYPES, AnyEvent, Event, UnknownEvent
from ledger.problems import Kind, Problem, problem
from ledger.upcast import UPCASTERS, Upcaster, upcast

__all__ = ["SEQ_LIMIT", "TYPE_NAMES", "UNREADABLE", "decode", "decode_known", "encode"]

SEQ_LIMIT = 2**53
"""A seq is below this: what every JSON reader holds exactly."""

TYPE_NAMES: dict[type[Event], str] = {cls: str(cls.__struct_config__.tag) for cls in EVENT_TYPES}
"""Event class → stored type name."""

UNREADABLE = (MsgspecError, RecursionError)
"""What ``decode_known`` raises on a line that is no healthy known event."""

decode_known = msgspec.json.Decoder(Event).decode
"""The fast way, for loops over healthy lines: one phase, raises ``UNREADABLE``, and doesn't look at seq.

Fields this release doesn't know are skipped unread, so an invalid byte in one of them does no harm.
"""

_MERGE_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_EXCERPT = 48
_PIECE = 1 << 20


class _Head(Struct):
    """What every event must have, known or not."""

    type: str
    specversion: str
    id: str
    source: str
    seq: int
    time: str | None = None


_encode = msgspec.json.Encoder().encode
_decode_head = msgspec.json.Decoder(_Head).decode
_decode_plain = msgspec.json.Decoder().decode
_skim = msgspec.json.Decoder(msgspec.Raw).decode
_utf8_decoder = codecs.getincrementaldecoder("utf-8")
_KNOWN = frozenset(TYPE_NAMES.values())


def decode(
    data: bytes, *, line: int = 1, byte: int = 0, upcasters: Mapping[str, Upcaster] = UPCASTERS
) -> AnyEvent | Problem:
    """Read one line; white space around the object is ignored. Linear in its length; never raises (SPEC 21).

    Args:
        data: the line, with or without its line end.
        line: its number, for the problem.
        byte: its offset in the file, for the problem.
        upcasters: how older types are brought up to date.

    Returns:
        The event; ``UnknownEvent`` with the exact bytes for a type this release doesn't know; or what is wrong.
    """
    event: AnyEvent | Problem
    try:
        event = decode_known(data)
    except UNREADABLE as error:
        event = _look_again(data, error, upcasters)
    if not isinstance(event, Problem):
        if 0 <= event.seq < SEQ_LIMIT:
            return event
        event = problem(Kind.INVALID_EVENT, f"seq {event.seq} is not from 0 to 2**53 - 1")
    return Problem(line, byte, len(data), event.kind, event.message, event.fix)


def encode(event: AnyEvent) -> bytes:
    """The line of an event with its line end; ``type`` is the first key, ``data`` the last (DESIGN 3).

    A lone surrogate is written as U+FFFD rather than refused (SPEC 1.3). An unknown event keeps its bytes.
    """
    if isinstance(event, UnknownEvent):
        return event.line + b"\n"
    try:
        return _encode(event) + b"\n"
    except UnicodeEncodeError:
        return _encode(_without_surrogates(msgspec.to_builtins(event))) + b"\n"


def _look_again(data: bytes, error: Exception, upcasters: Mapping[str, Upcaster]) -> AnyEvent | Problem:
    """The second look at a line that is no known event: an older type, an unknown one, or damage."""
    if not isinstance(error, ValidationError):
        return _damage(data, error)  # it is no JSON, whatever it was to be
    try:
        head = _decode_head(data)
        if head.type in _KNOWN:
            return problem(Kind.INVALID_EVENT, f"{head.type}: {error}")
        # All of it: the head skips what is broken behind it. As objects, a long line would take many times its size.
        plain = _decode_plain(data) if len(data) <= _PIECE or head.type in upcasters else None
    except UNREADABLE as second:
        return _damage(data, second)
    if plain is None and _invalid_byte(data) is not None:
        return _damage(data, error)
    if plain is not None and head.type in upcasters:
        return _bring_up_to_date(plain, upcasters)
    return UnknownEvent(
        type=head.type,
        specversion=head.specversion,
        id=head.id,
        source=head.source,
        time=head.time,
        seq=head.seq,
        line=data.strip(b" \t\r\n"),
    )


def _bring_up_to_date(plain: dict[str, Any], upcasters: Mapping[str, Upcaster]) -> Event | Problem:
    """Read an event of an older type. What an upcaster can't cope with is a problem, like all else."""
    try:
        return cast("Event", msgspec.convert(upcast(plain, upcasters), Event))
    except (*UNREADABLE, LookupError, TypeError, ValueError, AttributeError) as error:
        return problem(Kind.INVALID_EVENT, f"{plain['type']} can't be brought up to date: {error}")


def _damage(data: bytes, error: Exception) -> Problem:
    """Name the damage of bytes that hold no event. The excerpt is a repr: no control bytes reach a terminal."""
    excerpt = repr(data[:_EXCERPT])[1:] + ("…" if len(data) > _EXCERPT else "")
    if b"\0" in data:
        return problem(Kind.NUL_BYTES, f"{data.count(0)} of {len(data)} bytes are NUL")
    if data.startswith(_MERGE_MARKERS):
        return problem(Kind.MERGE_MARKER, excerpt)
    invalid = _invalid_byte(data)
    if invalid is not None:
        return problem(Kind.NOT_UTF8, f"byte {data[invalid]:#04x} at {invalid} of {excerpt}")
    if not isinstance(error, ValidationError):
        return problem(Kind.NOT_JSON, f"{error} in {excerpt}")
    try:
        _skim(data)  # the error is about the first thing that doesn't fit; behind it the line may be torn
    except UNREADABLE as bad:
        return problem(Kind.NOT_JSON, f"{bad} in {excerpt}")
    return problem(Kind.NOT_AN_EVENT, f"{error} in {excerpt}")


def _invalid_byte(data: bytes) -> int | None:
    """Where bytes stop being UTF-8; None if they never do. In pieces: a line may be as long as the memory is large."""
    if data.isascii():
        return None
    decoder = _utf8_decoder()
    for begin in range(0, len(data), _PIECE):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[begin : begin + _PIECE], final=begin + _PIECE >= len(data))
        except UnicodeDecodeError as bad:
            return begin - pending + bad.start
    return None


def _without_surrogates(value: Any) -> Any:
    """The same plain data with every lone surrogate replaced; halves of a pair that stand together are joined."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {_without_surrogates(key): _without_surrogates(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in cast("list[Any]", value)]
    return value
