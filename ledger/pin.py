"""Writing beside a log what was read in it, so that a purge takes that along."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Self

from ledger.errors import LedgerError
from ledger.files import close_file, open_regular

if TYPE_CHECKING:
    from ledger.log import FileLog

__all__ = ["Pin"]


class Pin:
    """The file of a log, held open by whoever reads it to write something of it beside the log.

    A purge, repair or restore puts another file in its place under the writers' lock, and then removes what is derived.
    What was derived from the old file and is written later would bring back what was purged. So it is written under the
    lock, and only while the log is still this file: what comes before a purge is removed by it, whether or not the
    writer lives on, and nothing comes behind it. The open descriptor keeps the file's number from being given again.

    Args:
        log: the log; taken before it is read. Where it can't be opened, it never is unchanged.
    """

    def __init__(self, log: FileLog) -> None:
        self._log = log
        try:
            self._descriptor = open_regular(log.path, os.O_RDONLY)
        except OSError:
            self._descriptor = -1

    @contextmanager
    def unchanged(self) -> Generator[bool]:
        """Hold the lock for a ``with`` block that writes; whether the log is still this file.

        False too where another process holds the lock all the time: what is derived may be missing.
        """
        with ExitStack() as stack:
            try:
                stack.enter_context(self._log.hold())
                now = os.stat(self._log.path)  # noqa: PTH116 - as in ``ledger.locks``
                same = self._descriptor >= 0 and os.path.samestat(now, os.fstat(self._descriptor))
            except (OSError, LedgerError):
                same = False
            yield same

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the file."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            close_file(descriptor)
