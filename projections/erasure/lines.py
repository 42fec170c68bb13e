"""Bytes of a log without the texts: the line of a changed event, and lines that no release can read (SPEC 15.4)."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from ledger.codec import UNREADABLE, encode
from ledger.events import AnyEvent, UnknownEvent
from projections.erasure.needles import Needles

__all__ = ["erased_line", "erased_piece"]

_FIXED = frozenset({"type", "specversion", "id", "source", "time", "seq", "causationid"})
"""What makes an event the one that it is."""
_TOO_DEEP = (*UNREADABLE, UnicodeDecodeError)


def erased_line(event: AnyEvent, changed: AnyEvent, data: bytes, needles: Needles) -> bytes:
    """The line of an event, without its end: the same bytes if nothing goes.

    Args:
        event: as it was read from ``data``.
        changed: the event as it will be.
        data: its bytes; fields in it that this release doesn't know are kept, without the texts.
        needles: the texts.
    """
    if isinstance(event, UnknownEvent) or isinstance(changed, UnknownEvent):
        return erased_piece(data, needles)
    if changed is event and not needles.are_in_bytes(data):
        return data
    written: dict[str, Any] = msgspec.json.decode(data)
    more = _unknown(written, msgspec.to_builtins(event))
    kept: dict[str, Any]
    try:
        kept = _without(more, needles)
    except RecursionError:
        kept = {}  # so deep that nobody can have meant it
    if changed is event and kept == more:
        return data  # what it holds stays, or is an id
    line = encode(changed).removesuffix(b"\n")
    return msgspec.json.encode(_with(msgspec.json.decode(line), kept)) if kept else line


def erased_piece(data: bytes, needles: Needles) -> bytes:
    """Bytes that hold no event of ours, without the texts; read as JSON if they are, so that they stay so."""
    try:
        plain = msgspec.json.decode(data)
        if isinstance(plain, dict):
            fields = cast("dict[str, Any]", plain)
            fixed = {name: one for name, one in fields.items() if name in _FIXED}
            changed = _without(fields, needles) | fixed
            return data if changed == fields else msgspec.json.encode(changed)
    except _TOO_DEEP:
        pass
    return needles.erased_torn(data)


def _unknown(written: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """The fields of a line, and those of its data, that weren't read."""
    more = {name: one for name, one in written.items() if name not in known}
    data = written.get("data")
    if isinstance(data, dict):
        fields = cast("dict[str, Any]", data)
        if unread := {name: one for name, one in fields.items() if name not in known["data"]}:
            more["data"] = unread
    return more


def _with(line: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    data = {**more.get("data", {}), **line["data"]}
    return {**line, **{name: one for name, one in more.items() if name not in line}, "data": data}


def _without(value: Any, needles: Needles) -> Any:
    """Plain data without the texts."""
    if isinstance(value, str):
        return needles.erased(value)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {needles.erased(name): _without(one, needles) for name, one in items}
    if isinstance(value, list | tuple):
        return [_without(one, needles) for one in cast("list[Any]", value)]
    return value
