"""The closed tables of tools that hot state reads, by the names hosts give them (SPEC 3.3, 13.1)."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

__all__ = ["FILE_ACTIONS", "Action", "Kind", "is_own_tool", "kind_of"]

Action = Literal["read", "grep", "write", "edit", "delete"]
"""What a tool call did to a file; ``delete`` takes the file off the list."""

Kind = Literal["shell", "file", "patch", "grep", "other"]

FILE_ACTIONS: dict[str, Action] = {"read": "read", "edit": "edit", "write": "write", "multiedit": "edit"}

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(FILE_ACTIONS, "file"),
    "bash": "shell",
    "shell": "shell",
    "grep": "grep",
    "apply_patch": "patch",
    "patch": "patch",
}
_OWN_SERVER = "memfold_"
_OWN_PREFIXES = ("memory_", _OWN_SERVER)


def is_own_tool(name: str) -> bool:
    """Whether a tool is memfold's own: it feeds neither hot state nor memory (SPEC 3.3).

    Args:
        name: the tool as the host names it; a host may put ``<server>_`` or ``mcp__<server>__`` before it.
    """
    if name.startswith(_OWN_PREFIXES):
        return True
    _, server, tool = name.rpartition(_OWN_SERVER)
    return bool(server) and tool.removeprefix("_").startswith("memory_")


@lru_cache(maxsize=64)  # each call is asked for several times, and a host has some dozen tools
def kind_of(name: str) -> Kind:
    """How the result of a tool is read; hosts differ in case, so ``Bash`` is ``bash`` (SPEC 13.1)."""
    return "other" if is_own_tool(name) else _KINDS.get(name.lower(), "other")
