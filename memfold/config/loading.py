# ruff: noqa: PTH118 - pathlib costs more at start-up than a configuration
"""Read the configuration of a workspace: the user's file, the workspace's, plugin options, the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ledger.files import open_regular
from memfold.config.model import Config, Finding, Layer, LayerKind, Resolved
from memfold.errors import ConfigError
from memfold.paths import config_dir, workspace_root
from projections.text.lazily import lazily

__all__ = ["config_files", "load", "locate", "workspace_files"]

_VARIABLES = "MEMFOLD"
_USER_FILE = "config.toml"
_WORKSPACE_FILE = ".memfold.toml"
_FILE_LIMIT = 32_768
"""Bytes of a configuration file: a repository may be a stranger's, and hooks read it each time."""
_DOT_LIMIT = 16
"""Dots of a line beside those in quotation marks; Python's parser takes quadratic time in those of a key."""
# TOML's own strings and comments, so that no dot hides in what only looks like one. An end that is missing may be
# left out, and nothing is given back: each character is looked at once.
_QUOTED = lazily(
    r"""\"{3}(?:[^"\\]|\\[\s\S]|"(?!""))*+(?:"{3,5})?|'{3}(?:[^']|'(?!''))*+(?:'{3,5})?"""
    r"""|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?|#[^\n]*+"""
)


def load(root: str, environ: Mapping[str, str], plugin_options: object = None) -> Resolved:
    """The configuration of a workspace (SPEC 19).

    Args:
        root: the workspace's root; empty if none is known.
        environ: the environment.
        plugin_options: what the host's configuration gave the plugin, decoded from JSON; None if nothing.

    Returns:
        The settings in force. Whatever can't be read or used is a finding; nothing is raised.
    """
    layers: list[Layer] = []
    findings: list[Finding] = []
    try:
        files = config_files(root, environ)
    except ConfigError as error:
        findings.append(Finding("user", "", "", error.message, error.fix))
        files = workspace_files(root)
    for kind, path in files.items():
        _read(path, kind, layers, findings)
    if plugin_options is not None:
        layers.append(Layer("plugin", plugin_options, "plugin options"))
    if any(name.startswith(_VARIABLES) for name in environ):
        from memfold.config.environment import environment_layers

        layers.extend(environment_layers(environ))
    if not layers:  # as most often, and then a start need not import the table of keys
        return Resolved(Config(), tuple(findings))
    from memfold.config.resolving import resolve

    resolved = resolve(layers)
    return Resolved(resolved.config, (*findings, *resolved.findings), resolved.settled)


def config_files(root: str, environ: Mapping[str, str]) -> dict[LayerKind, str]:
    """The files that hold settings, by layer, whether or not they are there.

    Raises:
        ConfigError: there is no home folder.
    """
    user: dict[LayerKind, str] = {"user": os.path.join(config_dir(environ), _USER_FILE)}
    return user | workspace_files(root)


def workspace_files(root: str) -> dict[LayerKind, str]:
    """The workspace's own file, which can be named without a home folder."""
    return {"workspace": os.path.join(root, _WORKSPACE_FILE)} if root else {}


def locate(directory: str, environ: Mapping[str, str], plugin_options: object = None) -> tuple[str, Resolved]:
    """The workspace of a folder and its configuration.

    Whether worktrees are apart is asked of the main worktree's configuration; a worktree that is apart then has its
    own file.
    """
    root = workspace_root(directory)
    resolved = load(root, environ, plugin_options)
    if resolved.config.worktrees == "shared":
        return root, resolved
    own = workspace_root(directory, worktrees="separate")
    return own, resolved if own == root else load(own, environ, plugin_options)


def _read(path: str, kind: LayerKind, layers: list[Layer], findings: list[Finding]) -> None:
    """Add the layer of a file, or a finding; a file that isn't there is neither."""
    try:
        text = _text(path)
        if text is None:
            return
        layers.append(Layer(kind, _parsed(text), path))
    except OSError as error:
        findings.append(Finding(path, "", "", f"can't be read: {error.strerror}", "check its permissions"))
    except (ValueError, RecursionError) as error:  # no UTF-8, no TOML, a number too long, or nested too deeply
        findings.append(Finding(path, "", "", f"is no TOML and is ignored: {error}", "correct that place"))


def _parsed(text: str) -> dict[str, object]:
    """The settings in a text; ``ValueError`` or ``RecursionError`` if it is no TOML, or takes too long to read."""
    import tomllib

    if any(line.count(".") > _DOT_LIMIT for line in _QUOTED().sub('""', text).split("\n")):
        raise ValueError(f"more than {_DOT_LIMIT} dots in a line")
    return tomllib.loads(text)


def _text(path: str) -> str | None:
    """The text of a file, None if there is none."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            raw = file.read(_FILE_LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if len(raw) > _FILE_LIMIT:
        raise ValueError(f"more than {_FILE_LIMIT} bytes")
    return raw.decode("utf-8-sig")
