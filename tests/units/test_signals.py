"""Signal lines, error summaries, runner summaries and the first path (SPEC 13.4)."""

from __future__ import annotations

import pytest

from projections.hot.commands import classify
from projections.hot.signals import (
    LINE_LIMIT,
    evidence,
    fingerprint,
    first_path,
    outcome_of,
    run_failed,
    run_passed,
    summarise,
)
from projections.policy import DEFAULT_POLICY, ErrorCategory, Policy

NODE = classify("node job.js || ./job.sh", DEFAULT_POLICY)
TEST = classify("npm test", DEFAULT_POLICY)
PIPED = classify("npm test | cat", DEFAULT_POLICY)


@pytest.mark.parametrize(
    "line",
    [
        "Error: boom",
        "java.lang.NullPointerException: x",
        "error: bad",
        "ERROR: bad",
        "fatal: not a git repository",
        "error[E0308]: mismatched types",
        "src/a.ts(3,1): error TS2322: wrong",
        "src/a.c:3:5: error: expected ';'",
        "src/a.py:3: error: x",
        "see TS18046 here",
        "npm ERR! code E404",
        "npm error code E404",
        "  Traceback (most recent call last):",
        "panic: runtime error",
        "sh: foo: command not found",
        "node: bad option",
        "job.sh: bad option",
    ],
)
def test_signal_lines_of_any_command(line: str) -> None:
    """These lines tell of an error whatever the command is."""
    assert evidence(f"some text\n{line}\nmore", NODE, "failure") == [line]


@pytest.mark.parametrize(
    "line",
    [
        "there was an Error: boom",
        "0 errors",
        "1 failed",
        "status: 500",
        "src/a.c:3:5: warning: unused",
        "an error near src/a.c:3",
        "nodejs: x",
        "MyError without colon",
        "TS232",
    ],
)
def test_other_lines_are_no_signals_without_a_category(line: str) -> None:
    """A word alone tells nothing when the command has no category."""
    assert evidence(line, NODE, "failure") == []


@pytest.mark.parametrize("word", ["errors", "Failed", "failing", "failure", "FAIL", "FAILED", "exception", "not ok"])
def test_a_category_adds_whole_words(word: str) -> None:
    """With a category these words signal, as whole words only."""
    assert evidence(f"one\nwith {word} here\ntwo", TEST, "failure") == [f"with {word} here"]
    assert evidence(f"one\nx{word}x\ntwo", TEST, "failure") == ["one", f"x{word}x", "two"]


def test_configured_signal_words() -> None:
    """The words of a configured category signal for its commands (SPEC 20.2)."""
    policy = Policy(error_categories=(ErrorCategory("deploy", ("kamal",), (), ("rolled back", "")),))
    command = classify("kamal go", policy)
    assert evidence("start\nwas Rolled Back\nend", command, "failure") == ["was Rolled Back"]


def test_without_signals_the_last_five_lines_of_a_categorised_command() -> None:
    """Blank lines and the host's notices of a cut output are left out."""
    output = "a\nb\nc\n\nd\n  \ne\nf\n... output truncated, see /x\n<shell_metadata>\ncut at 30000\n</shell_metadata>\n"
    assert evidence(output, TEST, "failure") == ["b", "c", "d", "e", "f"]
    assert evidence("a\n<shell_metadata>\nb", TEST, "failure") == ["a", "b"]
    nested = "a\n<shell_metadata>\nb\n<shell_metadata>\nc\n</shell_metadata>\nd\n</shell_metadata>"
    assert evidence(nested, TEST, "failure") == ["a", "d"]
    assert evidence(output, NODE, "failure") == []


def test_a_typescript_error_behind_the_first_five_is_kept_for_the_category() -> None:
    """What decides the category of an uncategorised command is evidence, too."""
    lines = [f"Error: {n}" for n in range(7)]
    late = "src/a.ts(3,1): error TS2322: x"
    assert evidence("\n".join([*lines, late, late]), NODE, "failure") == [*lines[:5], late]


def test_masked_exit_keeps_the_runner_summary() -> None:
    """Failures bring the first signal lines along, a success only the line that says so, silence nothing."""
    signals = [f"error {n}" for n in range(6)]
    assert evidence("\n".join([*signals, "2 failed", "x"]), PIPED, "success") == [*signals[:5], "2 failed"]
    assert evidence("\n".join(["1 failed", *signals, "2 failed"]), PIPED, "success") == ["1 failed", *signals[:4]]
    assert evidence("x\n4 passed\n4 passed", PIPED, "success") == ["4 passed"]
    assert evidence("12", PIPED, "success") == []
    assert evidence("1 failed", TEST, "success") == []
    assert evidence("1 failed", TEST, "unknown") == []


