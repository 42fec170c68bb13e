"""Rows of the area ``quality``: all reasons of the gate for one text (SPEC 6)."""

from __future__ import annotations

from typing import Any

from projections.policy import Context
from projections.rules.quality import judge, notes
from tests.conformance.runner import UnknownKey

__all__ = ["run"]


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Judge one text of one type."""
    for key in (*(given.keys() - {"type", "text"}), *(wanted - {"accepted", "reasons", "notes"})):
        raise UnknownKey(key)
    reasons = judge(given["type"], given["text"], Context(root="/w/app"))
    actual = {
        "accepted": not reasons,
        "reasons": sorted(reason.code for reason in reasons),
        "notes": sorted(notes(given["text"])),
    }
    return {key: actual[key] for key in wanted}
