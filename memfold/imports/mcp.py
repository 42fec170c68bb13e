"""Reads the JSON Lines of the MCP memory server: entities with observations, and relations between them."""

from __future__ import annotations

from collections.abc import Mapping

from memfold.imports.json_text import array, load, mapping, text_of, texts, word
from memfold.imports.model import Import, Sheet
from projections.policy import Policy, type_order
from projections.rules.kinds import type_of
from projections.text.entry import entry_text

__all__ = ["KINDS", "read_mcp"]

KINDS = ("entity", "relation")
"""What a line can be."""


def read_mcp(name: str, data: bytes, policy: Policy) -> Import:
    """The file as events: each observation one memory with the entity as its title, each relation one too.

    The kind of an entity becomes a tag, and the type where it names one of ours; else the words decide (SPEC 4.7).
    """
    sheet = Sheet(name, data, "mcp", policy)
    try:
        lines = text_of(data).split("\n")
    except ValueError as error:
        return sheet.damaged(str(error))
    for number, line in enumerate(lines, 1):
        if line.strip():
            _read(sheet, number, line)
    return sheet.done()


def _read(sheet: Sheet, number: int, line: str) -> None:
    try:
        fields = mapping(load(line))
    except ValueError:
        sheet.skip(number, "it is no JSON")
        return
    kind = word(fields, "type")
    if kind == KINDS[0]:
        _add_entity(sheet, number, fields)
    elif kind == KINDS[1]:
        _add_relation(sheet, number, fields)
    else:
        sheet.skip(number, "it is neither an entity nor a relation")


def _add_entity(sheet: Sheet, number: int, fields: Mapping[str, object]) -> None:
    name, kind = word(fields, "name").strip(), word(fields, "entityType").strip()
    said = array(fields.get("observations"))
    observations = [one for one in texts(said) if one.strip()]
    if not name:
        sheet.skip(number, "the entity has no name")
        return
    if not said:
        sheet.skip(number, "nothing is said about the entity")
    elif len(observations) < len(said):
        sheet.skip(number, "an observation is no text")
    for one in observations:
        given = kind.lower() in type_order(sheet.policy)
        type_ = kind.lower() if given else type_of(entry_text(name, one, sheet.policy))
        sheet.add(number, title=name, content=one, type=type_, tags=(kind,) if kind and not given else ())


def _add_relation(sheet: Sheet, number: int, fields: Mapping[str, object]) -> None:
    parts = [word(fields, key).strip() for key in ("from", "relationType", "to")]
    if not all(parts):
        sheet.skip(number, "the relation is incomplete")
        return
    text = " ".join(parts)
    sheet.add(number, text=text, type=type_of(text))
