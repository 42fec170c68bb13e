# ruff: noqa: PTH100, PTH117, PTH119, PTH120 - os.path strings, as in ``memfold.paths``
"""Whether a command of the plugin starts memfold, in the environment that the plugin gives it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence

from memfold import __version__
from memfold.config import HOOK_MARKER
from memfold.processes import run_bounded

__all__ = ["INSTALL_AGAIN", "child_environment", "found", "is_temporary", "passing_place", "start_trouble"]

INSTALL_AGAIN = "in a clone of memfold: uv tool install --reinstall . (or pipx install --force .)"
"""How memfold itself is installed, the first time or again: it isn't on the package index yet."""

_SECONDS = 10.0
_DROPPED = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT")
_CACHES = frozenset({".cache", "Caches", "archive-v0", "environments-v2"})


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a bridge that the plugin starts: nothing in it changes what Python imports."""
    return {name: text for name, text in environ.items() if name not in _DROPPED} | {HOOK_MARKER: "1"}


def found(command: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether the program of a command is there."""
    import shutil

    return shutil.which(command[0], path=environ.get("PATH", "")) is not None


def start_trouble(command: Sequence[str], environ: Mapping[str, str], *, cwd: str = "/") -> str:
    """Why a command doesn't start this release; empty if it does. Asks it for its version, ten seconds at most."""
    if not found(command, environ):
        return f"{command[0]} is not there"
    asked = [*command[:-1], "--version"]  # the last word is "bridge"
    ended = run_bounded(asked, cwd=cwd, environ=environ, timeout=_SECONDS)
    said = ended.out.decode("utf-8", "replace").strip()
    if ended.code != 0:
        return ended.trouble or f"it ended with {ended.code}"
    return "" if said == f"memfold {__version__}" else f"it is {said[:100]!r}, this is memfold {__version__}"


def is_temporary(folder: str) -> bool:
    """Whether a folder is the system's for temporary files."""
    return os.path.realpath(folder) == os.path.realpath(tempfile.gettempdir())


def passing_place(executable: str, environ: Mapping[str, str]) -> str:
    """The cache or temporary folder that an interpreter lies in, and may be gone from tomorrow; empty if in none.

    ``uvx`` and ``pipx run`` keep environments in caches, which are cleaned.
    """
    named = (environ.get("UV_CACHE_DIR", ""), environ.get("XDG_CACHE_HOME", ""), tempfile.gettempdir())
    places = {os.path.realpath(place) for place in named if os.path.isabs(place)}
    folder = os.path.dirname(os.path.abspath(executable))
    while folder != os.path.dirname(folder):
        if os.path.basename(folder) in _CACHES or os.path.realpath(folder) in places:
            return folder
        folder = os.path.dirname(folder)
    return ""
