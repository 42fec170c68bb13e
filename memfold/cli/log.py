"""``memfold log``: the events of a ledger as aligned lines, or as they are stored."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from ledger.codec import TYPE_NAMES, encode
from ledger.events import (
    AnyEvent,
    FileWritten,
    PromptRendered,
    SessionMeasured,
    ToolCompleted,
    UnknownEvent,
    type_name,
)
from ledger.reader import Cursor
from ledger.source import split_source
from ledger.times import parse_time
from memfold.cli.console import Console
from memfold.cli.gist import gist
from memfold.cli.parsing import json_option, ledger_options, whole_number
from memfold.cli.place import View, open_view, short_session
from memfold.errors import UsageError
from memfold.terminal import clean, fit
from projections.text.clean import decode

__all__ = ["configure", "run"]

Keep = Callable[[AnyEvent], bool]

_TYPE_WIDTH = max(map(len, TYPE_NAMES.values()))
_SESSION_WIDTH = 9
_OFFSET = "#"
_DEBOUNCE_MS = 50
_UNNAMED = (ToolCompleted, PromptRendered, SessionMeasured, FileWritten, UnknownEvent)
"""The bulk of a log, which proposes and changes no memory."""


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    parser.add_argument("--session", metavar="S", help="only events of this session: its id, or a part of it")
    parser.add_argument("--type", metavar="T", help="only events of this type, such as memory.requested or memory")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--at", metavar="N|TIME", help="only the event at an offset, or the last one at a time")
    place.add_argument("--since", metavar="N|TIME", help="only from an offset or a time on; UTC without a zone")
    parser.add_argument("--limit", metavar="N", type=whole_number, help="only the last N of these")
    parser.add_argument("--follow", action="store_true", help="then wait for new events, until interrupted")
    json_option(parser, "print the stored events, one a line")


def run(options: Namespace) -> int:
    """Print the events that the options choose."""
    if options.at is not None and options.follow:
        raise UsageError("--at names one event, and --follow waits for new ones", "--since N --follow")
    view, console = open_view(options), Console(options)
    keep = _filter(options, view)
    offsets: dict[str, int] = {}
    write = _json_writer(console) if options.json else _line_writer(view, console, offsets)
    reader = view.log.reader()
    events: Iterable[AnyEvent] = filter(keep, _noted(reader, offsets))
    shown = 0
    for event in events if options.limit is None else deque(events, options.limit):
        write(event)
        shown += 1
    if not shown and not options.follow:
        console.note(f"no such event: the log has {view.log.size():,}, none of them fits")
    if options.follow:
        sys.stdout.flush()
        for event in filter(keep, _noted(_new_events(view, reader.cursor), offsets)):
            write(event)
            sys.stdout.flush()
    return 0


def _noted(events: Iterable[AnyEvent], offsets: dict[str, int]) -> Iterator[AnyEvent]:
    """The same events; where those stand that a later change may be about is noted."""
    for event in events:
        if not isinstance(event, _UNNAMED):
            offsets[event.id] = event.seq
        yield event


def _filter(options: Namespace, view: View) -> Keep:
    """Whether an event is one that was asked for."""
    source = None if options.session is None else view.session(options.session)
    offset, moment = _since(options.since)
    wanted: str | None = options.type
    if wanted is not None and not _is_type(wanted):
        raise UsageError(f"no events have the type {decode(wanted)!r}", f"one of {', '.join(TYPE_NAMES.values())}")

    def keep(event: AnyEvent) -> bool:
        return (
            (view.at is None or event.seq == view.at)
            and (source is None or event.source == source)
            and event.seq >= offset
            and (moment is None or (parse_time(event.time) or 0) >= moment)
            and (wanted is None or type_name(event) == wanted or type_name(event).startswith(f"{wanted}."))
        )

    return keep


def _is_type(text: str) -> bool:
    """A type we know, the first part of one, or a dotted name that a newer release may write."""
    return "." in text or any(name.startswith(f"{text}.") for name in TYPE_NAMES.values())


def _since(text: str | None) -> tuple[int, int | None]:
    """An offset and a time in milliseconds; one of them filters nothing."""
    if text is None:
        return 0, None
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return int(text), None
    moment = parse_time(text)
    if moment is None:
        raise UsageError(
            f"--since {decode(text)!r} is neither an offset nor an RFC 3339 time", "--since 12, --since 2026-01-31"
        )
    return 0, moment


def _json_writer(console: Console) -> Callable[[AnyEvent], None]:
    def write(event: AnyEvent) -> None:
        line = event.line + b"\n" if isinstance(event, UnknownEvent) else encode(event)
        console.exact(line.decode("utf-8", "replace"), is_json=True)

    return write


def _line_writer(view: View, console: Console, offsets: Mapping[str, int]) -> Callable[[AnyEvent], None]:
    size = max(len(str(view.log.size() - 1)), len(_OFFSET))
    root = view.place.root
    titles = f"{_OFFSET:>{size}}  {'time (UTC)':<19}  {'type':<{_TYPE_WIDTH}}  {'session':<{_SESSION_WIDTH}}  what"
    heading = (
        []
        if console.is_narrow
        else [console.style.bold(titles if console.width is None else fit(titles, console.width))]
    )

    def write(event: AnyEvent) -> None:
        while heading:
            console.out(heading.pop())
        moment = (event.time or "-")[:19].replace("T", " ")
        head = (
            f"{event.seq:>{size}}  {clean(moment):<19}  {clean(type_name(event)):<{_TYPE_WIDTH}}  "
            f"{clean(short_session(split_source(event.source)[1])):<{_SESSION_WIDTH}}"
        )
        what = clean(gist(event, root, offsets))
        if console.is_narrow:
            console.out(console.style.dim(f"{event.seq:>{size}}  {clean(moment)}"))
            console.wrapped(f"{type_name(event)}  {what}".rstrip(), " " * (size + 2))
            return
        line = f"{head}  {what}".rstrip()
        shown = line if console.width is None else fit(line, console.width)
        console.out(console.style.dim(shown[: size + 21]) + shown[size + 21 :])

    return write


def _new_events(view: View, cursor: Cursor) -> Iterator[AnyEvent]:
    """What other processes append from now on; ends only when it is interrupted."""
    from watchfiles import watch

    changes = watch(
        view.place.directory, watch_filter=None, debounce=_DEBOUNCE_MS, yield_on_timeout=True, recursive=False
    )
    for _ in changes:
        reader = view.log.reader(cursor)
        yield from reader
        cursor = reader.cursor
