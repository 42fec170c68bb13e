# ruff: noqa: PTH117, PTH118, PTH119, PTH120, PTH208 - os.path strings, as in ``memfold.paths``
"""Where OpenCode looks for plugins and settings, and what of memfold is there; nothing is ever changed here."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from msgspec import Struct

from ledger.files import PATH_LIMIT, open_regular
from memfold.paths import config_dir

__all__ = [
    "CONFIG_VARIABLE",
    "FILE_NAME",
    "MARKER",
    "PROJECT_FOLDER",
    "Mention",
    "Mentions",
    "config_folders",
    "find_mentions",
    "find_plugins",
    "global_folder",
    "is_plugin",
    "is_plugin_place",
    "plugin_path",
    "read_small",
]

FILE_NAME = "memfold.js"
MARKER = b"memfold plugin for OpenCode"
"""Stands in the first lines of every copy of our plugin, of whatever release."""

CONFIG_VARIABLE = "OPENCODE_CONFIG_DIR"
"""Names a further configuration folder of the user."""

PROJECT_FOLDER = ".opencode"

_MARKED = 1024
"""Bytes from the start in which the marker counts: a plugin that only talks about memfold is none of ours."""
_FOLDERS = ("plugin", "plugins")
_SETTINGS = ("opencode.json", "opencode.jsonc", "config.json")
_LIMIT = 1 << 20
# Strings first, so that nothing inside of one counts; no alternative gives anything back.
_STRING = r'"(?:[^"\\]|\\[\s\S])*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[\]}}])")


class Mention(Struct, frozen=True):
    """A plugin of ours in the client's settings.

    Attributes:
        file: the settings, or the variable that holds them.
        plugin: what is written there.
        options: what is given to the plugin.
    """

    file: str
    plugin: str
    options: dict[str, Any] = {}


class Mentions(Struct, frozen=True):
    """What the client's settings say about us, and which of them can't be read, with the reason."""

    found: tuple[Mention, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()


def global_folder(environ: Mapping[str, str]) -> str:
    """The user's folder for OpenCode: ``$OPENCODE_CONFIG_DIR`` if it is an absolute path, else below XDG's.

    Raises:
        ConfigError: there is no home folder.
    """
    own = environ.get(CONFIG_VARIABLE, "")
    return os.path.normpath(own) if os.path.isabs(own) else _user_folder(environ)


def plugin_path(folder: str) -> str:
    """Where our plugin is put in a configuration folder."""
    return os.path.join(folder, _FOLDERS[0], FILE_NAME)


def is_plugin_place(path: str) -> bool:
    """Whether a path, as one reads it somewhere, is one where an install puts our plugin: absolute and normal."""
    if len(path) > PATH_LIMIT or "\0" in path or not os.path.isabs(path) or os.path.normpath(path) != path:
        return False
    try:
        os.fsencode(path)
    except UnicodeEncodeError:  # half a surrogate pair, which no path on disk can hold
        return False
    folder, name = os.path.split(path)
    return name == FILE_NAME and os.path.basename(folder) in _FOLDERS


def config_folders(environ: Mapping[str, str], directory: str, root: str) -> list[str]:
    """Folders that the client reads for a working directory, there or not: the user's, then from the root inwards.

    Args:
        environ: the environment.
        directory: where the client runs.
        root: root of the worktree; the client looks no higher.
    """
    own = environ.get(CONFIG_VARIABLE, "")
    home = environ.get("HOME", "")
    user = [_user_folder(environ), *([os.path.join(home, PROJECT_FOLDER)] if os.path.isabs(home) else [])]
    places = [*user, *([own] if os.path.isabs(own) else []), *reversed([*_project_folders(directory, root)])]
    return list(dict.fromkeys(map(os.path.normpath, places)))


def find_plugins(folders: list[str]) -> list[str]:
    """Our plugin files in configuration folders, whatever they are called; each file once."""
    found: dict[tuple[int, int], str] = {}
    for folder in folders:
        for path in (path for name in _FOLDERS for path in _listed(folder, name)):
            content = read_small(path)
            if content is not None and is_plugin(content):
                status = os.stat(path)  # noqa: PTH116 - as above
                found.setdefault((status.st_dev, status.st_ino), path)
    return list(found.values())


def is_plugin(content: bytes) -> bool:
    """Whether a file is a copy of our plugin."""
    return MARKER in content[:_MARKED]


def find_mentions(environ: Mapping[str, str], folders: list[str], root: str) -> Mentions:
    """Where the client's settings name a plugin of ours; settings that are no JSON are told apart."""
    found: list[Mention] = []
    unreadable: list[tuple[str, str]] = []
    for file, content in _settings(environ, folders, root):
        try:
            document = _parse(content.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            unreadable.append((file, str(error)))
            continue
        found.extend(Mention(file, plugin, options) for plugin, options in _plugins(document) if "memfold" in plugin)
    return Mentions(tuple(found), tuple(unreadable))


def read_small(path: str) -> bytes | None:
    """The content of a file; None where there is none that can be read, or a large one."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            content = file.read(_LIMIT + 1)
    except OSError:
        return None
    return content if len(content) <= _LIMIT else None


def _user_folder(environ: Mapping[str, str]) -> str:
    return os.path.join(os.path.dirname(config_dir(environ)), "opencode")


def _project_folders(directory: str, root: str) -> Iterator[str]:
    place = directory
    while True:
        yield os.path.join(place, PROJECT_FOLDER)
        parent = os.path.dirname(place)
        if place in (root, parent):
            return
        place = parent


def _listed(folder: str, name: str) -> list[str]:
    try:
        files = os.listdir(os.path.join(folder, name))
    except OSError:
        return []
    return [os.path.join(folder, name, file) for file in sorted(files) if file.endswith((".js", ".ts"))]


def _settings(environ: Mapping[str, str], folders: list[str], root: str) -> Iterator[tuple[str, bytes]]:
    """The settings that are there, each with its content."""
    named = environ.get("OPENCODE_CONFIG", "")
    places = [os.path.join(folder, name) for folder in (*folders, root) if folder for name in _SETTINGS]
    for path in (*places, *([named] if os.path.isabs(named) else [])):
        content = read_small(path)
        if content is not None:
            yield path, content
    if given := environ.get("OPENCODE_CONFIG_CONTENT", ""):
        yield "$OPENCODE_CONFIG_CONTENT", given.encode("utf-8", "replace")


def _parse(text: str) -> object:
    """JSON with comments and commas at the end, as the client reads it; linear."""
    plain = _COMMENT.sub(lambda match: match[1] or " ", text)
    return json.loads(_COMMA.sub(lambda match: match[1] or "", plain) or "{}")


def _plugins(document: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """The plugins that settings name, each with its options."""
    listed = cast("dict[str, Any]", document).get("plugin") if isinstance(document, dict) else None
    for one in cast("list[object]", listed) if isinstance(listed, list) else []:
        pair = cast("list[object]", one) if isinstance(one, list) else [one]
        if pair and isinstance(pair[0], str):
            options = pair[1] if len(pair) > 1 else None
            yield pair[0], cast("dict[str, Any]", options) if isinstance(options, dict) else {}
