"""Rows of the area ``candidates``: what a compaction summary proposes (SPEC 5)."""

from __future__ import annotations

from typing import Any

from projections.policy import Context
from projections.rules.candidates import CandidateLine, parse_summary, rule_digests_of
from tests.conformance.runner import UnknownKey

__all__ = ["run"]


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Parse one summary beside the instruction files that the session has loaded."""
    for key in (*(given.keys() - {"summary", "rule_files"}), *(wanted - {"memories", "commands", "rejected"})):
        raise UnknownKey(key)
    context = Context(root="/w/app")
    rules = frozenset(digest for text in given.get("rule_files", ()) for digest in rule_digests_of(text, context))
    lines = parse_summary(given["summary"], context, rules).lines
    accepted = [line for line in lines if not line.reasons]
    actual = {
        "memories": [{"type": line.type, "text": line.text} for line in accepted if line.kind == "candidate"],
        "commands": [_command(line) for line in accepted if line.kind in {"reinforce", "replace"}],
        "rejected": [sorted(reason.code for reason in line.reasons) for line in lines if line.reasons],
    }
    return {key: actual[key] for key in wanted}


def _command(line: CandidateLine) -> dict[str, Any]:
    command: dict[str, Any] = {"kind": line.kind.upper(), "ref": f"M{line.ref}"}
    return command if line.kind == "reinforce" else {**command, "type": line.type, "text": line.text}
