"""What is generated from the command line: its reference, the JSON documents and the completion scripts.

``python -m memfold.cli.reference`` in the source tree writes them all; a test compares them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

from memfold.cli.commands import COMMANDS
from memfold.cli.completion import SHELLS, script_path
from memfold.cli.documents import DOCUMENTS, PARTS
from memfold.cli.main import build_parser
from replay.flips import Flip
from replay.unseen import Nearest, Unseen, Verdict
from replay.why import EventLine, Related, Shown, Standing, Story

__all__ = ["cli_reference", "completion_script", "generated", "json_reference"]

_MADE = "<!-- Made by `python -m memfold.cli.reference`; a test compares it. -->\n"
_EXPLANATION = (Story, EventLine, Related, Standing, Shown, Flip, Unseen, Verdict, Nearest)
_NAME = re.compile(r"\b(\w+?)(?:Part|Document)\b")
_EXIT_ROW = re.compile(r"(\d+) +(\S+) +(.+)")


def generated() -> dict[Path, str]:
    """Every generated file and what has to stand in it."""
    reference = Path(__file__).resolve().parents[2] / "docs" / "reference"
    scripts = {Path(script_path(shell)): completion_script(shell) for shell in SHELLS}
    return {reference / "cli.md": cli_reference(), reference / "json.md": json_reference(), **scripts}


def cli_reference() -> str:
    """``docs/reference/cli.md``."""
    parsers = _command_parsers()
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
    structs = (*DOCUMENTS, *PARTS, *_EXPLANATION)
    parts = [
        "# JSON documents\n",
        _MADE,
        "With `--json` a command prints one document; its first key is `schema`. Keys may be added; none is renamed"
        " or given another meaning without another number in `schema`. `memfold log --json` prints the stored"
        " events instead, one a line, as [the format](../format.md) describes. Times are RFC 3339 in UTC, sizes in"
        " characters (Unicode code points). A candidate is an array: id of the event that proposed it, index there.\n",
        *(_struct_section(struct) for struct in structs),
    ]
    return "\n".join(parts)


def completion_script(shell: str) -> str:
    """The completion script of a shell, made by shtab, which only the source tree needs."""
    import shtab  # pyright: ignore[reportMissingTypeStubs] - it ships none

    script: str = shtab.complete(build_parser(), shell)  # pyright: ignore[reportUnknownMemberType] - the same
    return script.rstrip() + "\n"


def main() -> None:
    """Write every generated file."""
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _command_parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    (commands,) = (
        action for action in build_parser()._actions if isinstance(action.choices, dict)  # noqa: SLF001 - no other way
    )
    choices: dict[str, argparse.ArgumentParser] = commands.choices
    return choices


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
    summary, _, rest = (struct.__doc__ or "").strip().partition("\n")
    meanings = _meanings(rest)
    hints = get_type_hints(struct)
    tag = struct.__struct_config__.tag
    rows = [] if tag is None else [f"| `schema` | `{tag}` | |"]
    rows += [
        f"| `{field.name}` | {_type(hints[field.name])} | {meanings.get(field.name, '')} |" for field in fields(struct)
    ]
    title = f"`{tag}`" if tag is not None else _title(struct.__name__)
    return f"## {title}\n\n{summary}\n\n| key | value | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _meanings(docstring: str) -> dict[str, str]:
    """The entries below ``Attributes:`` of a docstring."""
    found: dict[str, str] = {}
    name = ""
    for line in docstring.partition("Attributes:\n")[2].splitlines():
        entry = re.fullmatch(r" {8}(\w+): (.+)", line)
        if entry:
            name = entry[1]
            found[name] = entry[2]
        elif name and line.strip():
            found[name] += f" {line.strip()}"
    return found


def _type(hint: Any) -> str:
    """A type in JSON's words."""
    text = str(hint) if not isinstance(hint, type) or str(hint).startswith("tuple") else hint.__name__
    text = re.sub(r"\b(?:memfold|replay|projections)(?:\.\w+)*\.(\w+)", r"\1", text)
    text = text.replace("typing.", "").replace("Any", "any").replace("NoneType", "null").replace("None", "null")
    for python, json_word in (("str", "text"), ("int", "whole number"), ("float", "number"), ("bool", "true or false")):
        text = re.sub(rf"\b{python}\b", json_word, text)
    text = text.replace("Ref", "candidate")
    text = re.sub(r"tuple\[(.+), \.\.\.\]", r"list of \1", text)
    text = re.sub(r"tuple\[(.+)\]", r"array of \1", text)
    text = re.sub(r"dict\[text, (.+)\]", r"object of \1", text)
    text = re.sub(r"Literal\[(.+)\]", lambda match: match[1].replace("'", "`").replace(", ", ", "), text)
    return _NAME.sub(lambda match: _title(match[1]), text).replace(" | ", " or ")


def _title(name: str) -> str:
    """``ReasonCountPart`` → ``reason count``."""
    words = re.findall(r"[A-Z][a-z]*", name.removesuffix("Part").removesuffix("Document"))
    return " ".join(words).lower()


if __name__ == "__main__":
    main()
