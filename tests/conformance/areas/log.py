"""Area ``log``: a ledger whose file was damaged by hand, read and written again (SPEC 21)."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

from ledger.check import check
from ledger.codec import encode
from ledger.events import UnknownEvent
from ledger.ids import uuid7
from ledger.log import FileLog
from memfold.paths import ledger_dir, workspace_key
from tests.conformance.runner import UnknownKey
from tests.support.harness import FIRST, HOST, Harness

_SESSION = "damaged"


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Remember the facts, damage the file, remember more, start a session, and read what is wanted."""
    with tempfile.TemporaryDirectory() as data:
        harness = Harness(data)
        file = Path(ledger_dir(data, workspace_key(harness.root)), "events.jsonl")
        _remember(harness, given["facts"], first=0)
        harness.step({"do": "restart"})
        for operation in given["ops"]:
            file.write_bytes(_damaged(file.read_bytes(), operation, given["facts"]))
        damaged = file.read_bytes()
        _read_all(harness, file)
        unchanged = file.read_bytes() == damaged
        _remember(harness, given.get("append", []), first=len(given["facts"]))
        harness.step({"do": "session_start", "session": "next"})
        health = FileLog.open(file.parent).health()
        entries = harness.state().memory.entries.values()
        active = [entry.proposal.text for entry in entries if entry.state == "promoted"]
        seen = {
            "active": active,
            "active_contains": active,
            "damaged": health.damaged,
            "duplicates": health.duplicates,
            "unknown": health.unknown,
            "health": health.status,
            "bytes_unchanged_by_reading": unchanged,
            "writes_valid_json": all(map(_is_json, file.read_bytes()[len(damaged) :].split(b"\n"))),
        }
        return {key: _known(seen, key) for key in wanted}


def compare(key: str, expected: Any, actual: Any) -> bool:
    """``active`` is complete in any order, ``active_contains`` is a part of it."""
    if key == "active":
        return sorted(expected) == sorted(actual)
    if key == "active_contains":
        return set(expected) <= set(actual)
    return bool(expected == actual)


def _remember(harness: Harness, facts: list[str], *, first: int) -> None:
    for number, fact in enumerate(facts, first):
        text = f"Remember: {fact}"
        harness.step({"do": "user_message", "session": _SESSION, "message": f"m{number}", "text": text})


def _read_all(harness: Harness, file: Path) -> None:
    """What reading commands do."""
    harness.state()
    log = FileLog.open(file.parent)
    log.health()
    log.size()
    check(file.parent)


def _known(table: dict[str, Any], key: str) -> Any:
    if key not in table:
        raise UnknownKey(key)
    return table[key]


def _damaged(content: bytes, operation: dict[str, Any], facts: list[str]) -> bytes:
    """The file after one operation."""
    change: Callable[[list[bytes], dict[str, Any], list[str]], list[bytes]] = _known(_OPERATIONS, operation["op"])
    return b"".join(change(BytesIO(content).readlines(), operation, facts))


def _is_of(line: bytes, fact: str) -> bool:
    """Whether a line carries a fact, as JSON text."""
    return json.dumps(fact, ensure_ascii=False)[1:-1].encode() in line


def _raw(operation: dict[str, Any]) -> bytes:
    times: int = operation.get("times", 1)
    return base64.b64decode(operation["b64"]) * times + base64.b64decode(operation.get("then_b64", ""))


def _on_record(change: Callable[[bytes, dict[str, Any]], bytes]) -> Callable[..., list[bytes]]:
    """An operation that changes the record of its fact."""

    def on_record(lines: list[bytes], operation: dict[str, Any], facts: list[str]) -> list[bytes]:
        fact = facts[operation["after_fact" if "after_fact" in operation else "fact"]]
        return [change(line, operation) if _is_of(line, fact) else line for line in lines]

    return on_record


def _swap(lines: list[bytes], operation: dict[str, Any], facts: list[str]) -> list[bytes]:
    ours, theirs = (
        next(place for place, line in enumerate(lines) if _is_of(line, facts[operation[key]]))
        for key in ("fact", "with")
    )
    lines[ours], lines[theirs] = lines[theirs], lines[ours]
    return lines


def _insert_in_record(line: bytes, operation: dict[str, Any]) -> bytes:
    before, after, rest = line.partition(operation["after"].encode())
    return before + after + (_raw(operation) if after else b"") + rest


def _replace_in_record(line: bytes, operation: dict[str, Any]) -> bytes:
    return line.replace(base64.b64decode(operation["from_b64"]), base64.b64decode(operation["to_b64"]), 1)


def _unknown_event(line: bytes, _: dict[str, Any]) -> bytes:
    """The record, and behind it an event of a type that no release has known, with the same seq."""
    seq: int = json.loads(line)["seq"]
    id_ = uuid7(FIRST, b"unknown...")
    plain = {"type": "x.unknown", "specversion": "1.0", "id": id_, "source": HOST, "seq": seq + 1, "data": {"a": [1]}}
    event = UnknownEvent(
        type="x.unknown", specversion="1.0", id=id_, source=HOST, seq=seq + 1, line=json.dumps(plain).encode()
    )
    return line + encode(event)


_OPERATIONS: dict[str, Callable[[list[bytes], dict[str, Any], list[str]], list[bytes]]] = {
    "cut_record": _on_record(lambda line, operation: line[: operation["keep_bytes"]]),
    "drop_newline": _on_record(lambda line, _: line.removesuffix(b"\n")),
    "insert_before": _on_record(lambda line, operation: _raw(operation) + line),
    "insert_after": _on_record(lambda line, operation: line + _raw(operation)),
    "insert_at_start": lambda lines, operation, _: [_raw(operation), *lines],
    "append_raw": lambda lines, operation, _: [*lines, _raw(operation)],
    "insert_in_record": _on_record(_insert_in_record),
    "replace_in_record": _on_record(_replace_in_record),
    "insert_unknown_event": _on_record(_unknown_event),
    "duplicate": _on_record(lambda line, _: line + line),
    "swap": _swap,
    "crlf": lambda lines, _, __: [line.rstrip(b"\r\n") + b"\r\n" for line in lines],
}


def _is_json(line: bytes) -> bool:
    """Whether a line is blank or one JSON value without NaN or Infinity."""
    if not line.strip():
        return True
    try:
        json.loads(line, parse_constant=_refuse)
    except ValueError:
        return False
    return True


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
