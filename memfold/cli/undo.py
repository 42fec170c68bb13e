"""``memfold undo``: revert a change, and show first what else that changes (SPEC 15.3)."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from ledger.errors import SequenceConflict
from ledger.events import Outcome
from memfold.cli.desk import Desk, refusal
from memfold.cli.documents.changes import OutcomePart, UndoDocument
from memfold.cli.gist import gist
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.place import named_event
from memfold.cli.words import plural
from memfold.errors import OK, NotFoundError
from memfold.terminal import clean
from projections.memory.model import Proposal, shown_id
from projections.text.clean import decode
from replay.undo import UndoPlan

__all__ = ["configure", "run"]

_TRIES = 5


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "event", metavar="EVENT", nargs="?", help="offset or id of the event (default: the latest change)"
    )
    parser.add_argument("--reason", metavar="R", default="", help="why; kept in the history")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and do nothing")
    parser.add_argument("--yes", action="store_true", help="don't ask, even if other memories change too")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Undo; ask first if memories change that the event itself didn't."""
    with Desk(options) as desk:
        for _ in range(_TRIES):
            plan = _plan(desk, options.event)
            document = _document(desk, plan, dry_run=options.dry_run)
            if options.json:
                if not options.dry_run:
                    _confirm(desk, document, options, ask=False)
            else:
                _print(desk, document)
                if not options.dry_run:
                    _confirm(desk, document, options, ask=True)
            if not options.dry_run:
                try:
                    desk.store.undo(plan, reason=options.reason, time=desk.time)
                except SequenceConflict:
                    continue  # somebody has appended meanwhile: what follows from it is told anew
            if options.json:
                desk.console.emit(document)
            else:
                desk.console.out("nothing was done (--dry-run)" if options.dry_run else "undone")
            return OK
        raise refusal("the ledger changes all the time", "try again")


def _plan(desk: Desk, name: str | None) -> UndoPlan:
    event = None if name is None else named_event(desk.log.read(), decode(name)).id
    plan = desk.store.plan_undo(event)
    if plan is not None:
        return plan
    if name is None:
        raise NotFoundError("no change is left that can be undone", "memfold log shows all that happened")
    raise NotFoundError(
        f"event {decode(name)} changed nothing that can be undone, or is undone already",
        "memfold history ID shows the events of a memory",
    )


def _document(desk: Desk, plan: UndoPlan, *, dry_run: bool) -> UndoDocument:
    return UndoDocument(
        ledger=desk.place.shown_directory,
        dry_run=dry_run,
        event=plan.event.id,
        offset=plan.event.seq,
        change=plan.change.kind,
        what=" ".join(part for part in (_names(plan), gist(plan.event, offsets=_offsets(desk, plan))) if part),
        outcomes=tuple(_part(plan, one) for one in plan.outcomes),
    )


def _offsets(desk: Desk, plan: UndoPlan) -> dict[str, int]:
    """Where the event stands that an undone undo had undone."""
    return {event.id: event.seq for event in desk.log.read() if event.id == plan.change.reverts}


def _names(plan: UndoPlan) -> str:
    """The ids of the memories that the event itself was about."""
    return ", ".join(entry.id for entry in plan.world.memory.entries.values() if entry.ref in plan.own)


def _part(plan: UndoPlan, outcome: Outcome) -> OutcomePart:
    entry = plan.world.memory.entries.get(outcome.target)
    now: Proposal = plan.world.accounts.records[outcome.target].proposal if entry is None else entry.proposal
    into = None if outcome.into is None else plan.world.memory.entries.get(outcome.into)
    return OutcomePart(
        id="" if entry is None else shown_id(entry.number),
        state=outcome.state,
        text=now.text,
        title=outcome.title or "",
        content=outcome.content or "",
        tags=outcome.tags,
        into="" if into is None else into.id,
        dependant=outcome.target not in plan.own,
    )


def _print(desk: Desk, document: UndoDocument) -> None:
    console = desk.console
    active = {entry.id for entry in desk.store.world().memory.entries.values() if entry.state == "promoted"}
    console.out(clean(f"undo #{document.offset} {document.change}: {document.what}"))
    for part in document.outcomes:
        is_kept = part.state == "promoted" and part.id in active
        state = "is changed" if is_kept else f"becomes {'active' if part.state == 'promoted' else part.state}"
        into = f" (part of {part.into})" if part.into else ""
        other = console.style.yellow("  also ") if part.dependant else "  "
        console.out(f"{other}{part.id or 'a candidate'} {state}{into}")
        for text in (part.title or part.text, part.content):
            if text:
                console.wrapped(text, "      ")
        if part.tags is not None:
            console.wrapped(f"tags: {', '.join(part.tags) or 'none'}", "      ")
    if not document.outcomes:
        console.out("  no memory changes")


def _confirm(desk: Desk, document: UndoDocument, options: Namespace, *, ask: bool) -> None:
    """Ask where other memories change too; without a terminal it takes --yes."""
    others = sum(part.dependant for part in document.outcomes)
    if not others or options.yes:
        return
    if ask and sys.stdin.isatty():
        desk.console.out(f"{plural(others, 'other memory', 'other memories')} would change too. Undo? [y/N] ")
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
        raise refusal("nothing was undone", "memfold undo --dry-run shows it again")
    raise refusal(
        f"{plural(others, 'other memory', 'other memories')} would change too; nothing was undone",
        "--yes, or --dry-run",
    )
