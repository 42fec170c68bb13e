"""Rows of the area ``quality``: all reasons of the gate for one text, taken in before it is judged (SPEC 1.3, 6)."""

from __future__ import annotations

from typing import Any

from projections.policy import Context
from projections.rules.quality import judge, notes
from projections.text.intake import take_in
from projections.text.limits import TEXT_LIMIT
from tests.conformance.runner import UnknownKey

__all__ = ["run"]


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Judge one text of one type."""
    for key in (*(given.keys() - {"type", "text"}), *(wanted - {"accepted", "reasons", "notes"})):
        raise UnknownKey(key)
    context = Context(root="/w/app")
    text = take_in(given["text"], context.policy, TEXT_LIMIT).text
    reasons = judge(given["type"], text, context)
    actual = {
        "accepted": not reasons,
        "reasons": sorted(reason.code for reason in reasons),
        "notes": sorted(notes(text)),
    }
    return {key: actual[key] for key in wanted}
