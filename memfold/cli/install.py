"""``memfold install``: put a client's plugin in place, and say first what that changes."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from ledger.log import FileLog
from memfold.cli.changes import (
    Target,
    change_options,
    change_part,
    client_notes,
    command_line,
    damage_notes,
    print_changes,
)
from memfold.cli.console import Console
from memfold.cli.documents.settings import InstallDocument
from memfold.errors import OK
from memfold.hosts.installs import Scope
from memfold.hosts.opencode_install import HOST, Change, plan_install, plugin_text, settle, start_commands
from memfold.hosts.opencode_places import CONFIG_VARIABLE, global_folder, plugin_path
from memfold.hosts.starting import INSTALL_AGAIN, child_environment, is_temporary, passing_place, start_trouble
from memfold.lost import had_a_log
from memfold.memory_file.disk import memory_path
from memfold.memory_file.keeper import keeper_of
from memfold.paths import is_project, workspace_key
from projections.text.clean import decode

__all__ = ["configure", "run"]

_SHARED = "this is a new file in the repository, which a team may commit; it starts the memfold that each one has"
_AGAIN = f"{INSTALL_AGAIN}, then memfold install opencode"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    change_options(parser)
    parser.add_argument(
        "--memory-file", action="store_true", help="also begin a MEMORY.md in .opencode/memory/ of this project"
    )


def run(options: Namespace) -> int:
    """Install, unless it is a dry run; a second time changes nothing."""
    target, console = Target(options), Console(options)
    scope: Scope = options.scope or "global"
    path = target.project_path() if scope == "project" else plugin_path(global_folder(os.environ))
    commands, troubles = _working_commands(scope)
    text = plugin_text(commands)
    settled = settle(
        lambda manifest: [plan_install(path, scope, text, manifest, target.data)], target.data, dry_run=options.dry_run
    )
    (change,) = settled.changes
    if options.memory_file and not options.dry_run:
        troubles = [*troubles, _memory_file(target)]
    elif options.memory_file:
        troubles = [*troubles, f"the memory file would be {decode(memory_path(target.place.root))}"]
    notes = [*damage_notes(settled), *troubles, *_place_notes(change, target), *client_notes(target)]
    document = InstallDocument(HOST, options.dry_run, (change_part(change),), tuple(notes))
    if options.json:
        console.emit(document)
    else:
        _print(console, document)
    return OK


def _memory_file(target: Target) -> str:
    """Begin the memory file of this project; its first writing is what keeps it from now on (SPEC 19)."""
    place, config = target.place, target.place.resolved.config
    if not config.enabled or config.memory_file == "off" or not is_project(place.root, os.environ):
        return "no memory file is kept here: memory or memoryFile is switched off, or this is no project"
    if had_a_log(place.directory):
        return "no memory file is kept here: the log of this project's ledger is gone (memfold list says what helps)"
    FileLog.create(place.directory, root=place.root, key=workspace_key(place.root)).close()
    with keeper_of(place.root, place.directory, config) as keeper:
        synced = keeper.sync(begin=True)
    if synced.reports:
        return "; ".join(map(decode, synced.reports))
    return f"memories of this project stand in {decode(memory_path(target.place.root))} from now on: edit them there"


def _working_commands(scope: Scope) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """The commands for the plugin, and what is wrong with those that don't start here."""
    commands = start_commands(scope)
    environ = child_environment(os.environ)
    troubles = {command: start_trouble(command, environ) for command in commands}
    working = tuple(command for command, trouble in troubles.items() if not trouble)
    notes: list[str] = []
    if not working:
        said = "; ".join(f"{command_line(command)}: {trouble}" for command, trouble in troubles.items())
        notes.append(f"nothing starts memfold here ({said}), so that the plugin will do nothing: {_AGAIN}")
    elif scope == "global" and commands[0] not in working:
        notes.append(f"{command_line(commands[0])} doesn't start memfold ({troubles[commands[0]]}): it is left out")
        commands = commands[1:]
    if scope == "global" and (cache := passing_place(sys.executable, os.environ)):
        # In a cache it is the environment of one run. A temporary folder somebody has chosen, and would again.
        advice = "" if is_temporary(cache) else f"; to be safe: {_AGAIN}"
        notes.append(f"this Python lies in {decode(cache)}, which may be cleaned{advice}")
    return commands, notes


def _place_notes(change: Change, target: Target) -> list[str]:
    """What the place of the file means."""
    notes: list[str] = []
    if change.scope == "project" and change.action == "create":
        notes.append(_SHARED)
    elif change.scope == "global" and (named := os.environ.get(CONFIG_VARIABLE)):
        used = change.path.startswith(os.path.normpath(named))
        notes.append(f"{CONFIG_VARIABLE} is {'respected' if used else 'no absolute path and ignored'}: {decode(named)}")
    if not target.place.resolved.config.enabled:
        notes.append(f"memory is switched off ({decode(target.place.resolved.origins['enabled'])})")
    return notes


def _print(console: Console, document: InstallDocument) -> None:
    (change,) = document.changes
    print_changes(console, document.changes, done=not document.dry_run)
    for note in document.notes:
        console.note(note)
    if document.dry_run:
        console.out("nothing was done (--dry-run)")
    elif change.action != "unchanged":
        console.out("Restart OpenCode, then look whether it works: memfold doctor")
