"""The line that prompts show of an entry with title and content (SPEC 2.1)."""

from __future__ import annotations

from projections.policy import Policy
from projections.text.canonical import canonical
from projections.text.clean import single_line
from projections.text.cut import cut
from projections.text.limits import TEXT_LIMIT
from projections.text.redact import redact_lines

__all__ = ["entry_text"]


def entry_text(title: str, content: str, policy: Policy) -> str:
    """The title if the content is empty; the content if it starts with the title (canonically); else both.

    Redacted once more, because a label and its value may stand in two lines that become one here (SPEC 7.1).
    """
    line = single_line(redact_lines(content, policy.redaction, above=single_line(title)))
    if not line:
        return cut(single_line(title), TEXT_LIMIT)
    if canonical(line).startswith(canonical(title)):  # the … of a cut title is no part of its canonical form
        return cut(line, TEXT_LIMIT)
    return cut(f"{single_line(title)}: {line}", TEXT_LIMIT)
