"""The memory file as a projection: what MEMORY.md says follows from the log (SPEC 16.1, DESIGN 5)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ledger.events import AnyEvent
from projections.memory.activity import calls_taken_in
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState
from projections.memory_file.entries import file_entries
from projections.memory_file.writing import our_part

__all__ = ["MemoryFile", "MemoryFileState", "file_text"]


class MemoryFileState(Struct):
    """Memory, and our part of the file that shows it."""

    memory: MemoryState
    text: str


def file_text(memory: MemoryState) -> str:
    """Our part of MEMORY.md at a state. O(memories)."""
    return our_part(file_entries(memory), memory.next_number)


class MemoryFile:
    """The memory file at a position; it decides nothing."""

    name = "memory-file"
    version = 1

    def __init__(self) -> None:
        self._memory = WorkspaceMemory()

    def initial(self) -> MemoryFileState:
        """No memories, and the file that says so."""
        memory = self._memory.initial()
        return MemoryFileState(memory, file_text(memory))

    def copy(self, state: MemoryFileState) -> MemoryFileState:
        """A state of its own."""
        return MemoryFileState(self._memory.copy(state.memory), state.text)

    def apply(self, state: MemoryFileState, event: AnyEvent) -> MemoryFileState:
        """The state after one more event."""
        after = self.copy(state)
        self.step(after, event)
        return after

    def step(self, state: MemoryFileState, event: AnyEvent) -> None:
        """Change a state that only the caller can see."""
        memory = state.memory
        before = memory.revision, memory.next_number
        self._memory.step(memory, event)
        if before != (memory.revision, memory.next_number):
            state.text = file_text(memory)

    def run(self, state: MemoryFileState, events: Iterable[AnyEvent]) -> None:
        """Step through many events, tool calls in bulk."""
        for event in calls_taken_in(state.memory, events):
            self.step(state, event)
