"""What tool calls do to the hot state of a session (SPEC 13), in a form that many of them can change."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from msgspec.structs import replace

from projections.hot.facts import OpenedError, Success, ToolFacts, Touch, closes
from projections.hot.files import same_file
from projections.hot.session import MAX_ERRORS, MAX_FILES, FileEntry, HotState, OpenError
from projections.hot.tools import Action

__all__ = ["Working"]

_WEIGHTS: dict[Action, int] = {"edit": 50, "write": 45, "grep": 30, "read": 20}
_TOUCH_WEIGHT = 3
_FIRST: dict[Action, int] = {action: -(weight + _TOUCH_WEIGHT) for action, weight in _WEIGHTS.items()}
"""What a file that was touched once has in its rank."""

_Rank = tuple[int, int, str]
"""What files are sorted by, best first: less of their weight, less of the number of their last touch, their path."""
_File = tuple[Action, int, _Rank]
"""What was done to a file, how often it was touched, and where it stands."""


class Working:
    """A hot state being changed: a fold holds one for each session whose calls go by, and takes its ``state`` out.

    Args:
        state: the state to begin with, which is left as it is.
    """

    __slots__ = ("_errors", "_files", "_names", "_ranks", "_start", "_touches")

    def __init__(self, state: HotState) -> None:
        self._start = state
        self._ranks = [
            (-(_WEIGHTS[file.action] + _TOUCH_WEIGHT * file.count), -file.touched, file.path) for file in state.files
        ]
        self._files: dict[str, _File] = {
            file.path: (file.action, file.count, rank) for file, rank in zip(state.files, self._ranks, strict=True)
        }
        self._touches = state.touches
        self._set_errors(state.errors)

    def state(self) -> HotState:
        """The state as it is now."""
        start = self._start
        if self._touches == start.touches:
            if self._errors is not start.errors:
                self._start = replace(start, errors=self._errors)
            return self._start
        files = self._files
        self._start = HotState(
            tuple([FileEntry(path, *files[path][:2], -number) for _, number, path in self._ranks]),
            self._errors,
            start.decisions,
            self._touches,
        )
        return self._start

    def take(self, facts: ToolFacts) -> None:
        """Take in a tool call; the caps of SPEC 2.6 hold after each."""
        if facts.is_plain:
            self.touch(facts.touches[0].action, [touch.path for touch in facts.touches])
        elif facts.touches:
            self.patch(facts.touches)
        elif facts.error:
            self.open(facts.error)
        elif facts.success:
            self.close(facts.success)

    def touch(self, action: Action, paths: Sequence[str]) -> None:
        """Take in a call that did the same to one or more files, each of them named once."""
        files, ranks, begin = self._files, self._ranks, self._touches + 1
        weight = _FIRST[action]
        # Newcomers are as strong as each other, and newer than all that are as strong as they are: they stand together.
        # Of a full list those before them stay until the call ends, for no touch makes a file weaker. So only the last
        # of them have room, and most of what a search finds has none.
        place = (weight, -begin, "")
        room = MAX_FILES - bisect_left(ranks, place)
        newcomers: list[_Rank] = []
        for number, path in enumerate(paths, begin):
            if path in files:
                self._place(path, action, number)
            elif room > 0:
                newcomers.append((weight, -number, path))
        if newcomers:
            newcomers.reverse()
            del newcomers[room:]
            for rank in newcomers:
                files[rank[2]] = (action, 1, rank)
            at = bisect_left(ranks, place)
            ranks[at:at] = newcomers
        self._end_call(len(paths))
        if self._names and action in ("edit", "write"):
            self._mark(paths)

    def patch(self, touches: Sequence[Touch]) -> None:
        """Take in a call that did this and that to files, to some of them more than once."""
        for number, touch in enumerate(touches, self._touches + 1):
            if touch.action == "delete":
                gone = self._files.pop(touch.path, None)
                if gone is not None:
                    del self._ranks[bisect_left(self._ranks, gone[2])]
            else:
                self._place(touch.path, touch.action, number)
        self._end_call(len(touches))
        if self._names:
            self._mark([touch.path for touch in touches if touch.action in ("edit", "write")])

    def open(self, seen: OpenedError) -> None:
        """Newest first; the same fingerprint is the same error, the same command has one error (SPEC 13.4)."""
        count = 1
        others: list[OpenError] = []
        for error in self._errors:
            if error.seen.fingerprint == seen.fingerprint:
                count = error.count + 1
            elif error.seen.command != seen.command:
                others.append(error)
        self._set_errors((OpenError(seen, count), *others)[:MAX_ERRORS])

    def close(self, success: Success) -> None:
        """Take away the errors that a success closes (SPEC 13.5)."""
        if self._errors:
            self._set_errors(tuple([error for error in self._errors if not closes(success, error.seen)]))

    def _place(self, path: str, action: Action, number: int) -> None:
        """Count a touch; a lighter action doesn't replace a heavier one (SPEC 13.1)."""
        known, count = self._files.get(path), 1
        if known is not None:
            before, count, rank = known
            del self._ranks[bisect_left(self._ranks, rank)]
            count += 1
            if _WEIGHTS[before] > _WEIGHTS[action]:
                action = before
        rank = (-(_WEIGHTS[action] + _TOUCH_WEIGHT * count), -number, path)
        self._files[path] = (action, count, rank)
        insort(self._ranks, rank)

    def _end_call(self, touches: int) -> None:
        self._touches += touches
        if len(self._ranks) > MAX_FILES:
            for _, _, path in self._ranks[MAX_FILES:]:
                del self._files[path]
            del self._ranks[MAX_FILES:]

    def _mark(self, changed: Sequence[str]) -> None:
        """An error whose file was edited or written may be fixed: it stays open and where it is (SPEC 13.5)."""
        names = self._names
        near = [path for path in changed if path.rpartition("/")[2] in names]
        if near:
            self._set_errors(tuple([_marked(error, near) for error in self._errors]))

    def _set_errors(self, errors: tuple[OpenError, ...]) -> None:
        self._errors = errors
        self._names: set[str] = (
            {one.seen.file.rpartition("/")[2] for one in errors if one.seen.file} if errors else set()
        )
        """The last segments of the files that errors lie in: no other file is one of them."""


def _marked(error: OpenError, changed: Sequence[str]) -> OpenError:
    file = error.seen.file
    is_changed = not error.maybe_fixed and file and any(same_file(file, path) for path in changed)
    return replace(error, maybe_fixed=True) if is_changed else error
