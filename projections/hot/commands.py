"""Read a command line: its simple commands, its error category and scope, and who decides its exit (SPEC 13.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from projections.hot.shell import Simple, split_commands
from projections.policy import ErrorCategory, Policy

__all__ = ["Command", "classify"]


class Command(Struct, frozen=True):
    """What hot state needs to know of a command line.

    Attributes:
        line: the command line, trimmed; equal lines are the same command.
        category: ``typecheck``, ``test``, ``lint``, ``build``, a configured one, or None.
        scope: what narrows the categorised command, sorted; empty means all of it.
        masked: whether another simple command decides an exit of 0 (SPEC 13.4).
        benign: whether an exit of 1 is an answer, not an error (SPEC 13.4).
        programs: the programs in command position; a line that one of them starts is its own message.
        signals: configured words that signal an error of this category (SPEC 20.2).
    """

    line: str
    category: str | None = None
    scope: tuple[str, ...] = ()
    masked: bool = False
    benign: bool = False
    programs: frozenset[str] = frozenset()
    signals: tuple[str, ...] = ()


class _Category(Struct, frozen=True):
    """How a category knows its commands: programs of one or two words, script names and their beginnings."""

    name: str
    programs: frozenset[str]
    scripts: frozenset[str] = frozenset()
    script_starts: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()


class _Call(Struct, frozen=True):
    """A simple command behind its prefixes: program, positional words and values of narrowing flags."""

    program: str
    words: tuple[str, ...]
    values: tuple[str, ...]
    script: str | None
    script_words: int


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split(", "))


_CATEGORIES = (
    _Category(
        "typecheck",
        _names("tsc, vue-tsc, mypy, pyright, cargo check"),
        _names("typecheck, type-check, check-types, tsc"),
    ),
    _Category(
        "test",
        _names(
            "pytest, py.test, unittest, vitest, jest, mocha, ava, tox, nox, rspec, phpunit, ctest, go test, "
            "cargo test, bun test, deno test, dotnet test, mvn test, gradle test, make test"
        ),
        _names("test"),
        ("test:", "test-"),
    ),
    _Category(
        "lint",
        _names(
            "eslint, biome, ruff, flake8, pylint, stylelint, shellcheck, golangci-lint, go vet, cargo clippy, "
            # Here the second word names the command and narrows nothing.
            "ruff check, biome check, biome lint"
        ),
        script_starts=("lint",),
    ),
    _Category(
        "build",
        _names(
            "vite build, next build, webpack, rollup, esbuild, tsup, make, cmake, go build, cargo build, "
            "docker build, mvn package, gradle build"
        ),
        script_starts=("build",),
    ),
)
_PREFIXES = (
    ("sudo",),
    ("time",),
    ("env",),
    ("npx",),
    ("pnpm", "exec"),
    ("bunx",),
    ("uv", "run"),
    ("poetry", "run"),
    ("python", "-m"),
    ("python3", "-m"),
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SCRIPT_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_BARE_SCRIPT_RUNNERS = frozenset({"pnpm", "yarn"})
_NPM_TEST = frozenset({"test", "t"})
_NARROWING_FLAGS = frozenset({"-k", "-t", "-m", "--grep", "--filter", "-run", "--testNamePattern", "--testPathPattern"})
_NOT_NARROWING = frozenset({".", "./...", "run"})
_BENIGN = _names(
    "grep, egrep, fgrep, rg, ag, ack, git grep, diff, cmp, git diff, test, [, which, command -v, pgrep, false, expr"
)


def classify(command: str, policy: Policy) -> Command:
    """What a command line is, under the categories of SPEC 13.3 and those of the policy (SPEC 20.2).

    Args:
        command: the command line as the tool got it, of any length and shape.
        policy: its ``error_categories`` come after the built-in ones; one with the name of a built-in adds to it.

    Returns:
        The reading; a line that makes no sense as shell has no category. Linear in the length.
    """
    return _classify(command.strip(), policy.error_categories)


@lru_cache(maxsize=512)
def _classify(line: str, extra: tuple[ErrorCategory, ...]) -> Command:
    simple = split_commands(line)
    calls = [_read_call(part.words) for part in simple]
    programs = frozenset(name for call in calls if call for name in _own_names(call.program))
    found = _categorise(calls, _categories(extra))
    if found is None:
        return Command(line, benign=_is_benign(simple, calls), programs=programs)
    category, at, scope = found
    masked = _is_masked(simple, at)
    return Command(
        line,
        category=category.name,
        scope=scope,
        masked=masked,
        # Behind `&&` the categorised command itself may have failed, and that is no answer of a grep.
        benign=masked and _is_benign(simple, calls),
        programs=programs,
        signals=category.signals,
    )


@lru_cache(maxsize=64)
def _categories(extra: tuple[ErrorCategory, ...]) -> tuple[_Category, ...]:
    """The built-in categories with what the configuration adds, then the new ones in configured order."""
    table = {category.name: category for category in _CATEGORIES}
    for more in extra:
        known = table.get(more.name, _Category(more.name, frozenset()))
        table[more.name] = _Category(
            more.name,
            known.programs | frozenset(more.programs),
            known.scripts | frozenset(more.scripts),
            known.script_starts,
            known.signals + more.signals,
        )
    return tuple(table.values())


def _categorise(
    calls: list[_Call | None], categories: tuple[_Category, ...]
) -> tuple[_Category, int, tuple[str, ...]] | None:
    """The first category that any simple command has, where, and that command's scope."""
    for category in categories:
        for at, call in enumerate(calls):
            used = None if call is None else _words_used(call, category)
            if call is not None and used is not None:
                scope = {*call.words[used:], *call.values} - _NOT_NARROWING
                return category, at, tuple(sorted(scope))
    return None


