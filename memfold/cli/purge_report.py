# ruff: noqa: PTH119, PTH120 - os.path strings, as in ``memfold.paths``
"""What ``memfold purge`` tells: which texts go from where, and what holds them also afterwards (SPEC 15.4)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from shlex import quote

from ledger.files import is_there
from ledger.log import LOG_NAME
from ledger.trust import DERIVED
from memfold.cli.console import Console
from memfold.cli.documents.changes import PlacePart, PurgeDocument, PurgedPart
from memfold.cli.words import plural
from projections.erasure.fields import is_name
from projections.erasure.texts import Choice
from projections.memory.model import Ref
from projections.world import WorldState

__all__ = ["id_of", "print_end", "print_preview", "purged_parts"]

_ACTIONS = {
    "remove": "removed",
    "rewrite": "rewritten",
    "store": "what waits there is stored first, then erased in the ledger",
}


def purged_parts(world: WorldState, choice: Choice) -> tuple[PurgedPart, ...]:
    """The memories and candidates that lose a text, in ledger order, with all the texts that they lose."""
    wordings: dict[Ref, dict[str, None]] = {ref: {} for ref in choice.targets}
    for one in choice.going:
        wordings.setdefault(one.ref, {})[one.proposal.text] = None
    order = (ref for ref in world.accounts.records if ref in wordings)
    return tuple(_part(world, ref, choice, tuple(wordings[ref])) for ref in order)


def _part(world: WorldState, ref: Ref, choice: Choice, wordings: tuple[str, ...]) -> PurgedPart:
    record, entry = world.accounts.records[ref], world.memory.entries.get(ref)
    wording = record.proposal if entry is None else entry.proposal
    text = wording.text if wording.key in choice.keys or not wordings else wordings[-1]
    return PurgedPart(id_of(world, ref), record.state, ref in choice.leaving, wording.type, text, wordings)


def id_of(world: WorldState, ref: Ref) -> str:
    """The id of a memory; empty for a candidate without one."""
    entry = world.memory.entries.get(ref)
    return "" if entry is None else entry.id


def print_preview(console: Console, document: PurgeDocument) -> None:
    """What goes and where, before anything is done."""
    if not document.text and not document.texts:
        console.out("its text was purged before: there is nothing to erase")
        return
    if document.outcome == "nothing":
        console.out("nothing that memfold can erase holds this text:")
        console.wrapped(document.text, "  ")
        return
    console.out("these texts are erased for good:")
    if document.text and all(document.text not in part.wordings for part in document.texts):
        console.wrapped(document.text, "  ")
    for part in dict.fromkeys(document.texts):
        state = "active" if part.state == "promoted" else part.state
        name = console.style.cyan(part.id) if part.id else "a candidate"
        console.out(f"  {name}  {part.type or 'no type'}  {state}{', then deleted' if part.leaves else ''}")
        for text in part.wordings:
            console.wrapped(text, "      ")
    console.out("where they stand:")
    events = plural(sum(document.changed.values()), "event")
    console.out(f"  {events} of the ledger{': ' if document.changed else ''}{_counts(document.changed)}")
    for place in document.places:
        console.out(f"  {place.path} ({place.kind}): {_action(place)}")
    for folder in document.absent:
        console.out(f"  {folder} (backup): not there now; purge again when it is")


def print_end(console: Console, document: PurgeDocument, unreachable: Iterable[str]) -> None:
    """What was done, what holds the text also now, and what to do about that."""
    if document.outcome == "done":
        console.out(console.style.green("purged"))
    if document.outcome != "dry-run":
        for place in document.places:
            if place.action == "tell":
                holds = "may hold" if document.maybe else "holds"
                console.out(console.style.yellow(f"  {place.path} {holds} the text too: {_action(place)}"))
    _print_stays(console, document)
    if document.outcome == "dry-run":
        console.out("nothing was done (--dry-run)")
    elif document.text or document.texts:
        console.out("memfold can't look into:")
        for name in unreachable:
            console.out(f"  {name}")


def _print_stays(console: Console, document: PurgeDocument) -> None:
    """The lines of the ledger that keep a text, and why; nothing where there are none."""
    if document.maybe:
        console.out(console.style.yellow("  it is short, and stays where it stands among other words of the ledger:"))
        console.out(f"    {_counts(document.maybe)}; name more of what stands around it, if it is meant there")
    if not document.left:
        return
    names = {field: count for field, count in document.stays.items() if is_name(field.rpartition(" ")[2])}
    others = {field: count for field, count in document.stays.items() if field not in names}
    console.out(console.style.yellow(f"  it stays in {plural(document.left, 'line')} of the ledger"))
    if others:
        console.out(f"    in a memory that stays ({_counts(others)}): memfold purge with its id takes that too")
    if names:
        console.out(f"    as a name, by which the client or memfold goes on to find things ({_counts(names)}):")
        console.out("    a new ledger has none of it: memfold export, remove the ledger's folder, memfold import;")
        console.out("    the name of a folder is yours to change: move the workspace first")


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(found.items()))


def _action(place: PlacePart) -> str:
    """What becomes of a place, or what a person should do about it."""
    if place.action != "tell":
        return _ACTIONS[place.action]
    if place.kind == "spool":
        return "a client has kept it there since; purge again when the client has stored it"
    if place.kind == "copy":
        return "delete it, and don't import it: it is a copy of the log from before"
    if os.path.basename(place.path) == LOG_NAME:
        return f"another ledger; purge there too: --ledger {quote(os.path.dirname(place.path))}"
    folder, name = os.path.split(os.path.dirname(place.path))
    if name == DERIVED and is_there(f"{folder}{os.sep}{LOG_NAME}"):
        return f"another ledger's; purge there too: --ledger {quote(folder)}"
    return "left as it is: it isn't memfold's to change"
