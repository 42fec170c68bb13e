"""The system's file calls, counted, of which one fails, or all from one on: found by themselves, whoever makes them."""

from __future__ import annotations

import builtins
import errno
import fcntl
import inspect
import io
import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from unittest import mock

from ledger import locks

__all__ = [
    "Call",
    "Trouble",
    "broken_disk",
    "counted",
    "dead",
    "error_of",
    "full",
    "half",
    "only_below",
    "read_only",
    "refused",
    "without_syncs",
]

_OTHERS = frozenset(
    {
        *("fspath", "isatty", "device_encoding", "get_terminal_size", "get_inheritable", "set_inheritable"),
        *("get_blocking", "set_blocking", "posix_spawn", "posix_spawnp", "execv", "execve", "register_at_fork"),
    }
)
"""What takes a path or a descriptor, or doesn't tell what it takes, and touches no file."""
_FIRST = frozenset({"path", "fd", "src", "file", "in_fd", "out_fd"})

_WRITING = os.O_WRONLY | os.O_RDWR
_GROWING = frozenset({"write", "mkdir", "rename", "replace", "link", "symlink", "fsync", "fdatasync"})
_CHANGING = _GROWING | {"rmdir", "unlink", "remove", "chmod", "fchmod", "utime", "truncate", "ftruncate"}
_SYNCING = frozenset({"fsync", "fdatasync"})

Trouble = Callable[["Call"], OSError | int | None]
"""What becomes of a call: an error, the number of bytes it takes of those it is given, or None to do as usual."""


class Call:
    """One call: its number, from 1, its name, its arguments, and the path that it is about; empty if nobody knows."""

    def __init__(self, number: int, name: str, arguments: tuple[Any, ...], path: str) -> None:
        self.number, self.name, self.arguments, self.path = number, name, arguments, path

    @property
    def grows(self) -> bool:
        """Whether it needs room."""
        return self.name in _GROWING or (self.name == "open" and bool(self._flags & os.O_CREAT))

    @property
    def changes(self) -> bool:
        """Whether a file system that can only be read refuses it; a sync it takes."""
        writes = self.name == "open" and bool(self._flags & (_WRITING | os.O_CREAT))
        return writes or self.name in _CHANGING - _SYNCING

    @property
    def moves_bytes(self) -> bool:
        """Whether it may take or give fewer bytes than it is asked for."""
        return self.name in {"read", "pread", "write", "pwrite"}

    @property
    def _flags(self) -> int:
        flags = self.arguments[1] if len(self.arguments) > 1 else 0
        return flags if isinstance(flags, int) else 0

    def __str__(self) -> str:
        return f"call {self.number}: {self.name} of {self.path}"


def error_of(code: int) -> OSError:
    """The error that the system gives with a number."""
    return OSError(code, os.strerror(code))


def refused(number: int, code: int) -> Trouble:
    """One call is refused, and all others are done."""
    return lambda call: error_of(code) if call.number == number else None


def half(number: int) -> Trouble:
    """One call moves half of its bytes, which is no error."""
    return lambda call: 2 if call.number == number and call.moves_bytes else None


def full(number: int) -> Trouble:
    """From one call on there is no room; if that is a write, half of it still finds some."""

    def trouble(call: Call) -> OSError | int | None:
        if call.number < number or not call.grows:
            return None
        return 2 if call.number == number and call.name == "write" else error_of(errno.ENOSPC)

    return trouble


def read_only(number: int) -> Trouble:
    """From one call on nothing can be changed."""
    return lambda call: error_of(errno.EROFS) if call.number >= number and call.changes else None


def dead(number: int) -> Trouble:
    """From one call on nothing works, not even to look."""
    return lambda call: error_of(errno.EIO) if call.number >= number else None


def only_below(folder: str, trouble: Trouble) -> Trouble:
    """The trouble at what is below a folder: another file system than the rest."""
    return lambda call: trouble(call) if call.path.startswith(folder) else None


