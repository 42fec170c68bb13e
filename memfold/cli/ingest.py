"""``memfold ingest``: a recording of a host's hooks becomes events of its workspace's ledger, once."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from shlex import quote

import msgspec

from ledger.codec import TYPE_NAMES
from ledger.events import DATA_TO_EVENT, Draft, type_name
from ledger.ids import MonotonicIds, uuid7
from ledger.log import FileLog
from ledger.pin import Pin
from ledger.source import OWN_SOURCE, split_source
from ledger.times import parse_time
from memfold.capture import Capture
from memfold.cli.config import finding_line, finding_parts
from memfold.cli.console import Console
from memfold.cli.documents.health import IngestDocument
from memfold.cli.lost import require_no_loss
from memfold.cli.parsing import choice, json_option, ledger_options
from memfold.cli.place import Place, current_folder, find_place
from memfold.cli.words import plural
from memfold.errors import ConfigError, DataError, NotFoundError
from memfold.hosts.opencode import OpenCodeTranslator, delivery_of
from memfold.hosts.recording import RecordingError, read_recording, workspace_of
from memfold.paths import is_project, workspace_key
from memfold.terminal import is_dumb
from memfold.workspace import Workspace
from projections.policy import Context
from projections.text.clean import decode
from replay.kept import keep_all

__all__ = ["configure", "ingest", "run"]

_HOST = "opencode"
"""Source of the events that memfold writes of itself."""
_PATIENCE = 1.0
"""Seconds before progress is shown."""
_STEP = 500


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    choice(parser, "host", (_HOST,), "host", "the host that was recorded")
    parser.add_argument("recording", metavar="RECORDING", help="a JSON Lines file of hook records")
    ledger_options(parser, "the one that the recording names")
    json_option(parser)


def run(options: Namespace) -> int:
    """Ingest a recording and report what came of it."""
    document = ingest(options, Path(options.recording))
    console = Console(options)
    if options.json:
        console.emit(document)
    else:
        _print(console, document, "--ledger" if options.ledger is not None else "--workspace")
    return 0


def ingest(options: Namespace, path: Path) -> IngestDocument:
    """Feed a recording into the ledger that the options name, else into that of the recording's workspace.

    The whole recording is read and translated before anything is written, and written in one append. Ids of events
    are made from the recording itself, so what stands in the log already is not written again: the same recording
    a second time, or a longer one of the same session, adds only what is new.

    Raises:
        DataError: if the file is no recording.
        NotFoundError: if there is no such file.
        ConfigError: if memory is switched off.
    """
    records = _read(path)
    place = find_place(options, workspace_of(records) or current_folder())
    root = place.root
    config = place.resolved.config
    if not config.enabled:
        raise ConfigError("memory is switched off, so nothing was written", "MEMFOLD=on, or enabled = true")
    translator = OpenCodeTranslator(
        Capture(_HOST, Context(config.policy, root), delivery=delivery_of(config, tools=False))
    )
    drafts, seed = _translate(translator, records)
    if not drafts:
        raise DataError(f"{decode(str(path))} holds no event that a ledger keeps", "record a session with a prompt")
    before = _size(place.directory)
    require_no_loss(options, place)
    with _open(place, drafts, seed) as log:
        latest = max((parse_time(event.time) or 0 for event in log.read()), default=0) if before else 0
        workspace = Workspace(log, root, config.policy, host=_HOST)
        workspace.record(drafts)
        workspace.seal()
        after = log.size()  # a foreign line may have any number
        new = [event for event in log.read(before) if event.seq < after]
        written = [event for event in new if event.source != OWN_SOURCE]
        with Pin(log) as pin:
            keep_all(log.directory, log.read(), pin)
    names = [TYPE_NAMES[DATA_TO_EVENT[type(draft.data)]] for draft in drafts]
    sessions = (split_source(draft.source)[1] for draft in drafts)
    return IngestDocument(
        recording=decode(str(path)),
        workspace=decode(root),
        ledger=place.shown_directory,
        records=len(records),
        added=len(written),
        own=tuple(dict.fromkeys(type_name(event) for event in new if event.source == OWN_SOURCE)),
        late=sum((parse_time(event.time) or latest) < latest for event in written),
        known=len(drafts) - len(written),
        events={name: names.count(name) for name in TYPE_NAMES.values() if name in names},
        sessions=tuple(dict.fromkeys(session for session in sessions if session is not None)),
        skipped=dict(sorted(Counter(translator.skipped).items())),
        findings=finding_parts(place.resolved.findings),
    )


def _read(path: Path) -> list[dict[str, object]]:
    """All records of a file."""
    try:
        return list(_with_progress(read_recording(path)))
    except RecordingError as error:
        place = f"{decode(str(error.path))}, line {error.line}" if error.line else decode(str(error.path))
        raise DataError(f"{place}: no recorded hook: {error.value!r}", error.fix) from error
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {decode(str(path))}") from error


def _with_progress(records: Iterable[dict[str, object]]) -> Iterable[dict[str, object]]:
    """Pass records on; on a terminal say how many, once it takes a while."""
    begin, shown = time.monotonic(), False
    lively = sys.stderr.isatty() and not is_dumb(os.environ)
    for number, record in enumerate(records, 1):
        yield record
        if number % _STEP == 0 and lively and time.monotonic() - begin > _PATIENCE:
            sys.stderr.write(f"\rread {plural(number, 'record')}")
            sys.stderr.flush()
            shown = True
    if shown:
        sys.stderr.write("\r\x1b[K")


def _translate(translator: OpenCodeTranslator, records: Iterable[Mapping[str, object]]) -> tuple[list[Draft], bytes]:
    """The drafts of all records, with ids, and the digest of the recording.

    An id comes from everything up to its record, so that a recording that has grown keeps the ids it had.
    """
    digest = hashlib.sha256()
    drafts: list[Draft] = []
    for record in records:
        digest.update(json.dumps(record, sort_keys=True).encode())
        for index, draft in enumerate(translator.feed(record)):
            seed = digest.copy()
            seed.update(b"%d" % index)
            id_ = uuid7(parse_time(draft.time) or 0, seed.digest())
            drafts.append(msgspec.structs.replace(draft, id=id_))
    return drafts, digest.digest()


def _open(place: Place, drafts: list[Draft], seed: bytes) -> FileLog:
    """The ledger, made if it isn't there; what is written beside the drafts depends on the recording alone.

    A ledger begins when its recording does: were it created now, "now" could never be earlier (SPEC 1.2).
    """
    begin = next((ms for draft in drafts if (ms := parse_time(draft.time)) is not None), 0)
    numbers = iter(range(1 << 30))

    def random(size: int) -> bytes:
        return hashlib.sha256(b"%b/%d/%d" % (seed, log_size, next(numbers))).digest()[:size]

    def clock() -> int:
        return begin

    log_size = _size(place.directory)
    return FileLog.create(
        place.directory,
        root=place.root,
        key=workspace_key(place.root),
        project=is_project(place.root, os.environ),
        clock=clock,
        new_id=MonotonicIds(clock, random),
    )


def _size(directory: str) -> int:
    """Events in a ledger that may not be there: with it, no second ingestion repeats the ids of a first."""
    from ledger.errors import LedgerNotFound

    try:
        return FileLog.open(directory).size()
    except LedgerNotFound:
        return 0


def _print(console: Console, document: IngestDocument, option: str) -> None:
    console.out(
        f"{plural(document.added, 'event')} added, {document.known:,} known, "
        f"from {plural(document.records, 'record')} of {document.recording}"
    )
    console.fields(
        [
            ("workspace", document.workspace),
            ("ledger", document.ledger),
            ("beside", f"{', '.join(document.own)}: what memfold writes of itself" if document.own else ""),
            (
                "next",
                f"memfold status {option} {quote(document.ledger if option == '--ledger' else document.workspace)}",
            ),
        ]
    )
    console.out()
    console.table([(name, f"{count:,}") for name, count in document.events.items()], ("event", "count"), (1,))
    console.out()
    console.table([(session,) for session in document.sessions], ("session",))
    if document.skipped:
        console.out()
        console.table(
            [(f"{count:,}", reason) for reason, count in document.skipped.items()], ("skipped", "because"), (0,)
        )
    if document.late:
        console.note(
            f"{plural(document.late, 'event')} happened before what the ledger held: order is that of the log, "
            "and they count as happening now"
        )
    for finding in document.findings:
        console.note(finding_line(finding))
