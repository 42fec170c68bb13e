"""Laws of the bridge: whatever is sent, a line has one valid answer, nothing of ours fails, memory goes on (HKS-01)."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.check import check
from ledger.events import MemoryRequested
from ledger.problems import NOTES
from memfold.bridge.bridge import Bridge
from memfold.bridge.protocol import Answer, Refusal, encode, read_request
from tests.hosts.calls import NAMES, recorded
from tests.support.bridge import (
    Record,
    asks_for_tools,
    compacted,
    compacting,
    environment,
    event,
    events_of,
    folder_of,
    has_tools,
    hook,
    init,
    line_of,
    ran,
    said,
    system,
    use,
)
from tests.support.effort import examples

FACT = "use integer cents for money"
_KEYS = frozenset({"id", "part", "system", "context", "tools", "result", "refused", "notice", "private"})
_NAMES_OF_FILES = re.compile(
    r"(\.local|share|memfold|workspaces|[0-9a-f]{16}|events\.jsonl(\.lock)?|derived|facts\.jsonl|tree\.json|[a-z]+\.log"
    r"|checkpoints|world-[\d.]+-[0-9a-f]{16}-[0-9a-f]{16}-\d{16}(-\d{16}\.json|\.table))"
)

hostile = st.sampled_from(
    [
        "",
        "\0",
        "a\0b",
        "../../x",
        "/etc/passwd",
        "..",
        ".",
        "C:\\x",
        "\ud800",
        "\udfff\ud800",
        "\n",
        "\r\n\x1b[31m",
        "x" * 10_240,
        "é" * 300,
        "\u202e\u200b",
        "%2e%2e%2f",
        "a/b",
        "~",
        "$(id)",
        "-rf",
        "events.jsonl",
    ]
)
"""Ids and texts that could lead somewhere, or can't be encoded."""
numbers = st.sampled_from([0, -1, 1, 2**53, 2**64, -(2**63), 10**300, 1.5, 1e308, float("inf"), float("nan")])
scalars = st.none() | st.booleans() | numbers | hostile | st.text(max_size=20)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hostile | st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@cache
def _records() -> tuple[Record, ...]:
    """One record of each shape: of the recordings, and of what only the plugin sends."""
    found: dict[object, Record] = {}
    for name in NAMES:
        for one in recorded(name):
            record: Record = dict(one)
            kind = record["event"]["type"] if record["hook"] == "event" else record["hook"]
            part = record.get("event", {}).get("properties", {}).get("part", {}).get("type")
            found.setdefault((kind, part, str(sorted(map(str, record.get("input") or {})))), record)
    own = [said(f"Remember: {FACT}"), system(), compacting(todos=[{"content": "a", "status": "pending"}])]
    own += [ran("npm test", 1, "FAIL a.js: no"), *compacted("Memory candidates:\n- [project] The port is 7400")]
    own += [asks_for_tools(), has_tools(), use("memory_add", title="Ports", content="7400"), use("memory_read")]
    own += [event("session.deleted", "gone", info={"id": "gone"}), hook("command.execute.before", command="x")]
    return (*found.values(), *own)


def _places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all values inside of one."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from _places(child, (*path, key))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A line of a client in which something is missing, of another type, huge, doubled, or in another order."""
    record: Any = copy.deepcopy(draw(st.sampled_from(_records())))
    for _ in range(draw(st.integers(1, 4))):
        places = list(_places(record))
        if not places:
            break
        *above, key = draw(st.sampled_from(places))
        holder = record
        for step in above:
            holder = holder[step]
        match draw(st.sampled_from(["drop", "replace", "replace", "swap", "long"])):
            case "drop":
                del holder[key]
            case "replace":
                holder[key] = draw(values)
            case "swap":
                other = draw(st.sampled_from(places))
                holder[key] = copy.deepcopy(_at(record, other))
            case _:
                holder[key] = draw(hostile | st.just("- a\n" * 5000) | st.just("Remember: use tabs\n" * 300))
    line = json.dumps({"id": draw(st.integers(0, 99)), **record}, ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()) and line.endswith("}"):  # the same key twice: the last one counts
        line = f'{line[:-1]}, "hook": {json.dumps(record.get("hook"))}}}'
    return line.encode("utf-8", "surrogatepass")


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


garbage = st.one_of(
    st.none(),
    st.binary(max_size=200),
    st.sampled_from([b"", b"null", b"[]", b"{}", b"[" * 5000, b'{"a":' * 5000, b"\xff\xfe{\0}\0", b"NaN", b"1" * 5000]),
    values.map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass")),
    st.dictionaries(st.sampled_from(["id", "hook", "input", "output", "event", "t", "pid"]), values).map(
        lambda value: json.dumps(value).encode("utf-8", "surrogatepass")
    ),
)


def _judge(bridge: Bridge, line: bytes | None) -> Record:
    """Send a line; its answer is one JSON object of known keys, and no surprise of ours."""
    answer = bridge.answer(line)
    bridge.settle()
    encoded = encode(answer)
    assert encoded.count(b"\n") == 1
    fields: Record = json.loads(encoded.decode())
    assert set(fields) <= _KEYS
    assert "an unexpected" not in fields.get("refused", ""), (fields["refused"], line)
    return fields


_WRONG: tuple[Any, ...] = (None, True, 0, -1, float("inf"), "", "\0", "\ud800", [], {}, [None], [[]], {"a": {}})


