# ruff: noqa: PTH100, PTH109, PTH112, PTH117, PTH118, PTH119, PTH120 - pathlib costs more at start-up than finding the ledger
"""Which ledger, workspace and position a command is about."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, TypeVar

from ledger.errors import LedgerNotFound
from ledger.events import AnyEvent
from ledger.files import is_empty, is_there
from ledger.log import LOG_NAME, FileLog
from ledger.source import split_source
from ledger.times import DAY_MS, parse_time
from memfold.config.loading import load, locate
from memfold.errors import ConfigError, NotFoundError, UsageError
from memfold.paths import data_dir, is_project, ledger_dir, workspace_key
from memfold.whose import root_in
from projections.prompts import PromptState, RenderedPrompts
from projections.text.clean import decode
from replay.kept import KeptFacts
from replay.positions import events_until, offset_at_time, session_sources
from replay.starting import with_blocks, with_names

if TYPE_CHECKING:
    from argparse import Namespace

    from memfold.config.model import Resolved
    from projections.world import WorldState

__all__ = [
    "Place",
    "View",
    "current_folder",
    "find_place",
    "has_ledger",
    "how_to_begin",
    "named_event",
    "open_view",
    "reading_place",
    "short_session",
    "watch_damage",
]

T = TypeVar("T")

_SHORT = 8
_LEDGERS_NAMED = 5
_WHOLE = 9
_SECOND_MS, _MINUTE_MS = 1_000, 60_000


class Place:
    """A ledger's folder, the workspace it belongs to, and the configuration there.

    Attributes:
        directory: the folder that holds, or would hold, ``events.jsonl``.
        root: real path of the workspace.
        resolved: the configuration in force.
    """

    def __init__(self, directory: str, root: str, resolved: Resolved) -> None:
        self.directory = directory
        self.root = root
        self.resolved = resolved

    @property
    def shown_directory(self) -> str:
        """The folder as text that can be printed and written as JSON."""
        return decode(self.directory)


class View:
    """A ledger as one command reads it: a place, its log, and the position that was asked for."""

    def __init__(self, place: Place, log: FileLog, at: int | None) -> None:
        self.place = place
        self.log = log
        self.at = at

    def events(self) -> Iterator[AnyEvent]:
        """The events up to the position, from the first."""
        return events_until(self.log.read(), self.at)

    def world(self, only: AbstractSet[str] | None = None) -> WorldState:
        """The state at the position; ``only`` as for ``replay.state.state_at``.

        At the end of the log it is begun from a checkpoint, unless all sessions are wanted; then there may be more of
        other sessions in it.
        """
        if self.at is None and only is not None:
            from replay.live import Live

            live = Live(self.log)
            for source in only:
                live.world(source)
            return live.world()
        from replay.state import state_at, state_of

        if self.at is None:
            return state_of(self.log, only)
        return state_at(self.log.read(), self.at, only=only, known=KeptFacts(self.log.directory))

    def blocks(self, only: AbstractSet[str] | None = None) -> PromptState:
        """Memory and frozen blocks at the position, from the first event on."""
        from projections.protocol import fold

        return fold(RenderedPrompts(only, KeptFacts(self.log.directory)), self.events())

    def with_blocks(self, only: AbstractSet[str], use: Callable[[PromptState], T]) -> T:
        """What is made of ``blocks``, at the end of the log from a checkpoint; see ``replay.starting``."""
        return with_blocks(self.log, only, use) if self.at is None else use(self.blocks(only))

    def session(self, text: str) -> str:
        """The source of the session that a text names: its id, or any part of it that no other one has.

        A leading ``…``, with which lists shorten ids, is no part of it.

        Raises:
            NotFoundError: if no session of the prefix has it.
            UsageError: if several have it.
        """
        if self.at is None:
            return with_names(self.log, lambda known: self._session(known, text))
        return self._session(session_sources(self.events()), text)

    def _session(self, known: Mapping[str, str], text: str) -> str:
        part = text.removeprefix("…")
        if part in known:
            return known[part]
        found = [session for session in known if part and part in session]
        if len(found) == 1:
            return known[found[0]]
        names = ", ".join(short_session(session) for session in (found or list(known))[-5:])
        if found:
            raise UsageError(f"several sessions have {text!r} in their id: {names}", "type more of it")
        if self.at is not None and (begin := self._later(part)) is not None:
            raise NotFoundError(f"session {decode(text)!r} is not there at #{self.at}: it begins at #{begin}")
        raise NotFoundError(
            f"no session {decode(text)!r} here" + (f"; the latest are {names}" if names else ""), "memfold log"
        )

    def _later(self, part: str) -> int | None:
        """Where a session begins that the prefix doesn't have."""
        sources = {source for session, source in session_sources(self.log.read()).items() if part and part in session}
        return next((event.seq for event in self.log.read() if event.source in sources), None)


