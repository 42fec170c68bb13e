"""``memfold list``: memories as a table, strongest first."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.documents.memories import ListDocument, MemoryPart
from memfold.cli.memories import Shelf
from memfold.cli.parsing import at_option, json_option, ledger_options
from memfold.cli.place import open_view
from memfold.cli.words import WHEN_DECIDED, plural
from memfold.errors import UsageError
from projections.memory.model import CANDIDATE_STATES
from projections.policy import type_order
from projections.text.clean import decode

__all__ = ["configure", "run"]

_STATES = ("active", *CANDIDATE_STATES, "all")
_ACTIVE = ("active", "promoted")
_WIDE = 100
"""Columns of a terminal from which on a list has a place for everything."""


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    parser.add_argument(
        "--state",
        choices=_STATES,
        default="active",
        help="candidates in this state; active is another word for promoted (default: active)",
    )
    parser.add_argument("--type", metavar="T", help="only this type, such as decision")
    at_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the table."""
    view, console = open_view(options), Console(options)
    world = view.world(only=frozenset())
    types = type_order(world.memory.context.policy)
    if options.type is not None and options.type not in types:
        raise UsageError(f"{decode(options.type)!r} is no memory type here", f"--type with one of {', '.join(types)}")
    shelf = Shelf(world)
    parts = (shelf.part(ref) for ref in shelf.refs(options.state))
    document = ListDocument(
        ledger=view.place.shown_directory,
        position=world.memory.offset,
        now=format_time(world.memory.now),
        memories=tuple(one for one in parts if options.type in (None, one.type)),
    )
    if options.json:
        console.emit(document)
    else:
        _print(console, document, options.state, len(world.memory.pending))
        if options.at is not None:
            console.as_of(document.position, document.now)
    return 0


def _print(console: Console, document: ListDocument, state: str, pending: int) -> None:
    """The table, or that there is none; of what is pending its number, where the table doesn't hold it."""
    waiting = f"{pending:,} pending: decided {WHEN_DECIDED}"
    if not document.memories:
        kind = "candidates" if state == "all" else f"{state} memories"
        console.note(
            f"no {kind}" + (f" as of offset {document.position}" if document.position >= 0 else ": the log is empty")
        )
        if pending and state in _ACTIVE:
            console.note(f"{waiting} (memfold list --state pending)")
        return
    narrow = console.width is not None and console.width < _WIDE
    if state not in _ACTIVE:
        if narrow:
            _print_stacked(console, document)
        else:
            rows = [_row(one) for one in document.memories]
            console.table(rows, ("id", "state", "type", "source", "age", "reasons", "text"), (4,), (0, 5))
    else:
        if console.is_narrow:
            _print_stacked_active(console, document)
        else:
            rows = [_active_row(one, narrow=narrow) for one in document.memories]
            wide = () if narrow else ("source", "age")
            right = (3, 4) if narrow else (3, 4, 6)
            console.table(rows, ("", "id", "type", "strength", "+", *wide, "text"), right, (1,))
        shown = sum(one.shown for one in document.memories)
        of = plural(len(document.memories), "memory", "memories")
        remarks = [f"* in the block: {shown} of {of}; +: how often other sessions said it again"]
        if pending:
            remarks.append(f"{waiting} (--state pending)")
        console.out()
        for line in (line for remark in remarks for line in console.lines(remark, "")):
            console.out(console.style.dim(line))


def _active_row(one: MemoryPart, *, narrow: bool) -> tuple[str, ...]:
    strength = "" if one.strength is None else f"{one.strength:.2f}"
    wide = () if narrow else (one.source, f"{one.age_days}d")
    return ("*" if one.shown else "", one.id or "", one.type, strength, str(one.reinforcements), *wide, one.text)


def _row(one: MemoryPart) -> tuple[str, ...]:
    age = f"{one.age_days}d"
    return (one.id or "-", _state(one), one.type, one.source, age, ", ".join(one.reasons), _text(one))


def _print_stacked(console: Console, document: ListDocument) -> None:
    """Where a row has no room for whole codes and a text: the text below, without source and age."""
    for one in document.memories:
        console.wrapped(f"{one.id or '-':<7}  {_state(one):<8}  {', '.join(one.reasons)}", "")
        console.wrapped(f"[{one.type}] {_text(one)}" if one.type else _text(one), "    ")


def _print_stacked_active(console: Console, document: ListDocument) -> None:
    """Where a row would have no room for a text at all."""
    for one in document.memories:
        mark, name, _, strength, count = _active_row(one, narrow=True)[:5]
        console.out(f"{mark:<1} {name:<8}  {strength:>5}  +{count}")
        console.wrapped(f"[{one.type}] {_text(one)}", "    ")


def _state(one: MemoryPart) -> str:
    return "active" if one.state == "promoted" else one.state


def _text(one: MemoryPart) -> str:
    return one.text or "(text not kept)"
