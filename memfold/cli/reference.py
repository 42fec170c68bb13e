"""What is generated from the command line: its reference, the JSON documents and the completion scripts.

``python -m memfold.cli.reference`` in the source tree writes them all; a test compares them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

from ledger.codec import TYPE_NAMES
from ledger.events import Target
from memfold.cli.commands import COMMANDS
from memfold.cli.completion import SHELLS, script_path
from memfold.cli.documents.listed import DOCUMENTS, PARTS
from memfold.cli.documents.moves import MOVE_DOCUMENTS, MOVE_PARTS
from memfold.cli.parser import build_parser
from memfold.cli.why import WhyDocument
from memfold.config.environment import variable_of
from memfold.config.keys import KEYS
from memfold.config.model import LayerKind
from memfold.config.readers import Notes, Reader, Refusal
from projections.policy import BUILT_IN_TYPES
from projections.reasons import REASONS
from replay.evidence import ReasonLine
from replay.flips import Flip
from replay.unseen import Nearest, Unseen, Verdict
from replay.why import EventLine, Given, Related, Shown, Standing, Story
from replay.wording import Wording

__all__ = [
    "cli_reference",
    "completion_script",
    "configuration_reference",
    "generated",
    "json_reference",
    "reasons_reference",
]

_MADE = "<!-- Made by `python -m memfold.cli.reference`; a test compares it. -->\n"
_JSON_INTRODUCTION = """With `--json` a command prints one document; its first key is `schema`. Keys may be added; none
is renamed or given another meaning without another number in `schema`. `memfold log --json` prints the stored events
instead, one a line, as [the format](../format.md) describes. Times are RFC 3339 in UTC, sizes in characters (Unicode
code points), shares and confidence in hundredths; strength and the rate of dormant time are plain numbers.
"""
_REASONS_INTRODUCTION = """Every state of a candidate has a reason, and every reason a code. `memfold why` prints codes
with the section of the [specification](../specification.md) that holds the rule, as `SPEC 6.2`.

| code | section | what it says |
|---|---|---|"""
_CONFIGURATION_INTRODUCTION = """Settings come from these places; a later one wins:

1. the defaults below;
2. `config.toml` in the user's folder: `$XDG_CONFIG_HOME/memfold`, by default `~/.config/memfold`;
3. `.memfold.toml` in the root of the workspace;
4. the options of OpenCode's plugin, where OpenCode's own settings name the plugin with options;
5. variables named `MEMFOLD_…`; `MEMFOLD=off` switches memory off.

`memfold paths` tells where the files are and whether they are there, `memfold config show` which value holds and where
it comes from. What can't be used is named on stderr and ignored. A key with a dot stands in a table:

```toml
hotDelivery = "off"

[prompt]
maxEntries = 20
```

What judges memories is the *policy*: all but `worktrees` and what a variable may set. It is written into the ledger
before the first event that it judges, so a changed setting counts from the next event on, and the past can still be
replayed.
Commands that read a ledger use the policy that stands in it; `memfold status` says if another one is configured.

