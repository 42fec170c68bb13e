# ruff: noqa: PTH119 - os.path strings, as in ``memfold.paths``
"""``memfold purge``: erase the text of a memory for good, after showing what goes and where (SPEC 15.4)."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterable

from ledger.events import Event
from memfold.cli.change_documents import PlacePart, PurgeDocument, PurgedPart
from memfold.cli.desk import Desk, refusal
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.words import plural
from memfold.errors import FINDINGS, OK, UsageError
from memfold.memory_file.disk import MEMORY_NAME, SUMMARY_NAME
from memfold.paths import data_dir, workspace_key
from memfold.purge.naming import of_message, of_name
from memfold.purge.places import Place, project_files
from memfold.purge.purge import Named, Preview, Purge
from projections.memory.model import Ref
from projections.text.clean import decode
from projections.world import WorldState

__all__ = ["UNREACHABLE", "configure", "run"]

UNREACHABLE = (
    "the client's own database, which has the conversation",
    "the history of git",
    "swap and undo files of editors",
    "copies of the ledger that others have made",
)
_WORD = "purge"
_ACTIONS = {"remove": "removed", "rewrite": "rewritten", "tell": "left as it is: it isn't memfold's to change"}


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "memory", metavar="ID|TEXT", nargs="?", help="an id such as MEM-003, in any state, or a whole text"
    )
    parser.add_argument("--message", metavar="ID", help="all that this message of the host has proposed")
    parser.add_argument("--reason", metavar="R", default="", help="why; kept in the record, without the text")
    parser.add_argument(
        "--containing",
        choices=("keep", "purge"),
        help="what to do about other memories that hold the text in theirs (default: name them, and do nothing)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would be erased, and do nothing")
    parser.add_argument("--yes", action="store_true", help="don't ask")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Purge, when a person has said so; 3 if something holds the text also afterwards."""
    named = _named(options)
    with Desk(options) as desk:
        root = desk.place.root or desk.place.directory
        purge = Purge(
            desk.place.directory,
            data=data_dir(os.environ, desk.place.resolved.config.data_dir),
            key=workspace_key(root),
            named=named,
            containing=options.containing or "ask",
            reason=decode(options.reason),
            time=desk.time,
        )
        preview = purge.look()
        _require_decision(preview)
        is_there = bool(preview.choice.keys)
        own = (MEMORY_NAME, SUMMARY_NAME) if is_there and desk.keeper.is_kept() else ()
        places = (*preview.places, *_project(root, preview, own))
        if not options.json:
            _print(desk, preview, places)
        if options.dry_run or not is_there:
            document = _document(desk, preview, _copies(preview), places)
        else:
            _confirm(desk, preview, options)
            events = purge.run(preview)
            desk.keeper.sync()
            purge.clear(preview.choice)
            done = [place for place in places if place.action != "tell"]
            left = [place for place in purge.places(preview.choice) if place.action == "tell"]
            document = _document(desk, preview, _copies(preview), (*done, *left, *_project(root, preview, ())), events)
        if options.json:
            desk.console.emit(document)
        else:
            _print_end(desk, document)
    return FINDINGS if document.done and _is_left(document) else OK


def _named(options: Namespace) -> Named:
    """What to look up, when the log is at hand.

    Raises:
        UsageError: if nothing is named, or two things are.
    """
    name, message = options.memory, options.message
    if (name is None) == (message is None):
        raise UsageError("name a memory, or a message with --message", "memfold purge MEM-003")
    if name is not None:
        return lambda world: of_name(world, decode(name))
    return lambda world: of_message(world, decode(message))


def _require_decision(preview: Preview) -> None:
    """Other memories that hold the text are somebody's too: nothing is done about them unasked."""
    if preview.choice.also_in:
        world = preview.world
        holders = {f"{_id(world, one.ref) or 'a candidate'}: {one.proposal.text}" for one in preview.choice.also_in}
        raise refusal(
            f"other memories hold the text in theirs, so nothing was purged; {'; '.join(sorted(holders))}",
            "--containing purge takes them too, --containing keep leaves it there",
        )


