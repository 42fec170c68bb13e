# ruff: noqa: PTH106, PTH108, PTH116, PTH118, PTH208 - pathlib costs more at start-up than a look at a folder
"""Which sessions are off the record now, where no process remembers it (SPEC 3.7).

An empty file in ``private/`` of the ledger's folder, named by a digest of the session, from a message off the record
to the next one. It goes with that message, and the folder with its last file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress

from ledger.digests import sha256
from ledger.errors import LedgerError
from ledger.events import SessionLinked, SessionStarted
from ledger.files import close_file
from ledger.log import FileLog
from ledger.trust import PRIVATE, open_own_new, require_own
from memfold.capture import Capture

__all__ = ["OffTheRecord"]

_LASTS = 7 * 24 * 3600
"""Seconds after which a session that has said nothing since is no longer waited for."""


class OffTheRecord:
    """The marks beside one ledger.

    Args:
        log: the log, which says whom a session works for.
    """

    def __init__(self, log: FileLog) -> None:
        self._folder = os.path.join(log.directory, PRIVATE)
        self._log = log

    def tell(self, capture: Capture, session: str) -> None:
        """Tell what earlier processes have left: for a session, and for those that it works for.

        Raises:
            UntrustedLedger: if others can have made or removed a mark: then nobody knows what is off the record.
        """
        marks = self._marks()
        if not marks:
            return
        parents = self._parents()
        here, known = session, capture.id_of(session)
        seen: set[str] = set()
        while True:
            if self._name(capture, here) in marks:
                capture.keep_off_the_record(here)
            parent = parents.get(capture.source_of(known))
            if parent is None or parent in seen:
                return
            seen.add(parent)
            capture.note_parent(here, parent)
            here = known = parent

    def keep(self, capture: Capture, session: str) -> None:
        """Keep for later processes whether the session's newest message is off the record.

        Raises:
            OSError: if the system refuses.
        """
        path = os.path.join(self._folder, self._name(capture, session))
        if capture.spoke_off_the_record(session):
            close_file(open_own_new(path, os.O_WRONLY))
            os.utime(path)
            return
        with suppress(FileNotFoundError):
            os.unlink(path)
            with suppress(OSError):  # other sessions are off the record too
                os.rmdir(self._folder)

    def _marks(self) -> set[str]:
        """The marks that count; those that are too old are removed.

        Raises:
            UntrustedLedger: as ``tell``.
        """
        found: set[str] = set()
        with suppress(OSError):
            names = os.listdir(self._folder)
            require_own(self._folder, self._folder)  # whoever may write there may have removed one
            for name in names:
                path = os.path.join(self._folder, name)
                require_own(self._folder, path)
                if os.stat(path).st_mtime > time.time() - _LASTS:
                    found.add(name)
                else:
                    os.unlink(path)
            if not found:
                os.rmdir(self._folder)
        return found

    def _parents(self) -> Mapping[str, str]:
        """Source of a session → the session that it works for."""
        parents: dict[str, str] = {}
        with suppress(LedgerError):
            for event in self._log.read():
                if isinstance(event, SessionStarted | SessionLinked) and event.data.parent is not None:
                    parents.setdefault(event.source, event.data.parent)
        return parents

    def _name(self, capture: Capture, session: str) -> str:
        return sha256(capture.source_of(session).encode("utf-8", "replace")).hexdigest()[:32]
