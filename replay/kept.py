"""Facts kept in ``derived/facts.jsonl``: disposable, checked line by line, and never a reason for another result.

One line per event whose texts are judged: a key that names event, policy, root and rules (``projections.facts``), a
digest of the facts, and the facts. Writers add lines after an append; readers only read. A line that is torn, damaged
or from other rules is not found under any key, and its event is judged again.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import BinaryIO

import msgspec
from msgspec import Raw, Struct

from ledger.digests import blake2b
from ledger.events import AnyEvent
from ledger.trust import DERIVED, open_own, open_own_new
from projections.facts import Facts, Judged, facts_for, facts_key
from projections.memory.fold import WorkspaceMemory
from projections.policy import Context

__all__ = ["FACTS_NAME", "KeptFacts", "facts_path", "keep_all", "keep_facts"]

FACTS_NAME = "facts.jsonl"
_DIGEST_SIZE = 8


class _Line(Struct, frozen=True):
    k: str
    d: str
    f: Raw


_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, OSError)
_DECODE_LINE = msgspec.json.Decoder(_Line).decode
_DECODE_FACTS = msgspec.json.Decoder(Facts).decode


class KeptFacts(Mapping[str, Facts]):
    """The facts beside a ledger. Where each line stands is read when first asked, the lines themselves one by one.

    Only the places are held, so that a ledger of many memories doesn't keep them all twice.

    Args:
        directory: the ledger's folder; a missing, unreadable, damaged or untrusted file is an empty one.
        start: the byte of the file to read from, where those before it have served: the ``end`` of an earlier one.
    """

    def __init__(self, directory: str, start: int = 0) -> None:
        self.end = start
        self._path = facts_path(directory)
        self._file: BinaryIO | None = None
        self._places: dict[str, int] | None = None

    def __getitem__(self, key: str) -> Facts:
        """The facts under a key.

        Raises:
            KeyError: if there are none that can be trusted.
        """
        place = self._read()[key]
        try:
            line = self._line_at(place)
            body = bytes(line.f)
            if line.k != key or _digest(body) != line.d:
                raise KeyError(key)
            return _DECODE_FACTS(body)
        except _UNREADABLE as error:
            raise KeyError(key) from error

    def __iter__(self) -> Iterator[str]:
        """The keys that stand in the file."""
        return iter(self._read())

    def __len__(self) -> int:
        """How many keys stand in the file."""
        return len(self._read())

    def __del__(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _read(self) -> dict[str, int]:
        """Where the line of each key begins; of several of one key, the last."""
        if self._places is None:
            self._places = {}
            with suppress(OSError):
                self._file = open(self._path, "rb", opener=open_own)  # noqa: SIM115 - closed with this object
                place = self._file.seek(self.end)
                for raw in self._file:
                    with suppress(*_UNREADABLE):
                        self._places[_DECODE_LINE(raw).k] = place
                    place += len(raw)
                    if raw.endswith(b"\n"):
                        self.end = place
        return self._places

    def _line_at(self, place: int) -> _Line:
        assert self._file is not None  # noqa: S101 - places come from it
        self._file.seek(place)
        return _DECODE_LINE(self._file.readline())


def facts_path(directory: str) -> str:
    """Where a ledger's facts are kept."""
    return os.path.join(directory, DERIVED, FACTS_NAME)  # noqa: PTH118 - pathlib costs more than the file


def keep_facts(directory: str, events: Iterable[AnyEvent], context: Context) -> None:
    """Judge events that were just appended and add their facts; a failure loses nothing but time.

    One write of whole lines to a file opened for appending: writers don't need a lock, and a line that a kill tears
    is dropped by readers, together with the one that is written right behind it.
    """
    judged = [event for event in events if isinstance(event, Judged)]
    if judged:
        _add(directory, b"".join([_line(event, context) for event in judged]))


def keep_all(directory: str, events: Iterable[AnyEvent]) -> int:
    """Add the facts that are missing, each under the policy in force at its event; returns how many were.

    For ledgers that came without them: O(length of the log).
    """
    known = KeptFacts(directory)
    memory = WorkspaceMemory(known)
    state = memory.initial()
    missing: list[bytes] = []
    for event in events:
        if isinstance(event, Judged) and facts_key(event, state.context) not in known:
            missing.append(_line(event, state.context))
        memory.step(state, event)
    _add(directory, b"".join(missing))
    return len(missing)


def _line(event: Judged, context: Context) -> bytes:
    body = msgspec.json.encode(facts_for(event, context, None))
    return msgspec.json.encode(_Line(facts_key(event, context), _digest(body), Raw(body))) + b"\n"


def _add(directory: str, lines: bytes) -> None:
    if not lines:
        return
    path = facts_path(directory)
    try:
        descriptor = open_own_new(path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(descriptor, lines)
        finally:
            os.close(descriptor)
    except OSError:
        return


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=_DIGEST_SIZE).hexdigest()
