"""Reads what ``memfold export`` has written as JSON: another workspace's memories, or an earlier state of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from memfold.imports.json_text import array, elements, load, mapping, text_of, texts, word
from memfold.imports.model import Import, Sheet
from memfold.imports.values import count, hundredths, importance_of, source_of, time_of
from projections.policy import Policy
from replay.names import parse_id

__all__ = ["SCHEMA", "read_own"]

SCHEMA = "memfold.export/"
"""What the name of the schema begins with, in any version."""
_LIST = "memories"
_STATES: dict[str, Literal["active", "pending", "deleted", "superseded"]] = {
    "promoted": "active",
    "pending": "pending",
    "deleted": "deleted",
    "superseded": "superseded",
}


def read_own(name: str, data: bytes, policy: Policy) -> Import:
    """The file as events: ids where they are free, fields, dates, what is pending and what has left."""
    sheet = Sheet(name, data, "memfold", policy)
    try:
        text = text_of(data)
        fields = mapping(load(text))
    except ValueError as error:
        return sheet.damaged(str(error))
    if not word(fields, "schema").startswith(SCHEMA):
        return sheet.damaged("it is no export of memfold")
    for line, element in elements(text, _LIST, array(fields.get(_LIST))):
        memory = mapping(element)
        state = _STATES.get(word(memory, "state"))
        if state is None:
            sheet.skip(line, "it was no memory any more")
        elif not word(memory, "text").strip():
            sheet.skip(line, "it has no text")
        else:
            _add(sheet, line, memory, state)
    return sheet.done(counter=count(fields.get("next_number")) or None)


def _add(
    sheet: Sheet, line: int, memory: Mapping[str, object], state: Literal["active", "pending", "deleted", "superseded"]
) -> None:
    source = source_of(word(memory, "source"))
    title, content = word(memory, "title"), word(memory, "content")
    sheet.add(
        line,
        title=title if title or content else word(memory, "text"),
        content=content,
        type=word(memory, "type"),
        tags=texts(memory.get("tags")),
        rationale=word(memory, "rationale"),
        source=source,
        state=state,
        confidence=hundredths(memory.get("confidence"), source),
        importance=importance_of(word(memory, "importance")),
        safety_critical=memory.get("safety_critical") is True,
        reinforcements=count(memory.get("reinforcements")),
        created=time_of(memory.get("proposed")),
        updated=time_of(memory.get("updated")),
        number=parse_id(word(memory, "id")),
        clock=time_of(memory.get("reinforced")),
    )
