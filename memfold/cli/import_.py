# ruff: noqa: PTH120 - os.path strings, as in ``memfold.paths``
"""``memfold import``: what other programs, exports and other copies of the ledger hold becomes memory here, once."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from shlex import quote

from ledger.events import Draft, LedgerCreatedData
from ledger.log import FORMAT, FileLog
from ledger.memory import MemoryLog
from ledger.reader import Reader
from ledger.source import OWN_SOURCE
from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.desk import Desk, require_project
from memfold.cli.documents.moves import ImportDocument
from memfold.cli.lost import require_no_loss
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.place import Place, current_folder, find_place, has_ledger
from memfold.cli.words import plural
from memfold.clock import now_ms
from memfold.errors import FINDINGS, OK, ConfigError, DataError, NotFoundError, UsageError
from memfold.imports.apply import drafts_of, record_import
from memfold.imports.copies import LEDGER, Copy, is_log, own_events, read_copy
from memfold.imports.finding import STDIN, find_files, known_stores
from memfold.imports.formats import FORMATS, read, recognise
from memfold.imports.model import Format, Import
from memfold.imports.outcomes import FileReport, LineReport
from memfold.imports.report import reports_of
from memfold.paths import data_dir, is_project, workspace_key
from memfold.renumbered import ids_in, renumbered, renumbered_words
from memfold.terminal import clean, is_dumb
from memfold.workspace import Workspace
from projections.erasure.returning import Purged
from projections.memory.model import Ref
from projections.policy import Context
from projections.reasons import explain
from projections.text.clean import decode
from replay.state import state_at

__all__ = ["FORMAT_NAMES", "configure", "run"]

FORMAT_NAMES: dict[str, Format] = {name.replace("_", "-"): name for name in FORMATS}
_MANY = 300
"""Memories that take a second to be judged."""
_KNOWN_WORDS = {LEDGER: "here already"}
_SHOWN = 10
_FLAGS = ("redacted", "cut", "cleaned")


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "paths",
        metavar="FILE",
        nargs="*",
        help="files, folders of a store, another copy of the log; - is stdin",
    )
    meanings = "; ".join(f"{shown}: {FORMATS[name][0]}" for shown, name in FORMAT_NAMES.items())
    parser.add_argument(
        "--format",
        choices=tuple(FORMAT_NAMES),
        help=f"layout of the files (default: by what stands in them). {meanings}",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would come, and write nothing")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Import; 3 if a file could not be read or is of no known layout."""
    place, console = find_place(options, current_folder()), Console(options)
    config = place.resolved.config
    if not config.enabled:
        raise ConfigError("memory is switched off, so nothing was imported", "MEMFOLD=on, or enabled = true")
    require_project(place)
    logs = [path for path in options.paths if path != STDIN and is_log(path)]
    copies = _read_copies(options, place, logs)
    files, unknown = _read_all(options, [path for path in options.paths if path not in logs], place)
    drafts = [draft for copy in copies for draft in copy.drafts]
    moved: dict[str, str] = {}
    _announce(sum(len(found.lines) for found in files))
    if options.dry_run:
        require_no_loss(options, place)
        with _as_it_is(place) as store:
            drafts += drafts_of(files, store.world().memory, format_time(now_ms()))
            events, world = store.preview(drafts)
            reports = reports_of(files, events, world)
    else:
        with Desk(options, make=True) as desk:
            before = _former_ids(desk, logs if drafts else [])
            events = (*desk.store.record(drafts), *record_import(desk.store, *files, time=desk.time))
            world = desk.store.world()
            moved = renumbered(before, ids_in(world.memory))
            reports = reports_of(files, events, world)
    document = ImportDocument(
        ledger=place.shown_directory,
        workspace=decode(place.root),
        dry_run=options.dry_run,
        files=(*(copy.report for copy in copies), *reports),
        unknown=tuple(unknown),
        renumbered=moved,
        events=0 if options.dry_run else len(events),
        position=world.memory.offset,
    )
    _announce(0)
    if options.json:
        console.emit(document)
    else:
        _print(console, document)
    odd = unknown or any(one.damaged or one.differs for one in document.files)
    return FINDINGS if odd else OK


def _former_ids(desk: Desk, logs: Sequence[str]) -> dict[Ref, str]:
    """The ids of memories before an import of log lines: those in the copies, which lack no line, count most."""
    ids = ids_in(desk.store.world().memory) if logs else {}
    for path in logs:
        ids |= ids_in(state_at(Reader(path), only=frozenset()).memory)
    return ids


def _read_copies(options: Namespace, place: Place, logs: Sequence[str]) -> list[Copy]:
    """What only other copies of the ledger hold."""
    if logs and options.format:
        raise UsageError(f"{decode(logs[0])} is the log of a ledger", "leave --format out")
    own = FileLog.open(place.directory) if logs and has_ledger(place) else None
    known = own_events(() if own is None else own.read())
    purged = Purged(() if own is None else own.read(), Context(place.resolved.config.policy, decode(place.root)))
    copies: list[Copy] = []
    for path in logs:
        copies.append(read_copy(path, known, place.root, purged))
        known |= {str(draft.id): None for draft in copies[-1].drafts}  # what two copies hold is told once
    return copies


