"""A file of records that are looked up one by one: each bucket is checked when it is read, and nothing else is read.

A hash table that is written once. Its buckets are JSON, one a line: ``[table, number, key, value]`` for each record. A
directory behind them gives place, length and digest of each bucket, and a mask in which each of its records has set
some bits; the digests of the directory's pages are with whoever names the file (``Layout``). So a lookup reads a page
and a bucket, whatever the size of the file, and nearly always the page alone for a key that isn't there. That one isn't
there is as certain as what is there.
"""

import os
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Raw, Struct

from ledger.digests import blake2b
from ledger.files import close_file
from ledger.trust import open_own

__all__ = ["FORMAT", "Archive", "Damaged", "Layout", "Record", "build"]

FORMAT = 3
"""Rises with each change of the bytes of an archive, or of what lies behind a checkpoint's JSON."""

_PER_BUCKET = 4
_PER_PAGE = 64
_DIGEST = 8
_ENTRY = 24 + _DIGEST
"""Bytes of a directory's entry: place, length, mask, digest."""
_HELD = 4096
"""Buckets that are held decoded."""


class Damaged(Exception):  # noqa: N818 - it is no error of anyone: what is derived is derived again
    """The file isn't what was written."""


class Layout(Struct, frozen=True):
    """What one has to know of an archive to trust what is read from it.

    Attributes:
        buckets: how many there are; a power of two isn't needed.
        directory: the byte at which the directory begins.
        pages: digests of its pages, in hex, one behind the other: thousands of texts would take a start longer to read.
        tables: the names of tables that have records.
    """

    buckets: int = 0
    directory: int = 0
    pages: str = ""
    tables: tuple[str, ...] = ()


class Record(Struct, frozen=True, array_like=True, gc=False):
    """A key of a table and its value; ``number`` says where it stands among the others of its table."""

    table: str
    number: int
    key: Raw
    value: Raw


_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder(tuple[Record, ...]).decode


def build(records: Iterable[Record]) -> tuple[bytes, Layout]:
    """The bytes of an archive, and its layout; O(records)."""
    kept = list(records)
    count = max(1, len(kept) // _PER_BUCKET)
    buckets: list[list[Record]] = [[] for _ in range(count)]
    masks = [0] * count
    for record in kept:
        place = _hash(record.table, bytes(record.key))
        buckets[place % count].append(record)
        masks[place % count] |= _mask(place)
    parts: list[bytes] = []
    entries: list[bytes] = []
    place = 0
    for bucket, mask in zip(buckets, masks, strict=True):
        data = _ENCODE(bucket) + b"\n"
        parts.append(data)
        entries.append(b"".join(number.to_bytes(8, "little") for number in (place, len(data), mask)) + _digest(data))
        place += len(data)
    pages = [b"".join(entries[first : first + _PER_PAGE]) for first in range(0, count, _PER_PAGE)]
    names = tuple(sorted({record.table for record in kept}))
    return b"".join([*parts, *pages]), Layout(count, place, "".join(_digest(page).hex() for page in pages), names)


class Archive:
    """An archive to look into; it is opened by the first look.

    Args:
        path: the file.
        layout: what it was written with.
    """

    def __init__(self, path: str, layout: Layout) -> None:
        self.path = path
        self.layout = layout
        self._names = frozenset(layout.tables)
        self._file = -1
        self._pages: dict[int, bytes] = {}
        self._buckets: dict[int, tuple[Record, ...]] = {}

    def find(self, table: str, key: bytes) -> Raw | None:
        """The value of a key, given as JSON; None if there is none.

        Raises:
            Damaged: if the file isn't there, or not what was written.
        """
        if table not in self._names:
            return None
        place = _hash(table, key)
        number = place % self.layout.buckets
        bucket = self._buckets.get(number)
        if bucket is None:
            entry, mask = self._entry(number), _mask(place)
            if int.from_bytes(entry[16:24], "little") & mask != mask:
                return None
            if len(self._buckets) >= _HELD:
                self._buckets.clear()
            bucket = self._buckets[number] = self._read_bucket(entry)
        for record in bucket:
            if record.table == table and bytes(record.key) == key:
                return record.value
        return None

    def tables(self) -> dict[str, list[Record]]:
        """All records by table, each table in its order; O(records).

        Raises:
            Damaged: as ``find``.
        """
        found: dict[str, list[Record]] = {}
        for record in self._all():
            found.setdefault(record.table, []).append(record)
        for records in found.values():
            records.sort(key=lambda record: record.number)
        return found

    def close(self) -> None:
        """Let go of the file; it can be used again all the same."""
        if self._file >= 0:
            close_file(self._file)
            self._file = -1

    def __del__(self) -> None:
        self.close()

    def _all(self) -> Iterator[Record]:
        for number in range(self.layout.buckets):
            yield from self._read_bucket(self._entry(number))

    def _read_bucket(self, entry: bytes) -> tuple[Record, ...]:
        place, length = int.from_bytes(entry[:8], "little"), int.from_bytes(entry[8:16], "little")
        return _DECODE(self._read(place, length, entry[24:]))

    def _entry(self, number: int) -> bytes:
        begin = number % _PER_PAGE * _ENTRY
        return self._page(number // _PER_PAGE)[begin : begin + _ENTRY]

    def _page(self, number: int) -> bytes:
        page = self._pages.get(number)
        if page is None:
            size = min(_PER_PAGE, self.layout.buckets - number * _PER_PAGE) * _ENTRY
            place = self.layout.directory + number * _PER_PAGE * _ENTRY
            digest = self.layout.pages[number * 2 * _DIGEST : (number + 1) * 2 * _DIGEST]
            page = self._pages[number] = self._read(place, size, bytes.fromhex(digest))
        return page

    def _read(self, place: int, length: int, digest: bytes) -> bytes:
        try:
            if self._file < 0:
                self._file = open_own(self.path)
            data = os.pread(self._file, length, place)
        except OSError as error:
            raise Damaged(self.path) from error
        if _digest(data) != digest:
            raise Damaged(self.path)
        return data


def _hash(table: str, key: bytes) -> int:
    """Where a record belongs: a bucket, and bits of its mask."""
    return int.from_bytes(blake2b(key, digest_size=_DIGEST, person=table.encode()[:16]).digest(), "little")


def _mask(place: int) -> int:
    """Three bits of 64: of a bucket's usual four records, others set all of them once in two hundred times."""
    return 1 << (place >> 58) | 1 << (place >> 52 & 63) | 1 << (place >> 46 & 63)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST).digest()
