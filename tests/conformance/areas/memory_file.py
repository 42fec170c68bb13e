"""Area ``memory_file``: MEMORY.md as a text (SPEC 16.1-16.5, 16.7, 16.9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from projections.memory.model import shown_id
from projections.memory_file.model import FileEntry, Parsed
from projections.memory_file.reading import read_file
from projections.memory_file.summary import summary_text
from projections.memory_file.writing import write_file
from replay.names import parse_id
from tests.conformance.runner import UnknownKey


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Do the row's operation."""
    operation = _OPERATIONS.get(given["op"])
    if operation is None:
        raise UnknownKey(given["op"])
    return operation(given)


def compare(key: str, expected: Any, actual: Any) -> bool:
    """Substrings for ``contains``, else equality."""
    if key == "contains":
        return all(part in actual for part in expected)
    return bool(expected == actual)


def entry_from(row: dict[str, Any]) -> FileEntry:
    """An entry as the rows write it."""
    number = parse_id(row["id"])
    assert number is not None
    return FileEntry(
        number=number,
        title=row["title"],
        content=row["content"],
        added=row.get("added"),
        updated=row.get("updated"),
        tags=tuple(row.get("tags", ())),
        archived=row.get("archived", False),
    )


def entry_row(entry: FileEntry) -> dict[str, Any]:
    """An entry as the rows show it."""
    return {
        "id": shown_id(entry.number),
        "title": entry.title,
        "added": entry.added,
        "updated": entry.updated,
        "tags": list(entry.tags),
        "archived": entry.archived,
        "content": entry.content,
    }


def _parsed(parsed: Parsed) -> dict[str, Any]:
    return {
        "entries": [entry_row(entry) for entry in parsed.entries],
        "next_seq": parsed.next_number,
        "reports": list(parsed.reports),
    }


def _written(given: dict[str, Any]) -> str:
    return write_file([entry_from(row) for row in given["entries"]], given["next_seq"])


def _round_trip(given: dict[str, Any]) -> dict[str, Any]:
    text = _written(given)
    read = read_file(text)
    again = write_file(read.entries, read.next_number, read.frame)
    return _parsed(read) | {"stable": again == text}


def _rewrite(given: dict[str, Any]) -> dict[str, Any]:
    read = read_file(given["text"])
    new = given["add"]
    entry = FileEntry(read.next_number, new["title"], new["content"], added=new["day"])
    text = write_file([*read.entries, entry], read.next_number + 1, read.frame)
    ids = sorted(one.number for one in read_file(text).entries)
    return {"contains": text, "ids": [shown_id(number) for number in ids]}


def _summary(given: dict[str, Any]) -> dict[str, Any]:
    return {"text": summary_text([entry_from(row) for row in given["entries"]], given["max_chars"])}


def _log_line(given: dict[str, Any]) -> dict[str, Any]:
    from memfold.tools.operation_log import log_line

    return {"line": log_line(given["time"], given["level"], given["action"], given["detail"])}


_OPERATIONS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "parse": lambda given: _parsed(read_file(given["text"])),
    "serialise": lambda given: {"text": _written(given)},
    "round_trip": _round_trip,
    "rewrite": _rewrite,
    "summary": _summary,
    "log_line": _log_line,
}
