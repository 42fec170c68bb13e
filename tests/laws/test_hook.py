"""The lean way of ``memfold hook`` writes what the plain way would, or leaves the event to it (SPEC 7, 13)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from memfold.innocent import is_innocent
from projections.policy import DEFAULT_POLICY
from projections.text.clean import decode
from projections.text.intake import take_in, take_in_block
from projections.text.label_words import LABELS, MORE_LABELS
from projections.text.provider_tokens import BEYOND, PROMISED
from projections.text.redact import redact, redact_lines, withhold
from projections.text.views import JOINT
from tests.corpus.innocents import innocents
from tests.corpus.secrets import one_of_each_form, secrets
from tests.support.effort import examples
from tests.support.hook import MS, Bench, bench, sent, tool
from tests.support.hostile import samples
from tests.support.near_secrets import ANY, SEPARATORS, VALUES
from tests.support.near_secrets import LABELS as NEAR_LABELS
from tests.support.spelled import spelled


def _unchanged(text: str) -> bool:
    """Whether nothing that is written of a text is another one, however it is read."""
    block = take_in_block(text, DEFAULT_POLICY)
    return (
        block.text == text == redact_lines(text) == redact_lines(block.text, above="src/a.ts")
        and redact(withhold(decode(text))) == text
        and take_in(text, DEFAULT_POLICY, len(text) + 1).text == " ".join(text.split())
    )


@given(ANY)
@settings(max_examples=examples(800))
@example("mot\nde\npasse: abc123xyz")
@example("24 passed, 1 skipped: abc123xyz")
@example("api\n- key: abc123xyz")
@example("\\nsk-" + "b2" * 9)
@example("%20npm_" + "d4" * 11)
def test_i8_an_innocent_text_stays_as_it_is(text: str) -> None:
    """I8: what the lean way takes for innocent is neither cleaned, withheld nor redacted."""
    event("innocent" if (found := is_innocent(text)) else "not innocent")
    if found:
        assert _unchanged(text)


def _corpus() -> Iterator[str]:
    yield from (secret.text for secret in (*secrets(), *one_of_each_form()))
    yield from (one.text for one in innocents())
    yield from (one.text for one in samples())


def test_i8_no_secret_of_the_corpus_is_innocent() -> None:
    """I8: every form of a secret is left to the plain way, alone and in a longer text; pairs of forms too."""
    for text in _corpus():
        for framed in (text, f"echo {text} && ls", f"{text}\n- {text}"):
            assert not is_innocent(framed) or _unchanged(framed)
    assert not any(is_innocent(secret.text) for secret in secrets() if secret.counted)
    pairs = product((*NEAR_LABELS, *VALUES), SEPARATORS, (*NEAR_LABELS, *VALUES))
    assert all(_unchanged(text) for text in map("".join, pairs) if is_innocent(text))


_FRAMES = (
    *("{}=Zq7Kd93mfPQ", "{}: Zq7Kd93mfPQ", "{} Zq7Kd93mfPQ", "a\n\n- DB_{}='Zq7Kd93mfPQ'", "{}=ann, password: hunter2"),
    *("{} 7777", "{}: 7777", "mariadb {}hunter2", "curl {} ann:hunter2 https://a.b", "mysql {}hunter2"),
)


@pytest.mark.parametrize("labels", [LABELS, MORE_LABELS], ids=["SPEC", "more"])
def test_i8_each_label_of_the_rules_is_known(labels: re.Pattern[str]) -> None:
    """I8: the words are those of the patterns: one that is added there, and not to what is told without them, fails."""
    words = spelled(labels.pattern)
    assert len(words) > 50
    for word in words:
        texts = [frame.format(word).replace(JOINT, "\n") for frame in _FRAMES]
        hidden = [text for text in texts if redact_lines(text) != text]
        assert hidden, f"no frame makes a label of {word!r}: add one"
        assert not any(map(is_innocent, hidden)), word


def test_i8_each_token_of_the_rules_is_known() -> None:
    """I8: the same for what begins the tokens of providers."""
    beyond = (re.escape(prefix) + body for prefix, body in BEYOND.items())
    words = [word for pattern in (*PROMISED, *beyond) for word in spelled(pattern)]
    assert len(words) > len(BEYOND) + len(PROMISED)
    for text in (frame.format(word) for word in words for frame in ("{}", "a={} b", "\\n{}", "%20{}", "(界{})")):
        assert redact(text) != text, text
        assert not is_innocent(text), text


@pytest.fixture(scope="module")
def place() -> Iterator[Bench]:
    """A ledger for all tests here."""
    with bench() as made:
        yield made


def _mostly(usual: Any, odd: Any) -> Any:
    """A strategy whose odd values come once in ten times, so that an event isn't always odd somewhere."""
    return st.integers(0, 9).flatmap(lambda number: usual if number else odd)


