"""Hosts, command line, configuration, paths and clock: whatever touches a person, a host or the environment."""

TYPE_CHECKING = False  # as ``typing`` has it, which costs as much as the start of a process: hooks import this
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


def __getattr__(name: str) -> object:
    """Import a promised name when it is first used: a command pays for what it needs, and no more (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
