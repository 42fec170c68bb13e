"""Read the files that a tool call names: patch lines, grep output, and which files never count (SPEC 13.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from projections.hot.tools import Action
from projections.text.paths import relative_to

__all__ = ["PATH_LIMIT", "file_path", "grep_lines", "is_own_file", "patch_lines", "patch_touches", "same_file"]

PATH_LIMIT = 1024
"""A longer path names no file we keep, so that what is kept of a call is bounded (DESIGN 3)."""

_GREP_FILES = 10
_PATCH_FILES = 200

_PATCH_LINE = re.compile(r"\*\*\* (Update|Add|Delete) File:[ \t]*(\S.*)")
_PATCH_ACTIONS: dict[str, Action] = {"Update": "edit", "Add": "write", "Delete": "delete"}

_GREP_LINE = re.compile(r"([A-Za-z]:(?=[\\/]))?[^\s:][^:]*(?=:)")
_EXTENSION = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,7})\Z")
_ABSOLUTE = re.compile(r"[/\\~]|[A-Za-z]:[\\/]")
_IMAGES = frozenset({"png", "jpg", "jpeg", "gif", "webp", "bmp", "ico", "icns", "tif", "tiff", "avif", "heic"})
_SLASHES = re.compile("/+")
_HERE = re.compile(r"(?:\./)+")

_OWN_FILES = re.compile(
    r"(?:^|/)(?:"
    r"\.opencode/memory(?:/|$)"  # MEMORY.md and its operation log (SPEC 16.1, 16.9)
    r"|memfold/workspaces/"  # ledgers (DESIGN 9)
    r"|opencode/tool-output/"  # where OpenCode keeps outputs it has cut
    r"|tool-results/"  # where Claude Code does
    r")"
)


def is_own_file(path: str) -> bool:
    """Whether a file is memfold's own, or one where a host keeps an output it has cut; they never count."""
    return _OWN_FILES.search(path.replace("\\", "/")) is not None


@lru_cache(maxsize=4096)
def file_path(path: str, root: str) -> str:
    """The normal form of a file's path, relative if it lies under the workspace root (SPEC 8.3).

    A path that a tool got is taken as it is: brackets and quotes belong to its name.
    """
    slashed = relative_to(_SLASHES.sub("/", path.replace("\\", "/")), root)
    here = _HERE.match(slashed)
    return slashed[here.end() if here else 0 :].rstrip("/")


def patch_lines(patch: str) -> list[str]:
    """The lines of a patch that name files, at most 200 of them, in order; idempotent on their join."""
    lines = (line for line in patch.split("\n") if _read_patch_line(line))
    return list(islice(lines, _PATCH_FILES))


def patch_touches(patch: str) -> Iterator[tuple[str, Action]]:
    """The files that a patch names, in order: updated is an edit, added a write (SPEC 13.1)."""
    return (touch for touch in map(_read_patch_line, patch_lines(patch)) if touch)


def grep_lines(output: str) -> list[str]:
    """The first ten distinct paths that a grep printed at the start of a line, each with its colon (SPEC 13.1).

    Directories, binary images and files that never count are left out. Idempotent on their join.
    """
    found = dict.fromkeys(path for line in output.split("\n") if (path := _read_grep_line(line)))
    return [f"{path}:" for path in islice(found, _GREP_FILES)]


def same_file(a: str, b: str) -> bool:
    """Whether two paths name one file: equal, or one a suffix of the other in whole segments (SPEC 13.5)."""
    return a == b or a.endswith(f"/{b}") or b.endswith(f"/{a}")


def _read_patch_line(line: str) -> tuple[str, Action] | None:
    match = _PATCH_LINE.match(line)
    path = match[2].rstrip() if match else ""
    if not match or len(path) > PATH_LIMIT or is_own_file(path):
        return None
    return path, _PATCH_ACTIONS[match[1]]


def _read_grep_line(line: str) -> str | None:
    """The path in front of the first colon; a relative one has no blanks, or prose would count."""
    return _grep_path(line[: PATH_LIMIT + 1])


@lru_cache(maxsize=4096)
def _grep_path(line: str) -> str | None:
    match = _GREP_LINE.match(line)
    path = match[0] if match else ""
    extension = _EXTENSION.search(path)
    if not extension or extension[1].lower() in _IMAGES or is_own_file(path):
        return None
    return path if _ABSOLUTE.match(path) or not re.search(r"\s", path) else None
