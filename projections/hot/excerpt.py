"""Choose what a captured tool call keeps: what hot state will read, and nothing else (DESIGN 3)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from ledger.events import ToolArguments
from projections.hot.commands import classify
from projections.hot.files import PATH_LIMIT, grep_lines, patch_lines
from projections.hot.signals import evidence, outcome_of
from projections.hot.tools import Kind, kind_of
from projections.policy import Policy

__all__ = ["COMMAND_LIMIT", "excerpt", "is_output_read", "read_arguments"]

COMMAND_LIMIT = 16_384
"""Characters of a command line that are kept."""

_PATH_ARGUMENTS = ("filePath", "file_path")
_PATCH_ARGUMENTS = ("patchText", "patch", "input")
_SHELL_ARGUMENTS = ("command",)
_READ: dict[Kind, tuple[str, ...]] = {"file": _PATH_ARGUMENTS, "patch": _PATCH_ARGUMENTS, "shell": _SHELL_ARGUMENTS}


def read_arguments(tool: str) -> tuple[str, ...]:
    """The arguments that an excerpt reads: nobody need clean and redact the others, such as a whole file's text."""
    return _READ.get(kind_of(tool), ())


def is_output_read(tool: str) -> bool:
    """Whether an excerpt reads the output at all."""
    return kind_of(tool) in {"grep", "shell"}


def excerpt(
    tool: str,
    args: Mapping[str, object],
    exit_code: int | None,
    status: str,
    output: str,
    *,
    policy: Policy,
) -> tuple[ToolArguments, str]:
    """The arguments and the part of the output that ``tool.completed`` records (DESIGN 3).

    Args:
        tool: the tool as the host names it.
        args: its arguments, already redacted.
        exit_code: the structured exit code, None if there is none.
        status: ``completed``, ``failed`` or ``aborted``.
        output: the whole output, already cleaned and redacted; of any length.
        policy: the policy in force, for its error categories.

    Returns:
        A file or a command line, and at most a few lines: those that decide what the output says about errors
        (shell), the paths of a grep, the file lines of a patch. The facts of this excerpt are the facts of the
        whole output. Linear in the length.
    """
    kind = kind_of(tool)
    if kind == "file":
        path = _text(args, _PATH_ARGUMENTS)
        return ToolArguments(path=path if len(path) <= PATH_LIMIT else ""), ""
    if kind == "grep":
        return ToolArguments(), "\n".join(grep_lines(output))
    if kind == "patch":
        return ToolArguments(), "\n".join(patch_lines(_text(args, _PATCH_ARGUMENTS)))
    if kind == "shell":
        line = _bounded(_text(args, _SHELL_ARGUMENTS))
        command = classify(line, policy)
        lines = evidence(output, command, outcome_of(command, exit_code, status))
        return ToolArguments(command=line), "\n".join(lines)
    return ToolArguments(), ""


def _text(args: Mapping[str, object], names: tuple[str, ...]) -> str:
    """The first argument of these names that is a text."""
    return next((value for name in names if isinstance(value := args.get(name), str)), "")


def _bounded(command: str) -> str:
    """The command line; one over the limit ends in a digest, so that different ones stay different commands."""
    if len(command) <= COMMAND_LIMIT:
        return command
    digest = hashlib.sha256(command.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{command[: COMMAND_LIMIT - 18]} \u2026{digest}"
