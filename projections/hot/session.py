"""The hot state of one session: files, open errors and recent decisions, as a value (SPEC 13)."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from projections.hot.facts import OpenedError
from projections.hot.tools import Action

__all__ = ["Decision", "FileEntry", "HotState", "OpenError", "after_decision"]

MAX_FILES = 20
MAX_ERRORS = 5
MAX_DECISIONS = 8


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


def after_decision(state: HotState, decision: Decision) -> HotState:
    """The state after a decision was asked for: distinct by exact key in the newest wording (SPEC 13.5)."""
    others = (known for known in state.decisions if known.key != decision.key)
    return replace(state, decisions=(*others, decision)[-MAX_DECISIONS:])
