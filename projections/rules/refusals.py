"""The reasons that hold for every way in: messages, tools, hand edits, imports (SPEC 6.1)."""

from __future__ import annotations

from collections.abc import Iterable

from projections.policy import Policy
from projections.rules.injection import find_injection
from projections.text.redact import is_secret_only

__all__ = ["injected_part", "text_refusals"]


def text_refusals(text: str, policy: Policy, beside: Iterable[str] = ()) -> tuple[str, ...]:
    """The codes of what no text may be, whoever writes it; empty if nothing stands against it.

    Args:
        text: the line that prompts show.
        policy: what redacts.
        beside: the other parts of the memory. Title, tags and rationale are shown as well, and a content says more than
            its line, which may have been cut.
    """
    found = {
        "empty_text": not text,
        "prompt_injection": injected_part(text, beside) is not None,
        "secret_only": is_secret_only(text, policy.redaction),
    }
    return tuple(code for code, holds in found.items() if holds)


def injected_part(text: str, beside: Iterable[str]) -> tuple[str, tuple[int, int]] | None:
    """The first part that tells the model to set its instructions aside, with the span of the words (SPEC 6.4)."""
    for part in dict.fromkeys((text, *beside)):
        if span := find_injection(part):
            return part, span
    return None
