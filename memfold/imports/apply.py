"""An import is recorded: the file first, then its memories, in one piece; what was recorded before is left out."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.events import Draft, Event
from ledger.ids import MonotonicIds
from memfold.imports.model import Import
from memfold.workspace import Workspace
from projections.memory.model import MemoryState

__all__ = ["drafts_of", "record_import"]

_SOURCE = "memfold"


def drafts_of(found: Import, memory: MemoryState, time: str | None) -> list[Draft]:
    """The drafts of a file, none if all of it stands in the log already (SPEC 17).

    The event of the file brings its id, since its memories name it as their cause: an undo takes them together.
    """
    new = [line for line in found.lines if (line.digest, line.line) not in memory.imports]
    known = found.file.digest in memory.files
    if known and not new:
        return []
    head = MonotonicIds()()
    file = Draft(source=_SOURCE, time=time, data=found.file, id=head)
    return [file, *(Draft(source=_SOURCE, time=time, data=line, causationid=head) for line in new)]


def record_import(workspace: Workspace, found: Import, *, time: str | None) -> Sequence[Event]:
    """Record a file; the events written, none if importing it changes nothing.

    Raises:
        LedgerError: if it couldn't be stored.
    """
    if not workspace.capture.enabled:
        return ()
    return workspace.record(drafts_of(found, workspace.world().memory, time))
