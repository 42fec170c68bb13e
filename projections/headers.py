"""What our own blocks and those of hosts are known by: the renderer writes it, and what comes back is told by it."""

from __future__ import annotations

__all__ = [
    "DELTA_HEADER",
    "FILE_END",
    "FILE_TITLE",
    "HOST_ELEMENTS",
    "HOT_HEADER",
    "NUMBERED_HEADER",
    "OWN_HEADERS",
    "POLICY_HEADER",
    "WORKSPACE_HEADER",
]

WORKSPACE_HEADER = "Workspace memory (cross-session, verify if stale):"
"""First line of the frozen block (SPEC 11.2)."""

NUMBERED_HEADER = "Existing workspace memories available for consolidation:"
"""First line of the numbered list that a compaction is given (SPEC 11.4)."""

HOT_HEADER = "Hot session state (current session):"
"""First line of the hot block (SPEC 11.5)."""

DELTA_HEADER = "Hot session state (changes):"
"""First line of a change of the hot block (SPEC 12.3)."""

POLICY_HEADER = "Project memory (memory_add, memory_read, memory_update, memory_delete):"
"""First line of the text that tells the model how to use the tools (SPEC 16.8)."""

OWN_HEADERS = frozenset({WORKSPACE_HEADER, NUMBERED_HEADER, HOT_HEADER, DELTA_HEADER, POLICY_HEADER})
"""All of them, for recognising our own text (SPEC 3.2)."""

FILE_TITLE = "# OpenCode Memory"
"""First line of our part of MEMORY.md (SPEC 16.1)."""

FILE_END = "<!-- end of OpenCode Memory -->"
"""Where our part ends, if other people's text follows (SPEC 16.4)."""

HOST_ELEMENTS = (
    "system-reminder",
    "workspace-memory",
    "workspace_memory",
    "memory-context",
    "hot-session-state",
    "environment_context",
    "command-name",
    "command-message",
    "local-command-stdout",
)
"""Elements that hold no words of a speaker (SPEC 3.2): an open one in a memory would hide what stands behind it."""
