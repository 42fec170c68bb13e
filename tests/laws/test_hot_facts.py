"""Laws of the facts of a tool call and of its excerpt (DESIGN 3, 5)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.events import ToolCompletedData
from projections.hot.commands import classify
from projections.hot.excerpt import excerpt
from projections.hot.facts import tool_facts
from projections.hot.shell import split_commands
from projections.hot.signals import LINE_LIMIT, SUMMARY_LIMIT
from projections.inert import inert
from projections.policy import DEFAULT_POLICY, Context
from tests.support.hot_events import ROOT, arguments, commands, exits, outputs, statuses, texts, tools
from tests.support.hot_rows import Status

CONTEXT = Context(root=ROOT)


@settings(max_examples=400)
@given(tools, arguments(), exits, statuses, outputs)
def test_facts_of_the_excerpt_are_the_facts_of_the_whole(
    tool: str, args: dict[str, object], exit_code: int | None, status: Status, output: str
) -> None:
    """What is left out of an output can't change what it means."""
    kept, text = excerpt(tool, args, exit_code, status, output, policy=DEFAULT_POLICY)
    whole = str(args["patchText"]) if tool == "apply_patch" else output
    facts = [tool_facts(ToolCompletedData("c", tool, kept, exit_code, status, said), CONTEXT) for said in (text, whole)]
    assert facts[0] == facts[1]


@given(tools, arguments(), exits, statuses, outputs)
def test_excerpt_is_bounded_and_taken_from_the_output(
    tool: str, args: dict[str, object], exit_code: int | None, status: Status, output: str
) -> None:
    """At most a few lines, each the beginning of a line that was there; taking it again keeps it."""
    _, text = excerpt(tool, args, exit_code, status, output, policy=DEFAULT_POLICY)
    assert len(text) <= 10 * (LINE_LIMIT + 30)
    if tool == "bash":
        assert set(text.split("\n")) <= {line[:LINE_LIMIT] for line in output.split("\n")} | {""}
        assert excerpt(tool, args, exit_code, status, text, policy=DEFAULT_POLICY)[1] == text


@given(commands, exits, statuses, outputs)
def test_facts_of_a_command(command: str, exit_code: int | None, status: Status, output: str) -> None:
    """A command touches no file, opens an error or succeeds but not both, and sums up in 280 characters."""
    args, text = excerpt("bash", {"command": command}, exit_code, status, output, policy=DEFAULT_POLICY)
    facts = tool_facts(ToolCompletedData("c", "bash", args, exit_code, status, text), CONTEXT)
    assert facts.touches == ()
    assert facts.error is None or facts.success is None
    if facts.error:
        assert 0 < len(facts.error.summary) <= SUMMARY_LIMIT
        assert "\n" not in facts.error.summary
        assert facts.error.confidence == ("low" if exit_code == 0 and status == "completed" else "normal")
    if exit_code in (None, 130) and status != "failed":
        assert facts == tool_facts(ToolCompletedData("c", "other"), CONTEXT)


@given(commands)
def test_any_line_is_read_and_words_come_from_it(command: str) -> None:
    """Every word of the split is made of characters of the line, and only the last command ends in nothing."""
    split = split_commands(command)
    assert all(set(word) <= set(command) for simple in split for word in simple.words)
    assert [simple.then == "" for simple in split] == [False] * (len(split) - 1) + [True] * (len(split) > 0)
    assert classify(command, DEFAULT_POLICY) == classify(f"  {command}\n", DEFAULT_POLICY)


@given(st.lists(st.sampled_from(["npm test", "ls", "grep x"]), min_size=2, max_size=4), st.data())
def test_splitting_undoes_joining(parts: list[str], data: st.DataObject) -> None:
    """Commands joined by operators come apart again, each with its operator."""
    operators = [data.draw(st.sampled_from(["&&", "||", "|", ";"])) for _ in parts[1:]]
    line = parts[0] + "".join(f" {operator} {part}" for operator, part in zip(operators, parts[1:], strict=True))
    split = split_commands(line)
    assert [" ".join(simple.words) for simple in split] == parts
    assert [simple.then for simple in split] == [*operators, ""]


@given(st.lists(st.sampled_from(["<", "/", "system", "tool", ">", " ", "x"]) | texts, max_size=8).map("".join))
def test_inert_text_is_idempotent_and_as_long(text: str) -> None:
    """Only single brackets are replaced, once."""
    shown = inert(text)
    assert inert(shown) == shown
    assert shown.replace("\u2039", "<") == text.replace("\u2039", "<")
    assert "</system>" not in shown.lower()
