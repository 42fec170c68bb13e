"""The places of a cohort whose older part lies in a file: a list to whoever reads or changes it.

Places are sorted, and nearly all that is asked of a cohort is about its newest: which are the strongest, and where one
that is newer still belongs. So a checkpoint has those at hand, and the older ones as packed numbers that are read when
they are asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, SupportsIndex

from msgspec import Struct

from ledger.digests import blake2b
from ledger.files import close_file
from ledger.trust import open_own
from replay.archive import Damaged

__all__ = ["NEWEST", "NONE", "Older", "Place", "Row", "older_of", "read_older"]

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


class Row(list[Place]):
    """A sorted list of places.

    Its first place and those at its end can be read as it is, and the latter changed; whoever asks for more has all of
    it read. It can do what folds do with the places of a cohort.

    Args:
        newest: its end.
        older: what stands before that.
        read: reads those places.
    """

    def __init__(self, newest: list[Place], older: Older, read: Callable[[Older], list[Place]]) -> None:
        super().__init__(newest)
        self._older = older
        self._read = read

    def whole(self) -> Row:
        """The same with all places at hand.

        Raises:
            Damaged: if the older ones can't be read.
        """
        if self._older.count:
            older = self._read(self._older)
            self._older = NONE
            super().__setitem__(slice(0, 0), older)
        return self

    def copy(self) -> Row:
        """A row that changes by itself."""
        return Row(list(super().__iter__()), self._older, self._read)

    def insert(self, index: SupportsIndex, place: Place) -> None:
        """As a list's."""
        super().insert(self._at_hand(index), place)

    def __len__(self) -> int:
        return self._older.count + super().__len__()

    def __getitem__(self, index: Any) -> Any:
        if index == 0 and self._older.count:
            return self._older.first
        at: SupportsIndex = self._at_hand(index)  # or a slice, which none of those who hold one asks for
        return super().__getitem__(at)

    def __delitem__(self, index: Any) -> None:
        super().__delitem__(self._at_hand(index))

    def __iter__(self) -> Iterator[Place]:
        if self._older.count:
            yield self._older.first
            yield from islice(super(Row, self.whole()).__iter__(), 1, None)
        else:
            yield from super().__iter__()

    def __contains__(self, place: object) -> bool:
        return super(Row, self.whole()).__contains__(place)

    def __reversed__(self) -> Iterator[Place]:
        yield from super().__reversed__()
        if self._older.count:
            yield from reversed(self._read(self._older))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Row):
            other.whole()
        return super(Row, self.whole()).__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def _at_hand(self, index: Any) -> Any:
        """An index as one of the places at hand; all of them are, behind this, where it leads to another one."""
        count = self._older.count
        if count and type(index) is int:
            if index >= count:
                return index - count
            if -super().__len__() <= index < 0:
                return index
        self.whole()
        return index


def older_of(places: list[Place], packed: list[bytes]) -> tuple[list[Place], Older]:
    """The newest of a cohort's places, and where the others lie, which are added to ``packed``."""
    split = max(0, len(places) - NEWEST)
    if not split:
        return places, NONE
    clocks, numbers = zip(*places[:split], strict=True)
    data = b"".join(number.to_bytes(_WORD, "little", signed=True) for number in (*clocks, *numbers))
    older = Older(split, places[0], sum(map(len, packed)), _digest(data))
    packed.append(data)
    return places[split:], older


def read_older(path: str, head: int, older: Older) -> list[Place]:
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
    numbers = _numbers(data)
    return list(zip(numbers[: older.count], numbers[older.count :], strict=True))


def _numbers(data: bytes) -> list[int]:
    if sys.byteorder == "little":
        return memoryview(data).cast("q").tolist()
    words = range(0, len(data), _WORD)
    return [int.from_bytes(data[at : at + _WORD], "little", signed=True) for at in words]


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=_DIGEST).hexdigest()
