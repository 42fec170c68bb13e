"""The facts of one tool call: files it touched, the error it opened, the success it was (SPEC 13)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ledger.events import ToolCompletedData
from projections.hot.commands import Command, classify
from projections.hot.files import file_path, grep_lines, is_own_file, patch_touches, same_file
from projections.hot.signals import (
    evidence,
    fingerprint,
    first_path,
    names_typescript_error,
    outcome_of,
    run_failed,
    summarise,
)
from projections.hot.tools import FILE_ACTIONS, Action, Kind, kind_of
from projections.policy import Context

__all__ = ["NO_FACTS", "OpenedError", "Success", "ToolFacts", "Touch", "closes", "tool_facts"]

Confidence = Literal["normal", "low"]


class Touch(Struct, frozen=True):
    """One file that a call touched; the path is relative to the workspace root if it lies under it."""

    path: str
    action: Action


class OpenedError(Struct, frozen=True):
    """An error that a command opened (SPEC 13.4). ``low`` confidence: its exit was masked."""

    category: str
    summary: str
    fingerprint: str
    command: str
    scope: tuple[str, ...] = ()
    file: str | None = None
    confidence: Confidence = "normal"


class Success(Struct, frozen=True):
    """A command that succeeded; it may close errors (SPEC 13.5). No category: only those of the same command."""

    command: str
    category: str | None = None
    scope: tuple[str, ...] = ()


class ToolFacts(Struct, frozen=True):
    """What one tool call means for hot state."""

    touches: tuple[Touch, ...] = ()
    error: OpenedError | None = None
    success: Success | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it did the same to files, none of which it took away, and named each of them once."""
        touches = self.touches
        return bool(touches) and (touches[0].action == "grep" or (len(touches) == 1 and touches[0].action != "delete"))


NO_FACTS = ToolFacts()


def tool_facts(data: ToolCompletedData, context: Context) -> ToolFacts:
    """What a tool call means: a pure function of the event, the policy and the workspace root (DESIGN 5).

    Own tools, failed calls of file tools and unknown exits give no facts. Linear in the size of the event.
    """
    kind = kind_of(data.tool)
    if kind == "shell":
        return _shell_facts(data, context)
    if kind == "other" or data.status != "completed" or data.exit not in (None, 0):
        return NO_FACTS
    touches = [
        Touch(path, action) for name, action in _named_files(data, kind) if (path := file_path(name, context.root))
    ]
    if kind == "grep":  # two spellings of one file are one file of that call
        touches = list(dict.fromkeys(touches))
    return ToolFacts(touches=tuple(touches))


def closes(success: Success, error: OpenedError) -> bool:
    """Whether a success closes an open error (SPEC 13.5).

    The same command line always does; else the category has to be the same, and a narrowed run closes only what
    was opened under the same scope or lies in a file it covers.
    """
    if success.command == error.command:
        return True
    if success.category is None or success.category != error.category:
        return False
    if not success.scope or success.scope == error.scope:
        return True
    return error.file is not None and any(_covers(word, error.file) for word in success.scope)


def _covers(word: str, file: str) -> bool:
    """Whether a word of a scope names a file or a folder above it."""
    return same_file(word, file) or file.startswith(f"{word}/")


def _named_files(data: ToolCompletedData, kind: Kind) -> list[tuple[str, Action]]:
    """The files that a completed call of a file, patch or grep tool names, in order (SPEC 13.1)."""
    if kind == "patch":
        return list(patch_touches(data.output))
    if kind == "grep":
        return [(line[:-1], "grep") for line in grep_lines(data.output)]
    path = data.args.path
    return [] if is_own_file(path) else [(path, FILE_ACTIONS[data.tool.lower()])]


def _shell_facts(data: ToolCompletedData, context: Context) -> ToolFacts:
    """What a command line says about errors; it touches no file, whatever it does (SPEC 13.1, 13.4)."""
    command = classify(data.args.command, context.policy)
    outcome = outcome_of(command, data.exit, data.status)
    lines = evidence(data.output, command, outcome)
    if outcome == "failure" and (lines or command.category):
        return ToolFacts(error=_open(lines, command, data.exit, context.root, "normal"))
    if outcome != "success" or (command.masked and not lines):
        return NO_FACTS
    if command.masked and any(map(run_failed, lines)):
        return ToolFacts(error=_open(lines, command, data.exit, context.root, "low"))
    return ToolFacts(success=Success(command.line, command.category, _scope(command, context.root)))


def _open(lines: list[str], command: Command, exit_code: int | None, root: str, confidence: Confidence) -> OpenedError:
    summary = summarise(lines, command, exit_code)
    found = first_path(summary)
    by_text = "typecheck" if any(map(names_typescript_error, lines)) else "runtime"
    return OpenedError(
        category=command.category or by_text,
        summary=summary,
        fingerprint=fingerprint(summary),
        command=command.line,
        scope=_scope(command, root),
        file=None if found is None else file_path(found, root),
        confidence=confidence,
    )


def _scope(command: Command, root: str) -> tuple[str, ...]:
    """The scope with its paths in normal form, so that ``./src`` and ``src/`` are the same (SPEC 8.3)."""
    return tuple(sorted({file_path(word, root) if "/" in word else word for word in command.scope}))
