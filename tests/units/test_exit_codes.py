"""Exit codes are an interface: unique, documented, and never 2."""

from __future__ import annotations

import re

import pytest

import ledger.errors
import memfold.errors
from memfold.errors import (
    FINDINGS,
    INTERRUPTED,
    OK,
    CannotCreate,
    ConfigError,
    DataError,
    Locked,
    MemfoldError,
    NotFoundError,
    StorageFailure,
    UsageError,
    exit_code_of,
)


def _classes() -> list[type[MemfoldError]]:
    found, queue = list[type[MemfoldError]](), [MemfoldError]
    while queue:
        found.append(queue.pop())
        queue.extend(found[-1].__subclasses__())
    return found


def _documented() -> dict[int, str]:
    rows = re.findall(r"^(\d+) +(\(none\)|\w+) ", memfold.errors.__doc__ or "", re.MULTILINE)
    return {int(code): name.strip("()") for code, name in rows}


def test_the_table_of_the_docstring_is_the_table_of_the_classes() -> None:
    """Every class stands in the documented table with its code, and the table names nothing else."""
    generated = {kind.exit_code: kind.__name__ for kind in _classes() if kind.__module__ == "memfold.errors"}
    generated |= {OK: "none", FINDINGS: "none", INTERRUPTED: "KeyboardInterrupt"}
    assert _documented() == generated


def test_each_class_owns_its_code() -> None:
    """No two classes share a code, and each says its own."""
    codes = [kind.exit_code for kind in _classes()]
    assert len(codes) == len(set(codes))
    assert all("exit_code" in vars(kind) for kind in _classes())


def test_no_code_is_two() -> None:
    """A host reads a hook's 2 as "block", so that no way out may be 2."""
    assert 2 not in {OK, FINDINGS, INTERRUPTED, *(kind.exit_code for kind in _classes())}


def test_the_codes_are_those_of_sysexits() -> None:
    """The numbers are promised, so they are written down here a second time."""
    expected = {
        UsageError: 64,
        DataError: 65,
        NotFoundError: 66,
        CannotCreate: 73,
        StorageFailure: 74,
        Locked: 75,
        ConfigError: 78,
        MemfoldError: 1,
    }
    assert {kind: exit_code_of(kind("x")) for kind in expected} == expected


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ledger.errors.LedgerNotFound("/p"), 66),
        (ledger.errors.LockTimeout("/p", 2.0), 75),
        (ledger.errors.SequenceConflict(1, 2), 75),
        (ledger.errors.NewerFormat("/p", 9, 1), 65),
        (ledger.errors.InvalidDraft("memory.added", "x"), 65),
        (ledger.errors.NotWritable("/p", 13, "x"), 73),
        (ledger.errors.StorageError("/p", 28, "x"), 74),
        (KeyboardInterrupt(), 130),
        (RuntimeError("x"), 1),
        (SystemExit(2), 1),
    ],
)
def test_what_others_raise_has_a_code_too(error: BaseException, code: int) -> None:
    """The ledger's exceptions and an interrupt have codes of the table; anything else is 1."""
    assert exit_code_of(error) == code


def test_every_exception_of_the_ledger_has_a_meaning() -> None:
    """An exception that the ledger grows must be given a code here: only its root is the unknown failure."""
    for name in ledger.errors.__all__:
        kind = getattr(ledger.errors, name)
        if isinstance(kind, type) and issubclass(kind, Exception) and kind is not ledger.errors.LedgerError:
            assert exit_code_of(kind.__new__(kind)) != 1, name


def test_a_message_ends_with_the_fix() -> None:
    """The text says what is wrong and then what to do; without a fix it is the message alone."""
    error = DataError("line 3 is torn", "run repair")
    assert (str(error), error.message, error.fix) == ("line 3 is torn: run repair", "line 3 is torn", "run repair")
    assert str(DataError("line 3 is torn")) == "line 3 is torn"
