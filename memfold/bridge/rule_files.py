# ruff: noqa: PTH118, PTH120 - pathlib costs more than the look itself
"""The instruction files that the client puts into its prompt: no hook carries them, so they are read (SPEC 3.6)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from ledger.events import Draft, RulesLoadedData
from ledger.files import open_regular
from memfold.capture import Capture
from memfold.errors import ConfigError
from memfold.paths import config_dir
from projections.memory.model import MemoryState
from projections.text.paths import relative_to

__all__ = ["RULE_FILE_LIMIT", "RuleFiles"]

RULE_FILE_LIMIT = 64 * 1024
"""Bytes read of a file: a repository may be a stranger's, and each sentence of it is judged, 64 KiB of the shortest
ones in a second."""

_NAMES = ("AGENTS.md", "CLAUDE.md")
_Signature = tuple[int, int, int]


class RuleFiles:
    """The instruction files of a folder.

    Args:
        directory: the folder that the client works in.
        root: the workspace root.
        environ: says where the client's own folder is.
    """

    def __init__(self, directory: str, root: str, environ: Mapping[str, str]) -> None:
        places = dict.fromkeys((os.path.realpath(directory), root))
        self._paths = [os.path.join(place, name) for place in places for name in _NAMES]
        self._paths += _of_the_client(environ)
        self._root = root
        self._digested: dict[str, tuple[_Signature, list[Draft]]] = {}

    def changed(self, memory: MemoryState, capture: Capture, time: str | None) -> Iterator[Draft]:
        """A draft for each file whose words differ from those that the ledger knows of it.

        A file that is gone is one without words. What was digested before isn't read again while the file stays.
        """
        for path in self._paths:
            for draft in self._drafts(path, capture):
                data = draft.data
                if isinstance(data, RulesLoadedData) and data.digests != memory.rules.get(data.path, ()):
                    yield replace(draft, time=time)

    def _drafts(self, path: str, capture: Capture) -> list[Draft]:
        text, signature = "", (0, 0, 0)
        try:
            with open(path, "rb", opener=open_regular) as file:
                status = os.fstat(file.fileno())
                signature = (status.st_mtime_ns, status.st_size, status.st_ino)
                known = self._digested.get(path)
                if known is not None and known[0] == signature:
                    return known[1]
                text = file.read(RULE_FILE_LIMIT).decode("utf-8", "replace")
        except (OSError, ValueError):
            pass  # not there, or no file that the client could read either
        drafts = capture.rules_file(relative_to(path, self._root), text, time=None)
        self._digested[path] = (signature, drafts)
        return drafts


def _of_the_client(environ: Mapping[str, str]) -> list[str]:
    """The user's own file, which stands in the client's folder beside ours."""
    try:
        return [os.path.join(os.path.dirname(config_dir(environ)), "opencode", "AGENTS.md")]
    except ConfigError:
        return []
