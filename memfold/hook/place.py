"""Where the ledger of a folder is, as ``memfold.paths`` says, found with a few looks at the disk; or not at all.

Answers only where the answer is plain: a folder named as it is on disk, in no repository, in the main worktree of one
or in a linked worktree of one; data and configuration in their default places. Nothing is remembered from one look to
the next, so nothing can be out of date.
"""

import posix

from ledger.lean import sha256

__all__ = ["Place", "Unclear", "find", "is_there", "signature"]

_KIND, _FOLDER, _REGULAR = 0o170000, 0o040000, 0o100000
_POINTER_LIMIT = 4096
_WORKTREES = "/.git/worktrees/"

Place = tuple[str, tuple[str, str]]
"""The ledger's folder, and the files that may hold settings: the user's and the workspace's."""


class Unclear(Exception):  # noqa: N818 - no error: somebody else has to look
    """It takes a closer look than this one."""


def find(directory: str, environ: dict[bytes, bytes]) -> Place:
    """The place of a folder's ledger.

    Args:
        directory: the folder that a client works in.
        environ: the environment, as the system gives it.

    Raises:
        Unclear, OSError, ValueError: if it isn't plain to see.
    """
    if any(name.startswith(b"MEMFOLD") for name in environ):
        raise Unclear
    _require_folders(directory)
    root = _root(directory)
    _require_spelling(root)
    home = _base(environ, b"HOME") if b"LOCALAPPDATA" not in environ else ""
    data = _base(environ, b"XDG_DATA_HOME") or home + "/.local/share"
    config = _base(environ, b"XDG_CONFIG_HOME") or home + "/.config"
    if not home:
        raise Unclear
    key = sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{data}/memfold/workspaces/{key}", (config + "/memfold/config.toml", root + "/.memfold.toml")


def signature(path: str) -> list[int] | None:
    """What changes when a file does; None where there is none."""
    try:
        status = posix.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino]


def _base(environ: dict[bytes, bytes], name: bytes) -> str:
    """The folder that a variable names; empty if it isn't set."""
    base = environ.get(name, b"").decode()
    if base and not _is_normal(base):
        raise Unclear
    return base


def _is_normal(path: str) -> bool:
    first, *parts = path.split("/")
    return not first and all(part not in ("", ".", "..") for part in parts)


def _require_folders(path: str) -> None:
    """A path of folders without a link on the way is its own real path."""
    if not _is_normal(path) or "\0" in path:
        raise Unclear
    at = path.find("/", 1)
    while at > 0:
        _require(path[:at], _FOLDER)
        at = path.find("/", at + 1)
    _require(path, _FOLDER)


def _require(path: str, kind: int) -> None:
    if posix.lstat(path).st_mode & _KIND != kind:
        raise Unclear


def _root(directory: str) -> str:
    """The root of the repository that holds a folder, else the folder."""
    place = directory
    while True:
        git = place + "/.git"
        if is_there(git):
            break
        # ``HEAD`` makes a folder look like a bare repository; the top folder is the root of nothing that is plain.
        if not place or is_there(place + "/HEAD"):
            if place or is_there("/HEAD"):
                raise Unclear
            return directory
        place = place[: place.rindex("/")]
    if not place:
        raise Unclear
    if posix.lstat(git).st_mode & _KIND == _REGULAR:
        return _main_worktree(git)
    _require_repository(git)
    if is_there(git + "/commondir"):
        raise Unclear
    return place


def _main_worktree(pointer: str) -> str:
    """The main worktree of the linked one in which the file stands, if the repository knows that one too."""
    label, _, git_dir = _line(pointer).partition(": ")
    main, found, name = git_dir.rpartition(_WORKTREES)
    if label != "gitdir" or not found or not name or "/" in name:
        raise Unclear
    _require_folders(git_dir)
    if _line(git_dir + "/commondir") != "../.." or _line(git_dir + "/gitdir") != pointer:
        raise Unclear
    _require_repository(main + "/.git")
    return main


def _require_repository(git: str) -> None:
    posix.lstat(git + "/HEAD")
    for path in (git, git + "/objects", git + "/refs"):
        _require(path, _FOLDER)


def _line(path: str) -> str:
    """The one line of a small file."""
    _require(path, _REGULAR)
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    try:
        text = posix.read(descriptor, _POINTER_LIMIT).decode()
    finally:
        posix.close(descriptor)
    line = text.removesuffix("\n")
    if not line.isprintable() or len(text) == _POINTER_LIMIT or line != line.strip():
        raise Unclear
    return line


def _require_spelling(root: str) -> None:
    """The letter case of a path is that of the disk, also where a volume ignores case."""
    parent = ""
    for name in root.split("/")[1:]:
        other = name.swapcase()
        if other != name and is_there(f"{parent}/{other}") and name not in posix.listdir(parent or "/"):
            raise Unclear
        parent += "/" + name


def is_there(path: str) -> bool:
    """Whether anything stands at a path, a link that leads nowhere too.

    Raises:
        OSError: if the system doesn't say.
    """
    try:
        posix.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
