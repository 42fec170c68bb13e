"""Run another program for a bounded time; whatever it started is ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from memfold.waiting import wait_until_ready

__all__ = ["Ended", "last_line", "read_to_end", "run_bounded", "started"]

_LIMIT = 1 << 20
_PIECE = 1 << 16


class Ended(NamedTuple):
    """How a program ended.

    Attributes:
        code: its exit code; None if it could not be started, or was ended when its time was up.
        out: what it printed to stdout.
        trouble: the last line it printed to stderr, or why it has no exit code; empty if there is nothing to say.
    """

    code: int | None
    out: bytes
    trouble: str


@contextmanager
def started(command: Sequence[str], *, cwd: str, environ: Mapping[str, str]) -> Generator[subprocess.Popen[bytes]]:
    """A program with pipes for its three streams, in a process group of its own that ends with the ``with`` block.

    Raises:
        OSError: if it can't be started.
        ValueError: for a command that no system takes, such as one with a NUL.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(  # noqa: S603 - the command is what the user installed
        list(command),
        cwd=cwd,
        env=dict(environ),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        bufsize=0,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            _end(process)


def run_bounded(command: Sequence[str], *, cwd: str, environ: Mapping[str, str], timeout: float) -> Ended:
    """Run a program without input, for at most ``timeout`` seconds; nothing is raised."""
    try:
        with started(command, cwd=cwd, environ=environ) as process:
            try:
                out, errors = read_to_end(process, timeout)
            except subprocess.TimeoutExpired:
                return Ended(None, b"", f"no end after {timeout:g} s")
            return Ended(process.returncode, out, last_line(errors))
    except (OSError, ValueError) as error:
        return Ended(None, b"", getattr(error, "strerror", None) or str(error))


def read_to_end(process: subprocess.Popen[bytes], timeout: float) -> tuple[bytes, bytes]:
    """Close a program's input, take what it prints, and wait for its end; bounded, unlike ``communicate``.

    Args:
        process: one that was started by ``started``, which ends it if this raises.
        timeout: seconds in all.

    Returns:
        What it printed to stdout and to stderr.

    Raises:
        subprocess.TimeoutExpired: if it hasn't ended by then.
        ValueError: if it printed more than a megabyte.
    """
    if sys.platform == "win32":  # pipes can't be waited for there
        return process.communicate(timeout=timeout)
    deadline = time.monotonic() + timeout
    if process.stdin is not None:
        process.stdin.close()
    printed = {stream.fileno(): bytearray() for stream in (process.stdout, process.stderr) if stream is not None}
    reading = set(printed)
    while reading:
        left = deadline - time.monotonic()
        ready = wait_until_ready(reading, seconds=left) if left > 0 else set[int]()
        if not ready:
            raise subprocess.TimeoutExpired(process.args, timeout)
        for descriptor in ready:
            piece = os.read(descriptor, _PIECE)
            printed[descriptor] += piece
            if not piece:
                reading.remove(descriptor)
        if sum(map(len, printed.values())) > _LIMIT:
            raise ValueError("it printed more than 1 MB and was ended")
    process.wait(max(deadline - time.monotonic(), 0))
    out, errors = map(bytes, printed.values())
    return out, errors


def last_line(output: bytes) -> str:
    """The last line that says something."""
    lines = output.decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the group: what a script started may live on and hold the pipes when the script itself is gone."""
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
