# ruff: noqa: PTH105, PTH106, PTH108, PTH118, PTH120, PTH123 - os.path strings, as in ``memfold.paths``
"""What was installed where: ``installs.json`` in the data folder, and the copies kept of files that were replaced."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from ledger.errors import LockTimeout, StorageError
from ledger.files import make_private_folder, open_regular, sync_folder
from ledger.locks import default_lock
from memfold.hosts.opencode_places import FILE_NAME, is_plugin_place
from memfold.terminal import clean

__all__ = [
    "MANIFEST_NAME",
    "Earlier",
    "Install",
    "Manifest",
    "Scope",
    "hold_manifest",
    "keep_copy",
    "kept_path",
    "read_manifest",
    "remove_empty_folders",
    "replace_file",
    "write_manifest",
]

MANIFEST_NAME = "installs.json"
Scope = Literal["global", "project"]

_KEPT = "kept"
_KEPT_NAME = re.compile(rf"[0-9a-f]{{16}}-{re.escape(FILE_NAME)}")
_LOCK_SUFFIX = ".lock"
_LOCK_SECONDS = 2.0
_ROUNDS = 3
"""How often a data folder is made that another process removes, as empty, before the lock is in it."""
_LIMIT = 1 << 20
_PRIVATE = 0o600
_DIGEST_SHOWN = 16


class Earlier(Struct, frozen=True):
    """A file that stood in the place of ours before the first install.

    Attributes:
        kept: where its content is.
        mode: its permissions.
        mtime_ns: when it was last changed, in nanoseconds.
    """

    kept: str
    mode: Annotated[int, Meta(ge=0, le=0o7777)]
    mtime_ns: Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class Install(Struct, frozen=True, omit_defaults=True):
    """One installed file.

    Attributes:
        host: whose plugin it is.
        scope: for the user, or for one project.
        path: where it is.
        digest: SHA-256 (hex) of what was written.
        folders: the folders that were made for it, the outermost first.
        earlier: what stood there before; None if nothing did.
    """

    host: str
    scope: Scope
    path: str
    digest: str
    folders: tuple[str, ...] = ()
    earlier: Earlier | None = None


class _Stored(Struct, tag_field="schema", tag="memfold.installs/1"):
    """The list as it is in the file: what its entries hold is still to be seen."""

    installs: tuple[Any, ...] = ()


class Manifest(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag="memfold.installs/1"):
    """All installs of a data folder.

    Attributes:
        installs: in the order in which they were made; a path stands here once.
        damage: why the file, or some of its entries, can't be used and so counts as absent; not stored.
    """

    installs: tuple[Install, ...] = ()
    damage: str = ""

    def of(self, path: str) -> Install | None:
        """The install at a path."""
        return next((one for one in self.installs if one.path == path), None)

    def with_install(self, install: Install) -> Manifest:
        """The manifest with an install, in the place of an earlier one at the same path."""
        return Manifest((*(one for one in self.installs if one.path != install.path), install), self.damage)

    def without(self, path: str) -> Manifest:
        """The manifest without what it says about a path."""
        return Manifest(tuple(one for one in self.installs if one.path != path), self.damage)


def read_manifest(data: str) -> Manifest:
    """The manifest of a data folder; one that is missing or damaged is empty, and nothing is raised or changed.

    The file is data: an entry that no install of ours can have made is left out, so that nobody acts on it.
    """
    path = os.path.join(data, MANIFEST_NAME)
    try:
        with open(path, "rb", opener=open_regular) as file:
            raw = file.read(_LIMIT + 1)
        # Not by msgspec's own parser: the path of a file may be no UTF-8.
        stored = msgspec.convert(json.loads(raw), _Stored).installs
    except FileNotFoundError:
        return Manifest()
    except OSError as error:
        return Manifest(damage=error.strerror or str(error))
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors too
        return Manifest(damage=clean(str(error).partition("\n")[0]))
    installs: dict[str, Install] = {}
    wrong: list[str] = []
    for number, one in enumerate(stored, 1):
        try:
            install = msgspec.convert(one, Install)
            _validate(install, data)
        except (ValueError, RecursionError) as error:
            wrong.append(f"entry {number}: {clean(str(error))}")
        else:
            installs[install.path] = install
    more = f", and {len(wrong) - 1} more" if wrong[1:] else ""
    return Manifest(tuple(installs.values()), f"{wrong[0]}{more}" if wrong else "")


@contextmanager
def hold_manifest(data: str) -> Generator[None]:
    """Keep other processes from changing the manifest in between reading and writing it; wait two seconds at most.

    Where the lock can't be made, the manifest can't be written either: whoever tries is told by that.

    Raises:
        LockTimeout: if another process held it all the time.
    """
    path = os.path.join(data, MANIFEST_NAME)
    lock = default_lock(path + _LOCK_SUFFIX, _LOCK_SECONDS)
    with ExitStack() as stack:
        stack.callback(lock.close)
        for _ in range(_ROUNDS):
            try:
                make_private_folder(data)
                stack.enter_context(lock.hold())
            except LockTimeout:
                raise
            except (OSError, StorageError):
                continue
            stack.callback(_remove_idle_lock, path)
            break
        yield


def _remove_idle_lock(path: str) -> None:
    """Without a list there is nothing to lock. Called by the holder: who waits sees that the file is another's now."""
    if not os.path.lexists(path):
        with suppress(OSError):
            os.unlink(path + _LOCK_SUFFIX)


