"""The hot state of one session: files, open errors and recent decisions, as a value (SPEC 13)."""

from __future__ import annotations

from bisect import insort

from msgspec import Struct
from msgspec.structs import replace

from projections.hot.facts import OpenedError, Success, ToolFacts, Touch, closes
from projections.hot.files import same_file
from projections.hot.tools import Action

__all__ = ["Decision", "FileEntry", "HotState", "OpenError", "after_decision", "after_tool"]

MAX_FILES = 20
MAX_ERRORS = 5
MAX_DECISIONS = 8

_WEIGHTS: dict[Action, int] = {"edit": 50, "write": 45, "grep": 30, "read": 20}
_TOUCH_WEIGHT = 3


class FileEntry(Struct, frozen=True):
    """An active file; ``touched`` numbers the session's touches, so that the larger is the more recent."""

    path: str
    action: Action
    count: int
    touched: int = 0


class OpenError(Struct, frozen=True):
    """An error as it was last seen, how often, and whether its file was changed since (SPEC 13.4, 13.5)."""

    seen: OpenedError
    count: int = 1
    maybe_fixed: bool = False


class Decision(Struct, frozen=True):
    """A decision the user asked to remember: its exact key, and the candidate it is (event id and index)."""

    key: str
    text: str
    event: str
    index: int


class HotState(Struct, frozen=True):
    """What is known of one session.

    Attributes:
        files: active files, best first.
        errors: open errors, newest first.
        decisions: recent decisions, oldest first.
        touches: number of file touches so far.
    """

    files: tuple[FileEntry, ...] = ()
    errors: tuple[OpenError, ...] = ()
    decisions: tuple[Decision, ...] = ()
    touches: int = 0


def after_tool(state: HotState, facts: ToolFacts) -> HotState:
    """The state after a tool call; the caps of SPEC 2.6 hold after each."""
    if facts.touches:
        return replace(
            state,
            files=_touch(state, facts.touches),
            errors=_mark(state.errors, facts.touches),
            touches=state.touches + len(facts.touches),
        )
    if facts.error:
        return replace(state, errors=_reopen(state.errors, facts.error))
    if facts.success:
        return replace(state, errors=_close(state.errors, facts.success))
    return state


def after_decision(state: HotState, decision: Decision) -> HotState:
    """The state after a decision was asked for: distinct by exact key in the newest wording (SPEC 13.5)."""
    others = (known for known in state.decisions if known.key != decision.key)
    return replace(state, decisions=(*others, decision)[-MAX_DECISIONS:])


def _rank(file: FileEntry) -> tuple[int, int, str]:
    return (-(_WEIGHTS[file.action] + _TOUCH_WEIGHT * file.count), -file.touched, file.path)


def _touch(state: HotState, touches: tuple[Touch, ...]) -> tuple[FileEntry, ...]:
    """Count each touch in its order; a lighter action doesn't replace a heavier one (SPEC 13.1)."""
    files = list(state.files)
    for number, touch in enumerate(touches, state.touches + 1):
        at = next((at for at, file in enumerate(files) if file.path == touch.path), None)
        known = None if at is None else files.pop(at)
        if touch.action == "delete":
            continue
        action: Action = touch.action
        if known and _WEIGHTS[known.action] > _WEIGHTS[action]:
            action = known.action
        insort(files, FileEntry(touch.path, action, known.count + 1 if known else 1, number), key=_rank)
    return tuple(files[:MAX_FILES])


def _mark(errors: tuple[OpenError, ...], touches: tuple[Touch, ...]) -> tuple[OpenError, ...]:
    """An error whose file was edited or written may be fixed: it stays open and where it is (SPEC 13.5)."""
    changed = [touch.path for touch in touches if touch.action in ("edit", "write")] if errors else []
    if not changed:
        return errors
    return tuple(
        replace(error, maybe_fixed=True)
        if error.seen.file and any(same_file(error.seen.file, path) for path in changed)
        else error
        for error in errors
    )


def _reopen(errors: tuple[OpenError, ...], seen: OpenedError) -> tuple[OpenError, ...]:
    """Newest first; the same fingerprint is the same error, the same command has one error (SPEC 13.4)."""
    count = 1
    others: list[OpenError] = []
    for error in errors:
        if error.seen.fingerprint == seen.fingerprint:
            count = error.count + 1
        elif error.seen.command != seen.command:
            others.append(error)
    return (OpenError(seen, count), *others)[:MAX_ERRORS]


def _close(errors: tuple[OpenError, ...], success: Success) -> tuple[OpenError, ...]:
    return tuple(error for error in errors if not closes(success, error.seen))
