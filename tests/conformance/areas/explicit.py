"""Rows of the area ``explicit``: what a message asks to remember (SPEC 4)."""

from __future__ import annotations

from typing import Any

from projections.policy import Context, Policy
from projections.rules.explicit import extract
from tests.conformance.runner import UnknownKey

__all__ = ["run"]

_ROOT = "/w/app"


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Extract the requests of one message under the packs that a row switches on."""
    for key in (*(given.keys() - {"text", "languages"}), *(wanted - {"memories", "refused"})):
        raise UnknownKey(key)
    policy = Policy(languages=tuple(given["languages"])) if "languages" in given else Policy()
    requests = extract(given["text"], Context(policy, _ROOT))
    actual = {
        "memories": [{"type": request.type, "text": request.text} for request in requests if not request.reasons],
        "refused": [reason.code for request in requests for reason in request.reasons],
    }
    return {key: actual[key] for key in wanted}