def _words_used(call: _Call, category: _Category) -> int | None:
    """How many positional words name the command if it is of the category, else None."""
    if call.words and f"{call.program} {call.words[0]}" in category.programs:
        return 1
    if call.program in category.programs:
        return 0
    script = call.script
    if script is not None and (script in category.scripts or script.startswith(category.script_starts)):
        return call.script_words
    return None


def _read_call(words: tuple[str, ...]) -> _Call | None:
    """Skip the prefixes of a simple command and sort its words; None if no program is left."""
    words = _skip_prefixes(words)
    if not words:
        return None
    program, positional, values = _program_name(words[0]), list[str](), list[str]()
    rest = iter(words[1:])
    for word in rest:
        flag, equals, value = word.partition("=")
        if flag in _NARROWING_FLAGS:
            values.extend([value] if equals else _next_value(rest))
        elif not word.startswith(("-", "+")):
            positional.append(word)
    if words[:2] == ("command", "-v"):  # the flag is half of the program's name
        program = "command -v"
    script, used = _script(program, positional)
    return _Call(program, tuple(positional), tuple(values), script, used)


def _next_value(words: Iterator[str]) -> Iterable[str]:
    value = next(words, None)
    return () if value is None else (value,)


def _skip_prefixes(words: tuple[str, ...]) -> tuple[str, ...]:
    """Drop assignments and the runners of SPEC 13.3, with a runner's own flags."""
    at = 0
    while at < len(words):
        named = (_program_name(words[at]), *words[at + 1 : at + 2])
        prefix = next((prefix for prefix in _PREFIXES if named[: len(prefix)] == prefix), None)
        if prefix is not None:
            at += len(prefix)
            while at < len(words) and words[at].startswith("-"):
                at += 1
        elif _ASSIGNMENT.match(words[at]):
            at += 1
        else:
            break
    return words[at:]


def _program_name(word: str) -> str:
    """A program in a ``bin`` folder by its name; any other path is its own file (``./test`` is no ``test``)."""
    folder, _, name = word.rpartition("/")
    return name if folder.rpartition("/")[2] in ("bin", ".bin") else word


def _own_names(program: str) -> set[str]:
    """What a program calls itself in front of its messages: its word, or the last segment of its path."""
    return {program, program.rpartition("/")[2]} - {""}


def _script(program: str, words: list[str]) -> tuple[str | None, int]:
    """The package script that runs, and how many positional words say so (SPEC 13.3)."""
    if program not in _SCRIPT_RUNNERS or not words:
        return None, 0
    if words[0] == "run":
        return (words[1], 2) if len(words) > 1 else (None, 0)
    if program == "npm" and words[0] in _NPM_TEST:
        return "test", 1
    return (words[0], 1) if program in _BARE_SCRIPT_RUNNERS else (None, 0)


def _is_masked(simple: tuple[Simple, ...], at: int) -> bool:
    """Whether an exit of 0 need not be that of the simple command at ``at`` (SPEC 13.4).

    A pipe right behind it hides its exit; later in the line only ``||``, ``;`` and a newline do, for behind ``&&``
    a pipe belongs to a command that runs after a success.
    """
    after = [part.then for part in simple[at:]]
    return after[:1] == ["|"] or any(operator in ("||", ";") for operator in after)


def _is_benign(simple: tuple[Simple, ...], calls: list[_Call | None]) -> bool:
    """Whether the last simple command, which decides the exit, answers "no" with an exit of 1 (SPEC 13.4)."""
    call = calls[-1] if simple else None
    if call is None:
        return False
    return call.program in _BENIGN or (bool(call.words) and f"{call.program} {call.words[0]}" in _BENIGN)
