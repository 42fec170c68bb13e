# ruff: noqa: PTH100, PTH111, PTH116, PTH117, PTH118, PTH120, PTH208 - pathlib is slow
"""Where things are: the workspace that a folder belongs to, and the folders of data and configuration."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from typing import Literal

from ledger.digests import sha256
from ledger.files import PATH_LIMIT, open_regular
from memfold.errors import ConfigError, StorageFailure

__all__ = ["config_dir", "data_dir", "is_project", "ledger_dir", "workspace_key", "workspace_root"]

_TEMPORARY = ("/tmp", "/var/tmp", "/usr/tmp", "/private/tmp", "/dev/shm")  # noqa: S108 - compared with, never written to
_TEMPORARY_VARIABLES = ("TMPDIR", "TEMP", "TMP")
_NOWHERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})
"""What the system says of a path that leads to nothing; any other error hides what is there."""
_POINTER_LIMIT = 65_536
"""Bytes read of git's one-line files and of its configuration; whatever is longer is none of them."""


def workspace_root(directory: str, *, worktrees: Literal["shared", "separate"] = "shared") -> str:
    """The workspace that a folder belongs to (SPEC 1.6), found by reading git's files, without a git process.

    Args:
        directory: any path; a file stands for its folder.
        worktrees: ``shared`` gives all worktrees of a repository the main worktree, ``separate`` each its own.

    Returns:
        Real path of the main worktree of the git repository that holds the folder, for a submodule its own; the
        folder's real path outside of git. A path that isn't there is returned as given, normalised.

    Raises:
        StorageFailure: if the system doesn't let us look: a repository that can't be seen is not taken for none, or
            what is remembered would go to another workspace.
    """
    if (status := _look(directory)) is None:
        return os.path.normpath(os.path.abspath(directory))
    folder = _resolved(directory)
    if not stat.S_ISDIR(status.st_mode):
        folder = os.path.dirname(folder)
    for place in _upwards(folder):
        git_dir = _git_dir(place)
        if git_dir:
            own = worktrees == "separate" and git_dir != place
            root = place if own else _main_worktree(place, git_dir)
            return _as_on_disk(_resolved(root))
    return _as_on_disk(folder)


def workspace_key(root: str) -> str:
    """The first 16 hex digits of SHA-256 over the root's path: the name of its ledger's folder (SPEC 1.6)."""
    try:
        raw = root.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a surrogate pair, which no path on disk can hold but a host may send
        raw = root.encode("utf-8", "surrogatepass")
    return sha256(raw).hexdigest()[:16]


def is_project(root: str, environ: Mapping[str, str]) -> bool:
    """Whether a root is a project: home, ``/`` and the system's temporary folders themselves are none (SPEC 1.6)."""
    temporary = (*_TEMPORARY, *(environ.get(name, "") for name in _TEMPORARY_VARIABLES))
    excluded = {_real(place) for place in (_home(environ), *temporary) if os.path.isabs(place)}
    real = _real(root)
    return real not in excluded and os.path.dirname(real) != real


def data_dir(environ: Mapping[str, str], configured: str = "") -> str:
    """The folder that holds all ledgers: the configured one, else ``$XDG_DATA_HOME/memfold``.

    Args:
        environ: the environment.
        configured: ``dataDir`` of SPEC 19; blank means the default, a leading ``~`` the home folder.

    Raises:
        ConfigError: the configured path is relative (it would mean another folder in each working directory) or
            longer than any path, or there is no home folder to put the default in.
    """
    wanted = configured.strip()
    if not wanted:
        return _xdg(environ, "XDG_DATA_HOME", ".local/share", "dataDir")
    path = _expand(environ, wanted)
    if not os.path.isabs(path) or "\0" in path:
        raise ConfigError(f"dataDir {wanted!r} is no absolute path", "write it from '/' or '~/' on")
    if len(path) > PATH_LIMIT:
        raise ConfigError(f"dataDir is longer than {PATH_LIMIT} characters", "choose a shorter path")
    return os.path.normpath(path)


def config_dir(environ: Mapping[str, str]) -> str:
    """The folder of the user's ``config.toml``: ``$XDG_CONFIG_HOME/memfold``, default ``~/.config/memfold``.

    Raises:
        ConfigError: there is no home folder.
    """
    return _xdg(environ, "XDG_CONFIG_HOME", ".config", "XDG_CONFIG_HOME")


def ledger_dir(data: str, key: str) -> str:
    """The folder of one workspace's ledger in the data folder."""
    return os.path.join(data, "workspaces", key)


def _xdg(environ: Mapping[str, str], variable: str, default: str, setting: str) -> str:
    # The base directory specification says to ignore a variable that holds a relative path.
    for base in (environ.get(variable, ""), environ.get("LOCALAPPDATA", "")):
        if os.path.isabs(base):
            return os.path.join(os.path.normpath(base), "memfold")
    home = _home(environ)
    if not os.path.isabs(home):
        raise ConfigError("there is no home folder", f"set HOME or {setting} to an absolute path")
    return os.path.join(os.path.normpath(home), *default.split("/"), "memfold")


def _home(environ: Mapping[str, str]) -> str:
    """The home folder, or the empty string; the user database answers where the environment doesn't."""
    named = environ.get("HOME") or environ.get("USERPROFILE")
    if named:
        return named
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        return ""


