"""Requests and answers as bytes: what is no request has a reason, and never an exception."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfold.bridge.bridge import Bridge
from memfold.bridge.protocol import Answer, Refusal, encode, read_request

_HALF = re.compile("[\ud800-\udfff]")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([10**400, -(10**400)]) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=8,
)
HOOKS = [
    "init",
    "event",
    "chat.message",
    "command.execute.before",
    "tool.execute.before",
    "tool.execute.after",
    "experimental.chat.system.transform",
    "experimental.session.compacting",
    "nonsense",
]


@pytest.mark.parametrize(
    ("line", "number", "word"),
    [
        (None, None, "too long"),
        (b"", None, "unreadable"),
        (b"nonsense", None, "unreadable"),
        (b"\xff\xfe{}", None, "unreadable"),
        (b"null", None, "unreadable"),
        (b"[1]", None, "unreadable"),
        (b"{}", None, "unreadable"),
        (b'{"id": 1', None, "unreadable"),
        (b'{"id": "1", "hook": "init"}', None, "unreadable"),
        (b'{"id": true, "hook": "init"}', None, "unreadable"),
        (b'{"id": NaN, "hook": "init"}', None, "unreadable"),
        (b'{"id": 1e400, "hook": "init"}', None, "unreadable"),
        (b'{"id": 99999999999999999999, "hook": "init"}', None, "unreadable"),
        (b'{"id": 4}', 4, "unreadable"),
        (b'{"id": 4, "hook": null}', 4, "unreadable"),
        (b"[" * 100_000, None, "unreadable"),
        (b'{"id": 1, "hook": "event", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", None, "unreadable"),
        ('{"id": 1, "hook": "init"}'.encode("utf-16"), None, "unreadable"),
        (b'{"id": ' + b"9" * 5000 + b"}", None, "unreadable"),
    ],
)
def test_what_is_no_request_has_a_reason(line: bytes | None, number: int | None, word: str) -> None:
    """Garbage is refused with one word and a sentence, under its id if it has one that can be used."""
    with pytest.raises(Refusal) as refusal:
        read_request(line)
    assert refusal.value.id == number
    assert str(refusal.value).startswith(f"{word}: ")


def test_backslashes_as_they_are() -> None:
    """A path of Windows that nobody escaped is read; what JSON escapes stays what it is, and a broken line broken."""
    request = read_request(rb'{"id": 1, "hook": "event", "text": "C:\\Users\\ok \Users\q \u00e9 \ux \" \n"}')
    assert request.record["text"] == 'C:\\Users\\ok \\Users\\q é \\ux " \n'
    with pytest.raises(Refusal):
        read_request(rb'{"id": 1, "hook": "event", "text": "\q')


def test_half_characters_are_read() -> None:
    """JavaScript's strings may hold half a character, and such a line is a request like any other."""
    request = read_request(b'{"id": 1, "hook": "event", "text": "\\ud83d"}')
    assert request.record["text"] == "\ud83d"


@given(st.binary(max_size=60))
def test_no_bytes_raise(line: bytes) -> None:
    """Whatever bytes come, there is an answer that is one line of JSON."""
    answer = encode(Bridge({"HOME": "/nonexistent"}).answer(line))
    assert answer.count(b"\n") == 1
    assert "refused" in json.loads(answer)


@given(st.sampled_from(HOOKS), st.dictionaries(st.sampled_from(["input", "output", "event", "t", "pid"]), JSON))
def test_no_payload_raises(hook: str, fields: dict[str, object]) -> None:
    """Whatever a hook carries, there is an answer under its id."""
    bridge = Bridge({"HOME": "/nonexistent", "MEMFOLD": "off"})
    place = {"directory": "/nonexistent/w", "instance": "i"}
    bridge.answer(json.dumps({"id": 1, "hook": "init", "pid": None, "input": place}).encode())
    line = json.dumps({**fields, "id": 2, "hook": hook}).encode()
    assert json.loads(encode(bridge.answer(line)))["id"] == 2


def test_an_answer_holds_what_it_says_and_no_more() -> None:
    """Keys that don't apply are left out, an empty list of segments isn't, and an id always stands there."""
    assert encode(Answer(3)) == b'{"id":3}\n'
    assert encode(Answer(None, refused="x")) == b'{"id":null,"refused":"x"}\n'
    assert encode(Answer(1, system=[])) == b'{"id":1,"system":[]}\n'
    assert json.loads(encode(Answer(1, part="a\n\u2028b")))["part"] == "a\n\u2028b"


_ANY_TEXT = st.text(max_size=9) | st.text('a"\\\r\n\0\u2028\ufeff\udcff\ud83d\ude00', max_size=9)


@given(
    st.builds(
        Answer,
        st.none() | st.integers(-(2**53), 2**53),
        part=st.none() | _ANY_TEXT,
        system=st.none() | st.lists(_ANY_TEXT, max_size=3),
        context=st.none() | st.lists(_ANY_TEXT, max_size=3),
        refused=st.none() | _ANY_TEXT,
        notice=st.none() | _ANY_TEXT,
        private=st.booleans(),
    )
)
def test_any_answer_is_one_line_of_utf_8(answer: Answer) -> None:
    """Whatever texts are in it: whole characters come through as they are, half ones, as of a path, as U+FFFD."""
    line = encode(answer)
    assert line.count(b"\n") == 1
    sent = {name: value for name in answer.__struct_fields__ if (value := getattr(answer, name)) not in (None, False)}
    sent["id"] = answer.id
    whole = json.loads(json.dumps(sent))  # joins the halves of a pair, as a client's strings are made of such
    assert json.loads(line.decode()) == json.loads(_HALF.sub("\ufffd", json.dumps(whole, ensure_ascii=False)))
