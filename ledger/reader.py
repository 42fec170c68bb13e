"""Streaming reads of a log file: every event that can be saved, once, in file order; nothing is ever written."""

from __future__ import annotations

import errno
import os
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
from ledger.events import AnyEvent, Event, UnknownEvent, type_name
from ledger.files import open_regular
from ledger.problems import DAMAGE, Kind, Problem, problem
from ledger.recovery import Record, recover
from ledger.sequence import Sequence

__all__ = [
    "START",
    "Cursor",
    "Health",
    "IdsBefore",
    "Reader",
    "Tally",
    "end_of_events",
    "events_of",
    "health_of",
    "judged_lines",
    "reading",
    "reading_twice",
    "scan",
]

_BUFFER = 1 << 20
_ROUNDS = 100
"""How often a log may be replaced between two openings."""


class Cursor(Struct, frozen=True):
    """Where a read goes on: the byte at which the next line begins, and what ``Sequence`` keeps of those before."""

    byte: int = 0
    seq: int = 0
    highest: int = -1
    lowest_far: int = SEQ_LIMIT


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
        skipped: takes the byte of each damaged piece that the pass skips.
    """

    def __init__(self, path: str, cursor: Cursor = START, skipped: set[int] | None = None) -> None:
        self.cursor = cursor
        self._path = path
        self._skipped = skipped

    def __iter__(self) -> Iterator[AnyEvent]:
        """The events, streaming: memory doesn't grow with a healthy log.

        Raises:
            LedgerNotFound: if the file isn't there.
            StorageError: if the system can't read it.
        """
        sequence = Sequence(self.cursor.seq, self.cursor.highest, self.cursor.lowest_far)
        with reading_twice(self._path) as (file, earlier):
            file.seek(self.cursor.byte)
            stop = yield from events_of(file, sequence, IdsBefore(earlier), skipped=self._skipped)
            self.cursor = Cursor(stop, sequence.next_seq, sequence.highest, sequence.lowest_far)


def scan(path: str) -> Iterator[Record]:
    """Every event that counts and every problem of the bytes, ids and numbers, in file order; streaming.

    A problem of an event stands before it. The events are those that a ``Reader`` gives.

    Raises:
        LedgerNotFound: if the file isn't there.
        StorageError: if the system can't read it.
    """
    with reading_twice(path) as (file, earlier):
        for _, records in judged_lines(file, earlier, Sequence()):
            yield from records


def judged_lines(
    file: IO[bytes], earlier: IO[bytes], sequence: Sequence, byte: int = 0
) -> Iterator[tuple[bytes, Records[Record]]]:
    """Each line from a byte on, and its records, as ``scan`` gives them. A healthy one is only decoded and compared.

    Args:
        file: the log, at the byte.
        earlier: the same file once more, for looking at lines before.
        sequence: what is known of the lines before.
        byte: where the first line begins.
    """
    ids = IdsBefore(earlier)
    for number, line in enumerate(file, 1):
        try:
            event = decode_known(line)
        except UNREADABLE:
            event = None
        if event is not None and event.seq == sequence.next_seq and sequence.rising:
            sequence.advance_to(event.seq + 1)
            yield line, (Record(event, number, byte, len(line.rstrip())),)
        else:
            yield line, tuple(_judged(recover(line, line=number, byte=byte), byte, len(line), sequence, ids))
        byte += len(line)


class Tally:
    """Counts what a scan finds."""

    def __init__(self) -> None:
        self._kinds: Counter[object] = Counter()

    def take(self, record: Record) -> None:
        """Take in the next record."""
        item = record.item
        self._kinds[item.kind if isinstance(item, Problem) else type(item)] += 1

    def health(self) -> Health:
        """What was found."""
        kinds = self._kinds
        return Health(
            events=sum(count for kind, count in kinds.items() if not isinstance(kind, Kind)),
            damaged=sum(kinds[kind] for kind in DAMAGE),
            duplicates=kinds[Kind.DUPLICATE_ID],
            unknown=kinds[UnknownEvent],
            fused=kinds[Kind.FUSED_LINE],
        )


def health_of(records: Iterable[Record]) -> Health:
    """Count what a scan found."""
    tally = Tally()
    for record in records:
        tally.take(record)
    return tally.health()


def events_of(
    file: IO[bytes], sequence: Sequence, ids: IdsBefore, base: int = 0, skipped: set[int] | None = None
) -> Generator[AnyEvent, None, int]:
    """The events that count from a file's position to its end; the byte at which the next read goes on.

    Args:
        file: the log, or whole lines of it.
        sequence: what is known of the lines before; it is brought up to date.
        ids: the ids of all events before.
        base: the byte of the log at which the file begins.
        skipped: takes in the bytes at which damaged pieces begin.
    """
    line = b""
    while True:
        odd: Event | None = None
        if sequence.rising:
            # The healthy case only decodes and compares; anything else leaves the inner loop for one line.
            expected = sequence.next_seq
            try:
                for line in islice(file, sequence.rising):
                    event = decode_known(line)
                    if event.seq != expected:
                        odd = event if 0 <= event.seq < SEQ_LIMIT else None  # which is no event
                        break
                    expected += 1
                    yield event
                else:
                    line = file.readline()
            except UNREADABLE:
                pass  # ``line`` is the one; it is looked at below
            sequence.advance_to(expected)
        else:
            line = yield from _looked_up(file, sequence, ids, base)
        begin = base + file.tell() - len(line)
        if odd is not None:
            if _counts(odd, line, begin, sequence, ids):
                yield odd
            end = begin + len(line.rstrip())
        else:
            records = _recovered(line, begin, skipped)
            yield from _events_in(_judged(records, begin, len(line), sequence, ids))
            end = end_of_events(records, begin)
        if not line.endswith(b"\n"):
            return end


def _counts(event: Event, line: bytes, begin: int, sequence: Sequence, ids: IdsBefore) -> bool:
    """Whether a healthy line of another number than the expected one counts, as one behind a gap does and a copy not.

    Nothing of it is damaged, so it is judged as it is, without what ``_judged`` has to say.
    """
    kind = sequence.judge(event, begin + len(line.rstrip()), partial(_came_before, ids, begin))
    ids.take(begin, len(line), (event.id,))
    return kind is not Kind.DUPLICATE_ID


def _recovered(line: bytes, begin: int, skipped: set[int] | None) -> list[Record]:
    records = recover(line, byte=begin)
    if skipped is not None:
        skipped.update(record.byte for record in records if _is_damage(record))
    return records


def _came_before(ids: IdsBefore, begin: int, event_id: str) -> bool:
    return event_id in ids.before(begin)


def _looked_up(file: IO[bytes], sequence: Sequence, ids: IdsBefore, base: int) -> Generator[AnyEvent, None, bytes]:
    """Events that come as expected while numbers are not new, each looked up by its id; the first line that is not so.

    One number that is too high makes all later ones such, until they have risen above it.
    """
    known = ids.before(base + file.tell())
    expected = sequence.next_seq
    line = b""
    try:
        for line in islice(file, sequence.not_new):
            event = decode_known(line)
            if event.seq != expected or event.id in known:
                break
            known.add(event.id)
            expected += 1
            yield event
        else:
            line = file.readline()
    except UNREADABLE:
        pass  # as for a healthy log
    sequence.advance_to(expected)
    ids.known_to(base + file.tell() - len(line))
    return line


def _judged(records: Iterable[Record], begin: int, length: int, sequence: Sequence, ids: IdsBefore) -> Iterator[Record]:
    """The records of the line at byte ``begin``, with what is wrong with their order; duplicates become problems."""
    here: list[str] = []

    def came_before(event_id: str) -> bool:
        return event_id in here or event_id in ids.before(begin)

    for record in records:
        item = record.item
        if isinstance(item, Problem):
            yield record
            continue
        expected = sequence.next_seq
        kind = sequence.judge(item, record.byte + record.length, came_before)
        here.append(item.id)
        if kind is not None:
            detail = f"{type_name(item)} {item.id} has seq {item.seq}, expected {expected}"
            line, byte, size = record.line, record.byte, record.length
            yield Record(problem(kind, detail, line=line, byte=byte, length=size), line, byte, size)
        if kind is not Kind.DUPLICATE_ID:
            yield record
    ids.take(begin, length, here)


class IdsBefore:
    """The ids of a file's events, kept only as far as they are asked for.

    Lines that a reader looks up or judges it hands over; those that it passed before are read behind its back.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._ids: set[str] = set()
        self._end = 0

    def before(self, stop: int) -> set[str]:
        """The ids of all events before byte ``stop``, which never falls. Whoever adds some says how far they go."""
        if self._end < stop:
            self._file.seek(self._end)
            while self._end < stop and (line := self._file.readline()[: stop - self._end]):
                self._add(line)
                self._end += len(line)
        return self._ids

    def _add(self, line: bytes) -> None:
        try:
            event = decode_known(line)
        except UNREADABLE:
            self._ids.update(event.id for event in _events_in(recover(line)))
        else:
            if 0 <= event.seq < SEQ_LIMIT:  # else it is no event
                self._ids.add(event.id)

    def known_to(self, end: int) -> None:
        """Those of all events before byte ``end`` were added."""
        self._end = end

    def take(self, begin: int, length: int, ids: Iterable[str]) -> None:
        """Add those of ``length`` bytes from ``begin`` on, if all before them are known."""
        if begin == self._end:
            self._ids.update(ids)
            self._end += length


def end_of_events(records: Iterable[Record], begin: int) -> int:
    """Where a last line without line feed is read on: behind the last event in it, before what may be torn."""
    return max([begin, *(record.byte + record.length for record in records if not isinstance(record.item, Problem))])


def _is_damage(record: Record) -> bool:
    return isinstance(record.item, Problem) and record.item.kind in DAMAGE


def _events_in(records: Iterable[Record]) -> Iterator[AnyEvent]:
    return (record.item for record in records if not isinstance(record.item, Problem))


@contextmanager
def reading_twice(path: str) -> Generator[tuple[IO[bytes], IO[bytes]]]:
    """The same file opened twice as by ``reading``, whatever else is put in its place meanwhile.

    Two openings of a name may be of two files, and what one says of ids would be told of the other's lines.
    """
    for _ in range(_ROUNDS):
        with reading(path) as file, reading(path) as again:
            if os.path.samestat(os.fstat(file.fileno()), os.fstat(again.fileno())):
                yield file, again
                return
    raise storage_error(OSError(errno.ESTALE, os.strerror(errno.ESTALE), path), path)


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