class _Disk:
    def __init__(self, trouble: Trouble) -> None:
        self.trouble = trouble
        self.calls: list[Call] = []
        self._paths: dict[int, str] = {}  # of descriptors

    def around(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """A call of the system, if the trouble lets it pass."""

        def call(*arguments: Any, **options: Any) -> Any:
            what = next(iter(arguments), "")
            path = self._path_of(what) if isinstance(what, int) else os.fsdecode(what)
            this = Call(len(self.calls) + 1, name, arguments, path)
            self.calls.append(this)
            answer = self.trouble(this)
            if isinstance(answer, OSError):
                if name == "close":  # the system lets go of it all the same
                    with suppress(OSError):
                        real(*arguments, **options)
                raise answer
            if answer is not None:
                arguments = _less(name, arguments, answer)
            result = real(*arguments, **options)
            if name == "open":
                self._paths[result] = path
            return result

        return call

    def _path_of(self, descriptor: int) -> str:
        """The path behind a descriptor, which may have been opened before the trouble came."""
        if descriptor not in self._paths:
            with suppress(OSError):
                return str(_FILE_CALLS["readlink"](f"/proc/self/fd/{descriptor}"))
        return self._paths.get(descriptor, "")


def _less(name: str, arguments: tuple[Any, ...], part: int) -> tuple[Any, ...]:
    descriptor, what, *rest = arguments
    if name in {"read", "pread"}:
        return (descriptor, max(1, what // part), *rest)
    whole = bytes(what)
    return (descriptor, whole[: max(1, len(whole) // part)], *rest)


class _Raw(io.RawIOBase):
    """A file whose bytes go through the functions of ``os``, as those of Python's own files don't."""

    def __init__(self, descriptor: int, *, writes: bool) -> None:
        self._descriptor, self._writes = descriptor, writes

    def readable(self) -> bool:
        return not self._writes

    def writable(self) -> bool:
        return self._writes

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def readinto(self, buffer: Any, /) -> int:
        data = os.read(self._descriptor, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: Any, /) -> int:
        return os.write(self._descriptor, bytes(data))

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return os.lseek(self._descriptor, offset, whence)

    def close(self) -> None:
        if not self.closed:
            super().close()
            # What the system says of a close is about bytes that it still had to write.
            (os.close if self._writes else _FILE_CALLS["close"])(self._descriptor)


def _open(  # noqa: PLR0917 - as the built-in one
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Callable[[Any, int], int] | None = None,
) -> Any:
    """The built-in ``open``, as far as it is used: files that are read or written, never both."""
    flags = {"r": os.O_RDONLY, "w": os.O_WRONLY | os.O_CREAT | os.O_TRUNC, "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND}
    flags["x"] = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    kind = mode[0]
    assert closefd
    assert "+" not in mode
    descriptor = file
    if not isinstance(file, int):
        wanted = flags[kind] | os.O_CLOEXEC
        descriptor = opener(file, wanted) if opener else os.open(os.fspath(file), wanted, 0o666)
    raw = _Raw(descriptor, writes=kind != "r")
    if buffering == 0:
        return raw
    size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
    try:
        binary = io.BufferedReader(raw, size) if kind == "r" else io.BufferedWriter(raw, size)
        return binary if "b" in mode else io.TextIOWrapper(binary, encoding or "utf-8", errors, newline)
    except OSError:
        raw.close()
        raise


@contextmanager
def broken_disk(trouble: Trouble) -> Generator[list[Call]]:
    """Put the trouble between this process and its files; the calls, as they are made."""
    disk = _Disk(trouble)
    lock = disk.around("flock", fcntl.flock)
    with ExitStack() as patches:
        for name in _FILE_CALLS:
            patches.enter_context(mock.patch.object(os, name, disk.around(name, getattr(os, name))))
        for module, name, call in ((fcntl, "flock", lock), (locks, "flock", lock), (builtins, "open", _open)):
            patches.enter_context(mock.patch.object(module, name, call))
        patches.enter_context(mock.patch.object(io, "open", _open))
        yield disk.calls


@contextmanager
def without_syncs() -> Generator[None]:
    """Nothing is brought to the disk: no test cuts the power, and a sync takes as long as a hundred other calls."""
    with ExitStack() as patches:
        for name in _SYNCING:
            patches.enter_context(mock.patch.object(os, name, _no_sync))
        yield


def _no_sync(_descriptor: int) -> None:
    return


def counted(work: Callable[[], object]) -> list[Call]:
    """The calls that some work makes."""
    with broken_disk(lambda _: None) as calls:
        work()
    return calls


def _takes_files(name: str) -> bool:
    """Whether a function of ``os`` takes a path or a descriptor: then it can fail as files do."""
    function = getattr(os, name)
    if not inspect.isbuiltin(function) or name in _OTHERS:
        return False
    try:
        return next(iter(inspect.signature(function).parameters), "") in _FIRST
    except ValueError:  # it can't be told, as that of ``utime``
        return True


_FILE_CALLS: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in dir(os) if _takes_files(name)}
