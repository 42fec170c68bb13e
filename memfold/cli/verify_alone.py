"""A proof that is checked where its ledger isn't: by the event's line, and by a head that was kept if there is one."""

from __future__ import annotations

from argparse import Namespace

from memfold.cli.console import Console
from memfold.cli.documents.proofs import GivenPart, Standing, VerifyDocument
from memfold.cli.given import GivenProof
from memfold.cli.words import plural
from memfold.errors import FINDINGS, OK
from replay.proofs import proven_line
from replay.tlog import Head

__all__ = ["check_alone"]

_AGAINST = {
    "holds": "the head in the proof is the one you gave",
    "broken": "the head you gave is over as many lines, but over others than the proof",
    "unknown": "the head you gave covers another number of lines: only the ledger itself can compare the two",
}
_SHOWS = {
    None: "the line stands under that head; a head that you kept (--since) or the ledger tells if the head is true",
    "holds": "the line stood there when you took the head; whether it still does, the ledger tells",
}


def check_alone(options: Namespace, given: GivenProof, since: Head | None) -> int:
    """Print what a proof shows by itself; 3 if it shows nothing, or nothing under the head that was kept."""
    proof, console = given.proof, Console(options)
    event = "" if given.line is None else proven_line(given.line, proof)
    standing = None if since is None else _standing(since, proof.head)
    intact = bool(event) and standing in (None, "holds")
    if options.json:
        console.emit(_document(proof.head, since, standing, event, intact=intact))
        return OK if intact else FINDINGS
    if event:
        style = console.style.green if intact else console.style.yellow
        head = "the head you gave" if standing == "holds" else "the head in the proof alone"
        text = f"proven under {head}: index {proof.index:,} is event {event}"
    else:
        style, text = console.style.red, "not proven: line, hashes and head of the proof don't belong together"
    for line in console.lines(text, ""):
        console.out(style(line))
    fields = [
        ("ledger", f"{proof.head.origin}, which isn't here"),
        ("head", f"{plural(proof.head.size, 'line')}, root {proof.head.root.hex()}"),
        ("given", _AGAINST.get(standing or "", "")),
        ("shows", _SHOWS.get(standing, "") if event else ""),
    ]
    console.fields(fields)
    return OK if intact else FINDINGS


def _standing(since: Head, head: Head) -> Standing:
    if since.size != head.size:
        return "unknown"
    return "holds" if since.root == head.root else "broken"


def _document(head: Head, since: Head | None, standing: Standing | None, event: str, *, intact: bool) -> VerifyDocument:
    parts = () if since is None or standing is None else (GivenPart("head", since.size, since.root.hex(), standing),)
    return VerifyDocument(
        ledger="",
        intact=intact,
        size=head.size,
        root=head.root.hex(),
        heads=0,
        unchecked=0,
        purged=None,
        breaks=(),
        given=parts,
        since=None if standing is None else standing == "holds",
        proof=(),
        event=event,
        receipts=None,
        differences=(),
        checkpoints=0,
        removed=(),
    )
