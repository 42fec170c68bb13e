"""Area ``render``: blocks as text, and cutting (SPEC 1.5, 11)."""

from __future__ import annotations

from typing import Any

import msgspec

from projections.headers import WORKSPACE_HEADER
from projections.policy import DEFAULT_POLICY, type_order
from projections.render import Block, numbered_block, workspace_block
from projections.text.cut import cut
from tests.conformance.areas.render_hot import run_hot
from tests.conformance.runner import UnknownKey
from tests.support.entries import state_of


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Render a block or cut a text."""
    if given["op"] == "hot":
        return run_hot(given, wanted)
    if given["op"] == "cut":
        results: dict[str, Any] = {"text": cut(given["text"], given["limit"])}
    elif given["op"] in ("workspace", "numbered"):
        results = _block(given)
    else:
        raise UnknownKey(given["op"])
    for key in wanted - results.keys():
        raise UnknownKey(key)
    return {key: results[key] for key in wanted}


def compare(key: str, expected: Any, actual: Any) -> bool:
    """A greatest length is a bound, the rest is exact."""
    return bool(actual <= expected) if key == "max_length" else bool(expected == actual)


def _block(given: dict[str, Any]) -> dict[str, Any]:
    policy = msgspec.structs.replace(
        DEFAULT_POLICY, workspace_chars=given.get("max_chars", DEFAULT_POLICY.workspace_chars)
    )
    state = state_of(given["entries"], policy=policy)
    block = workspace_block(state) if given["op"] == "workspace" else numbered_block(state)
    return {
        "text": block.text,
        "length": len(block.text),
        "max_length": len(block.text),
        "omitted": {entry.ref.event: reason for entry, reason in block.omitted},
        "targets": [entry.ref.event for entry in block.shown],
        "whole_lines": _whole_lines(given, block),
    }


def _whole_lines(given: dict[str, Any], block: Block) -> bool:
    """Every line is the whole line of some entry, a heading or the header."""
    whole = {f"{type_}:" for type_ in type_order(DEFAULT_POLICY)} | {WORKSPACE_HEADER}
    texts = tuple(f"- {row['text']}" for row in given["entries"])
    return all(line in whole or line.startswith(texts) for line in block.text.split("\n") if line)