| key | meaning | write | default | where | variable |
|---|---|---|---|---|---|"""
_LAYERS: dict[LayerKind, str] = {
    "user": "user file",
    "workspace": "workspace file",
    "plugin": "plugin",
    "environment": "variable",
}
_STORY = (Story, ReasonLine, EventLine, Related, Standing, Shown, Given, Flip)
_EXPLANATION = (Target, Wording, *_STORY, Unseen, Verdict, Nearest)
_WORDS: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    type(None): "null",
}
_INSTALLATION = re.compile(r"^# (?:Usage:|See also:|\d\)|  ).*\n", re.MULTILINE)
"""Where shtab says to put a script: the help of ``memfold completion`` names another place."""
_EXIT_ROW = re.compile(r"(\d+) +(\S+) +(.+)")


def generated() -> dict[Path, str]:
    """Every generated file and what has to stand in it."""
    reference = Path(__file__).resolve().parents[2] / "docs" / "reference"
    scripts = {Path(script_path(shell)): completion_script(shell) for shell in SHELLS}
    pages = {
        "cli.md": cli_reference(),
        "configuration.md": configuration_reference(),
        "json.md": json_reference(),
        "reasons.md": reasons_reference(),
    }
    return {**{reference / name: text for name, text in pages.items()}, **scripts}


def cli_reference() -> str:
    """``docs/reference/cli.md``."""
    parsers = build_parser().children
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
    structs: tuple[type[Struct], ...] = (*DOCUMENTS, *MOVE_DOCUMENTS, WhyDocument, *PARTS, *MOVE_PARTS, *_EXPLANATION)
    parts = ["# JSON documents\n", _MADE, _JSON_INTRODUCTION, *map(_struct_section, structs)]
    return "\n".join(parts)


def reasons_reference() -> str:
    """``docs/reference/reasons.md``."""
    sections = _specification_sections()
    rows = [f"| `{code}` | {_section_link(one.rule, sections)} | {one.text} |" for code, one in REASONS.items()]
    custom = f"| `custom:NAME` | {_section_link('20.3', sections)} | it matches the configured pattern NAME |"
    return "\n".join(["# Reasons\n", _MADE, _REASONS_INTRODUCTION, *rows, custom, ""])


def configuration_reference() -> str:
    """``docs/reference/configuration.md``."""
    rows = [
        f"| `{name}` | {key.meaning} | {_cell(_range(key.read))} "
        f"| `{json.dumps(key.default, ensure_ascii=False)}` "
        f"| {', '.join(word for kind, word in _LAYERS.items() if kind in key.kinds)} "
        f"| {f'`{variable_of(name)}`' if 'environment' in key.kinds else ''} |"
        for name, key in KEYS.items()
    ]
    return "\n".join(["# Configuration\n", _MADE, _CONFIGURATION_INTRODUCTION, *rows, ""])


def _range(read: Reader) -> str:
    """What a key takes: the advice that its reader gives for a value of no type at all."""
    try:
        read(object(), Notes("", []))
    except Refusal as refusal:
        return refusal.fix.removeprefix("write ")
    raise TypeError("a key that takes anything has no range")


def _specification_sections() -> dict[str, str]:
    """Number of a section → its anchor, as the headings of the specification make them."""
    page = Path(__file__).resolve().parents[2] / "docs" / "specification.md"
    headings = re.findall(r"^#{2,3} (([0-9.]+[0-9])\.? .+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {number: re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading, number in headings}


def _section_link(rule: str, sections: dict[str, str]) -> str:
    """A section as a link; a numbered item of a section leads to the section."""
    anchor = sections.get(rule) or sections[rule.partition(".")[0]]
    return f"[{rule}](../specification.md#{anchor})"


def completion_script(shell: str) -> str:
    """The completion script of a shell, made by shtab, which only the source tree needs."""
    import shtab  # pyright: ignore[reportMissingTypeStubs] - it ships none

    files = dict.fromkeys(("RECORDING", "FILE"), shtab.FILE)
    files |= dict.fromkeys(("PATH", "DIR", "FOLDER"), shtab.DIRECTORY)
    parser = build_parser()
    types = sorted(BUILT_IN_TYPES)
    words = {"add": types, "edit": types, "list": types, "log": list(TYPE_NAMES.values())}
    for name, child in parser.children.items():
        for action in child._actions:  # noqa: SLF001 - argparse has no public list of its arguments
            if action.metavar in files:
                vars(action)["complete"] = files[action.metavar]  # where shtab looks for it
            elif "--type" in action.option_strings:
                action.choices = words[name]  # not so in the program: configured and newer types count too
    script: str = shtab.complete(parser, shell)  # pyright: ignore[reportUnknownMemberType] - the same
    return _INSTALLATION.sub("", script).rstrip() + "\n"


def main() -> None:
    """Write every generated file."""
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


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