_TOOLS = st.sampled_from(["Bash", "bash", "shell", "Read", "Edit", "Write", "MultiEdit", "Grep", "WebFetch", "x.y"])
_ODD_TOOLS = st.sampled_from(
    ["apply_patch", "patch", "memory_add", "memfold_memory_read", "mcp__memfold__memory_add", "get_token", "a b", ""]
)
_NAMES = st.sampled_from(["command", "filePath", "file_path", "patch", "input", "pattern", "url"])
_SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | ANY
_JSON = st.recursive(_SCALAR, lambda kids: st.lists(kids, max_size=3))
_ARGS = _mostly(
    st.dictionaries(_NAMES, _mostly(ANY, _JSON), max_size=3) | st.fixed_dictionaries({"command": ANY, "filePath": ANY}),
    _JSON,
)
_DATA = st.fixed_dictionaries(
    {"call": _mostly(st.sampled_from(["toolu_01", "", "call 7"]), ANY), "tool": _mostly(_TOOLS, _ODD_TOOLS | ANY)},
    optional={
        "args": _ARGS,
        "exit": _mostly(st.sampled_from([0, 130, None]), st.sampled_from([1, 256, True, "0", 1.0, -1])),
        "output": _mostly(ANY, st.sampled_from(["a.py:3: x", "FAIL a", "3 passed", None])),
        "status": _mostly(st.sampled_from(["completed", "aborted"]), st.sampled_from(["failed", "done", None])),
        "more": _JSON,
    },
)
_HOSTS = _mostly(st.sampled_from(["claude-code", "opencode"]), st.sampled_from(["memfold", "Cursor", "", "a b", "é"]))
_SESSIONS = _mostly(st.sampled_from(["ses_1", "S"]), st.sampled_from(["a/b", "", "密", "ghp_" + "a1" * 9]) | ANY)
_AT = "2026-01-31T12:00:59"
_TIMES = _mostly(
    st.sampled_from([f"{_AT}.000Z", f"{_AT}Z", f"{_AT}+00:00", f"{_AT}.123456+00:00", 1_769_860_859, None]),
    st.sampled_from(["2026-02-29T12:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01", 5, 1.5, True, 10**20])
    | st.sampled_from([MS // 1000 + 299, MS // 1000 + 301, MS, "2999-12-31T23:59:59Z", f"{_AT}.Z", f"{_AT}.9z"])
    | st.builds(
        "{}{}{}{}".format,
        st.sampled_from([_AT, _AT.replace("T", " "), _AT[:-3], _AT[:10], _AT.replace("59", "60")]),
        st.sampled_from(["", ".", ".5", ".1239", ".0000000001", ".²", ",5"]),
        st.sampled_from(["Z", "z", "+00:00", "-00:00", "+0000", "+01:00", ""]),
        st.sampled_from(["", " ", "\n", "Z"]),
    )
    | st.text(max_size=24),
)
_PIECES = (b'"type":"session.deleted",', b'"data":1,', b"\xff", b"\\ud800", b"}", b" ", b"NaN")


def _encoded(value: object, *, ascii_: bool, spaced: bool) -> bytes:
    separators = None if spaced else (",", ":")
    return json.dumps(value, ensure_ascii=ascii_, separators=separators).encode("utf-8", "surrogatepass")


@st.composite
def _raw(draw: st.DrawFn) -> bytes:
    """An event as a host could send it, maybe with a byte that shouldn't be there."""
    value: dict[str, Any] = {
        "type": draw(_mostly(st.just("tool.completed"), st.just("session.deleted"))),
        "host": draw(_HOSTS),
        "session": draw(_SESSIONS),
        "cwd": "CWD",
        "data": draw(_DATA),
    }
    if draw(st.booleans()):
        value["time"] = draw(_TIMES)
    raw = _encoded(value, ascii_=draw(st.booleans()), spaced=draw(st.booleans()))
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(raw)))
        piece = draw(st.sampled_from(_PIECES))
        raw = raw[:at] + piece + raw[at + draw(st.integers(0, 1)) :]
    return raw


