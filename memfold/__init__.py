"""Hosts, command line, configuration, paths and clock: whatever touches a person, a host or the environment."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ledger.log import FileLog
    from ledger.memory import MemoryLog
    from projections.policy import Policy
    from projections.world import World
    from replay.state import state_at
    from replay.why import why

__all__ = ["FileLog", "MemoryLog", "Policy", "World", "__version__", "state_at", "why"]

__version__ = "0.1.0"

_HOME = {
    "FileLog": "ledger.log",
    "MemoryLog": "ledger.memory",
    "Policy": "projections.policy",
    "World": "projections.world",
    "state_at": "replay.state",
    "why": "replay.why",
}


def __getattr__(name: str) -> Any:
    """Import a promised name when it is first used: a command pays for what it needs, and no more (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
