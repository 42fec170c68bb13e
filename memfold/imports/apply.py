"""An import is recorded: each file first, then its memories, all in one piece; what was recorded before is left out."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.events import Draft, Event
from ledger.ids import MonotonicIds
from memfold.imports.model import Import
from memfold.workspace import Workspace
from projections.memory.model import MemoryState

__all__ = ["drafts_of", "record_import"]

_SOURCE = "memfold"


def drafts_of(files: Sequence[Import], memory: MemoryState, time: str | None) -> list[Draft]:
    """The drafts of files, none if all of them stand in the log already (SPEC 17).

    The event of a file brings its id, since its memories name it as their cause: an undo takes them together.
    """
    drafts: list[Draft] = []
    new_id = MonotonicIds()
    known = set(memory.files)
    for found in files:
        new = [line for line in found.lines if (line.digest, line.line, line.item) not in memory.imports]
        if found.file.digest in known and not (new and found.file.digest in memory.files):
            continue  # imported before, or twice among these files
        if not new and not found.says_something(memory.next_number):
            continue
        known.add(found.file.digest)
        head = new_id()
        drafts.append(Draft(source=_SOURCE, time=time, data=found.file, id=head))
        drafts += (Draft(source=_SOURCE, time=time, data=line, causationid=head) for line in new)
    return drafts


def record_import(workspace: Workspace, *files: Import, time: str | None) -> tuple[Event, ...]:
    """Record files; the events written, none if importing them changes nothing.

    Raises:
        LedgerError: if they couldn't be stored.
    """
    if not workspace.capture.enabled:
        return ()
    return workspace.record(drafts_of(files, workspace.world().memory, time))
