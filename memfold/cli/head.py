"""``memfold head``: the head of the ledger's hash tree, to be kept elsewhere and verified later."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from memfold.cli.console import Console
from memfold.cli.documents.proofs import HeadDocument
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.place import open_view
from memfold.cli.words import plural
from memfold.errors import FINDINGS, OK
from replay.tlog import head_text
from replay.verify import verify

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the head as three lines; 3 if one that stands in the ledger doesn't hold."""
    view, console = open_view(options), Console(options)
    found = verify(view.log)
    head, text = found.head, head_text(found.head)
    if options.json:
        ledger = view.place.shown_directory
        console.emit(HeadDocument(ledger, head.origin, head.size, head.root.hex(), text, found.breaks))
    else:
        for line in text.splitlines():
            console.out(line)
        if found.breaks:
            verb = "doesn't" if len(found.breaks) == 1 else "don't"
            console.note(f"{plural(len(found.breaks), 'head')} in the ledger {verb} hold: memfold verify")
    return FINDINGS if found.breaks else OK
