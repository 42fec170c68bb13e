"""The bridge as a process: signals, standard descriptors, and its end."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from contextlib import suppress

from memfold.bridge.bridge import Bridge, serve
from memfold.bridge.lines import LineReader, LineWriter

if sys.platform != "win32":
    import select

__all__ = ["LAST_SECONDS", "run_process"]

LAST_SECONDS = 15.0
"""After the client has ended, for what is left to do: longer than the lock is waited for (``ledger.LAST_TRIES``)."""


def run_process() -> None:
    """Serve the client on stdin and stdout until it ends the input, or SIGTERM comes."""
    # A print from anywhere must not get between the lines of the protocol.
    output = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    told = _signalled()
    with suppress(RuntimeError):  # no thread can be had; the end is then as long as it takes
        threading.Thread(target=_end_in_time, args=(told,), daemon=True).start()
    # What was imported and read stays: a collection that goes through all of it would make a hook wait.
    serve(LineReader(0, told), LineWriter(output), Bridge(os.environ, warmed=gc.freeze))


def _signalled() -> int | None:
    """Set up the signals; a descriptor that becomes readable when we are told to end.

    Ctrl-C in a terminal and a terminal that closes reach all processes of a group, and what counts for us is that the
    client ends its end of the pipe: what it sent before is still to be read.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "win32":
        return None
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # A handler alone would not end a read that has just begun: it runs when the read is over.
    wake, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, _end)
    return wake


def _end_in_time(told: int | None) -> None:
    """End the process some time after its client, whatever it is busy with: it may be reading gigabytes of damage.

    Nothing is lost that a kill at the same moment would not lose, and what was acknowledged never is.
    """
    if sys.platform == "win32" or told is None:
        return
    ends = select.poll()
    ends.register(0, getattr(select, "POLLRDHUP", 0))  # not for lines: those are the reader's
    ends.register(told, select.POLLIN)
    ends.poll()
    time.sleep(LAST_SECONDS)
    os._exit(0)


def _end(_number: int, _frame: object) -> None:
    """Nothing: the wake-up descriptor is readable by now."""
