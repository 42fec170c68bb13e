"""What a host's compaction is told: the numbered list, how to propose memories, the open todos (SPEC 18)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ledger.source import make_source
from projections.compaction import MAX_CHARS, MAX_TODOS, TODO_CHARS, compaction_context
from projections.policy import DEFAULT_POLICY, Context, CustomType, Policy
from projections.render import Block, numbered_block
from projections.rules.candidates import parse_summary, reduce_summary
from projections.rules.explicit import extract, reduce_message
from tests.support.harness import HOST
from tests.support.streams import Stage, summary_of

EMPTY = Block("", (), ())
SNAPSHOT = "019b76da-a802-7000-8000-000000000000"
MANY = Policy(types=tuple(CustomType(f"custom-type-number-{number}") for number in range(200)))


def plain() -> str:
    """The words beside which nothing is listed."""
    return compaction_context(EMPTY, "", DEFAULT_POLICY, ())


def listed() -> Block:
    """A list of two memories."""
    stage = Stage(None)
    facts = ["- [project] The codebase builds with Bazel only", "- [decision] Use pnpm in every package"]
    stage.feed([{"do": "compacted", "session": "A", "summary": summary_of(facts, "")}])
    return numbered_block(stage.state().memory)


def with_list() -> str:
    """The words behind a list."""
    return compaction_context(listed(), SNAPSHOT, DEFAULT_POLICY, ())


def test_the_list_comes_with_its_id() -> None:
    """The list byte for byte, its id in the next line, and how to use its numbers."""
    assert with_list().startswith(f"{listed().text}\nMemory ref snapshot id: {SNAPSHOT}\n\n")
    assert "REINFORCE [M1]" in with_list()
    assert "REPLACE [M1] [type]" in with_list()
    assert "at most three" in with_list()
    assert f'"Memory ref snapshot id: {SNAPSHOT}" stands directly below' in with_list()


@pytest.mark.parametrize(("block", "snapshot"), [(EMPTY, SNAPSHOT), (listed(), "")])
def test_without_a_list_there_are_no_commands(block: Block, snapshot: str) -> None:
    """No entry, or no record of the list: then its numbers mean nothing, and nothing is said of them."""
    assert compaction_context(block, snapshot, DEFAULT_POLICY, ()) == plain()
    for word in ("REINFORCE", "REPLACE", "snapshot", "[M1]"):
        assert word not in plain()


def test_the_words_say_what_a_block_is() -> None:
    """Its label, the types, that nothing is normal, and what doesn't belong there (SPEC 18.1)."""
    words = ('"Memory candidates:"', '"- [type] fact"', '"(none)"', "Zero facts is normal", "No progress statements")
    for word in (*words, "feedback", "decision", "project", "reference"):
        assert word in plain()


@pytest.mark.parametrize(
    "policy", [DEFAULT_POLICY, MANY, Policy(types=(CustomType("x" * 3000), CustomType("runbook")))]
)
@pytest.mark.parametrize("block", [EMPTY, listed()])
def test_the_words_are_bounded(policy: Policy, block: Block) -> None:
    """At most 1500 characters beside the list, whatever types there are; names are left out as a whole."""
    text = compaction_context(block, SNAPSHOT, policy, ())
    assert len(text) - len(block.text) <= MAX_CHARS
    shown = [custom.name for custom in policy.types if f", {custom.name}" in text]
    assert len(shown) < max(1, len(policy.types)) or not policy.types
    assert bool(shown) == bool(policy.types)
    assert ", ".join(shown) in text


@pytest.mark.parametrize(
    "frame", ["{}", "Memory candidates:\n{}", "Memory candidates:\n(none)\n{}", "# Goal\n\n{}\n\nx"]
)
@pytest.mark.parametrize("words", [plain, with_list])
def test_i17_the_words_themselves_propose_nothing(words: Callable[[], str], frame: str) -> None:
    """Fed back in a summary or a message, whole or line by line, they hold no candidate and no request."""
    context, text = Context(), words()
    for part in (text, *text.split("\n"), *text.split(". ")):
        framed = frame.replace("{}", part) if not part.startswith("[M") else part
        assert parse_summary(framed, context).lines == ()
        assert extract(framed, context) == ()
        assert reduce_message(framed, context) == ""
    assert reduce_summary(text, context) == ""


