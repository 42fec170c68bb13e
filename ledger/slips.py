"""A type that is one slip away from a known one whose data it carries: damage, and no type of a later release."""

from __future__ import annotations

import msgspec

from ledger.codec import TYPE_NAMES, UNREADABLE
from ledger.events import Event, UnknownEvent

__all__ = ["is_one_slip", "meant_type"]


def meant_type(event: UnknownEvent) -> str:
    """The known type that an unknown one was, before one of its characters was hit; empty if there is none.

    Linear in the length of the line, once for each known type that is near: hardly ever more than one.
    """
    return next((name for name in TYPE_NAMES.values() if is_one_slip(event.type, name) and _fits(event, name)), "")


def is_one_slip(one: str, other: str) -> bool:
    """Whether one change, one more or less, or one swap of neighbours makes a word of another (Damerau-Levenshtein)."""
    if one == other:
        return False
    same = (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    begin = next(same, min(len(one), len(other)))
    one, other = one[begin:], other[begin:]
    swapped = one[:2] == other[:2][::-1] and one[2:] == other[2:]
    return swapped or one[1:] == other[1:] or one[1:] == other or one == other[1:]


def _fits(event: UnknownEvent, name: str) -> bool:
    """Whether the line is an event of a known type."""
    try:
        msgspec.convert({**msgspec.json.decode(event.line), "type": name}, Event)
    except UNREADABLE:
        return False
    return True
