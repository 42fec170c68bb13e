"""What the plain way leaves for the lean one: up to which byte the log is known, and under which settings.

``derived/hook.json`` is disposable. It says that at a byte of the log a line ended, which seq was next there, that the
policy in force was the configured one, and that all this was so with these settings files. The lean way compares the
log's inode, the last line before that byte, and the files, and reads what stands behind it; where anything is not as it
was, the plain way looks again and writes the note anew. Without files it serves the plain way alone, which need not
read all of the log for the policy in force then.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import NamedTuple

import msgspec
from msgspec import MsgspecError, Struct

from ledger.digests import sha256
from ledger.errors import LedgerError
from ledger.events import PolicySet
from ledger.files import open_regular
from ledger.lean import SPAN
from ledger.log import FileLog
from ledger.reader import START, Cursor
from ledger.tail import read_tail
from ledger.trust import open_own, put_own
from memfold import __version__
from memfold.hook.place import signature
from memfold.hook.run import FOLDER, NOTE

__all__ = ["NOTHING", "InForce", "Known", "load", "policy_in_force", "read_on", "save", "signatures"]

_LIMIT = 4096
_LONGEST_LINE = SPAN
_RACY_NS = 2_000_000_000
"""How old a file must be to be known by its times: a later change could else have the same (FAT counts two seconds)."""

Signatures = tuple[list[int] | None, ...]


class Known(Struct, array_like=True, frozen=True):
    """The note, in the order in which ``ledger.lean`` reads it."""

    version: str
    policy: str
    files: Signatures | None
    device: int
    inode: int
    byte: int
    seq: int
    begin: int
    digest: str


class InForce(NamedTuple):
    """The digest of the last policy of a log, empty without one, and where the reading goes on."""

    policy: str
    cursor: Cursor


NOTHING = InForce("", START)
"""Of a log that isn't there, or can't be read."""


def signatures(files: tuple[str, ...]) -> Signatures | None:
    """By what the settings files are known; None if one of them was changed too lately, or can't be looked at."""
    with suppress(OSError, ValueError):
        found = tuple(map(signature, files))
        newest = max((max(times[:2]) for times in found if times is not None), default=0)
        if newest < time.time_ns() - _RACY_NS:
            return found
    return None


def policy_in_force(log: FileLog, known: Known | None) -> InForce:
    """The policy in force at the end of a log: what stands behind the known byte is read, or all of it.

    Raises:
        LedgerError: if it can't be read, or isn't there.
    """
    start = NOTHING
    if known is not None and _stands(log.path, known):
        start = InForce(known.policy, Cursor(known.byte, known.seq, known.seq - 1))
    return read_on(log, start)


def read_on(log: FileLog, before: InForce) -> InForce:
    """The same, from where an earlier reading ended.

    Raises:
        LedgerError: as above.
    """
    policy, reader = before.policy, log.reader(before.cursor)
    for event in reader:
        if isinstance(event, PolicySet):
            policy = event.data.digest
    return InForce(policy, reader.cursor)


def load(folder: str) -> Known | None:
    """The note in a ledger's folder; None where there is none that this version wrote."""
    with suppress(OSError, MsgspecError), open(_place(folder), "rb", opener=open_own) as file:
        known = msgspec.json.decode(file.read(_LIMIT), type=Known)
        return known if known.version == __version__ else None
    return None


def save(log: FileLog, before: InForce, policy: str, files: Signatures | None) -> None:
    """Write the note, if the configured policy is in force at the end of the log; best effort."""
    with suppress(OSError, LedgerError):
        now = read_on(log, before)
        known = _known(log.path, now.cursor.byte, policy, files) if now.policy == policy else None
        if known is not None:
            _replace(_place(log.directory), msgspec.json.encode(known))


def _place(folder: str) -> str:
    return f"{folder}/{FOLDER}/{NOTE}"


def _known(path: str, byte: int, policy: str, files: Signatures | None) -> Known | None:
    """What is to be known of a log up to a byte; None if the tail before it is no healthy line."""
    with open(path, "rb", buffering=0, opener=open_regular) as file:
        status = os.fstat(file.fileno())
        tail = read_tail(file.fileno(), byte)
        if tail.rest or not byte:
            return None
        start = max(0, byte - _LONGEST_LINE)
        data = os.pread(file.fileno(), byte - start, start)
    begin = data.rfind(b"\n", 0, -1) + 1
    if start and not begin:
        return None
    digest = sha256(data[begin:]).hexdigest()
    return Known(__version__, policy, files, status.st_dev, status.st_ino, byte, tail.next_seq, start + begin, digest)


def _stands(path: str, known: Known) -> bool:
    """Whether the log is still the one that was known."""
    with suppress(OSError, ValueError), open(path, "rb", buffering=0, opener=open_regular) as file:
        status = os.fstat(file.fileno())
        line = os.pread(file.fileno(), known.byte - known.begin, known.begin)
        same = (status.st_dev, status.st_ino) == (known.device, known.inode)
        return same and len(line) == known.byte - known.begin and sha256(line).hexdigest() == known.digest
    return False


def _replace(path: str, data: bytes) -> None:
    """Put a file in place as a whole. Several hooks may do so at once: each has a name of its own before that."""
    beside = f"{path}.{os.getpid()}"
    with suppress(FileNotFoundError):  # left by a kill
        os.unlink(beside)  # noqa: PTH108
    put_own(path, beside, data)