def test_any_value_may_be_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value of each kind of record is once missing and once of each wrong kind: the line has a valid answer."""
    monkeypatch.setattr("ledger.writer._sync", lambda _: None)  # some 10,000 lines, and no power cut
    (tmp_path / "w").mkdir()
    bridge = Bridge(environment(tmp_path / "home"))
    _judge(bridge, line_of(init(tmp_path / "w"), 1))
    for record in (init(tmp_path / "w"), *_records()):
        for *above, key in list(_places(record)):
            for wrong in (..., *_WRONG):
                changed: Any = copy.deepcopy(record)
                holder = _at(changed, tuple(above))
                if wrong is ...:
                    del holder[key]
                else:
                    holder[key] = wrong
                _judge(bridge, line_of(changed, 1))
    answer = _judge(bridge, line_of(said(f"Remember: {FACT}", "after", "after"), 7))
    assert FACT in answer["notice"]


@settings(max_examples=examples(60))
@given(st.lists(st.one_of(mutated(), mutated(), garbage), max_size=8))
def test_any_lines_are_answered_and_memory_goes_on(lines: list[bytes | None]) -> None:
    """No line raises, ends or silences the bridge; what a user asks for afterwards is stored, in a sound ledger."""
    with TemporaryDirectory() as name:
        top = Path(name).resolve()
        (top / "w").mkdir()
        bridge = Bridge(environment(top / "home"))
        _judge(bridge, line_of(init(top / "w"), 1))
        for line in lines:
            _judge(bridge, line)
        answer = _judge(bridge, line_of(said(f"Remember: {FACT} in {name}", "after", "after", t=2000.0), 7))
        assert answer["id"] == 7
        bridge.close()
        log = top / "home/.local/share/memfold/memfold.log"
        assert not log.exists() or " bridge: unexpected " not in log.read_text()
        stored = [one for one in events_of(top / "home", top / "w") if isinstance(one, MemoryRequested)]
        assert any(one.data.message == "after" for one in stored)
        problems = check(str(folder_of(top / "home", top / "w")))
        assert [one for one in problems if one.kind not in NOTES] == []


@settings(max_examples=examples(30))
@given(hostile, hostile, hostile)
def test_no_id_of_a_host_reaches_a_path(session: str, message: str, call: str) -> None:
    """Sessions, messages, calls, tools and parents of any name, through every hook: no file is made under one."""
    with TemporaryDirectory() as name:
        top = Path(name).resolve()
        (top / "w").mkdir()
        bridge = Bridge(environment(top / "home"))
        _judge(bridge, line_of(init(top / "w", instance=call, private=[session]), 1))
        head = {"id": session, "parentID": message, "version": call}
        records = [
            said(f"Remember: {FACT}", session, message),
            event("session.created", session, info=head),
            hook("command.execute.before", session, {"parts": []}, command=call, arguments=message),
            hook("tool.execute.before", session, tool=call, callID=call),
            ran("npm test", 1, "FAIL a.js: no", session, call),
            hook("tool.execute.after", session, {"output": "x"}, tool=message, callID=call, args={"filePath": call}),
            use("memory_add", call, session, title="Ports", content="7400", tags=[message], type=call),
            use("memory_delete", call, session, id=message, reason=call),
            compacting(session),
            *compacted("Memory candidates:\n- [project] The port is 7400", session, message),
            event("session.idle", session),
            system(session),
            event("session.deleted", session, info={"id": session}),
        ]
        for number, record in enumerate(records):
            _judge(bridge, line_of(record, number))
        bridge.close()
        made = list((top / "home").rglob("*"))
        assert all(_NAMES_OF_FILES.fullmatch(path.name) for path in made), made
        assert list((top / "w").iterdir()) == []
        assert sorted(path.name for path in top.iterdir()) == ["home", "w"]


_DAMAGE = (b"", b'"', b"\xff", b"\\ud800", b"1e999", b"}", b"\n", b"NaN")
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | hostile
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)


@given(st.dictionaries(st.sampled_from(["t", "input", "output", "more"]), _VALUES), st.booleans(), st.data())
@settings(max_examples=examples(300))
def test_a_line_says_what_json_says(record: dict[str, Any], ascii_: bool, data: st.DataObject) -> None:
    """However it is decoded, half characters, NaN and numbers of any size included; or it is refused by both."""
    text = json.dumps({"id": 1, "hook": "event", **record}, ensure_ascii=ascii_)
    line = text.encode("utf-8", "surrogatepass")
    if data.draw(st.booleans(), label="damaged"):
        at = data.draw(st.integers(0, len(line) - 1))
        line = (
            line[:at]
            + data.draw(st.sampled_from([b"", b'"', b"\xff", b"\\ud800", b"1e999", b"}", b"\n", b"NaN"]))
            + line[at:]
        )
    expected: Any
    try:
        expected = json.loads(line.decode())
    except ValueError:
        expected = None
    try:
        said = read_request(line).record
    except Refusal:
        said = None
    if said is not None and expected is not None:  # backslashes as they are, as in a path of Windows, are no JSON
        assert repr(said) == repr(expected)
    if said is None and isinstance(expected, dict):
        assert not isinstance(expected.get("id"), int) or not isinstance(expected.get("hook"), str)


@given(st.builds(Answer, st.none() | st.integers(), part=st.none() | st.text(), private=st.booleans()))
def test_an_answer_is_what_json_writes(answer: Answer) -> None:
    """Short or long, as a line."""
    expected = {"id": answer.id, "part": answer.part, "private": answer.private}
    kept = {name: value for name, value in expected.items() if name == "id" or value not in (None, False)}
    assert json.loads(encode(answer)) == kept
