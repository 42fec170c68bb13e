"""The JSON Schema of the events, made from the structs; ``python -m ledger.schema`` prints it."""

from __future__ import annotations

import json
import sys
from typing import Any, get_type_hints

import msgspec

from ledger.codec import SEQ_LIMIT, TYPE_NAMES
from ledger.events import Event

__all__ = ["event_table", "events_schema", "schema_text"]


def events_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a line that holds a known event."""
    (reference,), components = msgspec.json.schema_components([Event], ref_template="#/$defs/{name}")
    for cls in TYPE_NAMES:
        envelope = components[cls.__name__]["properties"]
        envelope["seq"] |= {"minimum": 0, "maximum": SEQ_LIMIT - 1}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of a memfold ledger",
        **reference,
        "$defs": dict(sorted(components.items())),
    }


def schema_text() -> str:
    """The schema as it is committed: stable bytes."""
    return json.dumps(events_schema(), indent=2, ensure_ascii=False) + "\n"


def event_table() -> str:
    """The event types and the fields of their ``data`` as a Markdown table; ``?`` marks a field with a default."""
    rows = ["| type | data |", "|---|---|"]
    for cls, name in TYPE_NAMES.items():
        data = get_type_hints(cls)["data"]
        fields = [field.encode_name + ("" if field.required else "?") for field in msgspec.structs.fields(data)]
        rows.append(f"| `{name}` | {', '.join(f'`{field}`' for field in fields)} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
