# ruff: noqa: PTH112, PTH118, PTH120 - os.path strings, as in ``memfold.paths``
"""Checks of the client: its version, the plugin, and the bridge that the plugin starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Literal
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

from memfold.doctor.model import Check, Scene
from memfold.hosts.opencode_install import is_packaged, plugin_commands
from memfold.hosts.opencode_places import Mention, is_plugin, read_small
from memfold.hosts.starting import INSTALL_AGAIN, child_environment, found
from memfold.processes import last_line, read_to_end, run_bounded, started
from memfold.waiting import wait_until_ready

__all__ = ["TESTED", "check_bridge", "check_client", "check_first_start", "check_plugin"]

TESTED = "1.18.33"
"""The release of OpenCode that memfold was tested with."""

_INSTALL = "memfold install opencode"
_TOOL = f"{INSTALL_AGAIN}, then {_INSTALL}"
_CLIENT_SECONDS = 10.0
_ANSWER_SECONDS = 10.0
_ANSWER_LIMIT = 1 << 20
_OFFLINE = "npm_config_offline"


class _Answer(Struct):
    """What is read of an answer to the greeting."""

    id: Literal[1]
    refused: str = ""


def check_client(scene: Scene) -> Iterator[Check]:
    """Whether OpenCode is on the path, and which release."""
    if not found(["opencode"], scene.environ):
        yield Check("client", "warn", "opencode is not on the PATH", f"npm install -g opencode-ai@{TESTED}")
        return
    # It makes its folders before it tells its version: here they are made elsewhere, and removed.
    with tempfile.TemporaryDirectory(prefix="memfold-doctor-") as elsewhere:
        kinds = ("CONFIG", "DATA", "STATE", "CACHE")
        environ = {**scene.environ, "OPENCODE_DISABLE_AUTOUPDATE": "1"}
        environ["TMPDIR"] = elsewhere  # a client may leave what it unpacks there
        environ |= {f"XDG_{kind}_HOME": os.path.join(elsewhere, kind) for kind in kinds}
        ended = run_bounded(["opencode", "--version"], cwd=elsewhere, environ=environ, timeout=_CLIENT_SECONDS)
    version = last_line(ended.out)
    if ended.code != 0 or not version:
        seen = f"opencode --version: {ended.trouble or f'it ended with {ended.code} and said nothing'}"
        yield Check("client", "warn", seen, f"npm install -g opencode-ai@{TESTED}")
    elif version.removeprefix("v") == TESTED:
        yield Check("client", "ok", f"opencode {version}")
    else:
        yield Check("client", "note", f"opencode {version}; memfold was tested with {TESTED}")


def check_plugin(scene: Scene) -> Iterator[Check]:
    """Whether the client finds our plugin here, that of this release, and whether what it starts is there."""
    named = [(one, _target(one)) for one in scene.mentions.found]
    files = list(dict.fromkeys((*scene.plugins, *(path for _, path in named if _is_plugin_file(path)))))
    serving = [path for path in files if _starts(scene, path)]
    for path in files:
        yield _plugin(scene, path, others=any(other != path for other in serving))
    for one, path in named:
        if not _is_plugin_file(path):
            seen = f"{one.file} names {one.plugin}, which is no plugin of ours; the client may pass over it silently"
            yield Check("plugin", "warn", seen, f"take it out of {one.file}, then {_INSTALL}")
    for file, why in scene.mentions.unreadable:
        yield Check("plugin", "warn", f"{file} can't be read: {why}", "correct that place; memfold never changes it")
    if not files:
        yield Check("plugin", "warn", "the client finds no plugin of memfold here", _INSTALL)
    elif len(files) > 1:
        yield Check("plugin", "note", "the client finds more than one copy; one of them serves, the others stay silent")


def check_first_start(scene: Scene) -> Iterator[Check]:
    """Whether the client's first start would wait for a network: it installs packages before it loads plugins."""
    bare = [
        folder
        for folder in scene.folders
        if os.path.isdir(folder) and not os.path.isdir(os.path.join(folder, "node_modules"))
    ]
    if not scene.plugins or not bare or scene.environ.get(_OFFLINE, "").lower() == "true":
        return
    seen = (
        "the client installs packages for its plugins first; without a network each of its starts waits some "
        "74 seconds for that, until one start has had a network"
    )
    yield Check("start", "note", seen, f"without a network: {_OFFLINE}=true opencode", tuple(bare))