def _expand(environ: Mapping[str, str], path: str) -> str:
    if path == "~" or path.startswith("~/"):
        home = _home(environ)
        return home + path[1:] if home else path
    return os.path.expanduser(path)  # ``~name`` is the home of another user


def _upwards(folder: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _git_dir(place: str) -> str:
    """The git directory of a repository whose worktree, or bare repository, is exactly here; empty if none."""
    dot_git = os.path.join(place, ".git")
    status = _look(dot_git)
    if status is not None and stat.S_ISREG(status.st_mode):
        # A worktree or submodule. Where what it names is gone, it still says that a checkout begins here.
        label, colon, target = _first_line(dot_git).partition(":")
        if label == "gitdir" and colon:
            return os.path.join(place, target.strip())
    elif status is not None and _is_git_dir(dot_git):
        return dot_git
    return place if _is_git_dir(place) else ""


def _is_git_dir(path: str) -> bool:
    """Whether git would take this for a repository; an empty ``.git`` folder is none."""
    head = _look(os.path.join(path, "HEAD"), follow=False)
    return head is not None and all(_is_folder(os.path.join(path, name)) for name in ("objects", "refs"))


def _is_folder(path: str) -> bool:
    status = _look(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def _main_worktree(place: str, git_dir: str) -> str:
    """The main worktree of the repository whose worktree is ``place``; a bare repository stands for itself."""
    shared = _first_line(os.path.join(git_dir, "commondir"))
    common = _resolved(os.path.join(git_dir, shared))
    if common != _resolved(place) and not (shared and _is_worktree(place, git_dir, common)):
        return place
    folder, name = os.path.split(common)
    # A bare repository beside its worktrees is often named by a ``.git`` file in the folder that holds them all.
    named = _git_dir(folder)
    if name == ".git" or (named and _resolved(named) == common):
        return folder
    configured = _core_worktree(os.path.join(common, "config"))
    worktree = os.path.join(common, configured)
    # As above: a stranger's configuration may name any folder, whose own ``.git`` then names another repository.
    own = _git_dir(worktree) if configured else ""
    return worktree if own and _resolved(own) == common else common


def _is_worktree(place: str, git_dir: str, common: str) -> bool:
    """Whether the repository knows the worktree too: a stranger's folder may name any repository as its own.

    Only whoever writes to a repository can have made ``worktrees/NAME`` in it, whose ``gitdir`` leads back.
    """
    real = _resolved(git_dir)
    if os.path.dirname(real) != os.path.join(common, "worktrees"):
        return False
    back = _first_line(os.path.join(real, "gitdir"))
    return bool(back) and _resolved(os.path.join(real, back)) == _resolved(os.path.join(place, ".git"))


def _core_worktree(path: str) -> str:
    """``core.worktree`` of a git configuration, which submodules have; empty if it isn't set."""
    section = ""
    for line in _read(path).splitlines():
        text = line.strip()
        if text.startswith("["):
            section = text.rstrip("]").lstrip("[").strip().lower()
        name, equals, value = text.partition("=")
        if section == "core" and equals and name.strip().lower() == "worktree":
            return value.strip().strip('"')
    return ""


def _first_line(path: str) -> str:
    return next(iter(_read(path).splitlines()), "").strip()


def _read(path: str) -> str:
    """What stands in one of git's files; empty where none is."""
    status = _look(path)
    if status is None or not stat.S_ISREG(status.st_mode):
        return ""
    try:
        with open(path, "rb", opener=open_regular) as file:
            text = os.fsdecode(file.read(_POINTER_LIMIT))
    except OSError as error:
        raise _hidden(path, error) from error
    return "" if "\0" in text else text  # what no path can hold names nothing


def _look(path: str, *, follow: bool = True) -> os.stat_result | None:
    """What the system tells of a path, None where nothing is; ``StorageFailure`` where it doesn't let us look."""
    try:
        return os.stat(path, follow_symlinks=follow)
    except ValueError:  # no path can be so
        return None
    except OSError as error:
        if error.errno in _NOWHERE:
            return None
        raise _hidden(path, error) from error


def _resolved(path: str) -> str:
    """The real path of what is there; a link that can't be read is not taken for a folder."""
    try:
        return os.path.realpath(path, strict=True)
    except ValueError:
        return path
    except OSError as error:
        if error.errno in _NOWHERE:
            return os.path.realpath(path)
        raise _hidden(path, error) from error


def _hidden(path: str, error: OSError) -> StorageFailure:
    why = error.strerror or str(error)
    return StorageFailure(
        f"{path} can't be read, so nobody knows which workspace this is: {why}",
        f"see what is wrong there: ls -la {path}",
    )


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a character that no path can hold, so it is nowhere
        return path


def _as_on_disk(path: str) -> str:
    """The path in the letter case that the disk holds, where a volume ignores case: one folder, one workspace."""
    parent, name = os.path.split(path)
    if parent == path:
        return path
    if _ignores_case(parent, name):
        names = _listed(parent)
        if name not in names:
            name = next((listed for listed in names if listed.casefold() == name.casefold()), name)
    return os.path.join(_as_on_disk(parent), name)


def _ignores_case(parent: str, name: str) -> bool:
    swapped = name.swapcase()
    if swapped == name or (other := _look(os.path.join(parent, swapped))) is None:
        return False
    own = _look(os.path.join(parent, name))
    return own is not None and os.path.samestat(own, other)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        if isinstance(error, PermissionError) or error.errno in _NOWHERE:
            return []  # it may be passed through, and not be listed
        raise _hidden(folder, error) from error
