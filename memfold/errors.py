# ruff: noqa: N818 - the names say what happened
"""The exceptions of the program and the exit code that each of them means.

===== ================= =====================================================
code  exception         meaning
===== ================= =====================================================
0     (none)            done; hooks always, whatever happened inside
1     MemfoldError      failed, the message says how
3     (none)            done, with findings
64    UsageError        the command line can't be understood
65    DataError         a ledger or an input is malformed
66    NotFoundError     there is no such ledger or memory
73    CannotCreate      a file or folder can't be made or written
74    StorageFailure    reading or writing failed
75    Locked            another process holds the lock, try again
78    ConfigError       the configuration can't be used
130   KeyboardInterrupt interrupted
===== ================= =====================================================

No path ends with 2: a host reads a hook's 2 as "block the prompt". New codes may come; an unknown one is a failure.
"""

from __future__ import annotations

__all__ = [
    "FINDINGS",
    "INTERRUPTED",
    "OK",
    "CannotCreate",
    "ConfigError",
    "DataError",
    "Locked",
    "MemfoldError",
    "NotFoundError",
    "StorageFailure",
    "UsageError",
    "exit_code_of",
]

OK = 0
FINDINGS = 3
"""Done, and something was found: ``check``, ``doctor``, ``diff``."""
INTERRUPTED = 130
_FAILED = 1


class MemfoldError(Exception):
    """Root of what the program raises on purpose.

    Args:
        message: what is wrong, with the value or place concerned.
        fix: what to do about it, if that is known.
    """

    exit_code: int = _FAILED

    def __init__(self, message: str, fix: str = "") -> None:
        self.message = message
        self.fix = fix
        super().__init__(f"{message}: {fix}" if fix else message)


class UsageError(MemfoldError):
    """The command line can't be understood."""

    exit_code = 64


class DataError(MemfoldError):
    """A ledger or an input is malformed."""

    exit_code = 65


class NotFoundError(MemfoldError):
    """There is no such ledger or memory."""

    exit_code = 66


class CannotCreate(MemfoldError):
    """A file or folder can't be made or written."""

    exit_code = 73


class StorageFailure(MemfoldError):
    """Reading or writing failed."""

    exit_code = 74


class Locked(MemfoldError):
    """Another process holds the lock."""

    exit_code = 75


class ConfigError(MemfoldError):
    """The configuration can't be used."""

    exit_code = 78


def exit_code_of(error: BaseException) -> int:
    """The exit code of a process that ends by this exception, the ledger's included; 1 for one we don't know."""
    if isinstance(error, MemfoldError):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return next((meaning.exit_code for kind, meaning in _ledger_errors() if isinstance(error, kind)), _FAILED)


def _ledger_errors() -> tuple[tuple[type[BaseException], type[MemfoldError]], ...]:
    """What the ledger's exceptions mean, subclasses first."""
    # Imported here, so that a command that fails before it opens a ledger doesn't load one.
    from ledger import errors

    return (
        (errors.LedgerNotFound, NotFoundError),
        (errors.LockTimeout, Locked),
        (errors.SequenceConflict, Locked),  # someone else wrote first: trying again is the answer here too
        (errors.NewerFormat, DataError),
        (errors.InvalidDraft, DataError),
        (errors.NotWritable, CannotCreate),
        (errors.UntrustedLedger, ConfigError),
        (errors.StorageError, StorageFailure),
    )
