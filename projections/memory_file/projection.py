"""The memory file as a projection: what MEMORY.md says follows from the log (SPEC 16.1, DESIGN 5)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ledger.events import AnyEvent, FileWritten
from projections.memory.activity import calls_taken_in
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState
from projections.memory_file.entries import file_entries
from projections.memory_file.writing import our_part

__all__ = ["MemoryFile", "MemoryFileState", "Written", "file_text", "written_by"]


class Written(Struct, frozen=True, gc=False):
    """The last time that the file was written: the position it shows, and the digest of our part."""

    position: int
    digest: str


class MemoryFileState(Struct):
    """Memory, and what of it a person was last given as a file; None before the first time."""

    memory: MemoryState
    written: Written | None = None


def file_text(memory: MemoryState) -> str:
    """Our part of MEMORY.md at a state. O(memories)."""
    return our_part(file_entries(memory), memory.next_number)


def written_by(event: AnyEvent) -> Written | None:
    """What an event says about the file; None for all others."""
    return Written(event.data.position, event.data.digest) if isinstance(event, FileWritten) else None


class MemoryFile:
    """The memory file at a position; it decides nothing."""

    name = "memory-file"
    version = 1

    def __init__(self) -> None:
        self._memory = WorkspaceMemory()

    def initial(self) -> MemoryFileState:
        """No memories, and no file."""
        return MemoryFileState(self._memory.initial())

    def copy(self, state: MemoryFileState) -> MemoryFileState:
        """A state of its own."""
        return MemoryFileState(self._memory.copy(state.memory), state.written)

    def apply(self, state: MemoryFileState, event: AnyEvent) -> MemoryFileState:
        """The state after one more event."""
        after = self.copy(state)
        self.step(after, event)
        return after

    def step(self, state: MemoryFileState, event: AnyEvent) -> None:
        """Change a state that only the caller can see."""
        self._memory.step(state.memory, event)
        if state.memory.fresh and (written := written_by(event)) is not None:
            state.written = written

    def run(self, state: MemoryFileState, events: Iterable[AnyEvent]) -> None:
        """Step through many events, tool calls in bulk."""
        for event in calls_taken_in(state.memory, events):
            self.step(state, event)
