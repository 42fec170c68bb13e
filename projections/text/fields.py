"""The fields of a written memory in the form in which they are stored: title, content, tags (SPEC 1.3, 16.3)."""

from __future__ import annotations

from collections.abc import Iterable

from projections.policy import Policy
from projections.text.clean import stored_content
from projections.text.intake import take_in, take_in_block
from projections.text.limits import TITLE_LIMIT
from projections.text.redact import redact_lines

__all__ = ["take_in_content", "take_in_tags", "take_in_title"]


def take_in_title(text: str, policy: Policy) -> str:
    """A title: one line, redacted, cut to 120 characters."""
    return take_in(text, policy, TITLE_LIMIT).text


def take_in_content(text: str, policy: Policy, above: str = "") -> str:
    """A content, whose lines will be one line and stand below ``above``: a label and its value may be neighbours."""
    return stored_content(redact_lines(take_in_block(text, policy).text, policy.redaction, above))


def take_in_tags(tags: Iterable[str], policy: Policy) -> tuple[str, ...]:
    """Tags: split at commas, trimmed, no blanks or repeats."""
    # Redacted as one text, before it is split: a comma may part what makes a secret of both its sides (SPEC 7.4), and
    # whoever read the tags from a file may have split them there.
    words = (take_in_title(part, policy) for part in take_in_block(",".join(tags), policy).text.split(","))
    return tuple(dict.fromkeys(word for word in words if word))
