"""The one form in which a text from outside is judged, compared and written (SPEC 1.3)."""

from __future__ import annotations

from typing import NamedTuple

from projections.policy import Policy
from projections.text.clean import clean, single_line
from projections.text.cut import cut
from projections.text.redact import redact, redact_lines, withhold

__all__ = ["Taken", "take_in", "take_in_block"]

_ROUNDS = 4


class Taken(NamedTuple):
    """A text in its common form, and the notes it carries (``invisible_removed``)."""

    text: str
    notes: tuple[str, ...]


def take_in_block(text: str, policy: Policy) -> Taken:
    """Steps 1 to 3 of SPEC 1.3, for texts that keep their lines: decode, clean, withhold and redact. Linear."""
    cleaned = clean(text)
    return Taken(redact(withhold(cleaned.text), policy.redaction), cleaned.notes)


def take_in(text: str, policy: Policy, limit: int) -> Taken:
    """Steps 1 to 5 of SPEC 1.3, for the text of an entry: a block made one line and cut to ``limit`` characters.

    Idempotent, so that a stored text can be read back and compared. Linear.
    """
    block = take_in_block(text, policy)
    line = single_line(redact_lines(block.text, policy.redaction))
    for _ in range(_ROUNDS):
        # A label and its value may have stood in two lines, and a cut may change what stands at the end; what is
        # stored must be what would be taken in again.
        taken = cut(redact(line, policy.redaction), limit)
        if taken == line:
            break
        line = taken
    return Taken(line, block.notes)
