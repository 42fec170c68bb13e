# ruff: noqa: PTH112, PTH120 - pathlib costs more than the look itself
"""MEMORY.md beside a running bridge: edits are taken in before an answer, and the file is written behind it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from memfold.bridge.settings import Settings
from memfold.memory_file.disk import memory_path
from projections.memory.model import MemoryState

if TYPE_CHECKING:
    from memfold.memory_file.keeper import MemoryFileKeeper
    from memfold.memory_file.watch import FileWatch

__all__ = ["MemoryFileBeside"]

_PATIENCE = 0.5
"""Seconds to wait for another process that works on the file: a hook that waits longer is given up by the client."""
_MOST = 64 * 1024
"""Bytes that a person may have added: a hundred long memories, judged in a third of a second."""


class MemoryFileBeside:
    """Keeps the file where one is kept, and imports nothing for it where none is.

    Args:
        settings: where the workspace and its ledger are, and what is configured.
        project: False for places that are no project.
        report: told each sentence that a person should know.
    """

    def __init__(self, settings: Settings, *, project: bool, report: Callable[[str], None]) -> None:
        self._settings = settings
        self._project = project
        self._report = report
        self._path = memory_path(settings.root)
        self._keeper: MemoryFileKeeper | None = None
        self._watch: FileWatch | None = None

    @property
    def follows(self) -> bool:
        """Whether there is a file to keep: else nobody need know what the memory says."""
        return self._keeper is not None or self._settings.config.memory_file == "on"

    def configure(self) -> None:
        """Go on under settings that were read anew."""
        if self._keeper is not None:
            self._keeper.configure(self._settings.config)

    def absorb(self) -> None:
        """Record hand edits, if the file isn't what it was; costs one look at it."""
        if self._keeper is None and os.path.lexists(self._path):
            self._begin()
        if self._keeper is not None and self._keeper.is_edited():
            self._keeper.sync()

    def follow(self, memory: MemoryState) -> None:
        """Write the file, if the memory has moved on; begin to keep one that was written before."""
        if self._keeper is None and (self.follows or memory.written is not None):
            self._begin()
        if self._keeper is None:
            return
        self._keeper.follow(memory.revision)
        if self._watch is None and os.path.isdir(os.path.dirname(self._path)) and self._keeper.is_kept():
            from memfold.memory_file.watch import FileWatch

            self._watch = FileWatch(self._keeper)
            self._watch.start()

    def close(self) -> None:
        """Watch no more."""
        if self._watch is not None:
            self._watch.stop()
        if self._keeper is not None:
            self._keeper.close()

    def _begin(self) -> None:
        from memfold.memory_file.keeper import MemoryFileKeeper

        self._keeper = MemoryFileKeeper(
            self._settings.root,
            self._settings.ledger,
            project=self._project,
            config=self._settings.config,
            report=self._report,
            timeout=_PATIENCE,
            most=_MOST,
        )
