"""Capture spares innocent texts the rules, and writes what it would write without (SPEC 7.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unittest import mock

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

import memfold.capture
from ledger.events import Draft
from memfold.capture import Capture
from memfold.innocent import is_innocent
from projections.policy import DEFAULT_POLICY, Context, Policy, RedactionExtra
from tests.support.effort import examples
from tests.support.near_secrets import ANY

_OWN_RULES = Policy(redaction=RedactionExtra(labels=("npm",), prefixes=("src",)))
_POLICIES = st.sampled_from((DEFAULT_POLICY, _OWN_RULES))
_LONG = ANY.map(lambda text: text + "x" * 1500 + text)
_TEXTS = ANY | st.lists(ANY, max_size=4).map("\n".join) | _LONG
_TOOLS = st.sampled_from(("bash", "Read", "grep", "apply_patch", "webfetch", "memory_add")) | ANY
_ARGS = st.fixed_dictionaries({}, optional={"command": _TEXTS, "filePath": ANY, "input": _TEXTS, "url": ANY})
_FAILED = "FAIL src/a.ts\nError: expected 3 items, got 2"


@given(st.lists(ANY, max_size=4))
@settings(max_examples=examples(300))
def test_texts_may_be_asked_for_at_once(texts: list[str]) -> None:
    """What is innocent in one text of many lines is innocent alone, and so is each row of its whole lines."""
    if is_innocent("\n".join(texts)):
        assert all(map(is_innocent, texts))


@given(
    policy=_POLICIES,
    call=ANY,
    tool=_TOOLS,
    args=_ARGS,
    code=st.sampled_from((0, 1, None)),
    output=_TEXTS | st.just(_FAILED),
)
@settings(max_examples=examples(400))
@example(policy=DEFAULT_POLICY, call="c", tool="bash", args={"command": "npm test"}, code=1, output=_FAILED)
@example(policy=DEFAULT_POLICY, call="c", tool="bash", args={}, code=1, output=f"{_FAILED}\n{'Error: key' * 200}")
@example(policy=DEFAULT_POLICY, call="c" * 201, tool="t" * 121, args={}, code=None, output="")
@example(policy=_OWN_RULES, call="c", tool="bash", args={"command": "npm=Zq7Kd93mfPQ"}, code=1, output=_FAILED)
def test_i8_a_call_is_written_as_the_rules_would_have_it(
    *, policy: Policy, call: str, tool: str, args: dict[str, str], code: int | None, output: str
) -> None:
    """I8: whatever a call holds, under the default rules and under further ones."""

    def drafts(capture: Capture) -> Sequence[Draft]:
        return capture.tool_completed("S", call, tool, args, exit=code, output=output, time=None)

    _agree(policy, drafts)


@given(_POLICIES, ANY, _TEXTS)
@settings(max_examples=examples(200))
@example(DEFAULT_POLICY, "ses_1", "Remember: use tabs in Go files")
def test_i8_so_are_sessions_messages_and_memories(policy: Policy, session: str, text: str) -> None:
    """I8: the same for ids, messages, summaries and what a tool adds."""

    def drafts(capture: Capture) -> Iterator[Draft]:
        yield from capture.session_started(session, time=None, instance=text)
        yield from capture.user_message(session, session, f"Remember: {text}", time=None)
        yield from capture.compacted(session, session, f"Memory candidates:\n- [project] {text}", time=None)
        yield from capture.memory_added(session, title=text, content=text, type=text, reason=text, time=None)

    _agree(policy, drafts)


def _agree(policy: Policy, drafts: object) -> None:
    """Both ways write the same."""
    assert callable(drafts)
    found = []
    for glance in (is_innocent, lambda _: False):
        for cached in (memfold.capture._written_id, memfold.capture._source_of):
            cached.cache_clear()
        with mock.patch.object(memfold.capture, "is_innocent", side_effect=glance) as asked:
            found.append(list(drafts(Capture("test", Context(policy, "/w/app")))))
        event("asked" if asked.called else "not asked")
    assert found[0] == found[1]
