"""A child process that is asked line by line, also many lines before its first answer."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Pipe"]

_WAIT = 60.0
"""Seconds until an answer counts as missing."""


class Pipe:
    """A child that answers each line that has an ``id`` with one, in any order.

    Args:
        command: the child.
        environ: its environment; that of this process if none is given.
    """

    def __init__(self, command: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._rest = b""

    def send(self, message: Mapping[str, object]) -> None:
        """Write a line."""
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, line: bytes) -> None:
        """Write a line as it is."""
        os.write(self._in.fileno(), line)

    def answer(self) -> dict[str, Any]:
        """The next line with an id.

        Raises:
            RuntimeError: if none comes.
        """
        while True:
            message: dict[str, Any] = json.loads(self.line())
            if message.get("id") is not None:
                return message

    def line(self) -> bytes:
        """The next line.

        Raises:
            RuntimeError: if none comes.
        """
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._out], [], [], _WAIT)
            chunk = os.read(self._out.fileno(), 1 << 16) if ready else b""
            if not chunk:
                raise RuntimeError(f"no answer within {_WAIT:.0f} s, or the child has ended")
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def ask(self, message: Mapping[str, object]) -> dict[str, Any]:
        """Send a line and wait for its answer."""
        self.send(message)
        return self.answer()

    def cpu(self) -> float:
        """Seconds of CPU that the child has taken, in ticks of the system's clock; 0 where nothing tells it."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End its input and wait for its end; one that doesn't end is killed."""
        self._in.close()
        try:
            self._process.wait(_WAIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._out.close()
