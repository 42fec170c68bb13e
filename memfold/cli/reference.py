"""What is generated from the command line: its reference, the JSON documents and the completion scripts.

``python -m memfold.cli.reference`` in the source tree writes them all; a test compares them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

from ledger.events import Target
from memfold.cli.commands import COMMANDS
from memfold.cli.completion import SHELLS, script_path
from memfold.cli.documents import DOCUMENTS
from memfold.cli.main import build_parser
from memfold.cli.parts import PARTS
from memfold.cli.why import WhyDocument
from replay.evidence import ReasonLine
from replay.flips import Flip
from replay.unseen import Nearest, Unseen, Verdict
from replay.why import EventLine, Related, Shown, Standing, Story

__all__ = ["cli_reference", "completion_script", "generated", "json_reference"]

_MADE = "<!-- Made by `python -m memfold.cli.reference`; a test compares it. -->\n"
_JSON_INTRODUCTION = """With `--json` a command prints one document; its first key is `schema`. Keys may be added; none
is renamed or given another meaning without another number in `schema`. `memfold log --json` prints the stored events
instead, one a line, as [the format](../format.md) describes. Times are RFC 3339 in UTC, sizes in characters (Unicode
code points), shares and confidence in hundredths.
"""
_EXPLANATION = (Target, Story, ReasonLine, EventLine, Related, Standing, Shown, Flip, Unseen, Verdict, Nearest)
_WORDS: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    type(None): "null",
}
_EXIT_ROW = re.compile(r"(\d+) +(\S+) +(.+)")


def generated() -> dict[Path, str]:
    """Every generated file and what has to stand in it."""
    reference = Path(__file__).resolve().parents[2] / "docs" / "reference"
    scripts = {Path(script_path(shell)): completion_script(shell) for shell in SHELLS}
    return {reference / "cli.md": cli_reference(), reference / "json.md": json_reference(), **scripts}


def cli_reference() -> str:
    """``docs/reference/cli.md``."""
    parsers = _command_parsers(build_parser())
    parts = [
        "# Command line\n",
        _MADE,
        "`memfold COMMAND [OPTIONS]`. Data goes to stdout and nothing else does; notes and errors go to stderr.\n",
        *(_command_section(name, parsers[name]) for name in COMMANDS),
        "## Exit codes\n",
        "New codes may be added; an unknown one means failure. No command ends with 2.\n",
        _exit_codes(),
    ]
    return "\n".join(parts)


def json_reference() -> str:
    """``docs/reference/json.md``."""
    structs: tuple[type[Struct], ...] = (*DOCUMENTS, WhyDocument, *PARTS, *_EXPLANATION)
    parts = ["# JSON documents\n", _MADE, _JSON_INTRODUCTION, *map(_struct_section, structs)]
    return "\n".join(parts)


def completion_script(shell: str) -> str:
    """The completion script of a shell, made by shtab, which only the source tree needs."""
    import shtab  # pyright: ignore[reportMissingTypeStubs] - it ships none

    files = {"RECORDING": shtab.FILE, "PATH": shtab.DIRECTORY, "DIR": shtab.DIRECTORY}
    parser = build_parser()
    for action in (action for one in _command_parsers(parser).values() for action in one._actions):  # noqa: SLF001
        if action.metavar in files:
            vars(action)["complete"] = files[action.metavar]  # where shtab looks for it
    script: str = shtab.complete(parser, shell)  # pyright: ignore[reportUnknownMemberType] - the same
    return script.rstrip() + "\n"


def main() -> None:
    """Write every generated file."""
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _command_parsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    actions = parser._actions  # noqa: SLF001 - argparse has no public list of its arguments
    commands = next(action for action in actions if action.dest == "command")
    return cast("dict[str, argparse.ArgumentParser]", commands.choices)


def _command_section(name: str, parser: argparse.ArgumentParser) -> str:
    command = COMMANDS[name]
    arguments = "\n".join(_argument_rows(parser))
    examples = "\n".join(command.examples)
    return (
        f"## memfold {name}\n\n{command.summary} {command.writes}\n\n"
        f"| argument | meaning |\n|---|---|\n{arguments}\n\n```sh\n{examples}\n```\n"
    )


def _argument_rows(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public list of its arguments
        if "--help" in action.option_strings:
            continue
        value = "" if action.nargs == 0 else str(action.metavar or "|".join(map(str, action.choices or ())))
        label = " ".join(part for part in (", ".join(action.option_strings), value) if part)
        yield f"| `{_cell(label)}` | {_cell(action.help or '')} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _exit_codes() -> str:
    """The table in the docstring of ``memfold.errors``."""
    from memfold import errors

    rows = filter(None, (_EXIT_ROW.fullmatch(line) for line in (errors.__doc__ or "").splitlines()))
    return "| code | meaning |\n|--:|---|\n" + "".join(f"| {row[1]} | {row[3]} |\n" for row in rows)


def _struct_section(struct: type[Struct]) -> str:
    summary = (struct.__doc__ or "").strip().partition("\n")[0]
    meanings = _meanings(struct)
    hints = get_type_hints(struct)
    tag = struct.__struct_config__.tag
    rows = [] if tag is None else [("`schema`", f"`{tag}`", "")]
    rows += [(f"`{field.name}`", _type(hints[field.name]), meanings.get(field.name, "")) for field in fields(struct)]
    head = ("key", "value", "meaning")
    columns = 3 if meanings else 2
    table = [head, ("---",) * 3, *rows]
    lines = "\n".join(f"| {' | '.join(row[:columns])} |" for row in table)
    return f"## {_title(struct)}\n\n{summary}\n\n{lines}\n"


def _meanings(struct: type[Struct]) -> dict[str, str]:
    """The entries below ``Attributes:`` in the docstrings of a struct and of what it extends."""
    found: dict[str, str] = {}
    for cls in struct.__mro__:
        name = ""
        for line in (cls.__doc__ or "").partition("Attributes:\n")[2].splitlines():
            entry = re.fullmatch(r" {8}(\w+): (.+)", line)
            if entry:
                name = entry[1]
                found.setdefault(name, entry[2])
            elif name and line.strip():
                found[name] += f" {line.strip()}"
    return found


def _type(hint: Any) -> str:
    """A type in JSON's words."""
    arguments: tuple[Any, ...] = get_args(hint)
    origin = get_origin(hint)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin in (Union, UnionType):
        return " or ".join(_type(one) for one in arguments)
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"object of {_type(arguments[1])}"
    if isinstance(hint, type) and issubclass(hint, Struct):
        return _title(hint)
    return _WORDS.get(hint, "any")


def _title(struct: type[Struct]) -> str:
    """``ReasonCountPart`` → ``reason count``; a document is named by its schema."""
    tag = struct.__struct_config__.tag
    words = re.findall(r"[A-Z][a-z]*", struct.__name__.removesuffix("Part"))
    return f"`{tag}`" if tag is not None else " ".join(words).lower()


if __name__ == "__main__":
    main()
