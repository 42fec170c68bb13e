"""Find in the output of a command what tells of an error, and sum it up (SPEC 13.4)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Literal

from projections.hot.commands import Command
from projections.text.clean import single_line
from projections.text.cut import cut
from projections.text.paths import is_path

__all__ = [
    "LINE_LIMIT",
    "SUMMARY_LIMIT",
    "Outcome",
    "evidence",
    "fingerprint",
    "first_path",
    "names_typescript_error",
    "outcome_of",
    "run_failed",
    "run_passed",
    "summarise",
]

Outcome = Literal["success", "failure", "unknown"]
"""What a structured exit says (SPEC 13.2)."""

SUMMARY_LIMIT = 280
_SUMMARY_LINES = 5
LINE_LIMIT = 1000
"""Characters of a line that are read, so that what is kept of an output is bounded (DESIGN 3)."""

_INTERRUPTED = 130

_ANYWHERE = re.compile(
    r"\berror\[|\bTS[0-9]{4}|npm ERR!|npm error|Traceback \(most recent call last\)|\bpanic:|command not found"
)
_AT_START = re.compile(r"(?:error|fatal):", re.IGNORECASE)
_NAME_AT_START = re.compile(r"[\w.$]+(?=:)")
_EXCEPTION_NAMES = ("Error", "Exception")
_LOCATION = re.compile(r"\w\.[A-Za-z][A-Za-z0-9]{0,7}(?::[0-9]{1,9}|\([0-9]{1,9},[0-9]{1,9}\))")
_ERROR = re.compile(r"\berror\b", re.IGNORECASE)
_CATEGORY_WORDS = re.compile(r"\b(?:(?i:errors?|failed|failing|failure|exception|not ok)|FAIL)\b")
_TYPESCRIPT = re.compile(r"\bTS[0-9]{4}")

_FAILED_COUNT = re.compile(r"\b[1-9][0-9]*[ \t]+(?:failed|failing)\b")
_PASSED_COUNT = re.compile(r"\b[1-9][0-9]*[ \t]+(?:passed|passing)\b")
_FAILED_START = re.compile(r"(?:FAIL|FAILED|not ok)\b")
_TESTS_FAILED = re.compile(r"Tests:(?!.*\b0[ \t]+failed\b).*\bfailed\b")
_PASSED_START = re.compile(r"ok\b", re.IGNORECASE)

_NOTICE_OPEN, _NOTICE_CLOSE = "<shell_metadata>", "</shell_metadata>"
_NOTICES = ("output truncated", _NOTICE_OPEN, _NOTICE_CLOSE)

_PATH_WORD = re.compile(r"(?:\b[A-Za-z]:(?=[\\/]))?[^\s:()\[\]{}<>\"'`,;|=]+")
_EXTENSION = re.compile(r"\w\.[A-Za-z][A-Za-z0-9]{0,7}\Z")


def outcome_of(command: Command, exit_code: int | None, status: str) -> Outcome:
    """What the structured result of a command says; no text ever counts (SPEC 13.2).

    Args:
        command: a known-benign one (a grep without a match) that exits with 1 says nothing (SPEC 13.4).
        exit_code: the exit code, None if the host gave none.
        status: ``completed``, ``failed`` or ``aborted`` (never ran to an exit).
    """
    if status == "aborted" or exit_code == _INTERRUPTED or (command.benign and exit_code == 1):
        return "unknown"
    if status == "failed":
        return "failure"
    if exit_code is None:
        return "unknown"
    return "success" if exit_code == 0 else "failure"


def evidence(output: str, command: Command, outcome: Outcome) -> list[str]:
    """The lines of an output that decide what it says about errors, in their order (SPEC 13.4).

    * after a failure the first five signal lines and, if nothing else tells the category, the first that names a
      TypeScript error; without any, the last five lines of a categorised command;
    * at a masked exit the first five signal lines and the first runner summary with failures, else the first
      summary without.

    At most six lines of at most ``LINE_LIMIT`` characters. ``evidence(join(evidence(x))) == evidence(x)``: what is
    kept of an output says what the whole output says. Linear in the length.
    """
    if outcome == "failure":
        tells_category = names_typescript_error if command.category is None else None
        return _first_signals(output, command, tells_category) or _last_lines(output, command)
    if outcome == "success" and command.masked:
        if any(map(run_failed, _lines(output))):
            return _first_signals(output, command, run_failed)
        return list(islice(filter(run_passed, _lines(output)), 1))
    return []


def summarise(lines: Iterable[str], command: Command, exit_code: int | None) -> str:
    """The error summary of evidence lines: one line of at most 280 characters (SPEC 13.4)."""
    summary = single_line(" ".join(islice(lines, _SUMMARY_LINES)))
    if not summary:
        code = "a non-zero code" if exit_code is None else f"code {exit_code}"
        summary = f"{single_line(command.line)} exited with {code}"
    return cut(summary, SUMMARY_LIMIT)


def fingerprint(summary: str) -> str:
    """First 12 hex digits of SHA-256 of the summary (SPEC 13.4)."""
    return hashlib.sha256(summary.encode("utf-8", "replace")).hexdigest()[:12]


def first_path(summary: str) -> str | None:
    """The first path with an extension in a summary, as it stands there; addresses are none (SPEC 13.4)."""
    for match in _PATH_WORD.finditer(summary):
        word = match.group().rstrip(".!?")
        is_address = word.startswith("//") and not summary.endswith("file:", 0, match.start())
        if not is_address and _EXTENSION.search(word) and is_path(word):
            return word
    return None


def names_typescript_error(line: str) -> bool:
    """Whether a line names an error of the TypeScript compiler, ``TS`` and four digits (SPEC 13.4)."""
    return _TYPESCRIPT.search(line) is not None


def run_failed(line: str) -> bool:
    """Whether a line is a test runner's summary with failures; a count of 0 is none (SPEC 13.4)."""
    return bool(_FAILED_START.match(line) or _FAILED_COUNT.search(line) or _TESTS_FAILED.match(line))