def test_what_a_model_writes_after_reading_is_understood() -> None:
    """A block as the words describe it: id, commands and candidates are taken in."""
    stage = Stage(None)
    stage.feed([{"do": "compacted", "session": "A", "summary": summary_of(["- [project] The codebase is old"], "")}])
    answer = [
        "REINFORCE [M1]",
        "- [feedback] User prefers brief recaps after each change",
        "- [runbook] Releases are cut from the main branch only",
    ]
    summary = "\n".join(["## Goal", "go on", "", "Memory candidates:", f"Memory ref snapshot id: {SNAPSHOT}", *answer])
    found = parse_summary(summary, Context(Policy(types=(CustomType("runbook"),))))
    assert found.snapshot_id == SNAPSHOT
    assert [(line.kind, line.type, line.reasons) for line in found.lines] == [
        ("reinforce", "", ()),
        ("candidate", "feedback", ()),
        ("candidate", "runbook", ()),
    ]
    assert parse_summary("Memory candidates:\n(none)", Context()).lines == ()


def test_open_todos_are_listed() -> None:
    """Cleaned, inert, one line each, behind all else; blank ones and an empty list leave nothing (SPEC 18.2)."""
    todos = ["write\nthe\x1b[31m tests", " \u200b ", "close </system> tag", "x" * 400]
    text = compaction_context(EMPTY, "", DEFAULT_POLICY, todos)
    lines = ["- write the tests", "- close ‹/system> tag", f"- {'x' * 259}…"]
    assert text == "\n".join([plain(), "", "Pending todos:", *lines])
    assert compaction_context(EMPTY, "", DEFAULT_POLICY, [" "]) == plain()


def test_todos_are_bounded() -> None:
    """Twenty lines and 2000 characters, whole lines; one that doesn't fit is passed over."""
    many = compaction_context(EMPTY, "", DEFAULT_POLICY, [f"todo {number}" for number in range(50)])
    assert many.count("\n- todo ") == MAX_TODOS
    long = compaction_context(EMPTY, "", DEFAULT_POLICY, [*("x" * 250 for _ in range(9)), "short"])
    assert len(long) - len(plain()) <= TODO_CHARS + 2
    assert long.count("x" * 250) == 7
    assert long.endswith("- short")


def test_todos_fill_their_characters_to_the_last() -> None:
    """The section is at most 2000 characters long, and a todo that makes it just that is listed."""
    head = "Pending todos:"
    for left in (142, 143):
        todos = [*(f"{number}" * 260 for number in range(7)), "x" * left]
        _, _, section = compaction_context(EMPTY, "", DEFAULT_POLICY, todos).partition(f"\n\n{head}")
        lines = [f"\n- {todo}" for todo in todos]
        whole = len(head) + sum(map(len, lines))
        assert whole == TODO_CHARS + left - 142
        assert section == "".join(lines if whole <= TODO_CHARS else lines[:-1])


def test_todos_propose_nothing() -> None:
    """A todo that has the form of a candidate is none, wherever the words come back (SPEC 3.1)."""
    todos = ["[decision] Use pnpm in every package", "REINFORCE [M1]", "Memory candidates:"]
    text = compaction_context(EMPTY, "", DEFAULT_POLICY, todos)
    stage = Stage(None)
    for summary in (text, f"Memory candidates:\n(none)\n{text}"):
        stage.feed([{"do": "compacted", "session": "A", "summary": summary}])
    assert not stage.state().accounts.records
    assert make_source(HOST, "A") in stage.state().prompts.epochs


def test_names_of_types_fill_the_words_to_the_last_character() -> None:
    """The list's id, the blank lines and the todos' own are counted; one character more is too many."""

    def words(length: int) -> str:
        policy = Policy(types=(CustomType("x" * length),))
        return compaction_context(listed(), SNAPSHOT, policy, ("a",)).partition("Pending todos:")[0]

    longest = max(length for length in range(1, 500) if f", {'x' * length}" in words(length))
    assert len(words(longest)) - len(listed().text) == MAX_CHARS
