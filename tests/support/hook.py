"""``memfold hook`` in this process: both ways into one ledger, the log put back after each."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from ledger.lean import Attempt, encoded_id
from ledger.log import LOG_NAME
from memfold.hook import plain, run
from memfold.hook.command import fast_command
from tests.support.bridge import folder_of

__all__ = ["MS", "SESSION", "Bench", "bench", "ended", "hooked", "patient", "repository"]
__all__ += ["sent", "start", "taken", "tool"]

MS = 1_780_000_000_123
SESSION = "5d0a5b0e-8a3e-4f0e-9d43-1b2c3d4e5f60"
_RANDOM = bytes(range(10))
_ID = encoded_id(MS, _RANDOM)


def sent(type_: str, cwd: object, data: object = None, session: object = SESSION, **more: object) -> dict[str, Any]:
    """An event as a host sends it."""
    event = {"type": type_, "host": "claude-code", "session": session, "cwd": os.fspath(cwd)}  # type: ignore[call-overload]
    return {**event, **more, **({} if data is None else {"data": data})}


def tool(cwd: object, name: object = "Bash", call: object = "toolu_01", **more: object) -> dict[str, Any]:
    """A finished tool call."""
    return sent("tool.completed", cwd, {"call": call, "tool": name, **more})


def repository(folder: Path) -> Path:
    """A folder that git would take for a repository."""
    for name in ("objects", "refs"):
        (folder / ".git" / name).mkdir(parents=True, exist_ok=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


class Bench:
    """A ledger that both ways write to.

    Attributes:
        root: the workspace.
        log: the log.
        begin: how long it is when nothing has been appended.
        note: what then stands in the note for the lean way.
    """

    def __init__(self, top: Path) -> None:
        self.top = top
        self.root = repository(top / "w")
        self.environ = {"HOME": str(top / "home"), "PATH": "/nowhere"}
        self._plain(json.dumps(sent("session.started", self.root)).encode())
        self.folder = folder_of(top / "home", self.root)
        self.log = self.folder / LOG_NAME
        self.begin = self.log.stat().st_size
        self.note = (self.folder / "derived" / "hook.json").read_bytes()

    def lean(self, raw: bytes) -> bytes | None:
        """What the lean way appends for an event; None where it leaves it to the other."""
        attempt = Attempt()
        environ = {os.fsencode(name): os.fsencode(text) for name, text in self.environ.items()}
        try:
            done = run.record_lean(raw, MS, _RANDOM, environ, attempt)
        except run.NOT_SIMPLE:
            done = False
        written = self._taken_back()
        assert done == bool(written)
        assert done == (attempt.id is not None)
        return written if done else None

    def plain(self, raw: bytes) -> bytes:
        """What the plain way appends for it at the same time, under the same id."""
        self._plain(raw, _ID)
        return self._taken_back()

    def _plain(self, raw: bytes, event_id: str | None = None) -> None:
        plain.record(raw, MS, event_id, self.environ)

    def _taken_back(self) -> bytes:
        written = self.log.read_bytes()[self.begin :]
        if written:
            os.truncate(self.log, self.begin)
        (self.folder / "derived" / "hook.json").write_bytes(self.note)
        return written


@contextmanager
def bench() -> Iterator[Bench]:
    """A bench in a folder of its own."""
    with TemporaryDirectory() as folder:
        yield Bench(Path(os.path.realpath(folder)))


def taken(event: object, home: Path) -> bool:
    """An event goes in, in this process, one way or the other; whether it went the lean one."""
    raw, ms = json.dumps(event).encode(), time.time_ns() // 1_000_000
    with suppress(*run.NOT_SIMPLE):
        if run.record_lean(raw, ms, os.urandom(10), {b"HOME": os.fsencode(home)}, Attempt()):
            return True
    plain.record(raw, ms, None, {"HOME": str(home)})
    return False


_PATIENT = """
import sys
sys.path += {path!r}
from memfold.hook import run
run.SECONDS = 60.0
run.main()
"""


def patient() -> list[str]:
    """The fast command, on a machine that may be busy: what it does, and not when it gives up, is what counts."""
    python, *flags, main, packages = fast_command()
    return [python, *flags, "-c", _PATIENT.format(path=[str(Path(main).parents[2]), packages])]


def start(event: object, home: Path, *, command: Sequence[str] = (), **options: Any) -> subprocess.Popen[bytes]:
    """A hook as a host starts it, with the event or bytes on its stdin, which is a file: nobody waits for anybody."""
    with TemporaryFile() as given:
        given.write(event if isinstance(event, bytes) else json.dumps(event).encode())
        given.seek(0)
        options = {"stdin": given, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        environ = {"HOME": str(home), "PATH": "/nowhere", **options.pop("more", {})}
        return subprocess.Popen(command or patient(), env=environ, cwd="/", **options)


def ended(process: subprocess.Popen[bytes]) -> None:
    """It ends with 0, and has said nothing."""
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out or b"", err or b"") == (0, b"", b"")


def hooked(event: object, home: Path, **options: Any) -> None:
    """A hook from start to end."""
    ended(start(event, home, **options))
