# ruff: noqa: PTH113, PTH116, PTH118, PTH208 - os.path strings, as in the rest of the package
"""What is wrong with a ledger, as values; nothing is changed (SPEC 15.5, 21)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ledger.events import AnyEvent, LedgerCreated, UnknownEvent, type_name
from ledger.ids import time_of
from ledger.log import FORMAT, LOCK_SUFFIX, LOG_NAME
from ledger.problems import Kind, Problem, problem
from ledger.reader import Health, IdsBefore, Tally, judged_lines, reading_twice
from ledger.recovery import Record
from ledger.rewrite import REWRITE_SUFFIX
from ledger.sequence import Sequence
from ledger.slips import meant_type
from ledger.steps import Steps
from ledger.times import DAY_MS, format_time, parse_time
from ledger.trust import untrusted

__all__ = ["EVENT_VALIDATORS", "FOLDER_VALIDATORS", "EventValidator", "FolderValidator", "Survey", "check", "survey"]

EventValidator = Callable[[AnyEvent, "State"], Iterable[tuple[Kind, str]]]
"""Looks at one event, in file order; ``State`` is what earlier events left behind."""

FolderValidator = Callable[[str], Iterable[Problem]]
"""Looks at the ledger's folder."""


_FAR_MS = 366 * DAY_MS


class Survey(NamedTuple):
    """What one pass over a ledger found: its problems by place, and how much of it can be read (SPEC 21)."""

    problems: list[Problem]
    health: Health


class State:
    """What validators remember from event to event.

    Attributes:
        begun: whether there was an event before this one.
        made: when this event's id was made, in milliseconds since the epoch; None if it doesn't tell.
        latest: the latest time so far, and the seq of its event.
    """

    def __init__(self, earlier: IdsBefore) -> None:
        self.begun = False
        self.made: int | None = None
        self.latest: tuple[int, int] | None = None
        self._earlier = earlier
        self._highest = ""
        self._line = 0
        self._here: set[str] = set()

    def go_to_line(self, byte: int) -> None:
        """Look at the line at a byte."""
        self._line = byte
        self._here.clear()

    def go_to(self, event: AnyEvent) -> None:
        """Look at the next event of it."""
        self.made = time_of(event.id)

    def came_before(self, event_id: str) -> bool:
        """Whether this event's id came before. Writers make rising ones: as long as they do, none has to be kept."""
        if event_id > self._highest:
            self._highest = event_id
            self._here.add(event_id)
            return False
        # Those of the lines before, and of this one: to look into a line once more for each of its events would take
        # the square of its length.
        found = event_id in self._here or event_id in self._earlier.before(self._line)
        self._here.add(event_id)
        return found


def check(directory: str | os.PathLike[str]) -> list[Problem]:
    """Every problem of a ledger, by place; problems of the folder itself come first, as line 0. See ``survey``."""
    return survey(directory).problems


def survey(directory: str | os.PathLike[str], see: Callable[[AnyEvent], None] | None = None) -> Survey:
    """Find every problem of a ledger, and count what can be read.

    Names each line that doesn't decode or contradicts ids or numbers, by line and byte. One pass over the log; memory
    grows with the number of problems, and with that of ids where one is lower than another before it.

    Args:
        directory: the ledger's folder.
        see: is shown every event that counts, in file order, for whoever would need a pass of their own.

    Raises:
        LedgerNotFound: if there is no log in ``directory``.
        StorageError: if the system can't read it.
    """
    folder = os.fspath(directory)
    path = os.path.join(folder, LOG_NAME)
    problems = [found for validate in FOLDER_VALIDATORS for found in validate(folder)]
    steps, tally = Steps(), Tally()
    byte = 0
    with reading_twice(path) as (file, earlier):
        state = State(IdsBefore(earlier))
        for line, records in judged_lines(file, earlier, Sequence()):
            state.go_to_line(byte)
            byte += len(line)
            for record in records:
                steps.take(record)
                tally.take(record)
                item = record.item
                if isinstance(item, Problem):
                    problems.append(item)
                    continue
                problems += _found(record, item, state)
                state.begun = True
                if see is not None:
                    see(item)
    if not state.begun:
        problems.append(problem(Kind.NO_CREATED, "it holds no event at all"))
    problems = sorted(map(steps.settled, problems), key=lambda found: (found.line > 0, found.byte))
    return Survey(problems, tally.health())


def _found(record: Record, event: AnyEvent, state: State) -> list[Problem]:
    state.go_to(event)
    found: list[Problem] = []
    for validate in EVENT_VALIDATORS:
        for kind, detail in validate(event, state):
            found.append(problem(kind, detail, line=record.line, byte=record.byte, length=record.length))
    return found


def _validate_first(event: AnyEvent, state: State) -> Iterable[tuple[Kind, str]]:
    if type(event) is LedgerCreated:
        newer = event.data.format > FORMAT
        return ((Kind.NEWER_FORMAT, f"format {event.data.format}, this release writes {FORMAT}"),) if newer else ()
    return () if state.begun else ((Kind.NO_CREATED, f"it begins with {type_name(event)}, seq {event.seq}"),)


def _validate_type(event: AnyEvent, state: State) -> Iterable[tuple[Kind, str]]:
    del state
    if type(event) is not UnknownEvent:
        return ()
    meant = meant_type(event)
    kind, detail = (Kind.DAMAGED_TYPE, f", which may be {meant!r}") if meant else (Kind.UNKNOWN_TYPE, "")
    return ((kind, f"{event.type!r}, seq {event.seq}{detail}"),)


def _validate_id(event: AnyEvent, state: State) -> Iterable[tuple[Kind, str]]:
    reused = state.came_before(event.id)
    if state.made is not None and not reused:
        return ()
    kinds = (Kind.ID_FORMAT if state.made is None else None, Kind.ID_REUSED if reused else None)
    return [(kind, f"{event.id!r}, seq {event.seq}") for kind in kinds if kind is not None]


def _validate_time(event: AnyEvent, state: State) -> Iterable[tuple[Kind, str]]:
    """A missing time is sound: the host gave none (SPEC 1.2)."""
    now, latest = parse_time(event.time), state.latest
    if now is None:
        return () if event.time is None else ((Kind.TIME_FORMAT, f"{event.time!r}, seq {event.seq}"),)
    found: list[tuple[Kind, str]] = []
    if state.made is not None and now - state.made > _FAR_MS:
        found.append((Kind.TIME_FAR, f"{event.time}, seq {event.seq}, made {format_time(state.made)}"))
    if latest is not None and now < latest[0]:
        before = f"lies {latest[0] - now} ms before seq {latest[1]}"
        found.append((Kind.TIME_BACK, f"{event.time}, seq {event.seq}, {before}"))
    else:
        state.latest = now, event.seq
    return found


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
