"""What the calls of a stretch of the log mean for the hot state of their sessions, in a form worth keeping (DESIGN 5).

Reading a call for its files and errors costs twenty times what decoding it does, and what comes of it depends on the
call, the policy and the workspace root alone. So it may be kept for all calls of a block at once: paths, errors and
commands that come again stand once, and each call is a few numbers. A fold that is given that gives the same state
(``tests/laws/test_kept_calls.py``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Struct

from ledger.events import AnyEvent, ToolCompleted, ToolCompletedData
from ledger.runs import Run
from projections.facts import context_key
from projections.hot.facts import OpenedError, Success, ToolFacts, Touch, tool_facts
from projections.hot.tools import Action
from projections.hot.working import Working
from projections.policy import Context

__all__ = ["BlockCalls", "KnownCalls", "RunCalls", "SessionCalls", "block_calls", "call_digest", "take_steps"]

_ACTIONS: tuple[Action, ...] = ("read", "grep", "write", "edit", "delete")
PATCH, ERROR, SUCCESS = 5, 6, 7
"""What a step says beside an action on files: ``PATCH`` is followed by pairs of an action and a path."""

Step = tuple[int, ...]
T = TypeVar("T")


class SessionCalls(Struct, frozen=True, array_like=True, gc=False):
    """The calls of one session in a run.

    Attributes:
        source: the session's.
        calls: by call id the digest of its content, in the order of the log.
        steps: what they do, in that order: the number of an action and those of its paths; or one of the others and
            the number of an error or success. Calls that do nothing are left out.
    """

    source: str
    calls: dict[str, str]
    steps: tuple[Step, ...]


class BlockCalls(Struct, frozen=True, array_like=True, gc=False):
    """The calls of a block, by its runs; None for a run of which nothing is kept: one that has an id twice, say.

    ``context`` names the policy and root that they were read under; paths, errors and successes are tables.
    """

    context: str
    paths: tuple[str, ...]
    errors: tuple[OpenedError, ...]
    successes: tuple[Success, ...]
    runs: tuple[tuple[SessionCalls, ...] | None, ...]


class RunCalls(NamedTuple):
    """The calls of one run, with the block whose tables their steps name."""

    block: BlockCalls
    sessions: tuple[SessionCalls, ...]


class KnownCalls(Protocol):
    """Calls at hand."""

    def __call__(self, run: Run, context: Context) -> RunCalls | None:
        """Those of a run, read under a policy and root, if there are any."""
        ...


def call_digest(data: ToolCompletedData) -> str:
    """Of what a call says, the same for equal calls: an encoding would tell whether a line spells a default out."""
    said = (data.tool, data.args.path, data.args.command, data.exit, data.status, data.output)
    return hashlib.blake2b(msgspec.json.encode(said), digest_size=8).hexdigest()


def block_calls(runs: Iterable[Iterable[AnyEvent]], context: Context) -> BlockCalls:
    """Read the calls of a block.

    Args:
        runs: the events of each of its runs.
        context: the policy and root in force there.
    """
    tables = _Tables({}, {}, {})
    read = tuple([_read_run(run, context, tables) for run in runs])
    return BlockCalls(
        context_key(context).hex(), tuple(tables.paths), tuple(tables.errors), tuple(tables.successes), read
    )


class _Tables(NamedTuple):
    paths: dict[str, int]
    errors: dict[OpenedError, int]
    successes: dict[Success, int]


def _read_run(run: Iterable[AnyEvent], context: Context, tables: _Tables) -> tuple[SessionCalls, ...] | None:
    sessions: dict[str, tuple[dict[str, str], list[Step]]] = {}
    for event in run:
        if not isinstance(event, ToolCompleted):
            continue
        calls, steps = sessions.setdefault(event.source, ({}, []))
        call = event.data.call or event.id
        if call in calls:
            return None
        calls[call] = call_digest(event.data)
        steps.extend(_steps_of(tool_facts(event.data, context), tables))
    return tuple([SessionCalls(source, calls, tuple(steps)) for source, (calls, steps) in sessions.items()])


def _steps_of(facts: ToolFacts, tables: _Tables) -> Iterator[Step]:
    if facts.is_plain:
        action = facts.touches[0].action
        yield (_ACTIONS.index(action), *(_number(tables.paths, touch.path) for touch in facts.touches))
    elif facts.touches:
        pairs = ((_ACTIONS.index(touch.action), _number(tables.paths, touch.path)) for touch in facts.touches)
        yield (PATCH, *(number for pair in pairs for number in pair))
    elif facts.error:
        yield ERROR, _number(tables.errors, facts.error)
    elif facts.success:
        yield SUCCESS, _number(tables.successes, facts.success)


def take_steps(working: Working, steps: tuple[Step, ...], block: BlockCalls) -> None:
    """Do to a hot state what the calls of its session in a run do."""
    paths = block.paths
    for step in steps:
        kind = step[0]
        if kind < PATCH:
            named = (paths[step[1]],) if len(step) == 2 else [paths[number] for number in step[1:]]
            working.touch(_ACTIONS[kind], named)
        elif kind == SUCCESS:
            working.close(block.successes[step[1]])
        elif kind == ERROR:
            working.open(block.errors[step[1]])
        else:
            pairs = zip(step[1::2], step[2::2], strict=True)
            working.patch([Touch(paths[number], _ACTIONS[action]) for action, number in pairs])


def _number(table: dict[T, int], what: T) -> int:
    """The number of what a table holds; what it doesn't hold yet gets the next."""
    return table.setdefault(what, len(table))
