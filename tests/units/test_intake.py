"""The common form of a text (SPEC 1.3)."""

from __future__ import annotations

from projections.policy import DEFAULT_POLICY, Policy, RedactionExtra
from projections.text.intake import take_in, take_in_block


def test_an_entry_text_takes_all_five_steps() -> None:
    """Cleaned, redacted, made one line and cut, with the note of what was removed."""
    text = "use\u200b\r\n the  pass\u200bword: hunter2 <private>x</private> everywhere"
    assert take_in(text, DEFAULT_POLICY, 40) == ("use the password: [REDACTED] everywhere", ("invisible_removed",))
    assert take_in(text, DEFAULT_POLICY, 30).text == "use the password: [REDACTED]…"


def test_a_block_keeps_its_lines() -> None:
    """Steps 1 to 3 leave line breaks alone."""
    assert take_in_block("a\r\ntoken=b1\nc", DEFAULT_POLICY) == ("a\ntoken=[REDACTED]\nc", ())


def test_a_value_in_the_next_line_is_found_once_they_are_one() -> None:
    """Making a text one line can bring a label and its value together."""
    assert take_in("the password:\nhunter2", DEFAULT_POLICY, 99).text == "the password: [REDACTED]"


def test_what_a_cut_leaves_is_redacted_again() -> None:
    """A shortened second label reads like a value; the stored text must be what would be taken in again."""
    assert take_in("credentials: authorization: none", DEFAULT_POLICY, 16).text == "credentials: [R…"


def test_the_policy_names_further_secrets() -> None:
    """Labels and prefixes of the policy count in every text (SPEC 20.3)."""
    policy = Policy(redaction=RedactionExtra(labels=("door code",), prefixes=("acme_",)))
    assert take_in("Door code: 12 and acme_0123456789", policy, 99).text == "Door code: [REDACTED] and [REDACTED]"
    assert take_in("Door code:\nblue whale", policy, 99).text == "Door code: [REDACTED] whale"
