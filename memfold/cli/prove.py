"""``memfold prove``: the proof that one event stands in the ledger, for whoever has its line and a head."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from memfold.cli.console import Console
from memfold.cli.documents.proofs import ProofDocument
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.place import View, named_event, open_view
from memfold.errors import OK, NotFoundError
from projections.histories import HistoryState, Step
from projections.memory.model import Entry
from projections.text.clean import decode
from replay.history import with_history
from replay.names import entry_by_id, parse_id
from replay.proofs import prove
from replay.tlog import proof_text

__all__ = ["configure", "run"]

_SHOWN = 10


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "event", metavar="EVENT", help="offset or id of the event; memfold history names those of a memory"
    )
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the proof; with --json the line that it is about too."""
    view, console = open_view(options), Console(options)
    name = decode(options.event)
    _require_event(view, name)
    event = named_event(view.log.read(), name)
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


def _require_event(view: View, name: str) -> None:
    """A memory is made of several events: say which, since a proof is of one."""
    if parse_id(name) is None:
        return
    found = with_history(view.log, view.at, lambda state: _steps_of(state, name))
    if found is not None:
        entry, steps = found
        offsets = [f"#{step.offset}" for step in steps]
        shown = ", ".join([*offsets[:_SHOWN], *(["…"] if len(offsets) > _SHOWN else [])])
        what = "its event is" if len(offsets) == 1 else "its events are"
        raise NotFoundError(
            f"{name.strip()} is a memory, and a proof is of one event: {what} {shown}", f"memfold history {entry.id}"
        )


def _steps_of(state: HistoryState, name: str) -> tuple[Entry, tuple[Step, ...]] | None:
    entry = entry_by_id(state.memory, name)
    return None if entry is None else (entry, state.steps[entry.ref])
