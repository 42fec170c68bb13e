"""Labels and values in neighbouring lines, and where their lines are joined (SPEC 7.1, 7.4)."""

from __future__ import annotations

import pytest

from projections.policy import DEFAULT_POLICY, Policy, RedactionExtra
from projections.text.entry import entry_text
from projections.text.redact import redact_lines

VALUE = "K7wzLmPq93xT"


@pytest.mark.parametrize(
    "text",
    [
        "DB password:\n{}",
        "API_KEY:\n  {}\nnext",
        "API_KEY:\n\n\n{}.",
        "the token is\n{} for now",
        "the token\nis {}",
        "deploy --password\n{}",
        "the api  \nkey: {}",
        "mot\nde passe: {}",
        "- password:\n  - {}\n  - other",
        "1. token:\n> 2. {}",
        "username: amy,\npassword: {}",
        'password: "ab\n{}"',
        "client_secret\r= {}",
    ],
)
def test_a_value_below_its_label_is_hidden(text: str) -> None:
    """Blank lines, list marks and quote marks between them don't part a label and its value."""
    hidden = redact_lines(text.format(VALUE))
    assert VALUE not in hidden
    assert hidden.count("\n") == text.count("\n") - text.count('"ab\n')
    assert redact_lines(hidden) == hidden


def test_a_word_alone_in_its_line_is_a_value() -> None:
    """It needs no digit there: nothing else can be meant."""
    assert redact_lines("password:\ncorrecthorse\nmore") == "password:\n[REDACTED]\nmore"
    assert redact_lines("password:\n“correcthorse”.") == "password:\n“[REDACTED]”."


@pytest.mark.parametrize(
    "text",
    [
        "auth:\n- use short sessions\n- rotate weekly",
        "password:\nnext line",
        "API token\n=========\ntext",
        "token:\nhttps://wiki.test/token",
        "password\nis required",
        "password:\n...",
        "no label\nK7wzLmPq93xT",
        "token:\nfoo[REDACTED]abcdefghijklm bar",
        "one line",
    ],
)
def test_a_heading_is_no_label(text: str) -> None:
    """What stands below one and reads like prose stays as it is."""
    assert redact_lines(text) == text


def test_an_unclosed_quote_costs_its_own_line() -> None:
    """Joined or not: the lines below are still read."""
    assert redact_lines("password: 'abc\nkeep\nthis and it's fine") == "password: '[REDACTED]\nkeep\nthis and it's fine"


def test_the_line_above_is_a_label_too() -> None:
    """A title labels its content, and stays itself; configured labels count."""
    assert redact_lines(VALUE, above="DB password") == "[REDACTED]"
    assert redact_lines("use sessions", above="Auth") == "use sessions"
    assert redact_lines("zulu", RedactionExtra(labels=("door code",)), above="Door code") == "[REDACTED]"


def test_an_entry_shows_no_value_that_joining_labelled() -> None:
    """The line of an entry is redacted again, whoever wrote its title and content (SPEC 2.1)."""
    assert entry_text("Deploy", f"DB password:\n{VALUE}", DEFAULT_POLICY) == "Deploy: DB password: [REDACTED]"
    assert entry_text("DB password", VALUE, DEFAULT_POLICY) == "DB password: [REDACTED]"
    assert entry_text("Auth", "use sessions", DEFAULT_POLICY) == "Auth: use sessions"
    assert entry_text("Only a title", " ", DEFAULT_POLICY) == "Only a title"
    policy = Policy(redaction=RedactionExtra(labels=("door code",)))
    assert entry_text("Hall", "door code:\nzulu", policy) == "Hall: door code: [REDACTED]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mysql --password \\\n K7wzLmPq93xT -e x", "mysql --password \\\n [REDACTED] -e x"),
        ("x --token\\\nabc \\\n --host h", "x --token\\\n[REDACTED] \\\n --host h"),
        ("x --pass\\\nword abc", "x --pass\\\nword [REDACTED]"),
        ("x --token K7w\\\nzLmPq -e", "x --token [REDACTED] -e"),
        ("the token is\\\nK7wzLmPq93xT", "the token is\\\n[REDACTED]"),
        ("x --host a \\\n --port 1", "x --host a \\\n --port 1"),
    ],
)
def test_a_continued_line_is_one_line(text: str, expected: str) -> None:
    """A backslash at a line's end is no value, and parts neither a label from its value nor a value in two."""
    assert redact_lines(text) == expected
