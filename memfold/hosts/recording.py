"""Recordings of a host's hooks: JSON Lines files in the form that ``fixtures/recordings/README.md`` describes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from ledger.files import open_regular

__all__ = ["RecordingError", "read_recording", "workspace_of"]

_SHOWN = 60
_LONGEST = 64 << 20
"""Bytes of a line; no client's is so long, and what follows of one that is no record."""


class RecordingError(Exception):
    """A file is no recording.

    Attributes:
        path: the file.
        line: number of the line, from 1; 0 for the file as a whole.
        value: the beginning of what stands there.
        fix: what to do about it.
    """

    def __init__(self, path: Path, line: int, value: str, fix: str) -> None:
        super().__init__(f"{path}:{line}: not a recorded hook: {value[:_SHOWN]!r}. {fix}")
        self.path, self.line, self.value, self.fix = path, line, value[:_SHOWN], fix


def read_recording(path: Path) -> Iterator[dict[str, object]]:
    """Yield the records of a recording in order, one line in memory at a time.

    A last line that isn't finished is left out: a client that is killed while it writes leaves one behind.

    Raises:
        RecordingError: when the first such line is reached that is no JSON object with a ``hook``, or the file
            has no record at all.
        OSError: when the file can't be read, or is none.
    """
    number = 0
    with open(path, "rb", opener=open_regular) as file:
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST), b""), start=1):
            record = _record(line)
            if record is not None:
                yield record
            elif number == 1 or line.endswith(b"\n"):
                raise RecordingError(
                    path,
                    number,
                    line.decode(errors="replace").strip(),
                    "Each line must be one JSON object with a hook.",
                )
    if number == 0:
        raise RecordingError(path, 0, "", "The file is empty; record a session first.")


def _record(line: bytes) -> dict[str, object] | None:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    record = cast("dict[str, object]", value)
    return record if isinstance(record.get("hook"), str) else None


def workspace_of(records: Iterable[Mapping[str, object]]) -> str | None:
    """The folder that the client worked in, by the first ``init`` record; None if there is none.

    It is the worktree of the repository, or the directory itself where there is no repository: the client
    says ``/`` then (SPEC 1.6).
    """
    for record in records:
        place = record.get("input")
        if record.get("hook") != "init" or not isinstance(place, dict):
            continue
        for key in ("worktree", "directory"):
            path = cast("dict[str, object]", place).get(key)
            # A relative path would be looked up in the reader's own folder, which the client never saw.
            if isinstance(path, str) and path != "/" and os.path.isabs(path):  # noqa: PTH117 - text of a host
                return path
    return None
