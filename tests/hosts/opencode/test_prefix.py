"""The look at the beginning of prompts finds what would spoil a provider's cache."""

from __future__ import annotations

import pytest

from tests.hosts.opencode.harness.fake_provider import Json, Request
from tests.hosts.opencode.harness.prefix import epochs

MARK = {"cache_control": {"type": "ephemeral"}}


def asked(*messages: str, system: str = "base", tool: str = "read", marked: bool = True) -> Request:
    """A main request in Anthropic's form; the last message carries the cache's mark."""
    texts: list[Json] = [{"role": "user", "content": [{"type": "text", "text": text}]} for text in messages]
    if marked:
        texts[-1]["content"][0] |= MARK
    blocks = [{"type": "text", "text": system, **MARK}, {"type": "text", "text": "frozen"}]
    body = {"system": blocks, "tools": [{"name": tool}], "messages": texts}
    return Request(0.0, "/v1/messages", {"x-session-affinity": "S"}, body)


def test_a_prompt_that_grows_is_stable() -> None:
    """A request that extends the one before it differs in nothing, wherever the marks stand."""
    (epoch,) = epochs([asked("one"), asked("one", "two"), asked("one", "two", "three", marked=False)])
    assert epoch.differences == []
    assert [prompt.marked for prompt in epoch.prompts] == [[0]] * 3
    assert [prompt.marked_messages for prompt in epoch.prompts] == [[0], [1], []]


@pytest.mark.parametrize(
    ("second", "part"),
    [
        (asked("one", "two", system="base!"), "system"),
        (asked("one", "two", tool="write"), "tools"),
        (asked("one!", "two"), "messages"),
        (asked("two"), "messages"),
    ],
)
def test_what_changes_is_named(second: Request, part: str) -> None:
    """A change in system, tools or what was said before is told once, with the place."""
    (epoch,) = epochs([asked("one"), second])
    (difference,) = epoch.differences
    assert difference.startswith(f"request 2, {part}: ")


def test_a_compaction_begins_an_epoch() -> None:
    """After the client's compaction call, which has no tools, nothing is compared with what was before."""
    compaction = Request(0.0, "/v1/messages", {"x-session-affinity": "S"}, {"messages": []})
    found = epochs([asked("one"), compaction, asked("summary", system="base!")])
    assert [len(epoch.prompts) for epoch in found] == [1, 1]
    assert [epoch.differences for epoch in found] == [[], []]
