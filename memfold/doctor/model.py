"""What a check says, and what all checks look at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from msgspec import Struct

from ledger.check import Survey, survey
from memfold.arrivals import Arrivals
from memfold.config import Resolved
from memfold.hosts.opencode_install import plugin_commands, start_commands
from memfold.hosts.opencode_places import Mentions, config_folders, find_mentions, find_plugins, read_small
from memfold.paths import workspace_root

__all__ = ["Check", "Outcome", "Scene"]

Outcome = Literal["ok", "note", "warn", "fail"]


class Check(Struct, frozen=True):
    """One thing that was looked at.

    Attributes:
        name: what, in one word.
        outcome: ``note`` is worth knowing, ``warn`` and ``fail`` need an action.
        seen: what was found.
        action: what to do about it.
        details: more of what was found, a line each.
    """

    name: str
    outcome: Outcome
    seen: str
    action: str = ""
    details: tuple[str, ...] = ()


class Scene:
    """Where the checks look; what several of them need is looked for once.

    Args:
        directory: the folder in which a client would run.
        root: root of its workspace; empty if it isn't known.
        ledger: folder of the ledger, there or not; empty if ``trouble`` says why there can be none.
        data: the data folder, where the private log is; empty as ``ledger``.
        resolved: the configuration in force.
        environ: the environment.
        now: milliseconds since the epoch.
        trouble: why the data folder can't be named, and what to do about it.
        named: the options that name the ledger in a command, with a space before them.
    """

    def __init__(
        self,
        *,
        directory: str,
        root: str,
        ledger: str,
        data: str,
        resolved: Resolved,
        environ: Mapping[str, str],
        now: int,
        trouble: tuple[str, str] = ("", ""),
        named: str = "",
    ) -> None:
        self.directory = directory
        self.root = root
        self.ledger = ledger
        self.data = data
        self.resolved = resolved
        self.environ = environ
        self.now = now
        self.trouble = trouble
        self.named = named

    @cached_property
    def folders(self) -> list[str]:
        """The configuration folders that a client reads here."""
        return config_folders(self.environ, self.directory, self._worktree)

    @cached_property
    def mentions(self) -> Mentions:
        """What the client's settings say about us."""
        return find_mentions(self.environ, self.folders, self._worktree)

    @cached_property
    def plugins(self) -> list[str]:
        """Our plugin files in those folders."""
        return find_plugins(self.folders)

    @cached_property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """What the plugin starts; without a plugin, what an installed one would start."""
        for path in self.plugins:
            if commands := plugin_commands((read_small(path) or b"").decode("utf-8", "replace")):
                return commands
        return start_commands("global")

    @cached_property
    def log(self) -> tuple[Survey, Arrivals]:
        """What the log holds: read once, for it may be long.

        Raises:
            LedgerNotFound: if it isn't there.
            StorageError: if the system can't read it.
        """
        arrivals = Arrivals()
        return survey(self.ledger, arrivals.take), arrivals

    @cached_property
    def _worktree(self) -> str:
        return workspace_root(self.directory, worktrees="separate")

    def is_there(self) -> bool:
        """Whether there is a ledger's folder."""
        return bool(self.ledger) and os.path.isdir(self.ledger)  # noqa: PTH112 - a path as the ledger has it
