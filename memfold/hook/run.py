"""The hook as a process: read one event, record it the lean way or the plain one, and end with 0 whatever happens."""

import posix
import time

import memfold
from ledger.lean import Attempt, append, encoded_id, parse, read_own
from memfold.hook.place import Unclear, find, is_there, signature
from memfold.hook.reduce import Unfit, as_line, read_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # without the enumerations that make it dear

__all__ = ["FOLDER", "INPUT_LIMIT", "NOTE", "NOT_SIMPLE", "Overtime", "handle", "main", "record_lean"]

INPUT_LIMIT = 8 * 1024 * 1024
"""Bytes of an event, as of a line to the bridge."""
NOT_SIMPLE = (Unfit, Unclear, OSError, ValueError, LookupError, TypeError, StopIteration, RecursionError)
"""How the lean way says that the plain one has to do it."""
SEAL_EVERY = 1000
FOLDER, NOTE = "derived", "hook.json"
"""Where the plain way leaves its note, below the ledger's folder."""
_KNOWN_LIMIT = 4096
_CHUNK = 1 << 16
SECONDS, PATIENCE = 1.75, 20.0
"""How long a host waits, and how long a child may take for what is left then."""
_PAUSE = 0.001
_MARKS, _WAITING = "private", "spool"


class Overtime(BaseException):
    """The time is over, and there is no event yet."""


class _Progress:
    """How far the process has come.

    Attributes:
        has_read: whether the event is here.
    """

    has_read = False


def main() -> None:
    """Handle the event on stdin and end the process, with 0 and without a word."""
    try:
        _be_quiet()
        _set_alarm()
        handle()
    except BaseException:  # noqa: BLE001, S110 - a host must never suffer from its hook
        pass
    finally:
        _end()


def handle() -> None:
    """Record the event on stdin."""
    raw: bytes | None = None
    attempt = Attempt()
    try:
        raw = _read()
        _Progress.has_read = True
        ms = time.time_ns() // 1_000_000
        if raw is not None and _is_recorded(raw, ms, attempt):
            return
        from memfold.hook.plain import record

        record(raw, ms, attempt.id)
    except Overtime:
        from memfold.hook.plain import note_overtime

        note_overtime()


def record_lean(raw: bytes, ms: int, random: bytes, environ: dict[bytes, bytes], attempt: Attempt) -> bool:
    """Record an event if that is simple; whether it is recorded.

    Args:
        raw: the event as it came.
        ms: the present time in milliseconds since the epoch.
        random: ten random bytes.
        environ: the environment.
        attempt: told before something is written.

    Raises:
        NOT_SIMPLE: if it isn't simple.
    """
    event = read_event(raw)
    line = as_line(event, encoded_id(ms, random), ms)
    cwd = event.get("cwd")
    folder, files = find(cwd if isinstance(cwd, str) else "", environ)
    version, _, seen, device, inode, byte, seq, begin, digest = _known(folder)
    if version != memfold.__version__ or seen != [signature(path) for path in files]:
        return False
    if is_there(f"{folder}/{_MARKS}") or _holds(f"{folder}/{_WAITING}"):
        return False  # what is off the record, and what waits, the plain way looks after
    known = (device, inode, byte, seq, begin, digest)
    return append(folder, known, line, attempt, SEAL_EVERY)


def _is_recorded(raw: bytes, ms: int, attempt: Attempt) -> bool:
    try:
        return record_lean(raw, ms, posix.urandom(10), posix.environ, attempt)
    except NOT_SIMPLE:
        return False


def _known(folder: str) -> tuple[str, str, object, int, int, int, int, int, str]:
    """What the plain way has left about the log (``memfold.hook.known``); disposable like all that is derived."""
    value = parse(read_own(f"{folder}/{FOLDER}", NOTE, _KNOWN_LIMIT))
    if not isinstance(value, list):
        raise Unfit
    # Its writer says what is in it; what else may stand there makes an error, and the event goes the plain way.
    return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _holds(folder: str) -> bool:
    """Whether there is anything in a folder."""
    try:
        return bool(posix.listdir(folder))
    except FileNotFoundError:
        return False


def _read() -> bytes | None:
    """All of stdin; None if it is too long. Then it is read and let go: a host may not expect a broken pipe."""
    chunks: list[bytes] = []
    size = 0
    while True:
        try:
            chunk = posix.read(0, _CHUNK)
        except BlockingIOError:  # the host's end may share its mode with ours
            time.sleep(_PAUSE)
            continue
        except OSError:
            chunk = b""
        if not chunk:
            return b"".join(chunks) if size <= INPUT_LIMIT else None
        size += len(chunk)
        if size <= INPUT_LIMIT:
            chunks.append(chunk)
        else:
            chunks.clear()


def _be_quiet() -> None:
    """Nothing but the null device on stdout and stderr, nor the ledger where a caller has closed a descriptor."""
    null = posix.open("/dev/null", posix.O_RDWR)
    while null <= 2:
        null = posix.dup(null)
    posix.dup2(null, 1)
    posix.dup2(null, 2)


def _end(_number: int = 0, _frame: object = None) -> None:
    """End the process: what Python would tidy up takes as long as all that came before."""
    posix._exit(0)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - its name


def _set_alarm() -> None:
    """Let the host go on after two seconds, whatever we still have to do."""
    signal.signal(signal.SIGALRM, _let_go)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    signal.setitimer(signal.ITIMER_REAL, SECONDS)


def _let_go(_number: int, _frame: object) -> None:
    """The host has waited long enough: a child does the rest, from here on, and nobody waits for that.

    An event that was read would else be lost where the machine is busy, and can't be kept as it came (SPEC 7.1).
    """
    try:
        child = posix.fork() == 0
    except OSError:
        child = False
    if not child:
        _end()
    posix.setsid()
    signal.signal(signal.SIGALRM, _end)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    if not _Progress.has_read:
        raise Overtime
