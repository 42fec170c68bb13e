"""Area ``redaction``: a text after steps 1 to 3 of SPEC 1.3."""

from __future__ import annotations

from typing import Any

from projections.policy import DEFAULT_POLICY
from projections.text.intake import take_in_block
from tests.conformance.runner import UnknownKey


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Take a block of text in."""
    for key in wanted - {"text"}:
        raise UnknownKey(key)
    return {"text": take_in_block(given["text"], DEFAULT_POLICY).text}
