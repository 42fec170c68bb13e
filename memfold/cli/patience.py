"""A line on the terminal while a command takes longer than people wait without asking."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TextIO

from memfold.terminal import fit, is_dumb, terminal_width

__all__ = ["Patience", "patience_for"]

_FIRST = 1.0
"""Seconds before anything is shown, and between one line and the next."""

_PATIENT = frozenset(
    {
        *("account", "cache", "check", "doctor", "export", "head", "history", "list", "log", "prompt", "prove"),
        *("purge", "repair", "restore-backup", "show", "status", "undo", "verify", "why"),
    }
)
"""Commands that read whole logs in silence. Others show their own progress, are quick, or leave the terminal to an
editor."""


def patience_for(command: str, stream: TextIO | None) -> Patience | None:
    """What shows that a command is at work; None where no person looks on, or it isn't of those that take long."""
    if command not in _PATIENT or stream is None or not stream.isatty() or is_dumb(os.environ):
        return None
    return Patience(command, stream)


class Patience:
    """Tells once a second for how long a command has been at work, until the first thing is printed.

    What takes long lies deep in folds, which know no terminal, so a thread tells it.

    Args:
        command: the name of the command.
        stream: the terminal.
        period: seconds between one line and the next.
    """

    def __init__(self, command: str, stream: TextIO, period: float = _FIRST) -> None:
        self._command = command
        self._stream = stream
        self._period = period
        self._width = terminal_width(stream, os.environ)
        self._begin = time.monotonic()
        self._is_over = threading.Event()
        self._shown = False
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Take the line away; nothing is shown from now on. Whoever prints comes here first."""
        if not self._is_over.is_set():
            self._is_over.set()
            self._thread.join()  # else it could write behind what is printed next
            if self._shown:
                self._write("\r\x1b[K")

    def _tell(self) -> None:
        while not self._is_over.wait(self._period):
            seconds = time.monotonic() - self._begin
            self._shown = True
            line = f"memfold {self._command}: reading the ledger, {seconds:.0f} s"
            # A line that the terminal breaks would be taken away in its last row alone.
            self._write(f"\r{fit(line, (self._width or len(line) + 1) - 1)}")

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # the terminal may be gone: then nobody waits
            self._stream.write(text)
            self._stream.flush()