def run_passed(line: str) -> bool:
    """Whether a line is a test runner's summary without failures (SPEC 13.4)."""
    return not run_failed(line) and bool(_PASSED_START.match(line) or _PASSED_COUNT.search(line))


def _lines(output: str) -> Iterator[str]:
    """The lines that hold more than blanks, each up to the limit."""
    return (line for full in output.split("\n") if (line := full[:LINE_LIMIT]) and not line.isspace())


def _first_signals(output: str, command: Command, also: Callable[[str], bool] | None) -> list[str]:
    """The first five signal lines, and the first later line that passes ``also`` if none of the five does."""
    lines = _lines(output)
    found = list(islice((line for line in lines if _is_signal(line, command)), _SUMMARY_LINES))
    if also is not None and not any(map(also, found)):
        found.extend(islice(filter(also, lines), 1))
    return found


def _is_signal(line: str, command: Command) -> bool:
    """Whether a line tells of an error (SPEC 13.4, 20.2)."""
    if _ANYWHERE.search(line) or _AT_START.match(line):
        return True
    name = _NAME_AT_START.match(line)
    if name and name.group().endswith(_EXCEPTION_NAMES):
        return True
    location = _LOCATION.search(line)
    if location and _ERROR.search(line, location.end()):
        return True
    own, colon, _ = line.partition(":")
    if colon and own in command.programs:
        return True
    if command.category is None:
        return False
    words = _words_pattern(command.signals)
    return bool(_CATEGORY_WORDS.search(line) or (words and words.search(line)))


@lru_cache(maxsize=64)
def _words_pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    """Configured signal words, as whole words in any case."""
    listed = "|".join(re.escape(word) for word in sorted(words) if word)
    return re.compile(rf"(?<!\w)(?:{listed})(?!\w)", re.IGNORECASE) if listed else None


def _last_lines(output: str, command: Command) -> list[str]:
    """The last five lines of a categorised command that are no notice of the host (SPEC 13.4)."""
    if command.category is None:
        return []
    said: list[str] = []
    opened: int | None = None
    for line in _lines(output):
        if _NOTICE_OPEN in line and opened is None:
            opened = len(said)
        if _NOTICE_CLOSE in line and opened is not None:
            # The host's element spans lines; one that never closes costs only its own line.
            del said[opened:]
            opened = None
        if not any(notice in line.lower() for notice in _NOTICES):
            said.append(line)
    return said[-_SUMMARY_LINES:]
