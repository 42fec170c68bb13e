"""Dispatch: find the command, import its module alone, and turn every end into an exit code."""

from __future__ import annotations

import io
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module

from memfold import __version__
from memfold.cli.commands import COMMANDS
from memfold.cli.parsing import Parser, color_option, describe
from memfold.errors import INTERRUPTED, OK, MemfoldError, StorageFailure, UsageError, exit_code_of

__all__ = ["build_parser", "main"]

_DESCRIPTION = """Memory for coding agents as a fold over an append-only log.

examples:
  memfold install opencode       # once; then restart OpenCode
  memfold doctor                 # whether it works, and what to do if not
  memfold list                   # what is remembered here
  memfold why "small commits"    # what became of a text, and why"""

_TELL_DAMAGE = frozenset({"check", "doctor", "log", "repair"})
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


def build_parser(names: Iterable[str] = COMMANDS, *, configure: bool = True) -> Parser:
    """The parser of the whole command line, or of some commands.

    Args:
        names: the commands it knows.
        configure: import their modules, for their arguments; without it, only names and summaries are there.
    """
    parser = Parser(prog="memfold", description=_DESCRIPTION, epilog="memfold COMMAND --help tells more.")
    parser.add_argument("--version", action="version", version=f"memfold {__version__}")
    # With its own prog, argparse need not format a usage line, for which it would import shutil.
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=Parser, prog="memfold"
    )
    for name in names:
        command = COMMANDS[name]
        child = parser.children[name] = commands.add_parser(name, help=command.summary)
        describe(child, command)
        if configure:
            import_module(f"memfold.cli.{command.module}").configure(child)
            color_option(child)
    return parser


def _dispatch(arguments: list[str]) -> int:
    name = next((one for one in arguments if not one.startswith("-")), "")
    known = name in COMMANDS
    if not arguments:  # whoever types the bare name asks what there is
        build_parser(configure=False).print_help()
        return OK
    if name and not known:
        raise UsageError(f"there is no command {name!r}", _similar(name, COMMANDS, "memfold") or "memfold --help")
    if known:
        _import_msgspec()
    parser = build_parser([name] if known else COMMANDS, configure=known)
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:
        raise _unknown_option(parser, name, arguments, unknown)
    run = import_module(f"memfold.cli.{COMMANDS[parsed.command].module}").run
    code: int = run(parsed)
    if parsed.command not in _TELL_DAMAGE:
        _hint_at_damage(parsed)
    return code


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


def _import_msgspec() -> None:
    """Import msgspec without ``typing_extensions``, which is a third of what its import takes else.

    It asks that module for what ``typing`` has too in every Python that we run in, and takes it from there where the
    module can't be imported. Whoever wants it later still gets it.
    """
    name = "typing_extensions"
    if name in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment] # what Python takes for: there is none
    try:
        import_module("msgspec")
    finally:
        del sys.modules[name]


def _unknown_option(parser: Parser, name: str, arguments: Sequence[str], unknown: Sequence[str]) -> UsageError:
    """An argument that the command doesn't take: what was meant, or where it belongs."""
    options = parser.children[name].options() if name else parser.options()
    option = unknown[0].partition("=")[0]
    if option in options and arguments.index(unknown[0]) < arguments.index(name):
        fix = f"memfold {name} … {option}: options stand behind the command"
    elif name and not option.startswith("-"):
        fix = f"memfold {name} --help; several words of one text need quotation marks"
    else:
        fix = _similar(option, options, f"memfold {name}") or f"memfold {name} --help"
    return UsageError(f"unrecognized arguments: {' '.join(unknown)}", fix)


def _similar(word: str, known: Iterable[str], before: str) -> str:
    """The known word that comes nearest, as a command to try; empty if none is near."""
    from difflib import get_close_matches  # only a mistake pays for it

    near = get_close_matches(word, list(known), 1)
    return f"{before} {near[0]}" if near else ""


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
