"""The argument parser: examples in help, errors as exceptions, and the options that commands share."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from memfold.cli.commands import Command
from memfold.errors import UsageError
from memfold.terminal import terminal_width

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

__all__ = [
    "Parser",
    "at_option",
    "choice",
    "color_option",
    "describe",
    "json_option",
    "ledger_options",
    "place_options",
    "whole_number",
]

_WIDTH = 80
_REQUIRED = "the following arguments are required: "
"""How argparse begins to say that arguments are missing."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. argparse would import shutil to ask for its width, wherever an option is added."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=(terminal_width(sys.stdout, os.environ) or _WIDTH) - 2)


class Parser(argparse.ArgumentParser):
    """A parser that raises where argparse would end the process with 2, which a host may read as "block".

    Attributes:
        children: the parsers of its commands.
        choices: for each word that must be one of a few, what to say where it is missing.
    """

    def __init__(self, **options: object) -> None:
        self.children: dict[str, Parser] = {}
        self.choices: dict[str, UsageError] = {}
        defaults = {"formatter_class": _Help, "allow_abbrev": False}
        super().__init__(**{**defaults, **options})  # type: ignore[arg-type]  # argparse passes its own options on

    def options(self) -> list[str]:
        """The options that this parser takes."""
        return [name for action in self._actions for name in action.option_strings]

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Print help or the version; argparse would pass over a full disk, and the exit code would be 0."""
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        """Report an error in the arguments.

        Raises:
            UsageError: always.
        """
        missing = message.removeprefix(_REQUIRED).split(", ") if message.startswith(_REQUIRED) else []
        raise next((self.choices[name] for name in missing if name in self.choices), None) or UsageError(
            message, f"{self.prog} --help"
        )


def describe(parser: Parser, command: Command) -> None:
    """Give help its examples first and what the command writes last."""
    lines = "\n".join(f"  {example}" for example in command.examples)
    parser.description = f"{command.summary}\n\nexamples:\n{lines}"
    parser.epilog = command.writes


def color_option(parser: argparse.ArgumentParser) -> None:
    """Colours; every command has it."""
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour the output (default: on a terminal, unless NO_COLOR is set)",
    )


def ledger_options(parser: argparse.ArgumentParser, default: str = "the current directory") -> None:
    """Which ledger a command is about; ``default`` says whose it is without an option."""
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--workspace", metavar="PATH", help=f"a folder of the workspace (default: {default})")
    place.add_argument("--ledger", metavar="DIR", help="the folder that holds events.jsonl")


def place_options(options: argparse.Namespace) -> str:
    """The options of ``ledger_options`` that were given, for a command to copy: each with a space before it."""
    from shlex import quote

    given = ((name, getattr(options, name, None)) for name in ("ledger", "workspace"))
    return "".join(f" --{name} {quote(value)}" for name, value in given if value)


def choice(parser: argparse.ArgumentParser, name: str, choices: tuple[str, ...], noun: str, help_: str) -> None:
    """A word that must be one of a few: where it is another one, or missing, they are named, and an example is given.

    Args:
        parser: the parser of a command.
        name: of the attribute.
        choices: the words; the first one makes the example.
        noun: what they are.
        help_: for ``--help``.
    """
    *most, last = choices
    those = f"it can be {', '.join(most)} or {last}" if most else f"it can only be {last}"
    example = f"{parser.prog} {choices[0]}"
    shown = "|".join(choices)

    def chosen(text: str) -> str:
        if text not in choices:
            raise UsageError(f"there is no {noun} {text!r}: {those}", example)
        return text

    parser.add_argument(name, type=chosen, choices=choices, metavar=shown, help=help_)
    if isinstance(parser, Parser):
        parser.choices[shown] = UsageError(f"the {noun} is missing: {those}", example)


def at_option(parser: argparse.ArgumentParser) -> None:
    """The position in the log that a command looks from."""
    parser.add_argument(
        "--at",
        metavar="N|TIME",
        help="as of an offset, or the end of a day, minute or second, UTC without a zone (default: the last event)",
    )


def json_option(parser: argparse.ArgumentParser, help_: str = "print one JSON document") -> None:
    """Output for programs."""
    parser.add_argument("--json", action="store_true", help=help_)


def whole_number(text: str) -> int:
    """An argument that counts something: digits alone."""
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text)
