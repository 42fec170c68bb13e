"""What a log holds, by type of event."""

from __future__ import annotations

from msgspec.structs import replace

from ledger.events import UnknownEvent
from memfold.arrivals import Arrivals
from tests.support.logs import memory


def test_types_are_counted_and_their_last_events_kept() -> None:
    """Latest first; types of other releases by their names."""
    arrivals = Arrivals()
    odd = [
        UnknownEvent(type=name, specversion="1.0", id=f"u{seq}", source="h/s", seq=seq, line=b"{}")
        for seq, name in ((1, "a.b"), (3, "c.d"), (4, "a.b"))
    ]
    for event in (memory(0), odd[0], memory(2), odd[1], odd[2]):
        arrivals.take(event)
    assert list(arrivals.by_type()) == [("a.b", 2, odd[2]), ("c.d", 1, odd[1]), ("memory.added", 2, memory(2))]


def test_what_no_client_reported_is_none_of_its_events() -> None:
    """Commands, hand edits and imports have a source of ours."""
    arrivals = Arrivals()
    arrivals.take(replace(memory(0), source="memfold"))
    assert arrivals.from_client is None
    reported = memory(1)
    for event in (reported, replace(memory(2), source="memfold"), replace(memory(3), source="memfold")):
        arrivals.take(event)
    assert arrivals.from_client == reported
