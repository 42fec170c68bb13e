"""Recordings of the real client, fed line by line into a real bridge."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledger.events import AnyEvent, LedgerCreated, SessionStarted
from tests.hosts.calls import NAMES, recorded
from tests.support.bridge import Child, as_forwarded, events_of, remembered
from tests.support.cli import RECORDINGS, home, run

WORKSPACE = "/workspace/demo"
_LIVE_ALONE = frozenset({"prompt.rendered", "rules.loaded", "compaction.prepared", "ledger.sealed"})
"""What only a client that is really there brings about, and heads, which an ingestion writes once, at its end."""


def _told(events: Iterable[AnyEvent]) -> list[object]:
    told: list[object] = []
    for event in events:
        if type(event).__struct_config__.tag in _LIVE_ALONE or isinstance(event, LedgerCreated):
            continue
        data = event.data  # type: ignore[union-attr]  # there are no unknown events
        if isinstance(event, SessionStarted):
            data = replace(event.data, delivery=replace(event.data.delivery, tools=True))
        told.append((type(event).__struct_config__.tag, event.source, event.time, data))
    return told


def _ingested(folder: Path, name: str) -> list[AnyEvent]:
    with home(folder):
        assert run("ingest", "opencode", str(RECORDINGS / f"{name}.jsonl")).code == 0
    return events_of(folder, WORKSPACE)


@pytest.mark.parametrize("name", NAMES)
def test_bridge_records_what_ingest_does(tmp_path: Path, name: str) -> None:
    """A recording sent to a bridge gives the events that ingesting it gives, in their order, and refuses no line."""
    with Child(tmp_path / "live") as child:
        answers = child.feed(record for record in recorded(name) if record["hook"] != "mark")
    assert [answer["id"] for answer in answers] == list(range(1, child.sent + 1))
    assert not [answer for answer in answers if "refused" in answer]
    live = events_of(tmp_path / "live", WORKSPACE)
    (tmp_path / "ingested").mkdir()
    assert _told(live) == _told(_ingested(tmp_path / "ingested", name))


@pytest.mark.parametrize("name", NAMES)
def test_what_the_plugin_forwards_is_enough(tmp_path: Path, name: str) -> None:
    """The few events that a plugin forwards lead to the same memories as all of them."""
    with Child(tmp_path / "live") as child:
        child.feed(as_forwarded(recorded(name)))
    (tmp_path / "ingested").mkdir()
    assert remembered(events_of(tmp_path / "live", WORKSPACE)) == remembered(_ingested(tmp_path / "ingested", name))
