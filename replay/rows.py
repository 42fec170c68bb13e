"""The places of a cohort whose older part lies in a file: a list to whoever reads or changes it.

Places are sorted, and nearly all that is asked of a cohort is about its newest: which are the strongest, and where one
that is newer still belongs. So a checkpoint has those at hand, and the older ones as packed numbers that are read when
they are asked for.
"""

from __future__ import annotations

import os
import sys
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, SupportsIndex

from msgspec import Struct

from ledger.digests import blake2b
from ledger.files import close_file
from ledger.trust import open_own
from replay.archive import Damaged

__all__ = ["NEWEST", "NONE", "Older", "Packed", "Place", "Row", "older_of", "read_older"]

NEWEST = 40
"""Places of a cohort that are at hand: more than a block has lines (SPEC 2.6)."""
_DIGEST, _WORD = 8, 8

Place = tuple[int, int]
"""Clock and number of an entry."""


class Older(Struct, frozen=True, array_like=True):
    """Where the older places of a cohort lie.

    Attributes:
        count: how many there are.
        first: the oldest one.
        begin: their first byte behind the head of the file.
        digest: of their bytes, in hex.
    """

    count: int = 0
    first: Place = (0, 0)
    begin: int = 0
    digest: str = ""


NONE = Older()
"""All places are at hand."""


class Packed(Sequence[Place]):
    """Places as two columns of numbers: one is made when it is asked for.

    Args:
        numbers: the clocks of all, then the numbers of all.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        half = len(numbers) // 2
        self._clocks, self._numbers = numbers[:half], numbers[half:]

    def __len__(self) -> int:
        return len(self._clocks)

    def __getitem__(self, index: Any) -> Any:
        return self._clocks[index], self._numbers[index]

    def __iter__(self) -> Iterator[Place]:
        return zip(self._clocks, self._numbers, strict=True)


class Row(list[Place]):
    """A sorted list of places.

    Its first place and those at its end can be read as it is, and the latter changed. Its older part is read where one
    of it is looked at or goes; whoever asks for more, or adds one there, has all of it made a list. It can do what
    folds do with the places of a cohort.

    Args:
        newest: its end.
        older: what stands before that.
        read: reads those places.
    """

    def __init__(self, newest: list[Place], older: Older, read: Callable[[Older], Sequence[Place]]) -> None:
        super().__init__(newest)
        self._older = older
        self._read = read
        self._at_hand: Sequence[Place] | None = None
        self._gone: list[int] = []  # which of the older places, sorted
        self._left = older.count

    def whole(self) -> Row:
        """The same with all places at hand.

        Raises:
            Damaged: if the older ones can't be read.
        """
        if self._left:
            older = list(self._places())
            for index in reversed(self._gone):
                del older[index]
            self._left = 0
            super().__setitem__(slice(0, 0), older)
        return self

    def copy(self) -> Row:
        """A row that changes by itself."""
        row = Row(list(super().__iter__()), self._older, self._read)
        row._at_hand, row._gone, row._left = self._at_hand, self._gone.copy(), self._left
        return row

    def insert(self, index: SupportsIndex, place: Place) -> None:
        """As a list's."""
        at = int(index)
        if 0 <= at < self._left:
            self.whole()
        super().insert(at - self._left if at >= 0 else at, place)

    def __len__(self) -> int:
        return self._left + super().__len__()

    def __getitem__(self, index: Any) -> Any:
        if self._left and type(index) is int:
            at = index if index >= 0 else index + len(self)
            if at >= self._left:
                return super().__getitem__(at - self._left)
            if at >= 0:
                return self._older_place(at)
        return super(Row, self.whole()).__getitem__(index)  # a slice, or no place of the row

    def __delitem__(self, index: Any) -> None:
        if self._left and type(index) is int and 0 <= index < len(self):
            if index >= self._left:
                super().__delitem__(index - self._left)
            else:
                insort(self._gone, self._number(index))
                self._left -= 1
        else:
            super(Row, self.whole()).__delitem__(index)

    def __iter__(self) -> Iterator[Place]:
        if self._left:
            yield self._older_place(0)
            yield from islice(super(Row, self.whole()).__iter__(), 1, None)
        else:
            yield from super().__iter__()

    def __contains__(self, place: object) -> bool:
        return super(Row, self.whole()).__contains__(place)

    def __reversed__(self) -> Iterator[Place]:
        yield from super().__reversed__()
        for index in range(self._left - 1, -1, -1):
            yield self._older_place(index)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Row):
            other.whole()
        return super(Row, self.whole()).__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def _older_place(self, index: int) -> Place:
        """One of the older places that are left."""
        number = self._number(index)
        return self._places()[number] if number else self._older.first

    def _number(self, index: int) -> int:
        """Which of the older places it is, those that have gone counted."""
        for gone in self._gone:
            if gone > index:
                break
            index += 1
        return index

    def _places(self) -> Sequence[Place]:
        if self._at_hand is None:
            self._at_hand = self._read(self._older)
        return self._at_hand


def older_of(places: list[Place], packed: list[bytes]) -> tuple[list[Place], Older]:
    """The newest of a cohort's places, and where the others lie, which are added to ``packed``."""
    split = max(0, len(places) - NEWEST)
    if not split:
        return list(places), NONE  # a row writes none of its older places by itself
    clocks, numbers = zip(*places[:split], strict=True)
    data = b"".join(number.to_bytes(_WORD, "little", signed=True) for number in (*clocks, *numbers))
    older = Older(split, places[0], sum(map(len, packed)), _digest(data))
    packed.append(data)
    return places[split:], older


def read_older(path: str, head: int, older: Older) -> Packed:
    """The older places of a cohort.

    Args:
        path: the file.
        head: bytes of it that stand before all such places.
        older: where they lie.

    Raises:
        Damaged: if they aren't what was written.
    """
    size = 2 * _WORD * older.count
    try:
        descriptor = open_own(path)
        try:
            data = os.pread(descriptor, size, head + older.begin)
        finally:
            close_file(descriptor)
    except OSError as error:
        raise Damaged(path) from error
    if _digest(data) != older.digest:
        raise Damaged(path)
    return Packed(_numbers(data))


def _numbers(data: bytes) -> Sequence[int]:
    if sys.byteorder == "little":
        return memoryview(data).cast("q")
    words = range(0, len(data), _WORD)
    return [int.from_bytes(data[at : at + _WORD], "little", signed=True) for at in words]


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=_DIGEST).hexdigest()