@pytest.mark.parametrize(
    "line",
    [
        "1 failed, 3 passed",
        "2 failing",
        "Tests: 1 failed, 2 passed",
        "Tests: some failed",
        "FAIL src/a.ts",
        "FAILED tests/a.py",
        "not ok 1 - adds",
    ],
)
def test_runner_summaries_with_failures(line: str) -> None:
    """Counts above zero and the words runners start a line with."""
    assert run_failed(line)
    assert not run_passed(line)


@pytest.mark.parametrize(
    "line", ["4 passed in 0.1s", "3 passing", "ok", "OK", "ok  \tpkg\t0.1s", "test result: ok. 5 passed; 0 failed"]
)
def test_runner_summaries_without_failures(line: str) -> None:
    """A count of zero failures is a success."""
    assert run_passed(line)
    assert not run_failed(line)


@pytest.mark.parametrize("line", ["", "0 passed", "12", "okay", "a FAIL", "FAILURES", "Tests: 0 failed", "0 failed"])
def test_lines_that_are_no_runner_summary(line: str) -> None:
    """Nothing is known from a line that names neither."""
    assert not run_passed(line)
    assert not run_failed(line)


@pytest.mark.parametrize(
    ("line", "exit_code", "status", "outcome"),
    [
        ("ls", 0, "completed", "success"),
        ("ls", 2, "completed", "failure"),
        ("ls", -1, "completed", "failure"),
        ("ls", None, "completed", "unknown"),
        ("ls", 130, "completed", "unknown"),
        ("ls", 130, "failed", "unknown"),
        ("ls", None, "failed", "failure"),
        ("ls", None, "aborted", "unknown"),
        ("ls", 1, "aborted", "unknown"),
        ("grep x", 1, "completed", "unknown"),
        ("grep x", 2, "completed", "failure"),
        ("grep x", 0, "completed", "success"),
    ],
)
def test_outcome(line: str, exit_code: int | None, status: str, outcome: str) -> None:
    """Only the structured result counts; 130, aborts and known-benign exits are unknown (SPEC 13.2, 13.4)."""
    assert outcome_of(classify(line, DEFAULT_POLICY), exit_code, status) == outcome


def test_summary_is_one_line_of_at_most_280() -> None:
    """Five lines at most, whitespace collapsed, cut with a mark."""
    assert summarise(["a  b", " c", "d", "e", "f", "g"], TEST, 1) == "a b c d e f"
    long = summarise(["x" * 400], TEST, 1)
    assert (len(long), long[-1]) == (280, "\u2026")


def test_summary_without_lines_names_the_command() -> None:
    """A silent failure is told by its command and its code, if one is known."""
    assert summarise([], TEST, 2) == "npm test exited with code 2"
    assert summarise([], TEST, None) == "npm test exited with a non-zero code"


def test_fingerprint() -> None:
    """The first twelve hex digits of SHA-256; a lone surrogate does no harm."""
    assert fingerprint("2 failed") == "8b4a0b94853e"
    assert len(fingerprint("\ud800")) == 12


@pytest.mark.parametrize(
    ("summary", "path"),
    [
        ("src/App.tsx(3,1): error TS2322", "src/App.tsx"),
        ("FAILED tests/test_a.py::test_x - assert", "tests/test_a.py"),
        ('File "job.py", line 3', "job.py"),
        ("FAIL a.spec.ts", "a.spec.ts"),
        ("at https://x.dev/a/b.html then src/b.js.", "src/b.js"),
        ("at file:///repo/src/a.mjs:3:1", "///repo/src/a.mjs"),
        ("file:///repo/src/a.mjs:3:1", "///repo/src/a.mjs"),
        ("//x.dev/a/b.html then src/b.js", "src/b.js"),
        ("in doc/A.TEX?!", "doc/A.TEX"),
        ("see /repo/dir and ./lib/x.c", "./lib/x.c"),
        ("Node.js v20 failed", None),
        ("version 1.2.3 of x", None),
        ("", None),
    ],
)
def test_first_path(summary: str, path: str | None) -> None:
    """The first path with an extension, the whole extension; no address and no product name."""
    assert first_path(summary) == path


def test_long_lines_are_bounded() -> None:
    """Of a line only its beginning is read and kept."""
    assert evidence("error: " + "x" * 5000, NODE, "failure") == ["error: " + "x" * (LINE_LIMIT - 7)]