def check_bridge(scene: Scene) -> Iterator[Check]:
    """Whether what the plugin starts answers, and ends when the client does."""
    if not scene.resolved.config.enabled:
        yield Check("bridge", "note", "not tried, since memory is switched off")
        return
    troubles: list[str] = []
    for command in scene.commands:
        words = " ".join(command)
        if not found(command, scene.environ):
            troubles.append(f"{words}: not there")
            continue
        begin = time.monotonic()
        trouble = _talk(scene, command)
        if not trouble:
            took = round((time.monotonic() - begin) * 1000)
            seen = f"{words} answers, and ends with its client ({took} ms)"
            yield Check("bridge", "note" if troubles else "ok", seen, _INSTALL if troubles else "", tuple(troubles))
            return
        troubles.append(f"{words}: {trouble}")
    yield Check("bridge", "fail", "what the plugin starts doesn't work", _TOOL, tuple(troubles))


def _starts(scene: Scene, path: str) -> bool:
    commands = plugin_commands((read_small(path) or b"").decode("utf-8", "replace"))
    return any(found(command, scene.environ) for command in commands)


def _plugin(scene: Scene, path: str, *, others: bool) -> Check:
    """What there is to say about one copy; ``others`` tells that another copy can serve in its place."""
    content = read_small(path) or b""
    commands = plugin_commands(content.decode("utf-8", "replace"))
    gone = [command[0] for command in commands if not found(command, scene.environ)]
    if not is_packaged(content):
        return Check("plugin", "warn", f"{path} is not the plugin of this release", _again(scene, path))
    if len(gone) == len(commands):
        return Check("plugin", "warn" if others else "fail", f"{path} starts {' or '.join(gone)}: not there", _TOOL)
    if gone and commands[0][0] in gone:
        seen = f"{path}: {gone[0]} is gone, {commands[1][0]} serves instead"
        return Check("plugin", "note", seen, _again(scene, path))
    return Check("plugin", "ok", path)


def _again(scene: Scene, path: str) -> str:
    below = scene.root and path.startswith(os.path.join(scene.root, ""))
    return f"{_INSTALL} --project, again" if below else f"{_INSTALL}, again"


def _target(mention: Mention) -> str:
    """The file that settings name; empty for a package."""
    if mention.plugin.startswith("file://"):
        return unquote(urlsplit(mention.plugin).path)
    if mention.plugin.startswith((".", "/")):
        return os.path.normpath(os.path.join(os.path.dirname(mention.file), mention.plugin))
    return ""


def _is_plugin_file(path: str) -> bool:
    content = read_small(path) if path else None
    return content is not None and is_plugin(content)


def _talk(scene: Scene, command: Sequence[str]) -> str:
    """Greet a bridge and let it go; what is wrong with it, empty if nothing. It is sent nothing that it would store."""
    place: dict[str, object] = {"directory": scene.directory, "worktree": scene.root or scene.directory}
    place |= {"instance": "doctor", "options": {}}
    greeting = {"id": 1, "hook": "init", "t": scene.now / 1000, "pid": os.getpid(), "input": place}
    try:
        with started(command, cwd=scene.directory, environ=child_environment(scene.environ)) as process:
            answer, trouble = _ask(process, json.dumps(greeting).encode() + b"\n")
            if b"\n" in answer and (wrong := _judge(answer)):
                return wrong  # another program: it may talk without end
            try:
                rest, errors = read_to_end(process, _ANSWER_SECONDS)
            except subprocess.TimeoutExpired:
                return trouble or f"it doesn't end within {_ANSWER_SECONDS:g} s of its input's end"
            if process.returncode or trouble:
                cause = last_line(errors) or trouble or f"it ended with {process.returncode}"
                return cause if answer else f"no answer: {cause}"
            return _judge(answer + rest)
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)


def _ask(process: subprocess.Popen[bytes], line: bytes) -> tuple[bytes, str]:
    """Write a line and wait for one: what came, and what is wrong with it."""
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:  # both are pipes
        return b"", "no pipe"
    answer, deadline = b"", time.monotonic() + _ANSWER_SECONDS
    with suppress(BrokenPipeError):  # then there is no answer either
        stdin.write(line)
    while not answer.endswith(b"\n") and len(answer) < _ANSWER_LIMIT:
        left = deadline - time.monotonic()
        if left <= 0 or not _readable(stdout.fileno(), left):
            return answer, f"no answer within {_ANSWER_SECONDS:g} s"
        piece = os.read(stdout.fileno(), 65_536)
        if not piece:
            return answer, "" if answer else "it ended without an answer"
        answer += piece
    return answer, ""


def _readable(descriptor: int, seconds: float) -> bool:
    if sys.platform == "win32":  # select takes sockets alone there; the read that follows may wait
        return True
    return bool(wait_until_ready([descriptor], seconds=seconds))


def _judge(answer: bytes) -> str:
    """What is wrong with an answer to a greeting."""
    line = answer.partition(b"\n")[0]
    try:
        said = msgspec.json.decode(line, type=_Answer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return f"its answer is {line[:100].decode('utf-8', 'replace')!r}"
    return f"it refuses: {said.refused}" if said.refused else ""
