"""Facts kept in ``derived/facts.jsonl``: disposable, checked line by line, and never a reason for another result.

One line per event whose texts are judged: a key that names event, policy, root and rules (``projections.facts``), a
digest of the facts, and the facts. Writers add lines after an append; readers only read. A line that is torn, damaged
or from other rules is not found under any key, and its event is judged again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

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


_DECODE_LINE = msgspec.json.Decoder(_Line).decode
_DECODE_FACTS = msgspec.json.Decoder(Facts).decode


class KeptFacts(Mapping[str, Facts]):
    """The facts beside a ledger, read when first asked for and decoded one by one.

    Args:
        directory: the ledger's folder; a missing, unreadable, damaged or untrusted file is an empty one.
        start: the byte of the file to read from, where those before it have served: the ``end`` of an earlier one.
    """

    def __init__(self, directory: str, start: int = 0) -> None:
        self.end = start
        self._path = facts_path(directory)
        self._lines: dict[str, _Line] | None = None

    def __getitem__(self, key: str) -> Facts:
        """The facts under a key.

        Raises:
            KeyError: if there are none that can be trusted.
        """
        line = self._read()[key]
        body = bytes(line.f)
        if _digest(body) != line.d:
            raise KeyError(key)
        try:
            return _DECODE_FACTS(body)
        except msgspec.MsgspecError as error:
            raise KeyError(key) from error

    def __iter__(self) -> Iterator[str]:
        """The keys that stand in the file."""
        return iter(self._read())

    def __len__(self) -> int:
        """How many keys stand in the file."""
        return len(self._read())

    def _read(self) -> dict[str, _Line]:
        if self._lines is None:
            self._lines = {}
            try:
                with open(self._path, "rb", opener=open_own) as file:
                    file.seek(self.end)
                    for raw in file:
                        if raw.endswith(b"\n"):
                            self.end += len(raw)
                        try:
                            line = _DECODE_LINE(raw)
                        except (msgspec.MsgspecError, UnicodeDecodeError):
                            continue
                        self._lines[line.k] = line
            except OSError:
                pass
        return self._lines


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
