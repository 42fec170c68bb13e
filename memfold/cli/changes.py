# ruff: noqa: PTH112, PTH118 - os.path strings, as in ``memfold.paths``
"""What ``install`` and ``uninstall`` share: their options, where files are, and how changes are told."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING

from memfold.cli.console import Console
from memfold.cli.documents.settings import ChangePart
from memfold.cli.parsing import choice, json_option
from memfold.cli.place import Place, current_folder, find_place
from memfold.errors import UsageError
from memfold.hosts.opencode_install import HOST, Change, Settled, plugin_commands
from memfold.hosts.opencode_places import PROJECT_FOLDER, config_folders, find_mentions, find_plugins, plugin_path
from memfold.paths import data_dir, is_project, workspace_root
from memfold.terminal import clean
from projections.text.clean import decode

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Target", "change_options", "change_part", "client_notes", "command_line", "damage_notes", "print_changes"]

_WORDS = {
    "create": ("create", "created"),
    "update": ("update", "updated"),
    "unchanged": ("unchanged", "unchanged"),
    "remove": ("remove", "removed"),
    "restore": ("restore", "restored"),
    "gone": ("gone", "gone"),
    "left": ("leave", "left"),
}
"""Action → what will happen, what has happened."""


class Target:
    """Where a command about a client's files works.

    Attributes:
        data: the data folder.
        place: the workspace and its configuration.
        worktree: root of the worktree, in which the client looks; another one than the workspace's in a git worktree.
        directory: the folder that was named, or the current one.
    """

    def __init__(self, options: Namespace) -> None:
        self.directory = os.path.realpath(os.path.join(current_folder(), options.workspace or ""))
        self.place: Place = find_place(options)
        self.data = data_dir(os.environ, self.place.resolved.config.data_dir)
        self.worktree = workspace_root(self.directory, worktrees="separate")

    def project_path(self) -> str:
        """Where the plugin of this project is, or would be.

        Raises:
            UsageError: if this is no folder of a project.
        """
        if not os.path.isdir(self.directory):
            raise UsageError(f"there is no folder {decode(self.directory)}", "--workspace PATH")
        if not is_project(self.worktree, os.environ):
            raise UsageError(f"{decode(self.worktree)} is no project", "leave out --project, or cd to a project")
        return plugin_path(os.path.join(self.worktree, PROJECT_FOLDER))


def change_options(parser: ArgumentParser) -> None:
    """The arguments of both commands."""
    choice(parser, "host", (HOST,), "client", "the client")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument(
        "--global", dest="scope", action="store_const", const="global", help="for this user (the default)"
    )
    scope.add_argument("--project", dest="scope", action="store_const", const="project", help="for one project")
    parser.add_argument("--workspace", metavar="PATH", help="a folder of the project (default: the current directory)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    parser.set_defaults(ledger=None)
    json_option(parser)


def change_part(change: Change) -> ChangePart:
    """A change as a part of a document."""
    text = (change.after or change.before).decode("utf-8", "replace")
    return ChangePart(
        action=change.action,
        scope=change.scope,
        path=decode(change.path),
        commands=() if change.action == "left" else plugin_commands(text),
        folders=tuple(map(decode, change.folders)),
        kept=decode(change.kept) or None,
        diff=_diff(change) if change.action == "update" else "",
        why=decode(change.why),
    )


def print_changes(console: Console, changes: Iterable[ChangePart], *, done: bool) -> None:
    """Each file with what happens to it and, where it will be there, what it starts."""
    for one in changes:
        verb = _WORDS[one.action][done]
        kind = "plugin of this project" if one.scope == "project" else "plugin of this user"
        console.out(console.style.bold(f"{verb}: {kind}"))
        will_be = one.action in ("create", "update", "unchanged", "restore")
        first, *others = one.commands or ((),)
        console.fields(
            [
                ("file", one.path),
                ("starts", command_line(first) if will_be else ""),
                *(("or else", command_line(other)) for other in others if will_be),
                ("new folder" if will_be else "folder", ", ".join(one.folders)),
                ("copy kept" if done else "copy to", one.kept or ""),
                ("note", one.why),
            ]
        )
        for line in one.diff.splitlines():
            console.out("  " + _coloured(console, line)(clean(line)))


def command_line(command: Iterable[str]) -> str:
    """A command as it could be typed."""
    return shlex.join(map(decode, command))


def damage_notes(settled: Settled) -> list[str]:
    """What is wrong with the list of installs, and where it is now."""
    notes = [f"the list of installs is damaged: {settled.damage}"] if settled.damage else []
    return [*notes, *([f"it was set aside as {decode(settled.aside)}"] if settled.aside else [])]


def client_notes(target: Target) -> list[str]:
    """What else of ours the client would find, and settings that can't be read; none of it is ever changed."""
    folders = config_folders(os.environ, target.directory, target.worktree)
    mentions = find_mentions(os.environ, folders, target.worktree)
    files = list(map(decode, find_plugins(folders)))
    notes = [
        *(f"{decode(one.file)} names {decode(one.plugin)!r}; it is left as it is" for one in mentions.found),
        *(f"{decode(file)} can't be read and is left as it is: {why}" for file, why in mentions.unreadable),
    ]
    if len(files) > 1:
        notes.append(f"there are {len(files)} copies of the plugin: {', '.join(files)}; only one of them serves")
    elif files and mentions.found:
        notes.append("where the client finds the plugin twice, only one copy serves")
    return notes


def _diff(change: Change) -> str:
    import difflib

    before, after = (text.decode("utf-8", "replace").splitlines() for text in (change.before, change.after))
    name = decode(change.path)
    return "\n".join(difflib.unified_diff(before, after, name, name, "as it is", "as it will be", lineterm=""))


def _coloured(console: Console, line: str) -> Callable[[str], str]:
    colours = {"+": console.style.green, "-": console.style.red, "@": console.style.cyan}
    return colours.get(line[:1], console.style.dim)
