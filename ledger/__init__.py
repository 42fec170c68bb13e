"""The append-only log: the only package that writes events."""

TYPE_CHECKING = False  # as ``typing`` has it, which costs as much as the start of a process: hooks import this
if TYPE_CHECKING:
    from ledger.errors import (
        InvalidDraft,
        LedgerError,
        LedgerNotFound,
        LockTimeout,
        NewerFormat,
        NotWritable,
        SequenceConflict,
        StorageError,
        UntrustedLedger,
    )
    from ledger.events import AnyEvent, Draft, Event, UnknownEvent
    from ledger.log import Cursor, FileLog, Health, Log, Reader, Record
    from ledger.memory import MemoryLog
    from ledger.problems import Kind, Problem

__all__ = [
    "AnyEvent",
    "Cursor",
    "Draft",
    "Event",
    "FileLog",
    "Health",
    "InvalidDraft",
    "Kind",
    "LedgerError",
    "LedgerNotFound",
    "LockTimeout",
    "Log",
    "MemoryLog",
    "NewerFormat",
    "NotWritable",
    "Problem",
    "Reader",
    "Record",
    "SequenceConflict",
    "StorageError",
    "UnknownEvent",
    "UntrustedLedger",
]

_MODULES = {
    "events": ("AnyEvent", "Draft", "Event", "UnknownEvent"),
    "log": ("Cursor", "FileLog", "Health", "Log", "Reader", "Record"),
    "memory": ("MemoryLog",),
    "problems": ("Kind", "Problem"),
    "errors": (
        "InvalidDraft",
        "LedgerError",
        "LedgerNotFound",
        "LockTimeout",
        "NewerFormat",
        "NotWritable",
        "SequenceConflict",
        "StorageError",
        "UntrustedLedger",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: whoever needs one small module pays for that alone."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - as above

    return getattr(import_module(f"ledger.{_HOME[name]}"), name)
