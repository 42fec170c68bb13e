"""The reasons that hold for every way in: messages, tools, hand edits, imports (SPEC 6.1)."""

from __future__ import annotations

from projections.policy import Policy
from projections.rules.injection import find_injection
from projections.text.redact import is_secret_only

__all__ = ["text_refusals"]


def text_refusals(text: str, policy: Policy) -> tuple[str, ...]:
    """The codes of what no text may be, whoever writes it; empty if nothing stands against it."""
    found = {
        "prompt_injection": find_injection(text) is not None,
        "secret_only": is_secret_only(text, policy.redaction),
    }
    return tuple(code for code, holds in found.items() if holds)
