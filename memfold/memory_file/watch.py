"""Hand edits are noticed while nobody asks: a thread that waits for the system to tell of a changed file."""

from __future__ import annotations

import os
import threading

from memfold.memory_file.disk import MEMORY_NAME
from memfold.memory_file.keeper import MemoryFileKeeper

__all__ = ["FileWatch"]


class FileWatch:
    """Lets a keeper record edits as they are saved. The thread ends with its process.

    Args:
        keeper: the keeper; its file's folder must be there.
    """

    def __init__(self, keeper: MemoryFileKeeper) -> None:
        self._keeper = keeper
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memory-file", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Watch no more, and wait until a save that has begun is recorded."""
        self._stop.set()
        self._thread.join(timeout=5.0)

    def _run(self) -> None:
        # Imported here: only who keeps a file pays for it, and not while a client waits.
        from watchfiles import watch

        folder = os.path.dirname(self._keeper.path)  # noqa: PTH120 - a text
        try:
            changes = watch(
                folder,
                watch_filter=lambda _, path: path.endswith(MEMORY_NAME),
                stop_event=self._stop,
                raise_interrupt=False,
                recursive=False,
            )
            for _ in changes:
                if self._keeper.is_edited():
                    self._keeper.sync()
        except OSError:
            return  # the folder is gone, or the system watches no more: the next hook looks all the same