def _read_all(options: Namespace, paths: Sequence[str], place: Place) -> tuple[list[Import], list[str]]:
    """All other files that were named, and those whose layout isn't known."""
    wanted = FORMAT_NAMES.get(options.format or "")
    if not options.paths:
        raise UsageError("a file or folder is missing", _example(place))
    files: list[Import] = []
    unknown: list[str] = []
    for path in paths:
        nothing = True
        try:
            for one in find_files(path):
                nothing = False
                if path == STDIN and not one.data:
                    raise UsageError("nothing came on stdin, so nothing was imported", _example(place))
                format_ = wanted or recognise(one.name, one.data)
                if format_ is None:
                    unknown.append(decode(one.name))
                else:
                    files.append(read(one.name, one.data, place.resolved.config.policy, format_))
        except FileNotFoundError as error:
            raise NotFoundError(f"there is no file {decode(path)}") from error
        if nothing:
            raise NotFoundError(f"there is no store in the folder {decode(path)}", "name a file")
    if paths and not files:
        raise DataError(
            f"the layout of {', '.join(unknown)} isn't known, so nothing was read",
            _how_to_name_it(unknown),
        )
    return files, unknown


def _how_to_name_it(unknown: Sequence[str]) -> str:
    """A list of bullets may be anything: a person says that it is memories."""
    lists = [name for name in unknown if name.casefold().endswith((".md", ".markdown"))]
    return f"memfold import {quote(lists[0])} --format bullets" if lists else f"--format {', '.join(FORMAT_NAMES)}"


def _example(place: Place) -> str:
    """A store of another program that is here, or what an import looks like."""
    data_home = os.path.dirname(data_dir(os.environ))
    stores = known_stores(place.root, data_home)
    return f"memfold import {quote(decode(stores[0]))}" if stores else "memfold import MEMORY.md"


@contextmanager
def _as_it_is(place: Place) -> Generator[Workspace]:
    """The ledger, for a look; one that isn't there is only imagined."""
    policy = place.resolved.config.policy
    if has_ledger(place):
        with FileLog.open(place.directory) as log:
            yield Workspace(log, place.root, policy, host=OWN_SOURCE)
        return
    imagined = MemoryLog()
    root, project = place.root, is_project(place.root, os.environ)
    created = LedgerCreatedData(format=FORMAT, ledger="", root=root, key=workspace_key(root), project=project)
    imagined.append([Draft(source=OWN_SOURCE, time=None, data=created)])
    yield Workspace(imagined, root, policy, host=OWN_SOURCE)


def _announce(number: int) -> None:
    """On a terminal, say that many memories are being judged; 0 takes it back."""
    if sys.stderr.isatty() and not is_dumb(os.environ) and (number > _MANY or not number):
        sys.stderr.write(f"\rtaking in {plural(number, 'memory', 'memories')} …" if number else "\r\x1b[K")
        sys.stderr.flush()


def _print(console: Console, document: ImportDocument) -> None:
    for one in document.files:
        _print_file(console, one)
    for name in document.unknown:
        console.note(f"{clean(name)}: its layout isn't known, so nothing was read of it; --format names one")
    if document.renumbered:
        console.note(renumbered_words(document.renumbered))
    if document.dry_run:
        console.out("nothing was written (--dry-run)")
    elif not document.events and any(one.known and not one.differs for one in document.files):
        console.out("nothing new: all that could be read was imported before")


def _print_file(console: Console, report: FileReport) -> None:
    counts = [f"{number:,} {outcome}" for outcome, number in report.counts.items()]
    counts += [f"{len(report.skipped):,} left out"] if report.skipped else []
    counts += [f"{report.known:,} {_KNOWN_WORDS.get(report.format, 'imported before')}"] if report.known else []
    summary = f"can't be read: {report.damaged}" if report.damaged else ", ".join(counts) or "nothing in it"
    console.out(f"{console.style.bold(clean(report.file))} ({report.format.replace('_', '-')}): {summary}")
    rows = [(str(line.line), _what(line), _why(line), line.text) for line in report.lines if _is_worth_telling(line)]
    rows += [(str(one.line), "left out", one.reason, "") for one in report.skipped]
    console.table(rows, ("line", "what", "because", "text"), (0,), (1,))
    _tell_differences(console, report)


def _tell_differences(console: Console, report: FileReport) -> None:
    """Events that the copy and the ledger tell differently: somebody has changed one of them."""
    if report.differs:
        first = report.differs[0]
        offsets = ", ".join(f"#{seq}" for seq in report.differs[:_SHOWN])
        more = ", …" if len(report.differs) > _SHOWN else ""
        what = "1 event differs" if len(report.differs) == 1 else f"{len(report.differs):,} events differ"
        look = f"memfold log --at {first} --limit 1"
        console.note(f"{what} here from {clean(report.file)}, and stays: {offsets}{more} ({look})")


def _is_worth_telling(line: LineReport) -> bool:
    """A memory that was taken as it stands needs no line."""
    return line.outcome in ("merged", "refused") or bool(line.wanted or line.repairs)


def _what(line: LineReport) -> str:
    if line.outcome == "merged":
        return f"merged into {line.id}"
    return line.outcome if line.id is None else f"{line.outcome}, {line.id}"


def _why(line: LineReport) -> str:
    number = [f"{line.wanted} was taken"] if line.wanted else []
    return "; ".join([*map(explain, line.reasons), *number, *(kind for kind in _FLAGS if kind in line.repairs)])