def find_place(options: Namespace, recorded: str | None = None) -> Place:
    """The place that ``--ledger`` or ``--workspace`` names.

    Args:
        options: the arguments; without either option the workspace is that of ``recorded``.
        recorded: a folder that is known from elsewhere; by default the current directory.

    Nothing need be there. Raises ``ConfigError`` where the data folder can't be named, ``NotFoundError`` where the
    current directory is needed and gone.
    """
    if options.ledger is not None:
        directory = os.path.abspath(_from_here(options.ledger))
        if os.path.basename(directory) == LOG_NAME and not os.path.isdir(directory):
            directory = os.path.dirname(directory)
        root = root_in(directory) or (recorded or "")
        return Place(directory, root, load(root, os.environ))
    root, resolved = locate(_from_here(options.workspace or recorded or ""), os.environ)
    data = data_dir(os.environ, resolved.config.data_dir)
    return Place(ledger_dir(data, workspace_key(root)), root, resolved)


def reading_place(options: Namespace) -> Place:
    """The same for a command that only reads: a folder that was never there is a mistake.

    Raises:
        NotFoundError: if ``--workspace`` names nothing on disk, and no ledger: one that was deleted or renamed stays
            readable by the path that it had.
    """
    place = find_place(options)
    named: str | None = options.workspace
    if named is None or is_there(_from_here(named)) or has_ledger(place):
        return place
    raise NotFoundError(f"there is no folder {decode(_from_here(named))}{_others(place)}", "--workspace PATH")


def current_folder() -> str:
    """The current directory.

    Raises:
        NotFoundError: if it is gone.
    """
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise NotFoundError("the current directory is gone", "cd to a folder that is there") from None


def _from_here(path: str) -> str:
    """The path, from the current directory on if it is relative; an absolute one doesn't need that directory."""
    return path if os.path.isabs(path) else os.path.join(current_folder(), path)


def open_view(options: Namespace) -> View:
    """Open the ledger that the options name, at the position they name.

    Raises:
        NotFoundError: if there is no ledger, or no such position in it.
        StorageError: if there may be one, but the system doesn't let us look.
        UsageError: if the position can't be read.
    """
    place = reading_place(options)
    try:
        log = FileLog.open(place.directory)
    except LedgerNotFound:
        raise _missing(options, place) from None
    if has_empty_log(place):
        from memfold.cli.lost import missing_log

        if lost := missing_log(options, place):
            raise lost
    watch_damage(options, log)
    at: str | None = getattr(options, "at", None)
    if at is None and options.ledger is None and place.resolved.config.enabled:
        _take_in_edits(options, place)
    return View(place, log, None if at is None else _offset(at, log))


def _take_in_edits(options: Namespace, place: Place) -> None:
    """Record what a person has changed in MEMORY.md since it was seen last; costs a look where nothing was changed."""
    from memfold.memory_file.disk import memory_path, signature
    from memfold.memory_file.kept import load as load_kept

    now = signature(memory_path(place.root))
    if now is None or now == load_kept(place.directory).signature:
        return
    from memfold.memory_file.keeper import keeper_of
    from memfold.terminal import clean

    with keeper_of(place.root, place.directory, place.resolved.config) as keeper:
        for report in keeper.sync().reports:
            if (patience := getattr(options, "patience", None)) is not None:
                patience.end()
            sys.stderr.write(f"memfold: {clean(decode(report))}\n")


def watch_damage(options: Namespace, log: FileLog) -> None:
    """Let the end of the command tell of the damage that reading this log meets (``memfold.cli.main``)."""
    log.skipped = options.skipped = set()


def has_ledger(place: Place) -> bool:
    """Whether there is a ledger, whatever its state."""
    return is_there(os.path.join(place.directory, LOG_NAME))


def has_empty_log(place: Place) -> bool:
    """Whether it has a log without a byte in it, as one has that was emptied, or is being made."""
    return is_empty(os.path.join(place.directory, LOG_NAME))


