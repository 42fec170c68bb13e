"""Recordings all the way into drafts: adapter and capture together."""

from __future__ import annotations

import pytest

from ledger.events import Draft, MemoryRequestedData, SessionCompactedData, ToolCompletedData
from memfold.capture import Capture
from memfold.hosts.opencode import OpenCodeTranslator
from projections.policy import Context
from projections.rules.candidates import parse_summary
from tests.hosts.calls import NAMES, recorded

CONTEXT = Context(root="/workspace/demo")


def drafts_of(name: str, *, enabled: bool = True) -> list[Draft]:
    """The drafts that a recording leads to."""
    translator = OpenCodeTranslator(Capture("opencode", CONTEXT, enabled=enabled))
    return [draft for record in recorded(name) for draft in translator.feed(record)]


@pytest.mark.parametrize("name", NAMES)
def test_drafts_come_in_the_order_of_time(name: str) -> None:
    """Drafts carry the client's times, which don't run backwards, and the session in their source."""
    drafts = drafts_of(name)
    times = [draft.time for draft in drafts]
    assert None not in times
    assert times == sorted(time or "" for time in times)
    assert all(draft.source.startswith("opencode/ses_") for draft in drafts)


def test_only_messages_with_a_remember_form_leave_a_trace() -> None:
    """Five requests and a negated one are recorded, of the negated one not the body; other messages are not."""
    texts = [draft.data.text for draft in drafts_of("remember") if isinstance(draft.data, MemoryRequestedData)]
    assert len(texts) == 6
    assert not any("discount code" in text or "linter" in text for text in texts)


def test_remember_s_summary_has_four_good_candidates_and_seven_bad_ones() -> None:
    """The recorded summary shows the gate at work: what each line is refused for."""
    (section,) = [d.data.section for d in drafts_of("remember") if isinstance(d.data, SessionCompactedData)]
    lines = parse_summary(section, CONTEXT).lines
    codes = [sorted(evidence.code for evidence in line.reasons) for line in lines]
    assert codes[:4] == [[], [], [], []]
    expected = (
        "progress_snapshot",
        "commit_or_ci_snapshot",
        "raw_error",
        "too_short",
        "path_heavy",
        "prompt_injection",
        "invalid_memory_type",
    )
    assert len(lines) == 11
    assert all(code in found for code, found in zip(expected, codes[4:], strict=True))


def test_output_is_kept_as_an_excerpt() -> None:
    """Of a large output nothing but signal lines is kept, and nothing of what was written to a file."""
    for name in ("big-output", "remember"):
        for draft in drafts_of(name):
            if isinstance(draft.data, ToolCompletedData):
                assert len(draft.data.output) < 500
                assert "Friday and Saturday nights" not in repr(draft.data)


def test_nothing_is_recorded_while_memory_is_off() -> None:
    """With memory off a recording leads to nothing at all (SPEC 3.7)."""
    assert drafts_of("remember", enabled=False) == []
