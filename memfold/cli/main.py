"""Run one command, and turn every end into an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from memfold.cli.start import import_msgspec, prompt_options
from memfold.errors import INTERRUPTED, OK, MemfoldError, StorageFailure, exit_code_of

if TYPE_CHECKING:
    from argparse import Namespace

    from memfold.cli.patience import Patience

__all__ = ["main"]

_TELL_DAMAGE = frozenset({"check", "doctor", "repair"})
"""Commands whose output tells of damage itself."""

_LONGEST = 1000
"""Characters of a message; an argument that it quotes may be of any length."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the arguments; those of the process by default.

    Returns:
        The exit code of ``memfold.errors``. An error is a sentence on stderr, with ``--json`` also a JSON object on
        its last line; never a traceback, unless Python runs in development mode.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    _speak_utf8()
    try:
        code = _run(arguments)
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - None without a console
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_stdout()
        return OK
    except Exception as error:  # a person gets a sentence, never a traceback
        if sys.flags.dev_mode:
            raise
        if isinstance(error, OSError):
            _give_up_stdout()
        return _report(error, arguments)
    return code


def _run(arguments: list[str]) -> int:
    try:
        return _dispatch(arguments)
    except SystemExit as end:  # help and version end so
        return end.code if isinstance(end.code, int) else OK


def _dispatch(arguments: list[str]) -> int:
    options = prompt_options(arguments)
    if options is not None:  # a session waits for it
        import_msgspec()
        from memfold.cli import prompt as command
    else:
        from memfold.cli.parser import module_of, parse

        options = parse(arguments)
        if options is None:
            return OK
        command = module_of(options)
    options.patience = _patience(options.command)
    try:
        code: int = command.run(options)
    finally:
        if options.patience is not None:
            options.patience.end()
    if options.command not in _TELL_DAMAGE:
        _hint_at_damage(options)
    return code


def _patience(command: str) -> Patience | None:
    if sys.stderr is None or not sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison] - None without a console
        return None
    from memfold.cli.patience import patience_for

    return patience_for(command, sys.stderr)


def _hint_at_damage(options: Namespace) -> None:
    """One line where the log that a command has read is damaged: what it printed may lack something."""
    skipped: set[int] = getattr(options, "skipped", set())
    if skipped:
        from memfold.cli.parsing import place_options
        from memfold.cli.words import plural

        sys.stdout.flush()  # on a terminal both streams share the screen
        were = "was" if len(skipped) == 1 else "were"
        piece = plural(len(skipped), "damaged piece")
        sys.stderr.write(f"memfold: {piece} of the log {were} skipped: memfold check{place_options(options)}\n")


def _report(error: Exception, arguments: Sequence[str]) -> int:
    """Say what went wrong on stderr, in two lines at most, and give its exit code."""
    error = _ours(error)
    code = exit_code_of(error)
    message, fix = _words(error)
    with suppress(OSError, ValueError):  # stderr may be closed or full: the exit code still tells
        sys.stderr.write(f"memfold: {message}\n")
        if fix:
            sys.stderr.write(f"  try: {fix}\n")
        if "--json" in arguments:
            _report_json(code, error, message, fix)
        sys.stderr.flush()
    return code


def _report_json(code: int, error: Exception, message: str, fix: str) -> None:
    import json

    document = {
        "schema": "memfold.error/1",
        "code": code,
        "error": type(error).__name__,
        "message": message,
        "fix": fix,
    }
    sys.stderr.write(json.dumps(document) + "\n")


def _ours(error: Exception) -> Exception:
    """An error with an exit code: what the system says outside of the ledger is a failed read or write."""
    from ledger.errors import LedgerError

    if isinstance(error, OSError) and not isinstance(error, LedgerError):
        reason = error.strerror or str(error)
        return StorageFailure(f"{error.filename}: {reason}" if error.filename else reason)
    return error


def _words(error: Exception) -> tuple[str, str]:
    """What is wrong and what to do about it, safe to print."""
    from ledger.errors import LedgerError
    from memfold.terminal import clean

    if isinstance(error, MemfoldError):
        return clean(_cut(error.message)), clean(_cut(error.fix))
    if isinstance(error, LedgerError):
        return clean(_cut(str(error))), ""
    surprise = f"unexpected {type(error).__name__}: {error}"
    return clean(_cut(surprise)), "python -X dev -m memfold …, and report the traceback as a bug"


def _cut(text: str) -> str:
    """A message without the middle of what it quotes at length: what is wrong stands before or behind that."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"


def _speak_utf8() -> None:
    """Print UTF-8 whatever the locale or code page says: the bytes of a prompt don't depend on a terminal."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")


def _give_up_stdout() -> None:
    """Nobody reads stdout any more, or it can't be written: the flush at exit must not complain once more."""
    with suppress(OSError, ValueError):
        stdout = sys.stdout.fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stdout)
        os.close(null)
