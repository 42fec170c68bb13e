"""A purged text stays in no field of any event, but in those that name something (SPEC 15.4)."""

from __future__ import annotations

from typing import Any, cast

import msgspec
import pytest

from ledger.codec import encode
from ledger.events import EVENT_TYPES, Event
from projections.erasure.events import EventEraser
from projections.erasure.fields import NAMING, OURS, is_name, staying
from projections.erasure.texts import choose, history_of
from tests.support.purges import KEY

TEXTS = ("zebra crossing", "zebra", "口令")


def _planted(kind: Any, text: str = TEXTS[0]) -> Any:
    """A value of a type, with the text in every string that may be any; optional fields are given."""
    inspect = msgspec.inspect
    if isinstance(kind, inspect.StructType):
        fields = {field.encode_name: _planted(field.type, text) for field in kind.fields}
        return fields | ({kind.tag_field: kind.tag} if kind.tag_field else {})
    if isinstance(kind, inspect.UnionType):
        return _planted(next(one for one in kind.types if not isinstance(one, inspect.NoneType)), text)
    if isinstance(kind, inspect.LiteralType):
        return kind.values[0]
    if isinstance(kind, inspect.VarTupleType):
        return [_planted(kind.item_type, text)]
    if isinstance(kind, inspect.DictType):
        return {"any": f"a {text}"}
    return f"a {text}" if isinstance(kind, inspect.StrType) else 1 if isinstance(kind, inspect.IntType) else True


def _event(kind: type[Event], text: str, *, judged: bool) -> Event:
    """One that holds the text, or where it can, what was judged in its place; nothing is purged in it yet."""
    document = _planted(msgspec.inspect.type_info(kind), text) | {"specversion": "1.0"}
    data = document["data"]
    lines = data.get("judged", [])
    for one in (data, *lines, *data.get("outcomes", [])):
        one.pop("erased", None)
    if judged:
        data |= {name: "" for name in ("text", "section") if lines and name in data}
    elif lines:
        del data["judged"]
    return msgspec.convert(document, kind)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_a_text_stays_only_where_it_names_something(kind: type[Event], judged: bool, text: str) -> None:
    """Of whatever type an event is and wherever the text stands in it: a new field has to choose."""
    event = _event(kind, text, judged=judged)
    choice = choose(history_of([]), [], "purge", texts=(text,))
    changed = EventEraser(choice, KEY).erased(event)
    assert all(map(is_name, staying(encode(changed), choice.needles))), changed
    assert (type(changed), changed.id, changed.seq, changed.time) == (kind, event.id, event.seq, event.time)


def test_what_stays_is_listed_once_and_is_there() -> None:
    """No field is in both lists, and each is one of some event."""
    assert set() == NAMING & OURS
    known = {name for kind in EVENT_TYPES for name in _names(_planted(msgspec.inspect.type_info(kind)))}
    assert known >= NAMING | OURS


def _names(value: Any) -> set[str]:
    if isinstance(value, list | tuple):
        return {name for one in cast("list[Any]", value) for name in _names(one)}
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return set(fields) | {name for one in fields.values() for name in _names(one)}
    return set()
