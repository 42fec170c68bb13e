"""One line behind the tail of a log that is known up to some byte: for hooks, which have no time to import the rest.

Imports nothing but built-in modules: each other one costs a tenth of the start of a process or more. So it writes one
kind of event alone, behind a tail that holds nothing else since the known byte, and leaves whatever is out of the
ordinary to ``ledger.log``. What it writes is what that would write (``tests/laws/test_hook.py``).
"""

import posix
import sys
import time
from _json import make_scanner
from fcntl import LOCK_EX, LOCK_NB, flock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:  # an interpreter that was built without its own
        from hashlib import sha256

__all__ = ["SPAN", "TYPE", "Attempt", "Known", "append", "encoded_id", "members", "parse", "read_own", "sha256"]

SPAN = 512 * 1024
"""Bytes that may stand behind the known byte: they are read with each append."""

TYPE = '{"type":"tool.completed"'
_START = TYPE.encode() + b',"specversion":"1.0",'
_TRIES = 24
_FIRST_PAUSE = 0.000_2
_LONGEST_PAUSE = 0.005
_KIND, _REGULAR, _ANYONE = 0o170000, 0o100000, 0o002
_STATUSES = ("completed", "failed", "aborted")
_SAFE = 2**53

Known = tuple[int, int, int, int, int, str]
"""Device and inode of the log; a byte at which a line ends; the seq that is next there; the byte at which that line
begins, and its SHA-256 in hex."""


class Attempt:
    """Whether a write was tried: what then fails may still have stored the event, under this id.

    Attributes:
        id: the id, None as long as nothing was tried.
    """

    id: str | None = None


class _Strict:
    """How the scanner reads: no name twice in an object, no NaN."""

    strict = True
    object_hook = None
    parse_float = float
    parse_int = int

    @staticmethod
    def object_pairs_hook(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a name twice")  # which of them counts is for others to say
        return found

    @staticmethod
    def parse_constant(name: str) -> object:
        raise ValueError(name)


_scan = make_scanner(_Strict())  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - by its attributes


def parse(text: str) -> object:
    """The JSON value of a text.

    Raises:
        ValueError, StopIteration, RecursionError: if it is none, or one that readers could differ about.
    """
    body = text.strip(" \t\r\n")
    try:
        value, end = _scan(body, 0)
    except SystemError as error:  # Python 3.11 can't raise what it wants to as long as nobody has imported json
        raise ValueError("no JSON") from error
    if end != len(body):
        raise ValueError("more than one value")
    return value


def members(value: object) -> dict[str, object] | None:
    """The members of a JSON object; None of another value."""
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType] - from ``parse``


def encoded_id(ms: int, random: bytes) -> str:
    """The UUIDv7 of ``ledger.ids.uuid7``."""
    bits = int.from_bytes(random[:10], "big") >> 6
    packed = ms << 80 | 7 << 76 | bits >> 62 << 64 | 2 << 62 | bits & (1 << 62) - 1
    digits = f"{packed:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def append(folder: str, known: Known, line: tuple[str, bytes, bytes], attempt: Attempt, every: int) -> bool:
    """Write a line with one write under the lock; whether it is written.

    Args:
        folder: the ledger's folder.
        known: what is known of the log.
        line: the id of the event, and its line before and behind its seq.
        attempt: told before the write.
        every: the event before each multiple of this number is left to others, who write a head behind it.

    Raises:
        OSError: if the system refuses; nothing is stored unless ``attempt`` says that it was tried.
    """
    path = folder + "/events.jsonl"
    lock = posix.open(path + ".lock", posix.O_RDWR | posix.O_CLOEXEC | posix.O_NONBLOCK)
    try:
        # As ``ledger.locks``: a sidecar that was replaced before we had it keeps nobody out.
        if not _locked(lock) or not _same(posix.stat(path + ".lock"), posix.fstat(lock)):
            return False
        log = posix.open(path, posix.O_RDWR | posix.O_APPEND | posix.O_CLOEXEC | posix.O_NONBLOCK)
        try:
            seq = _next_seq(log, folder, known)
            if seq is None or (seq + 1) % every == 0:
                return False
            attempt.id, before, behind = line
            data = before + b"%d" % seq + behind
            return posix.write(log, data) == len(data)
        finally:
            posix.close(log)
    finally:
        posix.close(lock)