def _confirm(desk: Desk, preview: Preview, options: Namespace) -> None:
    """A person types what is to go; without a terminal it takes --yes."""
    if options.yes:
        return
    if options.json or not sys.stdin.isatty():
        raise refusal("a purge can't be undone; nothing was purged", "--yes, or --dry-run")
    word = next((part.id for part in _texts(preview) if part.id), _WORD)
    desk.console.out(f"This can't be undone. Type {word} to go on:")
    if sys.stdin.readline().strip().casefold() != word.casefold():
        raise refusal("nothing was purged", f"memfold purge {word} --dry-run shows it again")


def _document(
    desk: Desk,
    preview: Preview,
    copies: tuple[Place, ...],
    places: tuple[Place, ...],
    events: tuple[Event, ...] = (),
) -> PurgeDocument:
    return PurgeDocument(
        ledger=desk.place.shown_directory,
        done=bool(events),
        texts=_texts(preview),
        changed=preview.changed,
        left=preview.left,
        places=tuple(PlacePart(decode(one.path), one.kind, one.action) for one in (*copies, *places)),
        absent=tuple(map(decode, preview.absent)),
        unreachable=UNREACHABLE,
        event=events[-1].id if events else "",
    )


def _copies(preview: Preview) -> tuple[Place, ...]:
    return tuple(Place(copy.folder, "backup", "rewrite") for copy in preview.copies)


def _project(root: str, preview: Preview, own: Collection[str]) -> tuple[Place, ...]:
    """The memory file, an editor's copies of it, words of other people: ours are written anew behind a purge."""
    paths = project_files(root, preview.choice.needles) if preview.choice.keys else ()
    return tuple(Place(path, "project", "rewrite" if os.path.basename(path) in own else "tell") for path in paths)


def _texts(preview: Preview) -> tuple[PurgedPart, ...]:
    world, choice = preview.world, preview.choice
    return tuple(_part(world, ref, leaves=ref in choice.leaving, keys=choice.keys) for ref in choice.targets)


def _part(world: WorldState, ref: Ref, *, leaves: bool, keys: frozenset[str]) -> PurgedPart:
    record, entry = world.accounts.records[ref], world.memory.entries.get(ref)
    wording = record.proposal if entry is None or entry.proposal.key not in keys else entry.proposal
    return PurgedPart(_id(world, ref), record.state, leaves, wording.type, wording.text)


def _id(world: WorldState, ref: Ref) -> str:
    entry = world.memory.entries.get(ref)
    return "" if entry is None else entry.id


def _print(desk: Desk, preview: Preview, places: Iterable[Place]) -> None:
    """What goes and where, before anything is done."""
    console, parts = desk.console, _texts(preview)
    if not parts:
        console.out("its text was purged before: there is nothing to erase")
        return
    console.out("these texts are erased for good:")
    for part in dict.fromkeys(parts):
        state = "active" if part.state == "promoted" else part.state
        name = console.style.cyan(part.id) if part.id else "a candidate"
        console.out(f"  {name}  {part.type or 'no type'}  {state}{', then deleted' if part.leaves else ''}")
        console.wrapped(part.text, "      ")
    console.out("where they stand:")
    console.out(f"  {plural(sum(preview.changed.values()), 'event')} of the ledger")
    for place in (*_copies(preview), *places):
        console.out(f"  {decode(place.path)} ({place.kind}): {_ACTIONS[place.action]}")
    for folder in preview.absent:
        console.out(f"  {decode(folder)} (backup): not there now; purge again when it is")


def _print_end(desk: Desk, document: PurgeDocument) -> None:
    console = desk.console
    if not document.done:
        if document.texts:
            console.out("nothing was done (--dry-run)")
        return
    console.out(console.style.green("purged"))
    for place in document.places:
        if place.action == "tell":
            console.out(console.style.yellow(f"  {place.path} holds the text too: {_ACTIONS['tell']}"))
    if document.left:
        lines = plural(document.left, "line")
        console.out(
            console.style.yellow(f"  it stays in {lines} of the ledger: in a memory that stays, a path or an id")
        )
    console.out("memfold can't look into:")
    for name in document.unreachable:
        console.out(f"  {name}")


def _is_left(document: PurgeDocument) -> bool:
    return bool(document.left or document.absent or any(one.action == "tell" for one in document.places))
