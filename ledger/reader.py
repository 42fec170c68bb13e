"""Streaming reads of a log file: every event that can be saved, once, in file order; nothing is ever written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from collections.abc import Sequence as Records
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import IO

from msgspec import Struct

from ledger.codec import SEQ_LIMIT, UNREADABLE, decode_known
from ledger.errors import LedgerNotFound, storage_error
from ledger.events import AnyEvent, UnknownEvent, type_name
from ledger.files import open_regular
from ledger.problems import DAMAGE, Kind, Problem, problem
from ledger.recovery import Record, recover
from ledger.sequence import Sequence

__all__ = ["START", "Cursor", "Health", "Leaf", "Leaves", "Reader", "health_of", "reading", "scan"]

_BUFFER = 1 << 20
_NOT_WHOLE = DAMAGE | {Kind.FUSED_LINE, Kind.DUPLICATE_ID}
"""What a line holds beside the one event that counts."""


class Cursor(Struct, frozen=True):
    """Where a read goes on: the byte at which the next line begins, and what ``Sequence`` keeps of those before."""

    byte: int = 0
    seq: int = 0
    highest: int = -1
    lowest_far: int = SEQ_LIMIT


START = Cursor()


class Leaf(Struct, frozen=True):
    """A valid event line.

    Attributes:
        event: what stands in it.
        line: its number, from 1 where the pass began at the start of the file.
        data: its bytes, without the line end.
    """

    event: AnyEvent
    line: int
    data: bytes


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
        sequence = Sequence(self.cursor.seq, self.cursor.highest, self.cursor.lowest_far)
        line = b""
        with reading(self._path) as file, reading(self._path) as earlier:
            ids = _Ids(earlier)
            file.seek(self.cursor.byte)
            stop = -1
            while stop < 0:
                # The healthy case only decodes and compares; anything else leaves the inner loop for one line.
                expected = sequence.next_seq
                try:
                    for line in islice(file, sequence.rising):
                        event = decode_known(line)
                        if event.seq != expected:
                            break
                        expected += 1
                        yield event
                    else:
                        line = file.readline()
                except UNREADABLE:
                    pass  # ``line`` is the one; it is looked at below
                if sequence.rising:
                    sequence.advance_to(expected)
                begin = file.tell() - len(line)
                records = recover(line, byte=begin)
                yield from _events_in(_judged(records, begin, sequence, ids))
                if not line.endswith(b"\n"):
                    stop = _end_of_events(records, begin)
            self.cursor = Cursor(stop, sequence.next_seq, sequence.highest, sequence.lowest_far)


def scan(path: str) -> Iterator[Record]:
    """Every event that counts and every problem of the bytes, ids and numbers, in file order; streaming.

    A problem of an event stands before it. The events are those that a ``Reader`` gives.

    Raises:
        LedgerNotFound: if the file isn't there.
        StorageError: if the system can't read it.
    """
    with reading(path) as file, reading(path) as earlier:
        for _, records in _judged_lines(file, _Ids(earlier), Sequence(), 0):
            yield from records


class Leaves:
    """One pass over the valid event lines behind a cursor, as the exact bytes that the hash tree is made of.

    Leaf i is the i-th event that counts, in file order: its line without the line end (LF, an optional CR before it).
    Where more than one event stands in a line, or damage beside it, it is the event's own bytes, so that a repair,
    which takes the damage out, keeps every leaf. Duplicates are none (docs/format.md).

    After the pass ``cursor`` says where the next one goes on, as that of a ``Reader`` does.

    Args:
        path: the log file.
        cursor: where to begin; from an earlier pass over the same file.
    """

    def __init__(self, path: str, cursor: Cursor = START) -> None:
        self.cursor = cursor
        self._path = path

    def __iter__(self) -> Iterator[Leaf]:
        """The leaves, streaming.

        Raises:
            LedgerNotFound: if the file isn't there.
            StorageError: if the system can't read it.
        """
        start = self.cursor
        sequence = Sequence(start.seq, start.highest, start.lowest_far)
        stop = start.byte
        with reading(self._path) as file, reading(self._path) as earlier:
            file.seek(start.byte)
            for line, records in _judged_lines(file, _Ids(earlier), sequence, start.byte):
                yield from _leaves_in(line, records, stop)
                whole = line.endswith(b"\n")
                stop = stop + len(line) if whole else _end_of_events(records, stop)
        self.cursor = Cursor(stop, sequence.next_seq, sequence.highest, sequence.lowest_far)


def _leaves_in(line: bytes, records: Records[Record], begin: int) -> Iterator[Leaf]:
    """The leaves of the line that begins at a byte."""
    problems = {record.item.kind for record in records if isinstance(record.item, Problem)}
    is_whole = problems.isdisjoint(_NOT_WHOLE)
    for record in records:
        if not isinstance(record.item, Problem):
            start = record.byte - begin
            data = line.removesuffix(b"\n").removesuffix(b"\r") if is_whole else line[start : start + record.length]
            yield Leaf(record.item, record.line, data)


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


def _judged_lines(file: IO[bytes], ids: _Ids, sequence: Sequence, byte: int) -> Iterator[tuple[bytes, Records[Record]]]:
    """Each line from a byte on, and its records. A healthy one is only decoded and compared."""
    for number, line in enumerate(file, 1):
        try:
            event = decode_known(line)
        except UNREADABLE:
            event = None
        if event is not None and event.seq == sequence.next_seq and sequence.rising:
            sequence.advance_to(event.seq + 1)
            yield line, (Record(event, number, byte, len(line.rstrip())),)
        else:
            yield line, tuple(_judged(recover(line, line=number, byte=byte), byte, sequence, ids))
        byte += len(line)


def _judged(records: Iterable[Record], begin: int, sequence: Sequence, ids: _Ids) -> Iterator[Record]:
    """The records of the line at byte ``begin``, with what is wrong with their order; duplicates become problems."""
    here: set[str] = set()
    for record in records:
        item = record.item
        if isinstance(item, Problem):
            yield record
            continue
        expected = sequence.next_seq
        kind = sequence.judge(item, record.byte + record.length, partial(ids.hold, begin, here))
        here.add(item.id)
        if kind is not None:
            detail = f"{type_name(item)} {item.id} has seq {item.seq}, expected {expected}"
            place = {"line": record.line, "byte": record.byte, "length": record.length}
            yield Record(problem(kind, detail, **place), **place)
        if kind is not Kind.DUPLICATE_ID:
            yield record


class _Ids:
    """The ids of a file's events, read behind the reader's back only as far as they are asked for."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._ids: set[str] = set()
        self._end = 0

    def hold(self, stop: int, here: set[str], event_id: str) -> bool:
        """Whether the id is among ``here`` or those of the events before byte ``stop``, which never falls."""
        while self._end < stop and (line := self._file.readline()[: stop - self._end]):
            self._ids.update(event.id for event in _events_in(recover(line)))
            self._end += len(line)
        return event_id in here or event_id in self._ids


def _end_of_events(records: Iterable[Record], begin: int) -> int:
    """Where a last line without line feed is read on: behind the last event in it, before what may be torn."""
    return max([begin, *(record.byte + record.length for record in records if not isinstance(record.item, Problem))])


def _events_in(records: Iterable[Record]) -> Iterator[AnyEvent]:
    return (record.item for record in records if not isinstance(record.item, Problem))


@contextmanager
def reading(path: str) -> Generator[IO[bytes]]:
    """The log opened for a streaming read; what the system refuses becomes an exception of the ledger."""
    try:
        with open(path, "rb", buffering=_BUFFER, opener=open_regular) as file:
            yield file
    except (FileNotFoundError, NotADirectoryError):
        raise LedgerNotFound(path) from None
    except OSError as error:
        raise storage_error(error, path) from error
