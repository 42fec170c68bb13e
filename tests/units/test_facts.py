"""What a line says, and under which name it may be kept."""

from __future__ import annotations

import pytest

from ledger.events import (
    ErasedText,
    JudgedLine,
    MemoryAdded,
    MemoryAddedData,
    SessionCompacted,
    SessionCompactedData,
)
from projections.facts import facts_key, facts_of, judge_line
from projections.policy import Context, Policy
from projections.text.erased import ERASED, erased_key
from projections.text.limits import TITLE_LIMIT

ROOT = "/w/app"


def _event(title: str, seq: int = 0) -> MemoryAdded:
    return MemoryAdded(specversion="1.0", id=f"e{seq}", source="h", seq=seq, data=MemoryAddedData(title))


def test_facts_are_kept_under_all_that_they_depend_on() -> None:
    """Text, policy and root; which event says it, and where, makes no difference."""
    context = Context(root=ROOT)
    key = facts_key(_event("a"), context)
    assert key == facts_key(_event("a", seq=7), Context(root=ROOT))
    others = [
        facts_key(_event("b"), context),
        facts_key(_event("a"), Context(root="/w/other")),
        facts_key(_event("a"), Context(Policy(hot_chars=1), ROOT)),
    ]
    assert len({key, *others}) == 4
    assert {len(one) for one in (key, *others)} == {32}


def test_a_root_that_is_no_utf8_is_a_root() -> None:
    """A folder's name may hold bytes that are no text."""
    assert facts_key(_event("a"), Context(root="/w/\udcff")) != facts_key(_event("a"), Context(root="/w/a"))


@pytest.mark.parametrize(
    ("type_", "text", "identity"),
    [
        ("project", "The pier is configured in /w/app/src/pier.ts", "project:path:src/pier.ts"),
        ("project", "The pier is made of wood", ""),
        ("feedback", "The pier is configured in /w/app/src/pier.ts", ""),
    ],
)
def test_a_line_has_the_keys_it_is_compared_by(type_: str, text: str, identity: str) -> None:
    """An identity where a path or URL tells what it is about, and none that the exact key tells already."""
    line = judge_line(Context(root=ROOT), "written", type_, text)
    assert (line.text, line.type, line.identity) == (text, type_, identity)
    assert line.exact == f"{type_}:{line.key}"


def test_a_line_has_a_title_where_it_is_too_long_for_one() -> None:
    """A text that is a title isn't kept twice."""
    assert judge_line(Context(), "written", "project", "x" * TITLE_LIMIT).title == ""
    title = judge_line(Context(), "written", "project", "x" * (TITLE_LIMIT + 1)).title
    assert (len(title), title[-2:]) == (TITLE_LIMIT, "x…")


def test_a_line_that_was_judged_before_keeps_its_number() -> None:
    """A command means the entry that it has named, also where the rest of its summary is gone."""
    data = SessionCompactedData(judged=(JudgedLine("reinforce", "", ref=3),))
    event = SessionCompacted(specversion="1.0", id="e", source="h/s", seq=0, data=data)
    (line,) = facts_of(event, Context(root=ROOT)).lines
    assert (line.kind, line.ref) == ("reinforce", 3)


@pytest.mark.parametrize("identity", ["", "d" * 32])
def test_a_purged_line_has_the_keys_that_are_left_of_it(identity: str) -> None:
    """Where its identity was its exact key, it has none beside it."""
    data = MemoryAddedData(ERASED, erased=ErasedText("k" * 32, identity))
    event = MemoryAdded(specversion="1.0", id="e", source="h", seq=0, data=data)
    (line,) = facts_of(event, Context(root=ROOT)).lines
    assert (line.text, line.key) == (ERASED, erased_key("k" * 32))
    assert line.identity == (erased_key(identity) if identity else "")
