"""``memfold check``: problems of a ledger, by place, with what to do about each."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable
from shlex import quote

from ledger.check import check
from ledger.problems import NOTES, Kind, Problem
from memfold.cli.console import Console
from memfold.cli.documents import CheckDocument
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.parts import ProblemPart
from memfold.cli.place import open_view
from memfold.cli.words import plural
from memfold.errors import FINDINGS, OK
from projections.text.clean import decode

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the problems; 3 if any of them is more than a note."""
    view, console = open_view(options), Console(options)
    problems = tuple(_part(one, options) for one in check(view.place.directory))
    findings = sum(not one.note for one in problems)
    document = CheckDocument(view.place.shown_directory, findings, problems)
    if options.json:
        console.emit(document)
    else:
        _print(console, document)
    return FINDINGS if findings else OK


def _part(one: Problem, options: Namespace) -> ProblemPart:
    """A problem as it is told; where an import helps, the command is one to copy."""
    fix = one.fix
    if one.kind is Kind.CONFLICTED_COPY:
        named = "".join(
            f" --{name} {quote(value)}" for name in ("ledger", "workspace") if (value := getattr(options, name))
        )
        fix = fix.replace("memfold import", f"memfold import {quote(one.path)}{named}", 1)
    return ProblemPart(
        one.line, one.byte, one.length, one.kind.value, decode(one.message), decode(fix), one.kind in NOTES
    )


def _print(console: Console, document: CheckDocument) -> None:
    """The verdict first: notes ask for nothing."""
    notes = len(document.problems) - document.findings
    style = console.style.yellow if document.findings else console.style.green
    beside = f", {plural(notes, 'note')}" if notes else ""
    console.out(style(f"{plural(document.findings, 'problem') if document.findings else 'no problem'}{beside}"))
    rows = [_row(one, more) for one, more in _with_repeated_notes(document.problems)]
    if rows:
        console.out()
        console.table(rows, ("line", "byte", "kind", "what was found"), (0, 1), (0, 1, 2))
        console.out()
        console.fields(list(dict.fromkeys((one.kind, one.fix) for one in document.problems)))


def _with_repeated_notes(problems: Iterable[ProblemPart]) -> list[tuple[ProblemPart, int]]:
    """Problems, and of each kind of note the first one alone, with the number of the others."""
    found = list(problems)
    count = Counter(one.kind for one in found if one.note)
    seen: set[str] = set()
    shown: list[tuple[ProblemPart, int]] = []
    for one in found:
        if one.kind not in seen:
            shown.append((one, count[one.kind] - 1 if one.note else 0))
        if one.note:
            seen.add(one.kind)
    return shown


def _row(one: ProblemPart, more: int) -> tuple[str, ...]:
    place = (str(one.line), str(one.byte)) if one.line else ("", "")
    others = f" (and {more:,} more, with --json)" if more else ""
    return (*place, one.kind + (" (note)" if one.note else ""), one.message + others)
