"""What a user is told where nothing could be stored; the rest is told beside the hooks."""

from __future__ import annotations

import errno

import pytest

from ledger.errors import LedgerError, LedgerNotFound, LockTimeout, NewerFormat, StorageError
from memfold.bridge.notice import NOTICE_CHARS, notice_of_failure

PATH = "/home/dev/.local/share/memfold/workspaces/0123456789abcdef/events.jsonl"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (LockTimeout(PATH, 0.5), "Not stored yet: another process is writing"),
        (NewerFormat(PATH, 9, 1), "Not stored yet: a newer memfold wrote this ledger"),
        (StorageError(PATH, errno.ENOSPC, "No space left on device"), "Not stored yet: No space left on device"),
        (None, "Not stored yet"),
    ],
)
def test_a_cause_in_few_words(error: LedgerError | None, words: str) -> None:
    """The cause without the path, which the private log has."""
    assert notice_of_failure(error) == words


def test_any_other_cause_fits_a_line() -> None:
    """A cause that has no short name is cut, and moves no cursor."""
    notice = notice_of_failure(LedgerNotFound(f"\x1b[2J{PATH}{PATH}"))
    assert notice.startswith("Not stored yet: no ledger at \\x1b[2J/home")
    assert len(notice) == NOTICE_CHARS
