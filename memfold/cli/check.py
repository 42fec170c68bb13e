# ruff: noqa: PTH118 - os.path strings, as in ``memfold.paths``
"""``memfold check``: problems of a ledger, by place, with what to do about each."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from shlex import quote

from ledger.check import check
from ledger.errors import LedgerError
from ledger.events import AnyEvent
from ledger.log import LOG_NAME, FileLog
from ledger.problems import TAKE_IN, Kind, Problem
from ledger.reader import Reader
from memfold.backups import note_trouble
from memfold.cli.backup import store_of
from memfold.cli.console import Console
from memfold.cli.documents.health import CheckDocument, ProblemPart
from memfold.cli.parsing import json_option, ledger_options, place_options
from memfold.cli.place import Place, View, open_view
from memfold.cli.words import plural
from memfold.errors import FINDINGS, OK
from memfold.lost import newest_backup
from projections.erasure.returning import Purged
from projections.policy import Context
from projections.text.clean import decode

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the problems; 3 if any of them is more than a note, or copies made elsewhere may not be known."""
    view, console = open_view(options), Console(options)
    found = check(view.place.directory)
    copy = _copy(view.place) if any(TAKE_IN in one.fix for one in found) else ""
    old = _from_before_a_purge(view, [one.path for one in found if one.kind is Kind.CONFLICTED_COPY])
    problems = tuple(_part(one, place_options(options), copy, holds_purged=one.path in old) for one in found)
    trouble = note_trouble(*store_of(view.place))
    findings = sum(not one.note for one in problems) + (trouble is not None)
    document = CheckDocument(view.place.shown_directory, findings, problems)
    if options.json:
        console.emit(document)
    else:
        _print(console, document)
    if trouble is not None:
        console.note(": ".join(trouble))
    return FINDINGS if findings else OK


def _copy(place: Place) -> str:
    """The log of the newest backup; empty if there is none."""
    newest = newest_backup(*store_of(place))
    return "" if newest is None else os.path.join(newest.folder, LOG_NAME)


def _from_before_a_purge(view: View, copies: Iterable[str]) -> frozenset[str]:
    """Those copies of the log that still say what was purged in it."""
    found: set[str] = set()
    for path in copies:
        root = decode(view.place.root)
        purged = Purged(FileLog.open(view.place.directory).read(), Context(view.place.resolved.config.policy, root))
        if purged.purges and any(map(purged.learn, _read(path))):
            found.add(path)
    return frozenset(found)


def _read(path: str) -> Iterator[AnyEvent]:
    """The events of a copy, as far as it can be read."""
    with suppress(LedgerError):
        yield from Reader(path)


def _part(one: Problem, named: str, copy: str, *, holds_purged: bool) -> ProblemPart:
    """A problem as it is told; where an import helps, the command is one to copy."""
    fix = one.fix
    if one.kind is Kind.CONFLICTED_COPY and holds_purged:
        fix = f"delete it: it still holds what was purged here, and must not be imported; rm {quote(one.path)}"
    elif one.kind is Kind.CONFLICTED_COPY:
        fix = fix.replace("memfold import", f"memfold import {quote(one.path)}{named}", 1)
    elif copy:
        fix = fix.replace(TAKE_IN, f"memfold import {quote(copy)}{named}", 1)
    return ProblemPart(one.line, one.byte, one.length, one.kind.value, decode(one.message), decode(fix), one.is_note)


def _print(console: Console, document: CheckDocument) -> None:
    """The verdict first: notes ask for nothing."""
    notes = sum(one.note for one in document.problems)
    style = console.style.yellow if document.findings else console.style.green
    beside = f", {plural(notes, 'note')}" if notes else ""
    console.out(style(f"{plural(document.findings, 'problem') if document.findings else 'no problem'}{beside}"))
    rows = [_row(one, more) for one, more in _with_repeated_notes(document.problems)]
    if rows:
        console.out()
        console.table(rows, ("line", "byte", "kind", "what was found"), (0, 1), (0, 1, 2))
        console.out()
        for fix, kinds in _advice(document.problems).items():
            console.wrapped(f"{', '.join(kinds)}: {fix}")


def _advice(problems: Iterable[ProblemPart]) -> dict[str, list[str]]:
    """Each advice once, with the kinds that it helps with."""
    kinds: dict[str, list[str]] = {}
    for one in problems:
        if one.kind not in kinds.setdefault(one.fix, []):
            kinds[one.fix].append(one.kind)
    return kinds


def _with_repeated_notes(problems: Iterable[ProblemPart]) -> list[tuple[ProblemPart, int]]:
    """Problems, and of each kind of note the first one alone, with the number of the others."""
    found = list(problems)
    count = Counter(one.kind for one in found if one.note)
    seen: set[str] = set()
    shown: list[tuple[ProblemPart, int]] = []
    for one in found:
        if not one.note or one.kind not in seen:
            shown.append((one, count[one.kind] - 1 if one.note else 0))
        if one.note:
            seen.add(one.kind)
    return shown


def _row(one: ProblemPart, more: int) -> tuple[str, ...]:
    place = (str(one.line), str(one.byte)) if one.line else ("", "")
    others = f" (and {more:,} more, with --json)" if more else ""
    return (*place, one.kind + (" (note)" if one.note else ""), one.message + others)
