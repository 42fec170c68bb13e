"""A line on the terminal while a command takes longer than people wait without asking."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from memfold.terminal import fit, is_dumb, terminal_width

__all__ = ["Patience", "patience_for"]

_FIRST = 1.0
"""Seconds before anything is shown, and between one line and the next."""
_AT_WORK = 0.05
"""Share of the time that a command which is at work has the processor, at least; a slow disk leaves it little."""

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

    What takes long lies deep in folds, which know no terminal, so a thread tells it. It tells nothing while the command
    waits, as for what a person types, for another process or for new events: then it takes no time of the processor.

    Args:
        command: the name of the command.
        stream: the terminal.
        period: seconds between one line and the next.
        spent: gives the seconds of the processor that the command has taken.
    """

    def __init__(
        self,
        command: str,
        stream: TextIO,
        period: float = _FIRST,
        spent: Callable[[], float] = time.process_time,
    ) -> None:
        self._command = command
        self._stream = stream
        self._period = period
        self._spent = spent
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
            # Else it could write behind what is printed next. A terminal that was stopped holds it, but not us.
            self._thread.join(_FIRST)
            if not self._thread.is_alive():
                self._take_away()

    def _tell(self) -> None:
        before = self._spent()
        while not self._is_over.wait(self._period):
            now = self._spent()
            works, before = now - before > self._period * _AT_WORK, now
            if works and _is_in_front(self._stream):
                self._shown = True
                line = f"memfold {self._command}: reading the ledger, {time.monotonic() - self._begin:.0f} s"
                # A line that the terminal breaks would be taken away in its last row alone.
                self._write(f"\r{fit(line, (self._width or len(line) + 1) - 1)}")
            else:
                self._take_away()

    def _take_away(self) -> None:
        if self._shown:
            self._shown = False
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # the terminal may be gone: then nobody waits
            try:
                descriptor = self._stream.fileno()
            except (OSError, ValueError):  # no file: a stream of a test
                self._stream.write(text)
            else:
                # Past the buffer: what a terminal that is gone doesn't take would fail once more when Python ends.
                os.write(descriptor, text.encode())


def _is_in_front(stream: TextIO) -> bool:
    """Whether the terminal is ours: one that another job has would stop a process that writes to it."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except (AttributeError, OSError, ValueError):  # there are no jobs, or it isn't our terminal
        return True
