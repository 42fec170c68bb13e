"""Area ``render``, operation ``hot``: the hot block of given entries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from projections.hot.block import ErrorEntry, hot_block
from projections.hot.session import FileEntry

__all__ = ["run_hot"]

_WORKSPACE = "/w/app"
_BUDGET = 700


def run_hot(given: Mapping[str, Any], wanted: Collection[str]) -> dict[str, Any]:
    """Render a row's entries; answers the keys ``text``, ``length`` and ``sections`` that it wants."""
    block = hot_block(
        [FileEntry(file["path"], file["action"], file["count"]) for file in given.get("files", ())],
        [
            ErrorEntry(error["category"], error["summary"], error.get("maybe_fixed", False))
            for error in given.get("errors", ())
        ],
        given.get("decisions", ()),
        [(entry["type"], entry["text"]) for entry in given.get("pending", ())],
        max_chars=given.get("max_chars", _BUDGET),
        root=given.get("workspace", _WORKSPACE),
    )
    answers = {"text": block.text, "length": len(block.text), "sections": block.sections}
    return {key: value for key, value in answers.items() if key in wanted}
