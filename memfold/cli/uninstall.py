# ruff: noqa: PTH112, PTH118, PTH208 - os.path strings, as in ``memfold.paths``
"""``memfold uninstall``: take a client's plugin away again; memories stay."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, Namespace

from msgspec.structs import replace

from memfold.cli.changes import Target, change_options, change_part, damage_notes, print_changes
from memfold.cli.console import Console
from memfold.cli.documents.settings import UninstallDocument
from memfold.cli.words import plural
from memfold.errors import FINDINGS, OK, UsageError
from memfold.hosts.installs import Manifest, remove_empty_folders
from memfold.hosts.opencode_install import HOST, Change, plan_removal, settle
from memfold.hosts.opencode_places import global_folder, plugin_path
from projections.text.clean import decode

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    change_options(parser)


def run(options: Namespace) -> int:
    """Remove what is installed, unless it is a dry run; 3 if a file is left that isn't ours to touch."""
    target, console = Target(options), Console(options)
    settled = settle(lambda manifest: _plan(options.scope, target, manifest), target.data, dry_run=options.dry_run)
    changes = settled.changes
    if not options.dry_run:
        changes = [_as_done(change) for change in changes]
        if not target.place.resolved.config.data_dir:  # a folder that somebody has chosen is theirs
            remove_empty_folders(target.data)
    parts = tuple(change_part(change) for change in changes)
    document = UninstallDocument(HOST, options.dry_run, parts, decode(target.data), tuple(damage_notes(settled)))
    if options.json:
        console.emit(document)
    else:
        _print(console, document)
    return FINDINGS if any(change.action == "left" for change in changes) else OK


def _plan(scope: str | None, target: Target, manifest: Manifest) -> list[Change]:
    """The installs of this user and this project; a file that the manifest lacks only where it must be meant."""
    changes: list[Change] = []
    try:
        project = target.project_path()
    except UsageError:
        if scope == "project":
            raise
        project = ""
    wanted = {one.path: one for one in manifest.installs if one.scope == "global" or one.path == project}
    for path, entry in wanted.items():
        if scope in (None, entry.scope):
            changes.append(plan_removal(path, entry.scope, entry, target.data))
    user = plugin_path(global_folder(os.environ))
    if scope != "project" and user not in wanted:
        changes += _unlisted(plan_removal(user, "global", None, target.data), meant=True)
    if scope != "global" and project and project not in wanted:
        changes += _unlisted(plan_removal(project, "project", None, target.data), meant=scope == "project")
    return changes


def _as_done(change: Change) -> Change:
    """The change with the folders that are really gone: what others have put there keeps a folder."""
    return replace(change, folders=tuple(folder for folder in change.folders if not os.path.isdir(folder)))


def _unlisted(change: Change, *, meant: bool) -> list[Change]:
    """What to do about a file that is not in the manifest: a project's copy may be the team's."""
    if change.action == "gone" or (change.action == "left" and not meant):
        return []
    if meant:
        return [change]
    why = "it was not installed from here; memfold uninstall opencode --project removes it"
    return [replace(change, action="left", kept="", why=why)]


def _print(console: Console, document: UninstallDocument) -> None:
    print_changes(console, document.changes, done=not document.dry_run)
    for note in document.notes:
        console.note(note)
    if not document.changes:
        console.out("nothing is installed here")
    elif document.dry_run:
        console.out("nothing was done (--dry-run)")
    elif any(change.action in ("remove", "restore") for change in document.changes):
        console.out("Restart OpenCode: one that runs keeps the plugin it has loaded.")
    if ledgers := len(_listed(os.path.join(document.data, "workspaces"))):
        console.out(f"Memories of {plural(ledgers, 'workspace')} stay in {document.data}; to delete them for ever:")
        console.out(console.style.cyan(f"  rm -r {shlex.quote(document.data)}"))
    elif not document.dry_run and (rest := _listed(document.data)):
        console.out(f"No memories are left; in {document.data} there is still {', '.join(map(decode, rest))}")


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
