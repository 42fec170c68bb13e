# ruff: noqa: PTH101, PTH102, PTH106, PTH108, PTH112, PTH116, PTH120 - os.path strings, as in ``memfold.paths``
"""Put the OpenCode plugin in place and take it away again: one file, no setting of the client is ever edited."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from ledger.errors import StorageError, storage_error
from memfold.errors import CannotCreate, DataError
from memfold.hosts.installs import (
    Earlier,
    Install,
    Manifest,
    Scope,
    hold_manifest,
    keep_copy,
    kept_path,
    read_manifest,
    replace_file,
    write_manifest,
)
from memfold.hosts.opencode_places import FILE_NAME, is_plugin, read_small
from memfold.hosts.starting import INSTALL_AGAIN

__all__ = [
    "HOST",
    "Change",
    "Settled",
    "carry_out",
    "is_packaged",
    "plan_install",
    "plan_removal",
    "plugin_commands",
    "plugin_text",
    "settle",
    "start_commands",
]

HOST = "opencode"
Action = Literal["create", "update", "unchanged", "remove", "restore", "gone", "left"]

_CONSOLE = ("memfold", "bridge")
_LINE = re.compile(r"^const COMMANDS = ([^\n]*)$", re.MULTILINE)
_MODE = 0o644
"""The file holds no secret, and a project's copy is everyone's."""


class Change(Struct, frozen=True, kw_only=True):
    """What is to happen to one file.

    Attributes:
        action: what; ``gone`` is one that was removed by hand, ``left`` one that isn't ours to touch.
        scope: for the user, or for one project.
        path: the file.
        before: what stands there now.
        after: what shall stand there; empty if nothing.
        kept: where a copy of what stands there now goes, since it can't be made again; empty if nowhere.
        entry: what the manifest will say about it, or says; None if nothing.
        folders: folders to make, the outermost first, or to remove if nothing else is in them.
        why: the reason for ``left``, or a remark.
    """

    action: Action
    scope: Scope
    path: str
    before: bytes = b""
    after: bytes = b""
    kept: str = ""
    entry: Install | None = None
    folders: tuple[str, ...] = ()
    why: str = ""


class Settled(Struct, frozen=True):
    """What a command has done, or would do.

    Attributes:
        changes: what was planned.
        damage: why the list of installs, or some of it, was not used; empty if it was sound.
        aside: where a damaged one was set aside; empty if it was not.
    """

    changes: Sequence[Change]
    damage: str = ""
    aside: str = ""


def plugin_text(commands: Sequence[Sequence[str]]) -> str:
    """The packaged plugin with these commands, which it tries in order to start a bridge.

    Raises:
        DataError: if the package lacks the plugin, or its line of commands.
    """
    import pkgutil  # few commands need it

    try:
        packaged = (pkgutil.get_data("memfold.hosts", "opencode.js") or b"").decode()
    except OSError as error:
        raise DataError(f"the plugin is missing from this installation: {error}", INSTALL_AGAIN) from None
    line = f"const COMMANDS = {json.dumps([list(command) for command in commands])}"
    text, count = _LINE.subn(lambda _: line, packaged)
    if count != 1:
        raise DataError("the packaged plugin has no line of commands", INSTALL_AGAIN)
    return text


def plugin_commands(text: str) -> tuple[tuple[str, ...], ...]:
    """The commands in a copy of the plugin; empty if none can be read."""
    found = _LINE.search(text)
    try:
        listed: object = json.JSONDecoder().raw_decode(found[1])[0] if found else []
    except (ValueError, RecursionError):
        return ()
    commands = cast("list[object]", listed) if isinstance(listed, list) else []
    return tuple(tuple(map(str, cast("list[object]", one))) for one in commands if isinstance(one, list) and one)


def is_packaged(content: bytes) -> bool:
    """Whether a copy is the plugin of this release, whatever its commands."""
    text = content.decode("utf-8", "replace")
    commands = plugin_commands(text)
    return bool(commands) and text == plugin_text(commands)


def start_commands(scope: Scope, executable: str | None = None) -> tuple[tuple[str, ...], ...]:
    """The commands that start a bridge, the first that works counts.

    For the user: this very interpreter, which ignores PYTHON* variables and the working directory, so that no package
    of a project is taken for ours; then the console command, for an environment that has moved. A project's copy is
    shared, so it names nobody's folders.

    Args:
        scope: for the user, or for a project.
        executable: the interpreter; by default the one that runs.
    """
    python = (sys.executable or "") if executable is None else executable
    if scope == "project" or not python:
        return (_CONSOLE,)
    return ((python, "-E", "-P", "-m", "memfold", "bridge"), _CONSOLE)


def plan_install(path: str, scope: Scope, text: str, manifest: Manifest, data: str) -> Change:
    """What an install has to do.

    Raises:
        CannotCreate: if a file or a link that isn't ours stands there.
        StorageError: if the system doesn't let us look.
    """
    after = text.encode()
    status, known = _status(path), manifest.of(path)
    entry = replace(known or Install(HOST, scope, path, ""), scope=scope, digest=_digest(after))
    if status is None:
        folders = _missing_folders(path)
        entry = replace(entry, folders=tuple(sorted({*entry.folders, *folders}, key=len)))
        return Change(action="create", scope=scope, path=path, after=after, entry=entry, folders=folders)
    before = _ours(path, status)
    if before == after:
        return Change(action="unchanged", scope=scope, path=path, before=before, after=after, entry=known)
    if stat.S_ISLNK(status.st_mode):
        raise CannotCreate(f"{path} is a symbolic link", "remove the link, or update the file that it leads to")
    change = Change(action="update", scope=scope, path=path, before=before, after=after, entry=entry)
    kept = kept_path(data, FILE_NAME, _digest(before))
    if known is None:  # somebody else put it there, or the manifest is lost: it comes back when we go
        earlier = Earlier(kept, stat.S_IMODE(status.st_mode), status.st_mtime_ns)
        why = "this copy was not installed from here; uninstall restores it"
        return replace(change, kept=kept, entry=replace(entry, earlier=earlier), why=why)
    if known.digest != _digest(before):
        return replace(change, kept=kept, why="it was edited since it was installed")
    return change


def plan_removal(path: str, scope: Scope, entry: Install | None, data: str) -> Change:
    """What an uninstall has to do.

    Args:
        path: the file.
        scope: for the user, or for a project.
        entry: what the manifest says about it, if it says anything.
        data: the data folder.

    A place where the system doesn't let us look is left: it must not keep us from the others.
    """
    change = Change(action="gone", scope=scope, path=path, entry=entry, folders=entry.folders if entry else ())
    try:
        status = _status(path)
    except StorageError as error:
        return replace(change, action="left", folders=(), why=error.reason)
    if status is None:
        return replace(change, why="it was removed already")
    if stat.S_ISLNK(status.st_mode):
        return replace(change, action="left", folders=(), why="it is a symbolic link that somebody else made")
    try:
        before = _ours(path, status)
    except CannotCreate as error:
        return replace(change, action="left", folders=(), why=error.message)
    change = replace(change, action="remove", before=before)
    if _digest(before) != entry.digest if entry else not is_packaged(before):
        why = "it was edited since it was installed" if entry else "it is not the plugin of this release"
        change = replace(change, kept=kept_path(data, FILE_NAME, _digest(before)), why=why)
    if entry is None or entry.earlier is None:
        return change
    kept = entry.earlier.kept
    earlier = read_small(kept)
    if earlier is None or kept != kept_path(data, FILE_NAME, _digest(earlier)):
        trouble = "can't be read" if earlier is None else "is not what was kept"
        return replace(change, why=f"what stood here before can't be restored: {kept} {trouble}")
    return replace(change, action="restore", after=earlier, why="this is what stood here before the install")


def settle(plan: Callable[[Manifest], Sequence[Change]], data: str, *, dry_run: bool) -> Settled:
    """Plan from the list of installs and carry it out; where that changes the list, nobody else changes it meanwhile.

    Args:
        plan: the changes for a list; asked again for the list that is there once nobody else can change it.
        data: the data folder.
        dry_run: only plan.

    Raises:
        LockTimeout: if another process changes the list all the time.
        StorageError: as ``carry_out``.
    """
    manifest = read_manifest(data)
    changes = plan(manifest)
    if dry_run:
        return Settled(changes, manifest.damage)
    if not manifest.damage and all(change.entry is None for change in changes):
        return Settled(changes, aside=carry_out(changes, manifest, data))
    with hold_manifest(data):
        manifest = read_manifest(data)
        changes = plan(manifest)
        return Settled(changes, manifest.damage, carry_out(changes, manifest, data))


def carry_out(changes: Sequence[Change], manifest: Manifest, data: str) -> str:
    """Do what was planned; the manifest is written before a file is made and after one is taken away.

    So whatever a kill leaves behind is known, and the next run of the same command ends it.

    Returns:
        Where a damaged manifest was set aside; empty if there was none, or nothing to do.

    Raises:
        StorageError: if the system refused; what was planned for that file has not happened.
    """
    aside = ""
    for change in changes:
        try:
            if change.kept:
                keep_copy(change.kept, change.before)
            if change.action in ("create", "update") and change.entry is not None:
                before, manifest = manifest, manifest.with_install(change.entry)
                aside = write_manifest(data, manifest) or aside
                manifest = replace(manifest, damage="")
                _put(change, data, before)
            elif change.action in ("remove", "restore", "gone"):
                _take(change)
                manifest = manifest.without(change.path)
                if change.entry is not None or manifest.damage:
                    aside = write_manifest(data, manifest) or aside
                    manifest = replace(manifest, damage="")
                _forget(change)
        except OSError as error:
            raise storage_error(error, os.fsdecode(error.filename or change.path)) from error
    return aside or _set_aside(manifest, data)


def _set_aside(manifest: Manifest, data: str) -> str:
    """Part with a damaged manifest that no change has replaced; what of it is sound stays."""
    if not manifest.damage:
        return ""
    try:
        return write_manifest(data, manifest)
    except OSError as error:
        raise storage_error(error, os.fsdecode(error.filename or data)) from error


def _put(change: Change, data: str, manifest: Manifest) -> None:
    """Write the file; where that fails, leave the manifest and the folders as they were."""
    made: list[str] = []
    try:
        for folder in change.folders:
            with suppress(FileExistsError):  # somebody made it just now
                os.mkdir(folder)
                made.append(folder)
                os.chmod(folder, os.stat(folder).st_mode | stat.S_IRWXU)  # the umask may have taken the owner's bits
        replace_file(change.path, change.after, mode=_MODE)
    except OSError:
        with suppress(OSError):
            _remove_empty(made)
            write_manifest(data, replace(manifest, damage=""))
        raise


def _take(change: Change) -> None:
    """Remove the file, or put back what stood there, and the folders that are empty now."""
    earlier = change.entry.earlier if change.entry else None
    if change.action == "restore" and earlier is not None:
        replace_file(change.path, change.after, mode=earlier.mode, mtime_ns=earlier.mtime_ns)
        return
    if change.action == "remove":
        with suppress(FileNotFoundError):  # somebody removed it just now
            os.unlink(change.path)
    _remove_empty(change.folders)


def _forget(change: Change) -> None:
    """Remove a kept copy that has been restored."""
    earlier = change.entry.earlier if change.entry else None
    if change.action == "restore" and earlier is not None:
        with suppress(OSError):
            os.unlink(earlier.kept)
            os.rmdir(os.path.dirname(earlier.kept))


def _remove_empty(folders: Sequence[str]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # something else is in it now
            os.rmdir(folder)


def _status(path: str) -> os.stat_result | None:
    """The status of a file or link, None if there is none."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise storage_error(error, path) from error


def _ours(path: str, status: os.stat_result) -> bytes:
    """The content of a copy of our plugin; a link is followed.

    Raises:
        CannotCreate: if it is none.
    """
    content = read_small(path)
    if content is not None and is_plugin(content):
        return content
    what = "is a symbolic link to something else" if stat.S_ISLNK(status.st_mode) else "is no plugin of memfold"
    raise CannotCreate(f"{path} {what}", "move it away, or rename it")


def _missing_folders(path: str) -> tuple[str, ...]:
    """The folders above a file that aren't there, the outermost first."""
    missing: list[str] = []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(missing))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
