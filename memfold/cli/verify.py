"""``memfold verify``: whether the ledger is what its heads say, and whether prompts come out as they were given."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from memfold import __version__
from memfold.cli.console import Console
from memfold.cli.given import given_file
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.place import View, open_view
from memfold.cli.proof_documents import VerifyDocument
from memfold.cli.words import plural
from memfold.errors import FINDINGS, OK, DataError
from projections.text.clean import decode
from replay.rerender import Difference, Rerendered, rerender
from replay.tlog import Head, Proof, parse_head, parse_proof
from replay.verify import Break, Verification, proven_event, verify

__all__ = ["configure", "run"]

_SHOWN = 10
_CAUSES = {
    "purge": "a purge took words out of it",
    "damage": "events before it are lost: memfold check",
    "policy": "a policy in force then means something else in this version",
    "version": "another version of memfold made it",
    "unknown": "nothing explains it: a mistake in memfold, or the receipt isn't true",
}


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--since", metavar="FILE", help="a head that memfold head has printed; - reads it from stdin")
    given.add_argument("--proof", metavar="FILE", help="a proof that memfold prove has printed; - reads it from stdin")
    parser.add_argument("--prompts", action="store_true", help="make the prompts again that hosts were given")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print what holds and what doesn't; 3 if anything doesn't."""
    view, console = open_view(options), Console(options)
    proof = None if options.proof is None else _given_proof(options.proof)
    since = proof.head if proof is not None else None if options.since is None else _given_head(options.since)
    found = verify(view.log, since)
    event = "" if proof is None or found.since is None else proven_event(view.log, proof)
    # Without the facts that are kept: a check doesn't take the word of what it checks.
    prompts = rerender(view.log, __version__) if options.prompts else None
    is_proven = proof is None or bool(event)
    intact = not found.breaks and is_proven and (prompts is None or not prompts.differences)
    if options.json:
        console.emit(_document(view, found, since, event, prompts, intact=intact))
    else:
        _print(console, found, since)
        if proof is not None and found.since is not None:
            _print_proof(console, proof, event)
        if prompts is not None:
            _print_prompts(console, prompts)
    return OK if intact else FINDINGS


def _given_head(name: str) -> Head:
    try:
        return parse_head(given_file(name))
    except ValueError as error:
        raise DataError(f"{decode(name)} is no head: {error}", "memfold head prints one") from error


def _given_proof(name: str) -> Proof:
    try:
        return parse_proof(given_file(name))
    except ValueError as error:
        raise DataError(f"{decode(name)} is no proof: {error}", "memfold prove prints one") from error


def _document(
    view: View, found: Verification, since: Head | None, event: str, prompts: Rerendered | None, *, intact: bool
) -> VerifyDocument:
    return VerifyDocument(
        ledger=view.place.shown_directory,
        intact=intact,
        size=found.head.size,
        root=found.head.root.hex(),
        heads=found.heads,
        unchecked=found.unchecked,
        purged=found.purged,
        breaks=found.breaks,
        since=None if since is None else found.since is not None,
        proof=found.proof,
        event=event,
        receipts=None if prompts is None else prompts.receipts,
        differences=() if prompts is None else prompts.differences,
    )


def _print(console: Console, found: Verification, since: Head | None) -> None:
    style = console.style
    if found.breaks:
        _verdict(console, style.red, f"broken: {_where(found.breaks[0])}")
    elif found.heads:
        _verdict(console, style.green, f"intact: {_heads(found.heads)} {'hold' if found.heads > 1 else 'holds'}")
    else:
        _verdict(console, style.yellow, "no head stands in the ledger yet: one is written after each compaction")
    console.fields(
        [
            ("tree", f"{plural(found.head.size, 'line')}, root {found.head.root.hex()}"),
            ("sealed", f"the first {found.sealed:,}; later ones will be" if found.heads else ""),
            ("given", _given(found, since)),
            ("purged", _purged(found)),
        ]
    )
    for one in found.breaks[:_SHOWN]:
        console.wrapped(_place(one))
    if len(found.breaks) > _SHOWN:
        console.wrapped(f"… and {len(found.breaks) - _SHOWN:,} more: behind a line that changed no head holds")


def _verdict(console: Console, style: Callable[[str], str], text: str) -> None:
    for line in console.lines(text, ""):
        console.out(style(line))


def _purged(found: Verification) -> str:
    if found.purged is None:
        return ""
    return f"#{found.purged} began a new history; {_heads(found.unchecked)} before it can't be compared"


def _heads(count: int) -> str:
    return plural(count, "head")


def _where(one: Break) -> str:
    if not one.found:
        return f"there should be {one.size:,} lines"
    return f"something changed in lines {one.first_line:,} to {one.last_line:,} after they were sealed"


def _place(one: Break) -> str:
    name = "the head that was given" if one.offset is None else f"head #{one.offset}"
    repaired = f"; damage was set aside by a repair, #{one.repaired}" if one.repaired is not None else ""
    now = f"now {one.found[:16]}…" if one.found else "there aren't so many now"
    return f"{name} over {plural(one.size, 'line')}: {one.expected[:16]}…, {now}{repaired}"


def _given(found: Verification, since: Head | None) -> str:
    if since is None:
        return ""
    if found.since is None:
        other = "" if since.origin == found.head.origin else f"; it is of another ledger, {decode(since.origin)}"
        return f"the head over {plural(since.size, 'line')} doesn't hold{other}"
    return f"the head over {plural(since.size, 'line')} holds: nothing before it has changed"


def _print_proof(console: Console, proof: Proof, event: str) -> None:
    if event:
        _verdict(console, console.style.green, f"proven: line {proof.index + 1:,} of the tree is event {event}")
    else:
        _verdict(
            console, console.style.red, f"not proven: line {proof.index + 1:,} of the tree isn't that of the proof"
        )


def _print_prompts(console: Console, prompts: Rerendered) -> None:
    console.out()
    count = len(prompts.differences)
    if not count:
        text = f"{plural(prompts.receipts, 'prompt')} made again, each as it was given"
        _verdict(console, console.style.green, text if prompts.receipts else "no prompt was given yet")
        return
    _verdict(console, console.style.red, f"{count:,} of {plural(prompts.receipts, 'prompt')} come out otherwise")
    rows = [_row(one) for one in prompts.differences[:_SHOWN]]
    console.table(rows, ("receipt", "kind", "made from", "because"), (0, 2), (0, 1, 2))
    if count > _SHOWN:
        console.out(f"… and {count - _SHOWN:,} more, with --json")


def _row(one: Difference) -> tuple[str, ...]:
    return (f"#{one.offset}", one.kind, f"#{one.position}", _CAUSES[one.cause])
