"""Tables of a state whose older part lies in an archive: dictionaries to whoever reads or changes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Raw, Struct

from replay.archive import Archive, Record

__all__ = ["Codec", "Table", "changes_of", "records_of"]

K = TypeVar("K")
V = TypeVar("V")

_ENCODE = msgspec.json.Encoder().encode
_MISSING: Any = object()


class Codec(Struct, frozen=True):
    """How the keys and values of one table are read."""

    name: str
    key: Callable[[Raw], Any]
    value: Callable[[Raw], Any]


class Table(dict[K, V]):
    """A dictionary over a part of an archive, with all that was changed since that was written.

    A key is looked up when it is asked for. Whoever asks for all of them, or for their number, has all of them read,
    in the order that a dictionary would have them in; from then on it is one.

    Args:
        archive: the older part.
        codec: how it is read.
        changed: keys that came or got another value since.
        gone: keys that were deleted since; one of ``changed`` has come again then, and stands at the end.
        near: values that a lookup would find; what one has found, or not, comes to them, for an event asks again.
    """

    def __init__(
        self,
        archive: Archive,
        codec: Codec,
        changed: Iterable[tuple[K, V]] = (),
        gone: Iterable[K] = (),
        near: Mapping[K, V] | None = None,
    ) -> None:
        super().__init__(changed)
        self._near: dict[K, Any] = {} if near is None else {**near}
        self.archive = archive
        self._codec = codec
        self._gone: dict[K, None] = dict.fromkeys(gone)
        self._changed: dict[K, None] | None = None

    def read_all(self, records: Iterable[Record]) -> None:
        """Have all keys at hand from now on, given the archive's own records in their order.

        Raises:
            Damaged: if one can't be read.
        """
        if self._changed is not None:
            return
        changed = dict(super().items())
        whole: dict[K, V] = {}
        for record in records:
            key = self._codec.key(record.key)
            if key not in self._gone:
                whole[key] = changed[key] if key in changed else self._codec.value(record.value)
        super().clear()
        super().update(whole)
        super().update(changed)
        self._changed = dict.fromkeys(changed)

    def start_counting(self) -> None:
        """What is at hand is what the archive was just written of: nothing has changed yet."""
        self._changed = {}

    def since(self) -> tuple[list[tuple[K, V]], list[K]]:
        """What was changed since the archive was written, and which keys were deleted."""
        changed = super().keys() if self._changed is None else self._changed
        return [(key, super(Table, self).__getitem__(key)) for key in changed], list(self._gone)

    def get(self, key: K, default: Any = None) -> Any:
        """As a dictionary's."""
        found = super().get(key, _MISSING)
        if found is not _MISSING:
            return found
        if self._changed is not None or key in self._gone:
            return default
        if key not in self._near:
            value = self.archive.find(self._codec.name, _ENCODE(key))
            self._near[key] = _MISSING if value is None else self._codec.value(value)
        found = self._near[key]
        return default if found is _MISSING else found

    def pop(self, key: K, *default: Any) -> Any:
        """As a dictionary's."""
        found = self.get(key, _MISSING)
        if found is _MISSING:
            if default:
                return default[0]
            raise KeyError(key)
        super().pop(key, None)
        self._gone[key] = None
        if self._changed is not None:
            self._changed.pop(key, None)
        return found

    def setdefault(self, key: K, default: Any = None) -> Any:
        """As a dictionary's."""
        found = self.get(key, _MISSING)
        if found is _MISSING:
            self[key] = found = default
        return found

    def copy(self) -> Table[K, V]:
        """A table that changes by itself."""
        table = Table(self.archive, self._codec, super().items(), self._gone, self._near)
        table._changed = None if self._changed is None else self._changed.copy()
        return table

    def keys(self) -> Any:
        """As a dictionary's."""
        self._need_all()
        return super().keys()

    def values(self) -> Any:
        """As a dictionary's."""
        self._need_all()
        return super().values()

    def items(self) -> Any:
        """As a dictionary's."""
        self._need_all()
        return super().items()

    def __getitem__(self, key: K) -> V:
        found = self.get(key, _MISSING)
        if found is _MISSING:
            raise KeyError(key)
        return cast("V", found)

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if self._changed is not None:
            self._changed[key] = None

    def __delitem__(self, key: K) -> None:
        self.pop(key)

    def __contains__(self, key: object) -> bool:
        return self.get(cast("K", key), _MISSING) is not _MISSING

    def __iter__(self) -> Iterator[K]:
        self._need_all()
        return super().__iter__()

    def __reversed__(self) -> Iterator[K]:
        self._need_all()
        return super().__reversed__()

    def __len__(self) -> int:
        self._need_all()
        return super().__len__()

    def __eq__(self, other: object) -> bool:
        same = other
        for table in (self, other):
            if isinstance(table, Table):
                table._need_all()
        return super().__eq__(same)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def _need_all(self) -> None:
        if self._changed is None:
            self.read_all(self.archive.tables().get(self._codec.name, ()))


def records_of(name: str, items: dict[K, V]) -> Iterator[Record]:
    """The records of an archive for a table."""
    for number, (key, value) in enumerate(items.items()):
        yield Record(name, number, Raw(_ENCODE(key)), Raw(_ENCODE(value)))


def changes_of(items: dict[K, V], archive: Archive) -> tuple[list[tuple[K, V]], list[K]] | None:
    """What a table has that an archive hasn't, and what it hasn't any more; None where nobody has kept count."""
    return items.since() if isinstance(items, Table) and items.archive is archive else None