def named_event(events: Iterable[AnyEvent], name: str) -> AnyEvent:
    """The event that a person names by its offset, with or without ``#``, or by its id.

    Raises:
        NotFoundError: if there is none.
    """
    wanted = name.removeprefix("#")
    for event in events:
        if wanted in (event.id, str(event.seq)):
            return event
    raise NotFoundError(f"there is no event {wanted!r}", "memfold log")


def how_to_begin(root: str) -> str:
    """What makes a client's first event come: whoever asks has none, and pays for looking whether it is installed."""
    import shlex

    from memfold.hosts.opencode_places import config_folders, find_mentions, find_plugins
    from memfold.paths import workspace_root

    place = shlex.quote(decode(root)) if root else "a project"
    worktree = workspace_root(root, worktrees="separate")
    try:
        folders = config_folders(os.environ, root, worktree)
    except ConfigError:  # no home folder: no client finds a plugin there
        folders = []
    if find_plugins(folders) or find_mentions(os.environ, folders, worktree).found:
        return f"start OpenCode in {place} and ask it something; if that changes nothing: memfold doctor"
    return f"memfold install opencode, then start OpenCode in {place} and ask it something"


def short_session(session: str | None) -> str:
    """A session id as lists show it: its end, which differs where hosts count or stamp the beginning."""
    if session is None:
        return "-"
    return session if len(session) <= _WHOLE else f"…{session[-_SHORT:]}"


def session_of(source: str | None) -> str | None:
    """The session id in a source."""
    return None if source is None else split_source(source)[1]


def _missing(options: Namespace, place: Place) -> NotFoundError:
    """No ledger: say whose it would be, why there is none, and what makes one or brings it back."""
    import shlex

    from memfold.cli.lost import missing_log

    if lost := missing_log(options, place):
        return lost
    if options.ledger is not None:
        where = place.shown_directory
        begin = f"memfold ingest opencode RECORDING --ledger {shlex.quote(where)}"
        return NotFoundError(f"no ledger in {where}: no event was ever received", begin)
    others = _others(place)
    root = decode(place.root)
    if not place.resolved.config.enabled:
        origin = decode(place.resolved.origins["enabled"])
        return NotFoundError(f"no ledger for {root}: memory is switched off ({origin}){others}", "memfold config show")
    if not is_project(place.root, os.environ):
        return NotFoundError(f"no ledger for {root}, which is no project{others}", "cd to the folder of a project")
    from memfold.cli.moved import former_parts, told

    if formers := former_parts(place.root, place.directory, os.environ):
        return NotFoundError(f"no ledger for {root} yet; {told(formers)}", formers[0].take_over)
    begin = f'{how_to_begin(place.root)}; or memfold add "what to remember"'
    return NotFoundError(f"no ledger for {root} yet: no event was ever received{others}", begin)


def _others(place: Place) -> str:
    """Which ledgers there are instead, as the end of a sentence."""
    from memfold.ledgers import known_ledgers

    ledgers = known_ledgers(os.path.dirname(place.directory), os.environ)
    there = [decode(one.root) for one in ledgers if one.root][:_LEDGERS_NAMED]
    return f"; there are ledgers of {', '.join(there)} (--workspace)" if there else ""


def _offset(text: str, log: FileLog) -> int:
    """An offset, or the offset of the last event at a time."""
    last = log.size() - 1
    if text.isascii() and text.isdigit():
        if len(text) > 18 or int(text) > last:
            raise NotFoundError(f"no event at offset {text[:18]}: the last one is {last}", f"--at {max(last, 0)}")
        return int(text)
    moment = parse_time(text)
    if moment is None:
        raise UsageError(
            f"--at {decode(text)!r} is neither an offset nor an RFC 3339 time", "--at 12, --at 2026-01-31T12:00:00Z"
        )
    found = offset_at_time(log.read(), moment + _span(text))
    if found is None:
        raise NotFoundError(f"no event at or before {decode(text)}", "--at 0")
    return found


def _span(text: str) -> int:
    """Milliseconds from the moment that a time names to the end of the day, minute or second that it means."""
    clock = text.upper().replace(" ", "T").partition("T")[2].removesuffix("Z").partition("+")[0].partition("-")[0]
    if not clock:
        return DAY_MS - 1
    if "." in clock:
        return 0
    return (_SECOND_MS if clock.count(":") > 1 else _MINUTE_MS) - 1
