"""Laws of feedback: what memfold itself has said never becomes memory again (SPEC 3.1-3.3, I17)."""

from __future__ import annotations

import io
from argparse import Namespace
from contextlib import redirect_stdout

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.source import make_source
from memfold.cli.console import Console
from memfold.cli.why import print_story
from memfold.tools.answers import listing
from projections.compaction import compaction_context
from projections.hot.delivery import hot_due
from projections.hot.view import hot_view
from projections.memory_file.entries import file_entries
from projections.memory_file.projection import file_text
from projections.memory_file.summary import summary_file
from projections.policy_text import EMPTY_POLICY, POLICY
from projections.render import numbered_block
from replay.views import next_block, present_block
from replay.why import Explanation, why
from tests.support.effort import examples
from tests.support.harness import HOST
from tests.support.streams import SESSIONS, Stage, Step, histories

_FRAMES = ("{}", "Here it is:\n{}\n\nThanks.", "- a list\n{}", "{}\n{}")
_AS_CANDIDATES = "Memory candidates:\n{}"
"""Blocks are known by their header even here; a line of an answer that a model puts here is its own proposal."""


def _own_texts(stage: Stage) -> list[str]:
    """Everything that memfold shows of this state."""
    world = stage.state()
    numbered = numbered_block(world.memory)
    context = compaction_context(numbered, "a list", world.memory.context.policy, ())
    blocks = [present_block(world).text, next_block(world).text, numbered.text, context]
    sources = [make_source(HOST, session) for session in SESSIONS]
    parts = [part.text for source in sources if (part := hot_due(world, source, "i1")) is not None]
    active = [entry for entry in world.memory.entries.values() if entry.state == "promoted"]
    files = [file_text(world.memory), summary_file(file_entries(world.memory), 2000), POLICY, EMPTY_POLICY]
    files.append(listing(active, "", limit=20, offset=0, is_newer=True).text)
    return [*blocks, *parts, *files, *(hot_view(world, source).text for source in sources)]


def _answers(stage: Stage) -> list[str]:
    """What ``memfold why`` prints about some candidates."""
    events = stage.events()
    records = list(stage.state().accounts.records.values())[-3:]
    return [_printed(why(lambda: events, one.proposal.text)) for one in records]


def _printed(answer: Explanation) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        console = Console(Namespace(color="never"))
        for story in answer.stories:
            print_story(console, story)
    return out.getvalue()


def _fed_back(text: str) -> list[Step]:
    """The text as it may come back: said by the user, in a summary, printed by a tool, said by the model."""
    shell: Step = {
        "do": "tool",
        "tool": "bash",
        "args": {"command": "cat notes"},
        "exit": 1,
        "output": text,
        "call": "own",
    }
    own: Step = {"do": "tool", "tool": "memory_read", "args": {}, "exit": 1, "output": text, "call": "own2"}
    said: list[Step] = [
        {"do": "user_message", "message": "own", "text": text},
        {"do": "assistant_message", "message": "own", "text": text},
        shell,
        own,
        {"do": "compacted", "summary": text},
    ]
    return [step | {"session": "echo"} for step in said]


@settings(max_examples=examples(15))
@given(histories(max_size=20), st.data())
def test_i17_what_memfold_has_said_adds_no_entry(history: list[Step], data: st.DataObject) -> None:
    """Blocks, hot blocks, numbered lists and answers that come back by any way add nothing."""
    stage = Stage(None)
    stage.feed(history)
    framed = [frame.replace("{}", text) for frame in (*_FRAMES, _AS_CANDIDATES) for text in _own_texts(stage) if text]
    framed += [frame.replace("{}", text) for frame in _FRAMES for text in _answers(stage)]
    if not framed:
        return
    known = set(stage.state().accounts.records)
    stage.feed(_fed_back(data.draw(st.sampled_from(framed))))
    new = {ref: record for ref, record in stage.state().accounts.records.items() if ref not in known}
    assert {record.state for record in new.values()} <= {"rejected"}


@pytest.mark.parametrize("tool", ["memory_add", "memory_read", "memfold_why", "mcp__memfold_memory_add"])
def test_i17_own_tools_leave_no_hot_state(tool: str) -> None:
    """A call of an own tool opens no error and touches no file, whatever it answers (SPEC 3.3)."""
    stage = Stage(None)
    stage.feed([{"do": "session_start", "session": "A"}])
    output = "Error: src/a.ts broke\nRemember: use tabs in Makefiles"
    step = {"do": "tool", "session": "A", "tool": tool, "args": {"filePath": "src/a.ts"}, "exit": 1, "output": output}
    stage.feed([step])
    assert hot_view(stage.state(), make_source(HOST, "A")).text == ""
    assert not stage.state().accounts.records
