"""What a model is told about each tool: short, since it stands in every request, and constant within a release."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

__all__ = ["DEFINITIONS", "TOOL_NAMES", "Definition"]


class Definition(Struct, frozen=True):
    """One tool.

    Attributes:
        name: as the model calls it.
        description: what it does, and when to use it.
        args: its arguments as JSON Schema, by name; those that aren't in ``required`` may be left out.
        required: names of the arguments that must be given.
    """

    name: str
    description: str
    args: dict[str, dict[str, Any]]
    required: tuple[str, ...] = ()


_ID = {"type": "string", "description": "id of the memory, such as MEM-003"}
_TAGS = {"type": "array", "items": {"type": "string"}}
_TYPES = "feedback (how to work), decision, project (a fact) or reference (where to find something)"

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        "memory_add",
        "Store one lasting fact in the project memory. Later sessions see it; this one keeps its prompt.",
        {
            "title": {"type": "string", "description": "one line, at most 120 characters, that stands alone"},
            "content": {"type": "string", "description": "the fact, and why it holds"},
            "tags": {**_TAGS, "description": "optional"},
            "type": {"type": "string", "description": f"optional: {_TYPES}"},
        },
        ("title", "content"),
    ),
    Definition(
        "memory_read",
        "List stored memories with their ids and full content, all or those that hold every word of a query.",
        {
            "query": {"type": "string", "description": "optional: words, in any case"},
            "limit": {"type": "integer", "description": "optional: how many, 20 by default"},
            "offset": {"type": "integer", "description": "optional: how many to skip"},
        },
    ),
    Definition(
        "memory_update",
        "Correct a stored memory; read it first. Fields that are left out stay as they are.",
        {
            "id": _ID,
            "title": {"type": "string", "description": "optional"},
            "content": {"type": "string", "description": "optional"},
            "tags": {**_TAGS, "description": "optional; an empty list clears them"},
        },
        ("id",),
    ),
    Definition(
        "memory_delete",
        "Archive a memory that is wrong or no longer holds; read it first. A person can restore it.",
        {"id": _ID, "reason": {"type": "string", "description": "optional"}},
        ("id",),
    ),
)
TOOL_NAMES = tuple(one.name for one in DEFINITIONS)
