"""What a user is told where nothing could be stored, or settings can't be used; the rest is told beside the hooks."""

from __future__ import annotations

import errno

import pytest

from ledger.errors import LedgerError, LedgerNotFound, LockTimeout, NewerFormat, StorageError
from memfold.bridge.notice import NOTICE_CHARS, NOTICE_LINES, notice_of_failure, notice_of_settings
from memfold.config import Finding

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


FILE = "/home/dev/w/.memfold.toml"


def finding(key: str, source: str = FILE) -> Finding:
    """Something wrong with a key, or with a file as a whole."""
    return Finding(source, key, "7" if key else "", "is wrong", "mend it")


def test_without_findings_nothing_is_said_of_settings() -> None:
    """Settings that are in order are no news."""
    assert notice_of_settings((), "/home/dev") == ""


def test_the_most_important_finding_comes_first() -> None:
    """A file as a whole, then the switch, then the rest as it was found; of more than three lines, how many."""
    several = [finding("caps.feedback"), finding("enabled"), finding("", "/etc/config.toml"), finding("tools")]
    whole = "Settings ignored: /etc/config.toml: is wrong; mend it"
    switch = "Settings ignored: ~/w/.memfold.toml: enabled = 7: is wrong; mend it"
    caps = "Settings ignored: ~/w/.memfold.toml: caps.feedback = 7: is wrong; mend it"
    assert notice_of_settings(several, "/home/dev").split("\n") == [whole, switch, "and 2 more: memfold config show"]
    assert notice_of_settings(several[:3], "/home/dev").split("\n") == [whole, switch, caps]
    assert len(notice_of_settings([finding("tools")] * 500, "/home/dev").split("\n")) == NOTICE_LINES


def test_a_line_about_settings_fits_and_is_safe() -> None:
    """A path that is long gives way to what is wrong; what stands in a file moves no cursor."""
    deep = f"/srv/{'deep/' * 80}.memfold.toml"
    assert notice_of_settings([finding("", deep)], "") == "Settings ignored: …/.memfold.toml: is wrong; mend it"
    line = notice_of_settings([finding("\x1b[2J\n" + "x" * 200)], "/home/dev")
    assert line.startswith("Settings ignored: ~/w/.memfold.toml: \\x1b[2J\\nxxx")
    assert len(line) == NOTICE_CHARS


@pytest.mark.parametrize("home", ["", "/", "/home/de", "relative"])
def test_only_a_home_folder_is_shown_as_one(home: str) -> None:
    """A path that isn't below the home folder is shown as it is."""
    assert notice_of_settings([finding("")], home) == f"Settings ignored: {FILE}: is wrong; mend it"
