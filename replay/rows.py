"""The places of a cohort whose older part lies in a file: a list to whoever reads or changes it.

Places are sorted, and nearly all that is asked of a cohort is about its newest: which are the strongest, and where one
that is newer still belongs. So a checkpoint has those at hand, and the older ones as packed numbers that are read when
they are asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex

from msgspec import Struct

from ledger.digests import blake2b
from ledger.files import close_file
from ledger.trust import open_own
from replay.archive import Damaged

if TYPE_CHECKING:
    from struct import Struct as Layout

__all__ = ["NEWEST", "Older", "Place", "Row", "older_of", "read_older"]

NEWEST = 40
"""Places of a cohort that are at hand: more than a block has lines (SPEC 2.6)."""
_DIGEST = 8

Place = tuple[int, int]
"""Clock and number of an entry."""


class Older(Struct, frozen=True, array_like=True):
    """Where the older places of a cohort lie.

    Attributes:
        count: how many there are.
        begin: their first byte behind the head of the file.
        digest: of their bytes, in hex.
    """

    count: int = 0
    begin: int = 0
    digest: str = ""


class Row(list[Place]):
    """A sorted list of places.

    What stands at its end can be read, and added to, as it is; whoever asks for more has all of it read. It can do
    what folds do with the places of a cohort.

    Args:
        newest: its end.
        count: how many stand before that.
        read: reads those.
    """

    def __init__(self, newest: list[Place], count: int, read: Callable[[], list[Place]]) -> None:
        super().__init__(newest)
        self._count = count
        self._read = read

    def whole(self) -> Row:
        """The same with all places at hand.

        Raises:
            Damaged: if the older ones can't be read.
        """
        if self._count:
            older = self._read()
            self._count = 0
            super().__setitem__(slice(0, 0), older)
        return self

    def copy(self) -> Row:
        """A row that changes by itself."""
        return Row(list(super().__iter__()), self._count, self._read)

    def insert(self, index: SupportsIndex, place: Place) -> None:
        """As a list's."""
        super(Row, self.whole()).insert(index, place)

    def __len__(self) -> int:
        return self._count + super().__len__()

    def __getitem__(self, index: Any) -> Any:
        if not (type(index) is int and -super().__len__() <= index < 0):
            self.whole()
        return super().__getitem__(index)

    def __delitem__(self, index: Any) -> None:
        super(Row, self.whole()).__delitem__(index)

    def __iter__(self) -> Iterator[Place]:
        return super(Row, self.whole()).__iter__()

    def __contains__(self, place: object) -> bool:
        return super(Row, self.whole()).__contains__(place)

    def __reversed__(self) -> Iterator[Place]:
        yield from super().__reversed__()
        if self._count:
            yield from reversed(self._read())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Row):
            other.whole()
        return super(Row, self.whole()).__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None


def older_of(places: list[Place], packed: list[bytes]) -> tuple[list[Place], Older]:
    """The newest of a cohort's places, and where the others lie, which are added to ``packed``."""
    split = max(0, len(places) - NEWEST)
    if not split:
        return places, Older()
    clocks, numbers = zip(*places[:split], strict=True)
    data = _layout(split).pack(*clocks, *numbers)
    older = Older(split, sum(map(len, packed)), _digest(data))
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
    layout = _layout(older.count)
    try:
        descriptor = open_own(path)
        try:
            data = os.pread(descriptor, layout.size, head + older.begin)
        finally:
            close_file(descriptor)
    except OSError as error:
        raise Damaged(path) from error
    if _digest(data) != older.digest:
        raise Damaged(path)
    numbers = layout.unpack(data)
    return list(zip(numbers[: older.count], numbers[older.count :], strict=True))


def _layout(count: int) -> Layout:
    from struct import Struct as Layout

    return Layout(f"<{2 * count}q")


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=_DIGEST).hexdigest()
