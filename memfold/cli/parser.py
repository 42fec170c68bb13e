"""The parser of the whole command line: find the command, and import its module alone."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import ModuleType

from memfold import __version__
from memfold.cli.commands import COMMANDS
from memfold.cli.parsing import Parser, color_option, describe
from memfold.cli.start import import_msgspec
from memfold.errors import UsageError

__all__ = ["build_parser", "module_of", "parse"]

_DESCRIPTION = """Memory for coding agents as a fold over an append-only log.

examples:
  memfold install opencode       # once; then restart OpenCode
  memfold doctor                 # whether it works, and what to do if not
  memfold list                   # what is remembered here
  memfold why "small commits"    # what became of a text, and why"""


def parse(arguments: Sequence[str]) -> Namespace | None:
    """The options of a command; None after help was printed for who typed the bare name.

    Raises:
        UsageError: if the command line can't be understood.
        SystemExit: behind ``--help`` and ``--version``.
    """
    name = next((one for one in arguments if not one.startswith("-")), "")
    known = name in COMMANDS
    if not arguments:  # whoever types the bare name asks what there is
        build_parser(configure=False).print_help()
        return None
    if name and not known:
        raise UsageError(f"there is no command {name!r}", _similar(name, COMMANDS, "memfold") or "memfold --help")
    if known:
        import_msgspec()
    parser = build_parser([name] if known else COMMANDS, configure=known)
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:
        raise _unknown_option(parser, name, arguments, unknown)
    return parsed


def module_of(options: Namespace) -> ModuleType:
    """The module of the command that the options are of; its ``run`` takes them."""
    return import_module(f"memfold.cli.{COMMANDS[options.command].module}")


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
