"""The lines between plugin and bridge: a request is a hook record with an id, an answer names that id."""

from __future__ import annotations

import json
import re
from typing import cast

import msgspec
from msgspec import Struct

from ledger.codec import UNREADABLE
from projections.text.clean import decode

__all__ = ["Answer", "Refusal", "Request", "encode", "read_request"]

_MAX_ID = 2**53
_decode = msgspec.json.Decoder().decode
_BACKSLASH = re.compile(r"""\\(["\\/bfnrt]|u[0-9A-Fa-f]{4})?""")
"""A backslash in a string of JSON, with what it escapes."""


class Request(Struct, frozen=True):
    """A hook record and the number under which it is answered."""

    id: int
    hook: str
    record: dict[str, object]


class Answer(Struct, frozen=True, omit_defaults=True):
    """What is said to a request: at most one of ``part``, ``system``, ``context``, ``tools``, ``result``, ``refused``.

    Attributes:
        id: that of the request; None where a line is no request.
        part: text to put on the user's message.
        system: segments to push, in order; an empty list means none.
        context: texts to add to the client's compaction prompt.
        tools: the definitions of the tools that the client is to offer; an empty list means none.
        result: what the model reads as the result of its call.
        refused: why nothing was recorded or can be said: a word or two, a colon and a sentence.
        notice: lines for the user: settings that can't be used (SPEC 19), and what of the message is kept, or why not
            (SPEC 4.8).
        private: the message is off the record, and so is what its session does up to the next one (SPEC 3.7).
    """

    id: int | None
    part: str | None = None
    system: list[str] | None = None
    context: list[str] | None = None
    tools: list[dict[str, object]] | None = None
    result: str | None = None
    refused: str | None = None
    notice: str | None = None
    private: bool = False


class Refusal(Exception):  # noqa: N818 - it is an answer, not an error
    """A line that can't be taken for a request.

    Attributes:
        id: the line's id, if it has one.
    """

    def __init__(self, reason: str, id_: int | None = None) -> None:
        super().__init__(reason)
        self.id = id_


def read_request(line: bytes | None) -> Request:
    """Read a line; None stands for one that was too long to keep. O(length).

    Raises:
        Refusal: if it is no request, whatever is in it.
    """
    if line is None:
        raise Refusal("too long: the line was skipped up to its line feed")
    try:
        value = _decode(line)
    except UNREADABLE:
        value = _look_again(line)
    if not isinstance(value, dict):
        raise Refusal("unreadable: the line is no JSON object")
    record = cast("dict[str, object]", value)
    number, hook = record.get("id"), record.get("hook")
    if not isinstance(number, int) or isinstance(number, bool) or abs(number) > _MAX_ID:
        raise Refusal("unreadable: the line has no whole number as its id")
    if not isinstance(hook, str):
        raise Refusal("unreadable: the line names no hook", number)
    return Request(number, hook, record)


def _look_again(line: bytes) -> object:
    """The value of a line that ``msgspec`` refuses: half characters must pass, as JavaScript's strings hold them.

    Raises:
        Refusal: if it is none.
    """
    try:
        return _parsed(line.decode())  # as text, since from bytes ``json`` would guess UTF-16 too
    except UnicodeDecodeError:
        raise Refusal("unreadable: the line is no UTF-8") from None
    except (ValueError, RecursionError):
        raise Refusal("unreadable: the line is no JSON, or nested too deeply") from None


def _parsed(text: str) -> object:
    """The JSON value of a text, also where somebody has written backslashes as they are, as in a path of Windows.

    Raises:
        ValueError: if it is none.
        RecursionError: if it is nested too deeply.
    """
    try:
        return json.loads(text)
    except ValueError:
        doubled = _BACKSLASH.sub(lambda match: match[0] if match[1] else "\\\\", text)
        if doubled == text:
            raise
        return json.loads(doubled)


def encode(answer: Answer) -> bytes:
    """The line of an answer, line feed included. Never raises: half a character, as of a path, becomes U+FFFD."""
    if answer == Answer(answer.id):  # as most are
        return b'{"id":null}\n' if answer.id is None else b'{"id":%d}\n' % answer.id
    # ``msgspec`` would refuse half a character, and a process that dies of its answer is worse than a wrong sign.
    text = json.dumps(msgspec.to_builtins(answer), ensure_ascii=False, separators=(",", ":"))
    return decode(text).encode() + b"\n"
