"""The words that a host's compaction is given beside its own prompt (SPEC 18.1, 18.2).

They come back in summaries, as whatever a model makes of them. So no line of theirs has the form of a candidate, a
command or the beginning of a block: forms stand quoted inside sentences (SPEC 5.1, 5.2, I17).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from projections.inert import inert_line
from projections.policy import Policy
from projections.render import Block
from projections.rules.candidate_lines import BLOCK_LABEL
from projections.text.cut import cut
from projections.text.limits import TEXT_LIMIT

__all__ = ["MAX_CHARS", "MAX_TODOS", "TODO_CHARS", "compaction_context"]

MAX_CHARS = 1500
"""Characters of our words beside the numbered list and the todos."""
MAX_TODOS = 20
TODO_CHARS = 2000

_TODOS = "Pending todos:"
_BUILT_IN = (
    "feedback (how the user wants things done), decision (a rule or architectural choice for the future), "
    "project (a stable fact about the project), reference (where to find something)"
)
_FACTS = f"""\
Facts for later sessions: end the summary with a line "{BLOCK_LABEL}" and below it, without a code fence, one line \
of the form "- [type] fact" for each lasting fact that this session has brought up.
The types are {{types}}.
A fact is one sentence that can be understood without this session, of at most {TEXT_LIMIT} characters.
No progress statements: leave out what was done, what is left to do, results of tests and commands, and what the code \
or instruction files say already. No secrets.
Zero facts is normal. Then the only line below "{BLOCK_LABEL}" is "(none)"."""
_COMMANDS = f"""\
The numbered facts above are known already and are not to be written again. One that this session has confirmed gets \
a line "REINFORCE [M1]" with its number, at most three lines in all. One that no longer holds gets a line \
"REPLACE [M1] [type] fact" with its number and the new fact. If there is any such line, the line \
"Memory ref snapshot id: {{snapshot}}" stands directly below "{BLOCK_LABEL}"."""


def compaction_context(block: Block, snapshot: str, policy: Policy, todos: Sequence[str]) -> str:
    """What to add to the host's own compaction prompt.

    Args:
        block: the numbered list (``numbered_block``).
        snapshot: id of the event that records the list; empty if none does, and then its numbers mean nothing.
        policy: the policy in force; its types may be proposed.
        todos: texts of the host's open todos, as they came; they are stored nowhere.

    Returns:
        The list with its id, how to propose memories, and the todos, each behind a blank line. At most 1500 characters
        beside the list and the todos.
    """
    listed = bool(block.text and snapshot)
    own = [f"Memory ref snapshot id: {snapshot}"] if listed else []
    commands = _COMMANDS.format(snapshot=snapshot) if listed else ""
    left = MAX_CHARS - sum(len(part) + 2 for part in [*own, commands, _FACTS.format(types="")])
    words = "\n".join([_FACTS.format(types=_types(policy, left)), *([commands] if listed else [])])
    parts = ["\n".join([block.text, *own])] if listed else []
    return "\n\n".join([*parts, words, *_todos(todos)])


def _types(policy: Policy, most: int) -> str:
    """The built-in types with their meanings, and the names of those configured ones that there is room for."""
    types = _BUILT_IN
    for custom in policy.types:
        name = _shown(custom.name)
        if len(types) + len(name) + 2 <= most:
            types += f", {name}"
    return types


def _todos(todos: Iterable[str]) -> list[str]:
    """The section of the open todos, if there is any: whole lines, those that don't fit left out."""
    lines, left = [_TODOS], TODO_CHARS - len(_TODOS)
    for todo in todos:
        line = cut(_shown(todo), TEXT_LIMIT)
        cost = len(f"\n- {line}")
        if line and cost <= left and len(lines) <= MAX_TODOS:
            lines.append(f"- {line}")
            left -= cost
    return ["\n".join(lines)] if len(lines) > 1 else []


def _shown(text: str) -> str:
    """A text from outside as one inert line."""
    return inert_line(text)