def read_own(folder: str, name: str, limit: int) -> str:
    """What a file in a folder beside the log begins with, as ``ledger.trust.open_own`` opens it.

    Args:
        folder: the folder.
        name: of the file.
        limit: how many bytes are read.

    Raises:
        OSError: if the system refuses, or for a symbolic link.
        ValueError: if somebody else can have written it, or it is no text.
    """
    flags = posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK | posix.O_NOFOLLOW
    descriptor = posix.open(f"{folder}/{name}", flags)
    try:
        status = posix.fstat(descriptor)
        if not (_is_own(posix.stat(folder)) and _is_own(status)) or status.st_mode & _KIND != _REGULAR:
            raise ValueError("not our own")
        return posix.read(descriptor, limit).decode()
    finally:
        posix.close(descriptor)


def _is_own(status: posix.stat_result) -> bool:
    """Whether nobody else can have written what a file or folder holds, as ``ledger.trust`` judges."""
    return status.st_uid == posix.geteuid() and not status.st_mode & _ANYONE


def _locked(descriptor: int) -> bool:
    """Take the lock, within some fifty milliseconds: who waits longer may as well import a patient one."""
    pause = _FIRST_PAUSE
    for _ in range(_TRIES):
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        else:
            return True
    return False


def _next_seq(log: int, folder: str, known: Known) -> int | None:
    """The seq that is next; None if the log isn't ours, isn't the known one, or has a tail that needs a closer look."""
    device, inode, byte, seq, begin, digest = known
    status, place = posix.fstat(log), posix.stat(folder)
    size = status.st_size
    if (status.st_dev, status.st_ino) != (device, inode) or not byte <= size <= byte + SPAN:
        return None
    if not (_is_own(status) and _is_own(place)) or status.st_mode & _KIND != _REGULAR:
        return None
    data = posix.pread(log, size - begin, begin)
    if len(data) != size - begin or sha256(data[: byte - begin]).hexdigest() != digest:
        return None
    new = data[byte - begin :]
    return seq if not new else _behind(new, seq)


def _behind(new: bytes, seq: int) -> int | None:
    """The seq behind lines that are all of our kind; dense, or the last one would have another number."""
    lines = new.count(b"\n")
    if not (new.endswith(b"\n") and new.startswith(_START) and new.count(b"\n" + _START) == lines - 1):
        return None
    last = new[new.rfind(b"\n", 0, -1) + 1 :]
    # Looked at as closely as a reader would: one that is damaged counts for nothing, and its seq is given again.
    return seq + lines if _is_event(last, seq + lines - 1) else None


def _is_event(line: bytes, seq: int) -> bool:
    if b"\\ud" in line or b"\\uD" in line:  # half a character, maybe
        return False
    event = members(parse(line.decode()))
    if event is None or event.get("seq") != seq or type(event["seq"]) is not int:
        return False
    texts = {name: value for name, value in event.items() if name not in ("seq", "data")}
    return (
        event.get("specversion") == "1.0"
        and texts.keys() - {"time"} == {"type", "specversion", "id", "source"}
        and _are_texts(texts)
        and _is_data(members(event.get("data")))
    )


def _is_data(data: dict[str, object] | None) -> bool:
    if data is None:
        return False
    rest = dict(data)
    args, code, status = members(rest.pop("args", {})), rest.pop("exit", 0), rest.pop("status", "completed")
    return (
        rest.keys() - {"output"} == {"call", "tool"}
        and _are_texts(rest)
        and args is not None
        and not args.keys() - {"path", "command"}
        and _are_texts(args)
        and type(code) is int
        and -_SAFE < code < _SAFE
        and status in _STATUSES
    )


def _are_texts(values: dict[str, object]) -> bool:
    return all(type(value) is str for value in values.values())


def _same(a: posix.stat_result, b: posix.stat_result) -> bool:
    return (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