def _validate(install: Install, data: str) -> None:
    """Refuse what no install of ours can have written.

    Raises:
        ValueError: with the reason.
    """
    if not is_plugin_place(install.path):
        raise ValueError("its path is no place for a plugin of ours")
    # The path is absolute and normal, so whatever it begins with is a folder above it.
    if not all(one and install.path.startswith(os.path.join(one, "")) for one in install.folders):
        raise ValueError("it names folders that the file doesn't lie in")
    folder, name = os.path.split(install.earlier.kept) if install.earlier else ("", "")
    if install.earlier and (folder != os.path.join(data, _KEPT) or not _KEPT_NAME.fullmatch(name)):
        raise ValueError("what it would restore is no copy that was kept")


def write_manifest(data: str, manifest: Manifest) -> str:
    """Store the manifest, without a file if it is empty.

    Returns:
        Where a damaged one was set aside; empty if there was none.

    Raises:
        OSError: if the data folder can't be written.
    """
    path = os.path.join(data, MANIFEST_NAME)
    aside = ""
    if manifest.damage and os.path.lexists(path):
        aside = f"{path}.damaged"
        os.replace(path, aside)
    if manifest.installs:
        make_private_folder(data)
        document = msgspec.to_builtins(Manifest(manifest.installs))
        replace_file(path, json.dumps(document, indent=2).encode() + b"\n", mode=_PRIVATE)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)
    return aside


def remove_empty_folders(data: str) -> None:
    """Remove the data folder if nothing is in it, and the folder of kept copies; whoever needs one makes it anew."""
    for folder in (os.path.join(data, _KEPT), data):
        with suppress(OSError):  # not there, or not empty
            os.rmdir(folder)


def kept_path(data: str, name: str, digest: str) -> str:
    """Where a copy of a file with this name and content is kept."""
    return os.path.join(data, _KEPT, f"{digest[:_DIGEST_SHOWN]}-{name}")


def keep_copy(path: str, content: bytes) -> None:
    """Keep a copy at ``kept_path``; the same content is kept once.

    Raises:
        OSError: if the data folder can't be written.
    """
    make_private_folder(os.path.dirname(path))
    replace_file(path, content, mode=_PRIVATE)


def replace_file(path: str, content: bytes, *, mode: int, mtime_ns: int | None = None) -> None:
    """Put a whole file in place, or leave what is there: written beside it, synced, renamed.

    The name in between has no ending that a host would load.

    Raises:
        OSError: as the system says; no half file stays behind.
    """
    folder, name = os.path.split(path)
    try:
        descriptor, beside = tempfile.mkstemp(prefix=f".{name}.", suffix=".tmp", dir=folder)
    except OSError as error:
        error.filename = path  # a name that somebody knows
        raise
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        if mtime_ns is not None:
            os.utime(beside, ns=(mtime_ns, mtime_ns))
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    with suppress(PermissionError):  # a folder that may be written but not read can't be synced
        sync_folder(folder)
