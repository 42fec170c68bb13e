# ruff: noqa: PTH119 - os.path strings, as in ``memfold.paths``
"""``memfold purge``: erase a memory's text, or any other, for good, after showing what goes and where (SPEC 15.4)."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection

from ledger.events import Event
from memfold.cli.add import given_text
from memfold.cli.desk import Desk, refusal
from memfold.cli.documents.changes import PlacePart, PurgeDocument
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.purge_report import id_of, print_end, print_preview, purged_parts
from memfold.errors import FINDINGS, OK, UsageError
from memfold.memory_file.disk import MEMORY_NAME, SUMMARY_NAME
from memfold.paths import data_dir, workspace_key
from memfold.purge.naming import of_message, of_name, of_text, unknown_text
from memfold.purge.places import Place, project_files
from memfold.purge.purge import Named, Preview, Purge
from projections.text.clean import decode

__all__ = ["UNREACHABLE", "configure", "run"]

UNREACHABLE = (
    "the client's own database, which has the conversation",
    "the history of git",
    "swap and undo files of editors",
    "copies of the ledger that others have made",
)
_WORD = "purge"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "memory",
        metavar="ID|TEXT",
        nargs="?",
        help="an id such as MEM-003, in any state, or a text, erased wherever it stands; - reads it from stdin",
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
    name = _name(options)
    with Desk(options) as desk:
        root = desk.place.root or desk.place.directory
        purge = Purge(
            desk.place.directory,
            data=data_dir(os.environ, desk.place.resolved.config.data_dir),
            key=workspace_key(root),
            named=_named(name, options),
            texts=of_text(name),
            containing=options.containing or "ask",
            reason=decode(options.reason),
            time=desk.time,
        )
        preview = purge.look()
        _require_decision(preview)
        own = (MEMORY_NAME, SUMMARY_NAME) if preview.choice.keys and desk.keeper.is_kept() else ()
        places = (*preview.places, *_project(root, preview, own))
        if preview.choice.texts and not preview.is_found and not any(place.action == "tell" for place in places):
            raise unknown_text(preview.world, name)
        document = _document(desk, preview, places)
        if not options.json:
            print_preview(desk.console, document)
        if preview.does_anything and not options.dry_run:
            _confirm(desk, document, options)
            events = purge.run(preview)
            desk.keeper.sync()
            purge.clear(preview.choice)
            done = [place for place in places if place.action != "tell"]
            left = purge.left(preview.choice)
            document = _document(desk, preview, (*done, *left, *_project(root, preview, ())), events)
        if options.json:
            desk.console.emit(document)
        else:
            print_end(desk.console, document, UNREACHABLE)
    return FINDINGS if document.outcome != "dry-run" and _is_left(document) else OK


def _name(options: Namespace) -> str:
    """The id or text that is named; empty where a message is.

    Raises:
        UsageError: if nothing is named, or two things are.
    """
    name, message = options.memory, options.message
    text = "" if name is None else given_text(name)
    if bool(text.strip()) == (message is not None):
        raise UsageError("name a memory or a text, or a message with --message", "memfold purge MEM-003")
    return text


def _named(name: str, options: Namespace) -> Named:
    """The memories to look up, when the log is at hand."""
    if name:
        return lambda world: of_name(world, name)
    return lambda world: of_message(world, decode(options.message))


def _require_decision(preview: Preview) -> None:
    """Other memories that hold the text are somebody's too: nothing is done about them unasked."""
    if preview.choice.also_in:
        world = preview.world
        holders = {f"{id_of(world, one.ref) or 'a candidate'}: {one.proposal.text}" for one in preview.choice.also_in}
        raise refusal(
            f"other memories hold the text in theirs, so nothing was purged; {'; '.join(sorted(holders))}",
            "--containing purge takes them too, --containing keep leaves it there",
        )


def _confirm(desk: Desk, document: PurgeDocument, options: Namespace) -> None:
    """A person types what is to go; without a terminal it takes --yes."""
    if options.yes:
        return
    if options.json or not sys.stdin.isatty():
        raise refusal("a purge can't be undone; nothing was purged", "--yes, or --dry-run")
    word = next((part.id for part in document.texts if part.id), _WORD)
    desk.console.out(f"This can't be undone. Type {word} to go on:")
    if sys.stdin.readline().strip().casefold() != word.casefold():
        raise refusal("nothing was purged", "the same command with --dry-run shows it again")


def _document(desk: Desk, preview: Preview, places: tuple[Place, ...], events: tuple[Event, ...] = ()) -> PurgeDocument:
    copies = (Place(copy.folder, "backup", "rewrite") for copy in preview.copies)
    return PurgeDocument(
        ledger=desk.place.shown_directory,
        done=bool(events),
        outcome="done" if events else "dry-run" if preview.does_anything else "nothing",
        text=next(iter(preview.choice.texts), ""),
        texts=purged_parts(preview.world, preview.choice),
        changed=preview.changed,
        left=preview.left,
        stays=preview.stays,
        maybe=preview.maybe,
        places=tuple(PlacePart(decode(one.path), one.kind, one.action) for one in (*copies, *places)),
        absent=tuple(map(decode, preview.absent)),
        unreachable=UNREACHABLE,
        event=events[-1].id if events else "",
    )


def _project(root: str, preview: Preview, own: Collection[str]) -> tuple[Place, ...]:
    """The memory file, an editor's copies of it, words of other people: ours are written anew behind a purge."""
    paths = project_files(root, preview.choice.needles) if preview.choice.needles else ()
    return tuple(Place(path, "project", "rewrite" if os.path.basename(path) in own else "tell") for path in paths)


def _is_left(document: PurgeDocument) -> bool:
    told = any(one.action == "tell" for one in document.places)
    return bool(document.left or document.maybe or document.absent or told)
