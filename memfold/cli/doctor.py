# ruff: noqa: PTH117, PTH118, PTH120 - os.path strings, as in ``memfold.paths``
"""``memfold doctor``: whether memory can work here, with what to do where it can't."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from memfold.cli.console import Console
from memfold.cli.documents.health import CheckPart, DoctorDocument
from memfold.cli.parsing import json_option, ledger_options, place_options
from memfold.cli.place import current_folder, reading_place
from memfold.cli.words import plural
from memfold.clock import now_ms
from memfold.config import locate
from memfold.doctor import Check, Scene, examine
from memfold.errors import FINDINGS, OK, ConfigError
from memfold.paths import data_dir
from memfold.terminal import clean, display_width
from projections.text.clean import decode

__all__ = ["configure", "run"]

_MARKS = {"ok": "✓", "note": "·", "warn": "!", "fail": "✗"}
_PLAIN_MARKS = {"ok": "+", "note": ".", "warn": "!", "fail": "x"}
_NAME = 10
"""Columns of a check's name."""
_WORKSPACES = "workspaces"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the checks; 3 if any of them needs an action."""
    console = Console(options)
    scene = _scene(options)
    parts = tuple(map(_part, examine(scene)))
    outcomes = {outcome: sum(one.outcome == outcome for one in parts) for outcome in _MARKS}
    document = DoctorDocument(decode(scene.root), decode(scene.ledger), outcomes, parts)
    if options.json:
        console.emit(document)
    else:
        _print(console, document, _PLAIN_MARKS if _is_ascii(os.environ) else _MARKS)
    return FINDINGS if outcomes["warn"] + outcomes["fail"] else OK


def _scene(options: Namespace) -> Scene:
    """Where to look; a data folder that can't be named is the first thing that doctor has to tell."""
    named = options.workspace and os.path.join(current_folder(), options.workspace)
    directory: str = os.path.realpath(named or current_folder())
    now = now_ms()
    try:
        place = reading_place(options)
        data = _data(place.directory, data_dir(os.environ, place.resolved.config.data_dir))
    except ConfigError as error:
        root, resolved = locate(directory, os.environ)
        trouble = (error.message, error.fix)
        return Scene(
            directory=directory,
            root=root,
            ledger="",
            data="",
            resolved=resolved,
            environ=os.environ,
            now=now,
            trouble=trouble,
        )
    if options.ledger is not None and os.path.isdir(place.root):  # noqa: PTH112 - as above
        directory = place.root
    return Scene(
        directory=directory,
        root=place.root,
        ledger=place.directory,
        data=data,
        resolved=place.resolved,
        environ=os.environ,
        now=now,
        named=place_options(options),
    )


def _data(ledger: str, configured: str) -> str:
    """The data folder that a ledger stands in, which may be another than the configured one."""
    folder, name = os.path.split(os.path.dirname(ledger))
    return folder if name == _WORKSPACES else configured


def _part(check: Check) -> CheckPart:
    return CheckPart(
        check.name, check.outcome, decode(check.seen), decode(check.action), tuple(map(decode, check.details))
    )


def _is_ascii(environ: Mapping[str, str]) -> bool:
    """Whether the locale names another encoding than UTF-8; where it names none, terminals take it."""
    named = next((value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := environ.get(name))), "UTF-8")
    return "utf" not in named.lower()


def _print(console: Console, document: DoctorDocument, marks: Mapping[str, str]) -> None:
    style = console.style
    colours = {"ok": style.green, "note": style.cyan, "warn": style.yellow, "fail": style.red}
    arrow = "->" if marks is _PLAIN_MARKS else "→"
    indent = " " * (_NAME + 3)
    for one in document.checks:
        head = f"{marks[one.outcome]} {one.name}"
        first, *more = console.lines(_short(one.seen), indent)
        label = colours[one.outcome](head) + " " * (len(indent) - display_width(head))
        console.out(label + first[len(indent) :])
        for line in more:
            console.out(line)
        # What is well takes little room.
        details = ["; ".join(one.details)] if one.outcome == "ok" and one.details else one.details
        for detail in details:
            for line in (console.prose if one.outcome == "ok" else console.lines)(_short(detail), indent):
                console.out(style.dim(line))
        if one.action:
            console.out(f"{indent}{arrow} {clean(_short(one.action))}")  # unbroken, so that it can be copied
    console.out()
    console.out(_summary(console, document))


def _short(text: str) -> str:
    """A text for a narrow screen: paths below the home folder from ``~`` on, where a shell would understand it."""
    home = os.environ.get("HOME", "")
    return re.sub(rf"(?<!\S){re.escape(home)}/", "~/", text) if os.path.isabs(home) and home != "/" else text


def _summary(console: Console, document: DoctorDocument) -> str:
    outcomes = document.outcomes
    looked = plural(len(document.checks), "check")
    notes = f", {plural(outcomes['note'], 'note')}" if outcomes["note"] else ""
    if outcomes["fail"]:
        warnings = f" and {plural(outcomes['warn'], 'warning')}" if outcomes["warn"] else ""
        return console.style.red(f"{plural(outcomes['fail'], 'failure')}{warnings} in {looked}{notes}")
    if outcomes["warn"]:
        return console.style.yellow(f"{plural(outcomes['warn'], 'warning')} in {looked}{notes}")
    return console.style.green(f"all is well: {looked}{notes}")
