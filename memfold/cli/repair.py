# ruff: noqa: PTH118 - os.path strings, as in ``memfold.paths``
"""``memfold repair``: set damaged bytes of the ledger aside, after showing which."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from ledger.ids import MonotonicIds
from ledger.log import FileLog
from ledger.problems import DAMAGE, Problem
from ledger.repair import find_damage, repair
from ledger.steps import open_steps
from ledger.times import format_time
from ledger.trust import DERIVED
from ledger.writer import QUARANTINE, quarantine_name
from memfold.cli.backup import store_of
from memfold.cli.console import Console
from memfold.cli.desk import refusal
from memfold.cli.documents.proofs import Outcome, PiecePart, RepairDocument
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.place import View, open_view
from memfold.cli.words import plural
from memfold.clock import now_ms
from memfold.errors import OK
from memfold.links import require_unlinked
from memfold.lost import newest_backup
from memfold.renumbered import ids_in, renumbered, renumbered_words
from projections.text.clean import decode
from replay.state import state_at

__all__ = ["configure", "run"]

_SHOWN = 20


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--dry-run", action="store_true", help="show what would be set aside, and do nothing")
    parser.add_argument("--yes", action="store_true", help="don't ask")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Show the damage, and repair it when a person has said so."""
    view, console = open_view(options), Console(options)
    directory = view.place.directory
    damage, steps = find_damage(directory), len(open_steps(view.log.path))
    if not options.json:
        _print(console, damage, steps)
    event, to_do = "", bool(damage or steps)
    moved = _renumbered(view) if to_do else {}
    if moved and not options.json:
        console.note(renumbered_words(moved, " since the latest backup"))
    if to_do and not options.dry_run:
        require_unlinked(directory)
        _confirm(console, options)
        events = repair(directory, time=format_time(now_ms()), new_id=MonotonicIds())
        # It is derived again; positions in it are those of the old file.
        shutil.rmtree(os.path.join(directory, DERIVED), ignore_errors=True)
        event = events[-1].id if events else ""
    if options.json:
        outcome: Outcome = "nothing_to_do" if not to_do else "repaired" if event else "dry_run"
        parts = tuple(_part(directory, one) for one in damage)
        console.emit(RepairDocument(view.place.shown_directory, outcome, bool(event), parts, steps, moved, event))
    elif to_do:
        console.out(console.style.green("repaired") if event else "nothing was done (--dry-run)")
    return OK


def _renumbered(view: View) -> dict[str, str]:
    """Ids that are others than in the latest backup: a repair changes none, but what was lost before it has."""
    newest = newest_backup(*store_of(view.place))
    if newest is None:
        return {}
    then = state_at(FileLog.open(newest.folder, own=False).read(), only=frozenset())
    return renumbered(ids_in(then.memory), ids_in(view.world(frozenset()).memory))


def _confirm(console: Console, options: Namespace) -> None:
    """A person says yes; without a terminal it takes --yes."""
    if options.yes:
        return
    if options.json or not sys.stdin.isatty():
        raise refusal("nothing was repaired: nobody has said so", "--yes, or --dry-run")
    console.out("Repair it? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise refusal("nothing was repaired", "memfold repair --dry-run shows it again")


def _part(directory: str, one: Problem) -> PiecePart:
    path = os.path.join(directory, QUARANTINE, quarantine_name(one.byte, one.length)) if one.kind in DAMAGE else ""
    return PiecePart(one.line, one.byte, one.length, one.kind.value, decode(path))


def _print(console: Console, damage: Sequence[Problem], steps: int) -> None:
    if not damage and not steps:
        console.out(console.style.green("no damage: there is nothing to repair"))
        return
    pieces = [one for one in damage if one.kind in DAMAGE]
    fused = len(damage) - len(pieces)
    if pieces:
        size = plural(sum(one.length for one in pieces), "byte")
        console.out(f"{plural(len(pieces), 'damaged piece')}, {size}, which reading skips: to be kept in {QUARANTINE}/")
    if fused:
        console.out(f"{plural(fused, 'line')} with several events: to be split")
    if steps:
        what = plural(steps, "break")
        console.out(f"{what} in the numbers, which no repair can undo: to be noted as known")
    if not damage:
        return
    rows = [(str(one.line), str(one.byte), f"{one.length:,}", one.kind.value) for one in damage[:_SHOWN]]
    console.out()
    console.table(rows, ("line", "byte", "length", "kind"), (0, 1, 2), (0, 1, 2, 3))
    if len(damage) > _SHOWN:
        console.out(f"… and {len(damage) - _SHOWN:,} more, with --json")
