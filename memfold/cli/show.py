"""``memfold show``: everything about one memory, in short."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.documents.memories import DetailPart, ShowDocument
from memfold.cli.memories import Shelf
from memfold.cli.parsing import at_option, json_option, ledger_options
from memfold.cli.place import open_view, short_session
from memfold.cli.words import WHEN_DECIDED, wording_words
from memfold.errors import NotFoundError
from projections.memory.model import MemoryState, Ref, shown_id
from projections.text.clean import decode
from projections.world import WorldState
from replay.names import entry_by_id, parse_id, refs_by_text

__all__ = ["configure", "missing_id", "run"]

_MOST = 20


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("memory", metavar="ID|TEXT", help="an id such as MEM-003, or a text, whole or in part")
    ledger_options(parser)
    at_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the memories that the name fits."""
    view, console = open_view(options), Console(options)
    query = decode(options.memory)
    world = view.world(only=frozenset())
    refs = _named(world, query)
    if not refs:
        raise NotFoundError(
            f"no memory holds {query!r} as of offset {world.memory.offset}", "memfold why, with that text"
        )
    shelf = Shelf(world)
    chosen = refs[-_MOST:][::-1]
    document = ShowDocument(
        ledger=view.place.shown_directory,
        position=world.memory.offset,
        now=format_time(world.memory.now),
        memories=tuple(shelf.detail(ref) for ref in chosen),
        more=len(refs) - len(chosen),
    )
    if options.json:
        console.emit(document)
        return 0
    for index, one in enumerate(document.memories):
        if index:
            console.out()
        _print(console, one)
    if options.at is not None:
        console.out()
        console.as_of(document.position, document.now)
    if document.more:
        console.note(f"{document.more} more: give more of the text")
    return 0


def missing_id(memory: MemoryState, query: str) -> NotFoundError:
    """No entry has an id: say which ids there are."""
    last = memory.next_number - 1
    there = f"ids go up to {shown_id(last)}" if last else "no memory has an id yet"
    if memory.pending:
        there += f"; {len(memory.pending):,} pending, without an id until they are decided"
    return NotFoundError(f"no memory {query.strip()} as of offset {memory.offset}: {there}", "memfold list --state all")


def _named(world: WorldState, query: str) -> tuple[Ref, ...]:
    if parse_id(query) is None:
        return refs_by_text(world, query)
    entry = entry_by_id(world.memory, query)
    if entry is None:
        raise missing_id(world.memory, query)
    return (entry.ref,)


def _print(console: Console, one: DetailPart) -> None:
    name = console.style.cyan(one.id or "candidate without id")
    state = "active" if one.state == "promoted" else one.state
    console.out(f"{name}  {state}  {one.type}  {one.source} {one.confidence}%")
    console.wrapped(one.text or "(the text is not kept)")
    console.out()
    content = one.content if one.content and one.content != one.text else ""
    console.fields(
        [
            ("title", one.title if one.title != one.text else ""),
            ("content", content),
            ("wording", wording_words(one.wording)),
            ("why", one.rationale),
            ("tags", ", ".join(one.tags)),
            ("importance", "" if one.importance == "normal" else one.importance),
            ("safety", "critical" if one.safety_critical else ""),
            ("rank", f"{one.rank}, strength {one.strength:.2f}{_block(one)}" if one.strength is not None else ""),
            ("decay", f"half-life {one.half_life_days:g} days, from {one.clock}" if one.half_life_days else ""),
            ("reinforced", f"{one.reinforcements} times, last {one.reinforced}" if one.reinforcements else ""),
            ("proposed", f"#{one.offset}  {one.proposed}  session {short_session(one.session)}"),
            ("decided", WHEN_DECIDED if one.state == "pending" else f"#{one.decided}  {', '.join(one.reasons)}"),
            ("updated", one.updated or ""),
            ("said in", ", ".join(map(short_session, one.sessions))),
            ("replaces", one.supersedes or ""),
            ("replaced by", one.superseded_by or ""),
            ("part of", one.into or ""),
        ]
    )


def _block(one: DetailPart) -> str:
    return ", in the block" if one.shown else f", not in the block ({one.omitted})"
