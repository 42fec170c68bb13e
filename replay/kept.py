"""Facts kept in ``derived/facts.jsonl``: disposable, checked line by line, and never a reason for another result.

One line per event whose texts are judged: a key that names event, policy, root and rules (``projections.facts``), the
facts, and a digest of both. Writers add lines after an append; readers only read. A line that is torn, damaged
or from other rules is not found under any key, and its event is judged again.
"""

import os
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from msgspec import Raw, Struct

from ledger.codec import UNREADABLE
from ledger.digests import blake2b
from ledger.events import AnyEvent
from ledger.trust import DERIVED, open_own, open_own_new
from projections.facts import Facts, Judged, facts_for, facts_key
from projections.memory.fold import WorkspaceMemory
from projections.policy import Context

if TYPE_CHECKING:
    from ledger.pin import Pin

__all__ = ["FACTS_NAME", "KeptFacts", "facts_path", "keep_all", "keep_facts"]

FACTS_NAME = "facts.jsonl"
_DIGEST_SIZE = 8


class _Line(Struct, frozen=True):
    """Key, facts, and the digest of both: what is left of two lines must not give one event the facts of another."""

    k: str
    f: Raw
    s: str

    @property
    def is_sound(self) -> bool:
        return _digest(self.k, self.f) == self.s


_UNREADABLE = (OSError, UnicodeDecodeError, *UNREADABLE)
_LONGEST = 2 << 20
"""Bytes of a line: the facts of the longest message take less."""
_DECODE_LINE = msgspec.json.Decoder(_Line).decode
_DECODE_FACTS = msgspec.json.Decoder(Facts).decode


class KeptFacts:
    """The facts beside a ledger, read as they are asked for.

    Lines stand about in the order of the log, so the next one is looked at first: a fold from the beginning reads the
    file once and holds nothing of it. Where a line stands that was passed over is noted.

    Args:
        directory: the ledger's folder; a missing, unreadable, damaged or untrusted file is an empty one.
        start: the byte of the file to read from, where those before it have served: the ``end`` of an earlier one.
    """

    def __init__(self, directory: str, start: int = 0) -> None:
        self.end = start
        self._start = self._next = start
        self._path = facts_path(directory)
        self._file: BinaryIO | None = None
        self._passed: dict[str, int] = {}
        self._is_whole = False

    def get(self, key: str, /) -> Facts | None:
        """The facts under a key; None if there are none that can be trusted. O(1) in the order of the log."""
        line = self._find(key)
        try:
            return None if line is None else _DECODE_FACTS(line.f)
        except _UNREADABLE:
            return None

    def hold(self) -> None:
        """Open the file now: what is asked for later is answered also if it is deleted meanwhile."""
        if self._file is None and not self._is_whole:
            try:
                self._file = open(self._path, "rb", opener=open_own)  # noqa: SIM115 - closed with this object
                self._file.seek(self._start)
            except OSError:
                self._is_whole = True

    def __del__(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _find(self, key: str) -> _Line | None:
        self.hold()
        place = self._passed.get(key)
        try:
            if place is not None:
                line = self._line_at(place)
                return line if line.k == key and line.is_sound else None  # the file may have been written over
            return None if self._is_whole else self._search(key)
        except _UNREADABLE:
            return None

    def _search(self, key: str) -> _Line | None:
        """Look at all lines that can be read, from the next to the last, then from the first: a second fold begins."""
        file, begun, is_second = self._file, self._next, False
        assert file is not None  # noqa: S101 - it is whole otherwise
        while not is_second or self._next < begun:
            raw, begin = file.readline(_LONGEST), self._next
            if raw.endswith(b"\n"):
                self._next = begin + len(raw)
                self.end = max(self.end, self._next)
                try:
                    line = _DECODE_LINE(raw)
                except _UNREADABLE:
                    continue
                if line.k == key and line.is_sound:
                    return line
                self._passed[line.k] = begin
            elif len(raw) == _LONGEST:
                self._next = begin + _LONGEST  # the rest of it is read like a line, and is none that can be decoded
            elif is_second:
                break  # the file has become shorter
            else:
                is_second, self._next = True, file.seek(self._start)
        self._is_whole = True  # no line is under this key, and where all others stand is known
        return None

    def _line_at(self, place: int) -> _Line:
        assert self._file is not None  # noqa: S101 - places come from it
        self._file.seek(place)
        line = self._file.readline(_LONGEST)
        self._file.seek(self._next)
        return _DECODE_LINE(line)


def facts_path(directory: str) -> str:
    """Where a ledger's facts are kept."""
    return os.path.join(directory, DERIVED, FACTS_NAME)  # noqa: PTH118 - pathlib costs more than the file


def keep_facts(directory: str, events: Iterable[AnyEvent], context: Context, pin: "Pin | None" = None) -> None:
    """Judge events that were just appended and add their facts; a failure loses nothing but time.

    One write of whole lines to a file opened for appending: a line that a kill tears is dropped by readers, together
    with the one that is written right behind it.

    Args:
        directory: the ledger's folder.
        events: what was appended.
        context: the policy and root in force there.
        pin: the log that they were appended to, taken before; None where nobody else can write to it.
    """
    judged = [event for event in events if isinstance(event, Judged)]
    if judged:
        _add(directory, b"".join([_line(event, context) for event in judged]), pin)


def keep_all(directory: str, events: Iterable[AnyEvent], pin: "Pin | None" = None) -> int:
    """Add the facts that are missing, each under the policy in force at its event; returns how many were.

    For ledgers that came without them: O(length of the log).

    Args:
        directory: the ledger's folder.
        events: the log, from its first event.
        pin: the log, taken before it is read; None where nobody else can write to it.
    """
    known = KeptFacts(directory)
    memory = WorkspaceMemory(known)
    state = memory.initial()
    missing: list[bytes] = []
    for event in events:
        if isinstance(event, Judged) and known.get(facts_key(event, state.context)) is None:
            missing.append(_line(event, state.context))
        memory.step(state, event)
    _add(directory, b"".join(missing), pin)
    return len(missing)


def _line(event: Judged, context: Context) -> bytes:
    key, body = facts_key(event, context), Raw(msgspec.json.encode(facts_for(event, context, None)))
    return msgspec.json.encode(_Line(key, body, _digest(key, body))) + b"\n"


def _add(directory: str, lines: bytes, pin: "Pin | None") -> None:
    if not lines:
        return
    with nullcontext(True) if pin is None else pin.unchanged() as is_theirs, suppress(OSError):
        if is_theirs:
            descriptor = open_own_new(facts_path(directory), os.O_WRONLY | os.O_APPEND)
            try:
                os.write(descriptor, lines)
            finally:
                os.close(descriptor)


def _digest(key: str, body: Raw) -> str:
    return blake2b(b"%b %b" % (key.encode("utf-8", "replace"), body), digest_size=_DIGEST_SIZE).hexdigest()
