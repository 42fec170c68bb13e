"""``memfold verify``: whether the ledger is what its heads say, and whether prompts come out as they were given."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from memfold import __version__
from memfold.cli.console import Console
from memfold.cli.documents.proofs import GivenKind, GivenPart, VerifyDocument
from memfold.cli.given import GivenProof, read_head, read_proof
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.place import View, has_ledger, open_view, reading_place
from memfold.cli.verify_alone import check_alone
from memfold.cli.verify_output import print_prompts, print_proof, print_verification
from memfold.errors import FINDINGS, OK, DataError, NotFoundError, UsageError
from projections.text.clean import decode
from replay.claims import origin_in
from replay.proofs import proven_event, proven_line
from replay.recheck import Rechecked, recheck
from replay.rerender import Rerendered, rerender
from replay.tlog import Head
from replay.verify import Verification, verify

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--since", metavar="FILE", help="a head that memfold head has printed; - reads it from stdin")
    parser.add_argument(
        "--proof",
        metavar="FILE",
        help="a proof that memfold prove has printed; - reads it from stdin. One printed with --json holds the event's "
        "line too, and is checked where its ledger isn't",
    )
    parser.add_argument("--prompts", action="store_true", help="make the prompts again that hosts were given")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print what holds and what doesn't; 3 if anything doesn't."""
    if options.since == options.proof == "-":
        raise UsageError("stdin can't be both the head and the proof", "--since FILE --proof -")
    proof = None if options.proof is None else read_proof(options.proof)
    since = None if options.since is None else read_head(options.since)
    if since is not None and proof is not None and since.origin != proof.proof.head.origin:
        raise DataError(f"the head is of {decode(since.origin)}, the proof of {decode(proof.proof.head.origin)}")
    if proof is not None and not options.prompts and _is_elsewhere(options, proof):
        return check_alone(options, proof, since)
    return _check_here(options, since, proof)


def _is_elsewhere(options: Namespace, proof: GivenProof) -> bool:
    """Whether a proof has to do without its ledger: none was named, and the one of this folder is none or another."""
    if options.ledger is not None or options.workspace is not None:
        return False
    place = reading_place(options)
    if not has_ledger(place):
        if proof.line is None:
            raise NotFoundError(
                "the ledger of that proof isn't here, and the proof doesn't hold the event's line",
                "memfold prove EVENT --json, where the ledger is, makes one that does",
            )
        return True
    return proof.line is not None and origin_in(open_view(options).log) not in ("", proof.proof.head.origin)


def _check_here(options: Namespace, since: Head | None, proof: GivenProof | None) -> int:
    view, console = open_view(options), Console(options)
    given: dict[GivenKind, Head] = {} if since is None else {"head": since}
    if proof is not None:
        given["proof"] = proof.proof.head
    found = verify(view.log, *given.values())
    _require_own(found, given)
    holds = all(one.standing == "holds" for one in found.given)
    event = "" if proof is None or not holds else _event(view, proof)
    # Without the facts that are kept: a check doesn't take the word of what it checks.
    prompts = rerender(view.log, __version__) if options.prompts else None
    checkpoints = recheck(view.log)
    is_proven = proof is None or bool(event)
    intact = not (found.breaks or checkpoints.removed) and holds and is_proven
    intact = intact and (prompts is None or not prompts.differences)
    if options.json:
        console.emit(
            _document(view, found, tuple(given), event, prompts=prompts, checkpoints=checkpoints, intact=intact)
        )
    else:
        print_verification(console, found, tuple(given), checkpoints)
        if proof is not None and holds:
            print_proof(console, proof.proof, event)
        if prompts is not None:
            print_prompts(console, prompts)
    return OK if intact else FINDINGS


def _event(view: View, proof: GivenProof) -> str:
    """The event that a proof is about; empty unless the ledger's line and that of the proof are the proven one."""
    if proof.line is not None and not proven_line(proof.line, proof.proof):
        return ""
    return proven_event(view.log, proof.proof)


def _require_own(found: Verification, given: Mapping[GivenKind, Head]) -> None:
    """A head of another ledger says nothing of this one, and its lines aren't compared."""
    for name, one in zip(given, found.given, strict=True):
        if one.standing == "other":
            raise DataError(
                f"this {name} is of another ledger, {decode(one.head.origin)}; this one is {decode(found.head.origin)}",
                "name its ledger with --ledger or --workspace; if it is this one, its first line was changed",
            )


def _document(
    view: View,
    found: Verification,
    names: tuple[GivenKind, ...],
    event: str,
    *,
    prompts: Rerendered | None,
    checkpoints: Rechecked,
    intact: bool,
) -> VerifyDocument:
    parts = [
        GivenPart(name, one.head.size, one.head.root.hex(), one.standing, one.purge, one.matched)
        for name, one in zip(names, found.given, strict=True)
        if one.standing != "other"  # no document comes of one
    ]
    return VerifyDocument(
        ledger=view.place.shown_directory,
        intact=intact,
        size=found.head.size,
        root=found.head.root.hex(),
        heads=found.heads,
        unchecked=found.unchecked,
        purged=found.purged,
        breaks=found.breaks,
        given=tuple(parts),
        since=all(part.standing == "holds" for part in parts) if parts else None,
        proof=tuple(node.hex() for node in found.given[0].proof) if found.given else (),
        event=event,
        receipts=None if prompts is None else prompts.receipts,
        differences=() if prompts is None else prompts.differences,
        checkpoints=checkpoints.held,
        removed=checkpoints.removed,
    )
