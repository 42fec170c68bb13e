"""Feed a recording of a host's hooks into a ledger; the same recording adds nothing a second time."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ledger.codec import type_name
from ledger.events import Draft
from ledger.ids import uuid7
from ledger.times import parse_time
from memfold.hosts.opencode import OpenCodeTranslator
from memfold.hosts.recording import read_recording
from memfold.workspace import Workspace

__all__ = ["Ingested", "event_id", "ingest_recording"]


class Ingested(Struct, frozen=True):
    """What a recording led to.

    Attributes:
        records: hook records read.
        events: events written, by type, most frequent first.
        sessions: sources of the sessions they belong to, in order of their first event.
        known: events left out because the ledger holds them already.
        skipped: why records were skipped, and how often.
    """

    records: int
    events: dict[str, int]
    sessions: tuple[str, ...]
    known: int
    skipped: dict[str, int]


def ingest_recording(path: Path, workspace: Workspace) -> Ingested:
    """Translate a recording and append all it leads to with one write. O(size of the recording and the ledger).

    Ids are derived from the recording, so the ledger knows what it holds already; of a recording that has grown
    since, only the new end is added.

    Args:
        path: a recording of OpenCode's hooks.
        workspace: where its events go.

    Raises:
        RecordingError: if the file is no recording; nothing was written.
        OSError: if the file can't be read.
        LedgerError: if the events can't be stored.
    """
    history = hashlib.sha256()
    translator = OpenCodeTranslator(workspace.capture)
    drafts: list[Draft] = []
    number = 0
    for number, record in enumerate(read_recording(path), 1):
        history.update(b"%d:%b\n" % (number, json.dumps(record).encode()))
        drafts += [
            replace(draft, id=event_id(history.digest(), index, draft.time))
            for index, draft in enumerate(translator.feed(record))
        ]
    written = workspace.record(drafts)
    return Ingested(
        records=number,
        events=dict(Counter(type_name(event) for event in written).most_common()),
        sessions=tuple(dict.fromkeys(event.source for event in written if "/" in event.source)),
        known=len(drafts) - len(written),
        skipped=dict(translator.skipped.most_common()),
    )


def event_id(history: bytes, index: int, time: str | None) -> str:
    """The UUIDv7 of an event that a recording leads to: the same wherever and whenever it is ingested.

    Args:
        history: digest of the recording up to the record that leads to the event.
        index: which of that record's events.
        time: of the event.
    """
    return uuid7(parse_time(time) or 0, hashlib.sha256(b"%b/%d" % (history, index)).digest())
