"""``memfold prove``: the proof that one event stands in the ledger, for whoever has its line and a head."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from memfold.cli.console import Console
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.place import named_event, open_view
from memfold.cli.proof_documents import ProofDocument
from memfold.errors import OK, NotFoundError
from projections.text.clean import decode
from replay.tlog import proof_text
from replay.verify import prove

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("event", metavar="EVENT", help="offset or id of the event")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the proof; with --json the line that it is about too."""
    view, console = open_view(options), Console(options)
    event = named_event(view.log.read(), decode(options.event))
    found = prove(view.log, event.id)
    if found is None:
        raise NotFoundError(f"event {event.id} stands in no line of its own", "memfold check")
    proof, line = found
    if options.json:
        document = ProofDocument(
            ledger=view.place.shown_directory,
            event=event.id,
            offset=event.seq,
            index=proof.index,
            line=line.decode("utf-8", "replace"),
            hashes=tuple(one.hex() for one in proof.hashes),
            size=proof.head.size,
            root=proof.head.root.hex(),
            text=proof_text(proof),
        )
        console.emit(document)
    else:
        for text in proof_text(proof).splitlines():
            console.out(text)
    return OK