@given(_raw())
@settings(max_examples=examples(400))
def test_both_ways_write_the_same_bytes(place: Bench, raw: bytes) -> None:
    """Whatever comes in: the lean way leaves it alone, or writes what the plain way writes at that time and id."""
    raw = raw.replace(b"CWD", str(place.root).encode())
    lean = place.lean(raw)
    event("lean" if lean is not None else "plain")
    if lean is not None:
        assert lean == place.plain(raw)


_COMMON: tuple[dict[str, Any], ...] = (
    {"name": "Bash", "args": {"command": "cargo check 2>&1 && git status", "description": "look"}, "output": "token=x"},
    {"name": "Bash", "args": {"command": "npm test | tail -5"}, "output": "3 failed"},
    {"name": "Bash", "args": {"command": "npm test 2>&1"}, "exit": 0, "output": "ok"},
    {"name": "bash", "args": {"command": "sleep 30"}, "status": "aborted", "exit": 1},
    {"name": "Bash", "args": {"command": "cat <<'E'\nüber 界 \"quoted\" \\d\n\tE"}, "output": ""},
    {"name": "Read", "args": {"file_path": "/home/ann/src/auth/login.ts"}, "output": "const password = 'hunter2'"},
    {"name": "Edit", "args": {"file_path": "/home/ann/界/naïve.py", "old_string": "a", "new_string": "b" * 9000}},
    {"name": "Grep", "args": {"pattern": "x"}, "output": "src/a.ts\nsrc/b.ts"},
    {"name": "TodoWrite", "args": {"todos": [{"content": "x", "status": "pending"}]}, "output": "ok"},
    {"name": "WebFetch", "args": {"url": "https://example.com"}, "output": "a: b"},
    {"name": "Task", "args": {}, "exit": None},
)


@pytest.mark.parametrize("call", _COMMON)
@pytest.mark.parametrize("ascii_", [True, False])
def test_common_calls_go_the_lean_way(place: Bench, call: dict[str, Any], ascii_: bool) -> None:
    """The lean way isn't right by declining: the calls that sessions are full of are its own."""
    raw = _encoded(tool(place.root, **call), ascii_=ascii_, spaced=ascii_)
    assert place.lean(raw) == place.plain(raw) != b""


_LEFT = (
    {"name": "Bash", "args": {"command": "npm test"}, "exit": 1, "output": "FAIL a.js"},
    {"name": "Bash", "args": {"command": "npm test | tail"}, "exit": 0, "output": "3 failed"},
    {"name": "Bash", "args": {"command": "curl -u ann:hunter2 https://a.b"}},
    {"name": "Grep", "args": {}, "output": "src/a.ts:3: x"},
    {"name": "apply_patch", "args": {"input": "*** Update File: a.py"}},
    {"name": "memory_add", "args": {"title": "x"}},
    {"name": "Read", "args": {"file_path": "x" * 2000}},
    {"name": "Read", "call": "c" * 201},
    {"name": "Bash", "args": {"command": "x"}, "status": "failed", "output": "no"},
)


@pytest.mark.parametrize("call", _LEFT)
def test_other_calls_are_left(place: Bench, call: dict[str, Any]) -> None:
    """What has to be read, cut or redacted goes the plain way, and comes to something there."""
    raw = _encoded(tool(place.root, **call), ascii_=False, spaced=False)
    assert place.lean(raw) is None
    assert place.plain(raw)


_UNUSABLE = ({"cwd": "relative"}, {"cwd": "/\0"}, {"host": "memfold"}, {"host": "X"}, {"session": ""})


@pytest.mark.parametrize("more", _UNUSABLE)
def test_what_cannot_be_used_is_written_by_neither(place: Bench, more: dict[str, Any]) -> None:
    """A host can't speak for memfold itself, and an event without a place has none."""
    raw = _encoded(tool(place.root) | more, ascii_=True, spaced=False)
    assert place.lean(raw) is None
    assert place.plain(raw) == b""


def test_only_tool_calls_whose_type_comes_first(place: Bench) -> None:
    """All else is rare, and needs the rules."""
    for raw in (
        _encoded(sent("session.deleted", place.root), ascii_=True, spaced=False),
        _encoded(dict(reversed(tool(place.root).items())), ascii_=True, spaced=False),
    ):
        assert place.lean(raw) is None
        assert place.plain(raw)
