"""The JSON Schema of what ``memfold hook`` reads; ``python -m memfold.hook.schema`` prints it."""

from __future__ import annotations

import json
import sys
from typing import Any, get_type_hints

import msgspec

from memfold.hook.events import EVENTS, HookEvent

__all__ = ["event_table", "hook_schema", "schema_text"]


def hook_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of an event."""
    (reference,), components = msgspec.json.schema_components([HookEvent], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An event for memfold hook",
        **reference,
        "$defs": dict(sorted(components.items())),
    }


def schema_text() -> str:
    """The schema as it is committed: stable bytes."""
    return json.dumps(hook_schema(), indent=2, ensure_ascii=False) + "\n"


def event_table() -> str:
    """The events and the fields of their ``data`` as a Markdown table; ``?`` marks a field with a default."""
    rows = ["| type | data | when |", "|---|---|---|"]
    for cls in EVENTS:
        data = get_type_hints(cls)["data"]
        fields = [f"`{field.name}{'' if field.required else '?'}`" for field in msgspec.structs.fields(data)]
        said = (data.__doc__ or "").partition(".")[0]
        rows.append(f"| `{cls.__struct_config__.tag}` | {', '.join(fields) or 'nothing'} | {said} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
