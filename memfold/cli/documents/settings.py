"""The documents of settings, folders and hosts."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from memfold.cli.documents.health import FindingPart

__all__ = [
    "ChangePart",
    "ConfigDocument",
    "ConfigFilePart",
    "InstallDocument",
    "PathsDocument",
    "SettingPart",
    "UninstallDocument",
    "WorkspacePart",
    "WorkspacesDocument",
]


class SettingPart(Struct, frozen=True):
    """One setting.

    Attributes:
        key: its name.
        value: its value.
        origin: where the value comes from: `default`, a file, a variable.
    """

    key: str
    value: Any
    origin: str


class ConfigDocument(Struct, frozen=True, tag_field="schema", tag="memfold.config/1"):
    """The configuration in force (`memfold config show --json`).

    Attributes:
        workspace: root of the workspace.
        settings: every setting.
        findings: settings that were ignored or lowered.
    """

    workspace: str
    settings: tuple[SettingPart, ...]
    findings: tuple[FindingPart, ...]


class ConfigFilePart(Struct, frozen=True):
    """A configuration file.

    Attributes:
        path: where it is, or would be.
        exists: whether it is there.
    """

    path: str
    exists: bool


class PathsDocument(Struct, frozen=True, tag_field="schema", tag="memfold.paths/1"):
    """Where things are (`memfold paths --json`).

    Attributes:
        workspace: root of the workspace.
        key: key of the workspace; empty where a ledger was named.
        ledger: folder of the ledger.
        events: the ledger's file.
        exists: whether that file is there.
        data: folder of all ledgers.
        config: folder of the user's configuration.
        files: the configuration files, the user's first.
        hook: the fast command line of `memfold hook`, word by word; empty where there is none.
    """

    workspace: str
    key: str
    ledger: str
    events: str
    exists: bool
    data: str
    config: str
    files: tuple[ConfigFilePart, ...]
    hook: tuple[str, ...] = ()


class WorkspacePart(Struct, frozen=True):
    """A workspace that has a ledger.

    Attributes:
        workspace: its root when the ledger was made; empty if that can't be read.
        state: `there`, `gone`, `no project` (nothing becomes memory in it), or `unknown`.
        written: when the ledger was written last.
        size: of the log, in bytes.
        ledger: folder of the ledger.
        take_over: what to type where the workspace is now, if it is gone from here and has memories; else empty.
        taken_over_by: root of a workspace that has imported all that is there, if it is gone; else empty.
    """

    workspace: str
    state: str
    written: str
    size: int
    ledger: str
    take_over: str
    taken_over_by: str = ""


class WorkspacesDocument(Struct, frozen=True, tag_field="schema", tag="memfold.workspaces/1"):
    """All workspaces that have a ledger (`memfold workspaces --json`).

    Attributes:
        folder: where their ledgers are.
        workspaces: the one that was written last first.
    """

    folder: str
    workspaces: tuple[WorkspacePart, ...]


class ChangePart(Struct, frozen=True, kw_only=True):
    """What happens to one file of a host.

    Attributes:
        action: `create`, `update`, `unchanged`; `remove`, `restore`, `gone` if it was removed before, `left` if it
            isn't ours to touch.
        scope: `global` for the user, or `project`.
        path: the file.
        commands: what the plugin starts, the first that works.
        folders: folders that are made for it, or removed if nothing else is in them.
        kept: where a copy of what stood there goes, or null.
        diff: what an update changes, as a unified diff; empty otherwise.
        why: a remark; may be empty.
    """

    action: str
    scope: str
    path: str
    commands: tuple[tuple[str, ...], ...]
    folders: tuple[str, ...]
    kept: str | None
    diff: str
    why: str


class InstallDocument(Struct, frozen=True, tag_field="schema", tag="memfold.install/1"):
    """What an installation did (`memfold install --json`).

    Attributes:
        host: the client.
        dry_run: whether it only says what it would do.
        changes: the files.
        notes: remarks, as sentences.
    """

    host: str
    dry_run: bool
    changes: tuple[ChangePart, ...]
    notes: tuple[str, ...]


class UninstallDocument(Struct, frozen=True, tag_field="schema", tag="memfold.uninstall/1"):
    """What an uninstallation did (`memfold uninstall --json`).

    Attributes:
        host: the client.
        dry_run: whether it only says what it would do.
        changes: the files; empty if nothing is installed.
        data: the data folder; if anything is in it, it stays, with all memories.
        notes: remarks, as sentences.
    """

    host: str
    dry_run: bool
    changes: tuple[ChangePart, ...]
    data: str
    notes: tuple[str, ...]
