# ruff: noqa: PTH100, PTH118, PTH119 - os.path strings, as in ``memfold.paths``
"""``memfold export``: the memories of a workspace as a document, as MEMORY.md, or as a store of another program."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import NamedTuple

import msgspec

from ledger.events import LedgerCreated, LedgerCreatedData
from ledger.files import make_private_folder
from ledger.log import FileLog
from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.documents.moves import ExportDocument
from memfold.cli.memories import Shelf
from memfold.cli.parsing import at_option, ledger_options
from memfold.cli.place import open_view
from memfold.cli.words import plural
from memfold.errors import OK, CannotCreate
from memfold.exports.reference_a import journal_bytes, store_bytes
from memfold.hosts.installs import replace_file
from memfold.imports.reference_a import JOURNAL_NAME, STORE_NAME
from projections.memory_file.projection import file_text
from projections.memory_file.reading import encode_file
from projections.text.clean import decode
from projections.world import WorldState
from replay.names import current_wording

__all__ = ["Document", "configure", "created_in", "document_of", "export_document", "run"]

_FORMATS = ("json", "markdown", "reference-a", "reference-b")
_PRIVATE = 0o600
_LEFT_OUT = ("rejected", "absorbed")


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        default="json",
        help="json: all fields; markdown and reference-b: MEMORY.md; reference-a: the JSON store of "
        "opencode-working-memory (default: json)",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="a new file, for reference-a a folder (default: print to stdout)"
    )
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    at_option(parser)
    ledger_options(parser)


def run(options: Namespace) -> int:
    """Write or print; the same position gives the same bytes."""
    view, console = open_view(options), Console(options)
    world = view.world(only=frozenset())
    created = created_in(view.log, view.place.root)
    if options.format == "reference-a":
        _export_store(options, console, world, created)
    else:
        data = document_of(world, created).data if options.format == "json" else encode_file(file_text(world.memory))
        if options.output is None:
            console.exact(data.decode("utf-8", "replace"), is_json=options.format == "json")
        else:
            _write({os.path.abspath(options.output): data}, console, force=options.force)
    return OK


def export_document(world: WorldState, created: LedgerCreatedData) -> ExportDocument:
    """Every memory, whatever has become of it, and every pending candidate, in ledger order.

    What was refused or went into another memory is none, and what was purged has nothing left to give.
    """
    shelf, memory = Shelf(world), world.memory
    listed = [ref for ref, record in world.accounts.records.items() if record.state not in _LEFT_OUT]
    return ExportDocument(
        workspace=decode(created.root),
        ledger=created.ledger,
        position=memory.offset,
        now=format_time(memory.now),
        next_number=memory.next_number,
        memories=tuple(shelf.detail(ref) for ref in listed if not current_wording(world, ref).erased),
    )


class Document(NamedTuple):
    """An export: its bytes, and how many memories are in it."""

    data: bytes
    memories: int


def document_of(world: WorldState, created: LedgerCreatedData) -> Document:
    """The export as JSON; the same state gives the same bytes."""
    document = export_document(world, created)
    return Document(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n", len(document.memories))


def _export_store(options: Namespace, console: Console, world: WorldState, created: LedgerCreatedData) -> None:
    """The store, and the journal where something is pending; only a folder holds both."""
    memory = world.memory
    store = store_bytes(memory, created.root, created.key)
    if options.output is None:
        console.exact(store.decode(), is_json=True)
        if memory.pending:
            number = plural(len(memory.pending), "pending memory", "pending memories")
            console.note(f"{number} would stand in {JOURNAL_NAME}, which --output FOLDER writes beside the store")
        return
    folder = os.path.abspath(options.output)
    files = {os.path.join(folder, STORE_NAME): store}
    if memory.pending:
        files[os.path.join(folder, JOURNAL_NAME)] = journal_bytes(memory, created.root, created.key)
    make_private_folder(folder)
    _write(files, console, force=options.force)


def _write(files: dict[str, bytes], console: Console, *, force: bool) -> None:
    """Put files in place, all or none of them.

    Raises:
        CannotCreate: if one is there already, or the system refuses.
    """
    there = [path for path in files if os.path.lexists(path)]
    if there and not force:
        raise CannotCreate(f"{decode(there[0])} is there already", "--force replaces it")
    for path, data in files.items():
        try:
            replace_file(path, data, mode=_PRIVATE)
        except OSError as error:
            raise CannotCreate(f"{decode(path)} can't be written: {error.strerror or error}") from error
        console.note(f"written: {decode(path)} ({plural(len(data), 'byte')})")


def created_in(log: FileLog, root: str) -> LedgerCreatedData:
    """Whose ledger it is; of one whose first line is lost, what is known from elsewhere."""
    first = next(log.read(), None)
    if isinstance(first, LedgerCreated):
        return first.data
    return LedgerCreatedData(format=1, ledger="", root=root, key=os.path.basename(log.directory))
