# ruff: noqa: PTH113, PTH116, PTH118, PTH208 - os.path strings, as in the rest of the package
"""What is wrong with a ledger, as values; nothing is changed (SPEC 15.5, 21)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from ledger.events import AnyEvent, LedgerCreated, UnknownEvent, type_name
from ledger.ids import is_uuid7, time_of
from ledger.log import FORMAT, LOCK_SUFFIX, LOG_NAME
from ledger.problems import Kind, Problem, problem
from ledger.reader import scan
from ledger.recovery import Record
from ledger.rewrite import REWRITE_SUFFIX
from ledger.slips import meant_type
from ledger.steps import Steps
from ledger.times import DAY_MS, format_time, parse_time
from ledger.trust import untrusted

__all__ = ["EVENT_VALIDATORS", "FOLDER_VALIDATORS", "EventValidator", "FolderValidator", "check"]

EventValidator = Callable[[AnyEvent, "State"], Iterable[tuple[Kind, str]]]
"""Looks at one event, in file order; ``State`` is what earlier events left behind."""

FolderValidator = Callable[[str], Iterable[Problem]]
"""Looks at the ledger's folder."""


_FAR_MS = 366 * DAY_MS


class State:
    """What validators remember from event to event."""

    def __init__(self) -> None:
        self.begun = False
        self.ids: set[str] = set()
        self.latest: tuple[int, int] | None = None  # the latest time, and the seq of its event


def check(directory: str | os.PathLike[str]) -> list[Problem]:
    """Every problem of a ledger, by place; problems of the folder itself come first, as line 0.

    Names each line that doesn't decode or contradicts ids or numbers, by line and byte. One pass over the log;
    memory grows with the number of ids, about 130 bytes each, which a plain read doesn't keep.

    Raises:
        LedgerNotFound: if there is no log in ``directory``.
        StorageError: if the system can't read it.
    """
    folder = os.fspath(directory)
    problems = [found for validate in FOLDER_VALIDATORS for found in validate(folder)]
    state, steps = State(), Steps()
    for record in scan(os.path.join(folder, LOG_NAME)):
        steps.take(record)
        problems.extend(_look(record, state))
    if not state.begun:
        problems.append(problem(Kind.NO_CREATED, "it holds no event at all"))
    return sorted(map(steps.settled, problems), key=lambda found: (found.line > 0, found.byte))


def _look(record: Record, state: State) -> Iterator[Problem]:
    """The problems of one record: what the scan says, or what the validators find in its event."""
    if isinstance(record.item, Problem):
        yield record.item
        return
    for validate in EVENT_VALIDATORS:
        for kind, detail in validate(record.item, state):
            yield problem(kind, detail, line=record.line, byte=record.byte, length=record.length)
    state.begun = True


def _validate_first(event: AnyEvent, state: State) -> Iterator[tuple[Kind, str]]:
    if not state.begun and not isinstance(event, LedgerCreated):
        yield Kind.NO_CREATED, f"it begins with {type_name(event)}, seq {event.seq}"
    if isinstance(event, LedgerCreated) and event.data.format > FORMAT:
        yield Kind.NEWER_FORMAT, f"format {event.data.format}, this release writes {FORMAT}"


def _validate_type(event: AnyEvent, state: State) -> Iterator[tuple[Kind, str]]:
    del state
    if isinstance(event, UnknownEvent):
        meant = meant_type(event)
        kind, detail = (Kind.DAMAGED_TYPE, f", which may be {meant!r}") if meant else (Kind.UNKNOWN_TYPE, "")
        yield kind, f"{event.type!r}, seq {event.seq}{detail}"


def _validate_id(event: AnyEvent, state: State) -> Iterator[tuple[Kind, str]]:
    if not is_uuid7(event.id):
        yield Kind.ID_FORMAT, f"{event.id!r}, seq {event.seq}"
    if event.id in state.ids:
        yield Kind.ID_REUSED, f"{event.id!r}, seq {event.seq}"
    state.ids.add(event.id)


def _validate_time(event: AnyEvent, state: State) -> Iterator[tuple[Kind, str]]:
    """A missing time is sound: the host gave none (SPEC 1.2)."""
    now = parse_time(event.time)
    if now is None:
        if event.time is not None:
            yield Kind.TIME_FORMAT, f"{event.time!r}, seq {event.seq}"
        return
    made = time_of(event.id)
    if made is not None and now - made > _FAR_MS:
        yield Kind.TIME_FAR, f"{event.time}, seq {event.seq}, made {format_time(made)}"
    if state.latest is not None and now < state.latest[0]:
        latest, seq = state.latest
        yield Kind.TIME_BACK, f"{event.time}, seq {event.seq}, lies {latest - now} ms before seq {seq}"
    else:
        state.latest = now, event.seq


def _validate_modes(folder: str) -> Iterator[Problem]:
    for path in (folder, os.path.join(folder, LOG_NAME), os.path.join(folder, LOG_NAME + LOCK_SUFFIX)):
        try:
            mode = os.stat(path).st_mode & 0o777
        except OSError:
            continue  # a missing log is an exception of its own, and a missing lock comes with the next append
        if mode & 0o022:
            yield problem(Kind.WRITABLE_FILE, f"{path} has mode {mode:04o}", line=0, path=path)
        elif mode & 0o077:
            # Files that came with a clone or an archive can be read by all: worth knowing, and no damage.
            yield problem(Kind.READABLE_FILE, f"{path} has mode {mode:04o}", line=0, path=path)


def _validate_trust(folder: str) -> Iterator[Problem]:
    """What stands beside the log, would speak as it does, and may be another's word: it is passed over."""
    for path, reason in untrusted(folder):
        yield problem(Kind.UNTRUSTED_FILE, f"{path}: {reason}", line=0, path=path)


def _validate_copies(folder: str) -> Iterator[Problem]:
    """Copies that file synchronisation leaves, such as ``events (conflicted copy).jsonl``, and what a purge leaves."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    stem = LOG_NAME.removesuffix(".jsonl")
    for name in names:
        if name == LOG_NAME or not name.startswith(stem) or ".jsonl" not in name or name.endswith(LOCK_SUFFIX):
            continue
        if os.path.isfile(path := os.path.join(folder, name)):
            kind = Kind.UNFINISHED_REWRITE if name == LOG_NAME + REWRITE_SUFFIX else Kind.CONFLICTED_COPY
            yield problem(kind, path, line=0, path=path)


EVENT_VALIDATORS: tuple[EventValidator, ...] = (_validate_first, _validate_type, _validate_id, _validate_time)
FOLDER_VALIDATORS: tuple[FolderValidator, ...] = (_validate_modes, _validate_trust, _validate_copies)
