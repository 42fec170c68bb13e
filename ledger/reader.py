# ruff: noqa: PTH123 - pathlib costs more at start-up than an append
"""Streaming reads of a log file: every event that can be saved, once, in file order; nothing is ever written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO

from msgspec import Struct

from ledger.codec import UNREADABLE, decode_known, type_name
from ledger.errors import LedgerNotFound, storage_error
from ledger.events import AnyEvent, UnknownEvent
from ledger.problems import DAMAGE, Kind, Problem, problem
from ledger.recovery import Record, recover
from ledger.sequence import Sequence

__all__ = ["START", "Cursor", "Health", "Reader", "health_of", "reading", "scan"]

_BUFFER = 1 << 20


class Cursor(Struct, frozen=True):
    """Where a read goes on: the byte at which the next line begins and the seq expected there."""

    byte: int = 0
    seq: int = 0


START = Cursor()


class Health(Struct, frozen=True):
    """What a whole read found (SPEC 21).

    Attributes:
        events: events that count, unknown ones included.
        damaged: contiguous pieces set aside.
        duplicates: events that don't count, because their id came before.
        unknown: events of a type this release doesn't know.
        fused: lines that hold more than one event.
    """

    events: int = 0
    damaged: int = 0
    duplicates: int = 0
    unknown: int = 0
    fused: int = 0

    @property
    def status(self) -> str:
        """``ok``, or ``recovered`` if any line could not be read as it stands."""
        return "recovered" if self.damaged or self.fused else "ok"


class Reader:
    """One pass over the events behind a cursor.

    After the pass ``cursor`` says where the next one goes on, so that a follower reads each event once. It stays
    before a last line that is torn, which another process may be writing just now.

    Args:
        path: the log file.
        cursor: where to begin; from an earlier pass over the same file.
    """

    def __init__(self, path: str, cursor: Cursor = START) -> None:
        self.cursor = cursor
        self._path = path

    def __iter__(self) -> Iterator[AnyEvent]:
        """The events, streaming: memory doesn't grow with a healthy log.

        Raises:
            LedgerNotFound: if the file isn't there.
            StorageError: if the system can't read it.
        """
        sequence = Sequence(self.cursor.seq)
        line = b""
        with reading(self._path) as file:
            file.seek(self.cursor.byte)
            stop = -1
            while stop < 0:
                # The healthy case only decodes and compares; anything else leaves the inner loop for one line.
                expected = sequence.next_seq
                try:
                    for line in file if sequence.rising else ():
                        event = decode_known(line)
                        if event.seq != expected:
                            break
                        expected += 1
                        yield event
                    else:
                        line = file.readline()
                except UNREADABLE:
                    pass  # ``line`` is the one; it is looked at below
                sequence.next_seq = expected
                begin = file.tell() - len(line)
                records = recover(line, byte=begin)
                for record in judged(records, sequence, self._path):
                    if not isinstance(record.item, Problem):
                        yield record.item
                if not line.endswith(b"\n"):
                    stop = max([begin, *(record.byte + record.length for record in _events(records))])
            self.cursor = Cursor(stop, sequence.next_seq)


def scan(path: str) -> Iterator[Record]:
    """Every event that counts and every problem of the bytes, ids and numbers, in file order; streaming.

    A problem of an event stands before it. The events are those that a ``Reader`` gives.

    Raises:
        LedgerNotFound: if the file isn't there.
        StorageError: if the system can't read it.
    """
    sequence = Sequence()
    byte = 0
    with reading(path) as file:
        for number, line in enumerate(file, 1):
            try:
                event = decode_known(line)
            except UNREADABLE:
                event = None
            if event is not None and sequence.rising and event.seq == sequence.next_seq:
                sequence.next_seq += 1
                yield Record(event, number, byte, len(line.rstrip()))
            else:
                yield from judged(recover(line, line=number, byte=byte), sequence, path)
            byte += len(line)


def health_of(records: Iterable[Record]) -> Health:
    """Count what a scan found."""
    kinds = Counter(record.item.kind if isinstance(record.item, Problem) else type(record.item) for record in records)
    return Health(
        events=sum(count for kind, count in kinds.items() if not isinstance(kind, Kind)),
        damaged=sum(kinds[kind] for kind in DAMAGE),
        duplicates=kinds[Kind.DUPLICATE_ID],
        unknown=kinds[UnknownEvent],
        fused=kinds[Kind.FUSED_LINE],
    )


def judged(records: Iterable[Record], sequence: Sequence, path: str) -> Iterator[Record]:
    """The records of one line with what ``sequence`` says to each event; duplicates become problems."""
    here: set[str] = set()
    for record in records:
        item = record.item
        if isinstance(item, Problem):
            yield record
            continue
        expected = sequence.next_seq
        kind = sequence.judge(item, partial(_ids_before, path, record.byte, here))
        here.add(item.id)
        if kind is not None:
            detail = f"{type_name(item)} {item.id} has seq {item.seq}, expected {expected}"
            place = {"line": record.line, "byte": record.byte, "length": record.length}
            yield Record(problem(kind, detail, **place), **place)
        if kind is not Kind.DUPLICATE_ID:
            yield record


@contextmanager
def reading(path: str) -> Generator[IO[bytes]]:
    """The log opened for a streaming read; what the system refuses becomes an exception of the ledger."""
    try:
        with open(path, "rb", buffering=_BUFFER) as file:
            yield file
    except FileNotFoundError:
        raise LedgerNotFound(path) from None
    except OSError as error:
        raise storage_error(error, path) from error


def _events(records: Iterable[Record]) -> Iterator[Record]:
    return (record for record in records if not isinstance(record.item, Problem))


def _ids_before(path: str, stop: int, here: set[str]) -> set[str]:
    """Ids of all events that begin before a byte; ``here`` are those of its own line."""
    ids = set(here)
    position = 0
    with reading(path) as file:
        for line in file:
            if position + len(line) > stop:
                break
            ids.update(record.item.id for record in recover(line) if not isinstance(record.item, Problem))
            position += len(line)
    return ids
