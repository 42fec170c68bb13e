"""Reading command lines: categories, scope, masked and benign exits (SPEC 13.3, 13.4)."""

from __future__ import annotations

import pytest

from projections.hot.commands import classify
from projections.hot.shell import split_commands
from projections.policy import DEFAULT_POLICY, ErrorCategory, Policy


@pytest.mark.parametrize(
    ("line", "category"),
    [
        ("tsc --noEmit", "typecheck"),
        ("npx vue-tsc", "typecheck"),
        ("cargo check --workspace", "typecheck"),
        ("npm run type-check", "typecheck"),
        ("pnpm tsc", "typecheck"),
        ("yarn check-types", "typecheck"),
        ("pytest", "test"),
        ("python3 -m unittest discover", "test"),
        ("bun test", "test"),
        ("mvn -q test", "test"),
        ("make -j4 test", "test"),
        ("npm t", "test"),
        ("npm run test:unit", "test"),
        ("yarn test-all", "test"),
        ("pnpm --filter web test", "test"),
        (".venv/bin/pytest -q", "test"),
        ("node_modules/.bin/jest", "test"),
        ("cargo +nightly test", "test"),
        ("/usr/bin/env pytest", "test"),
        ("CI=1 DEBUG= sudo -E npx --yes jest", "test"),
        ("poetry run python -m pytest", "test"),
        ("cd web && npm test", "test"),
        ("npm run build && npm test", "test"),
        ("(cd a; pytest)", "test"),
        ("ruff check .", "lint"),
        ("go vet ./...", "lint"),
        ("npm run lint:fix", "lint"),
        ("make", "build"),
        ("make all", "build"),
        ("vite build", "build"),
        ("docker build -t img .", "build"),
        ("bun run build:prod", "build"),
        ("ls test", None),
        ("./test", None),
        ("cat pytest", None),
        ("vite dev", None),
        ("npm run", None),
        ("npm build", None),
        ("npm run tested", None),
        ("bun lint", None),
        ("echo 'x && pytest'", None),
        ("echo $(pytest; ls)", None),
        ("echo `pytest`", None),
        ("ls # && pytest", None),
        ("cat > f <<'EOF'\npytest\nEOF", None),
        ("command -v pytest", None),
        ("time", None),
        ("A=1", None),
        ("", None),
    ],
)
def test_category(line: str, category: str | None) -> None:
    """The category is that of a whole program or script in command position, behind the prefixes."""
    assert classify(line, DEFAULT_POLICY).category == category


@pytest.mark.parametrize(
    ("line", "scope"),
    [
        ("pytest", ()),
        ("pytest -q --maxfail=1 2>&1 > out.txt", ()),
        ("pytest tests/a.py", ("tests/a.py",)),
        ("pytest -k 'a and b' -m slow", ("a and b", "slow")),
        ("jest --testNamePattern=adds src", ("adds", "src")),
        ("vitest run .", ()),
        ("go test ./... -run TestX", ("TestX",)),
        ("npm test -- --silent", ()),
        ("npm run test -- src/a.ts", ("src/a.ts",)),
        ("npm test src/a.ts", ("src/a.ts",)),
        ("npm t src/a.ts", ("src/a.ts",)),
        ("pnpm --filter web test", ("web",)),
        ("ruff check src", ("src",)),
        ("mocha --grep", ()),
        ("cd web && npm test", ()),
        ("ls src", ()),
    ],
)
def test_scope(line: str, scope: tuple[str, ...]) -> None:
    """Positional words and the values of narrowing flags narrow a run; other flags and redirections don't."""
    assert classify(line, DEFAULT_POLICY).scope == scope


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("pytest | tail", True),
        ("pytest |& tail", True),
        ("pytest || true", True),
        ("pytest; ls", True),
        ("pytest\nls", True),
        ("pytest & ls", True),
        ("pytest && ls || true", True),
        ("pytest && ls", False),
        ("pytest && ls | head", False),
        ("ls | pytest", False),
        ("pytest;", False),
        ("pytest &&\n ls", False),
        ("ls; pytest", False),
        ("ls | cat", False),
    ],
)
def test_masked_exit(line: str, masked: bool) -> None:
    """An exit is masked if another simple command decides the exit of 0 instead of the categorised one."""
    assert classify(line, DEFAULT_POLICY).masked is masked


@pytest.mark.parametrize(
    ("line", "benign"),
    [
        ("grep x f", True),
        ("/usr/bin/grep x f", True),
        ("cat f | rg x", True),
        ("git diff --exit-code", True),
        ("git grep x", True),
        ("[ -f x ]", True),
        ("command -v x", True),
        ("pytest | grep FAILED", True),
        ("pytest; false", True),
        ("pytest && grep x f", False),
        ("grep x f | cat", False),
        ("git status", False),
        ("git", False),
        ("./test", False),
        ("command x", False),
        ("A=1", False),
        ("grep x f; A=1", False),
        ("pytest; A=1", False),
        ("", False),
    ],
)
def test_known_benign(line: str, benign: bool) -> None:
    """An exit of 1 is an answer when the command that decides it is a search, a comparison or a test."""
    assert classify(line, DEFAULT_POLICY).benign is benign


def test_configured_categories_come_after_and_add_to_the_built_in_ones() -> None:
    """A new category has its programs and scripts; one with a built-in name widens that one (SPEC 20.2)."""
    policy = Policy(
        error_categories=(
            ErrorCategory("deploy", ("fly deploy", "kamal"), ("ship",), ("rollback",)),
            ErrorCategory("lint", ("hadolint",)),
        )
    )
    deploy = classify("fly deploy --now prod", policy)
    assert (deploy.category, deploy.scope, deploy.signals) == ("deploy", ("prod",), ("rollback",))
    assert classify("npm run ship", policy).category == "deploy"
    assert classify("kamal && pytest", policy).category == "test"
    assert classify("hadolint Dockerfile", policy).category == "lint"
    assert classify("eslint .", policy).category == "lint"
    assert classify("kamal", DEFAULT_POLICY).category is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('a \'b c\' "d \\"e\\"" f\\ g', [("a", "b c", 'd "e"', "f g")]),
        ('a "b', [("a", "b")]),
        ("a 'b", [("a", "b")]),
        ("a \\", [("a", "")]),
        ("a '' b", [("a", "", "b")]),
        ("a\\\n b", [("a", "b")]),
        ("a &> f; b 2>&1 < in", [("a",), ("b",)]),
        ("a >", [("a",)]),
        ("a >\nb c", [("a",), ("b", "c")]),
        ("a 'b'#c", [("a", "b#c")]),
        ("a <<< 'x; y'\nb", [("a",), ("b",)]),
        ("a <<-X <<Y\n1\n\tX\n2\nY\nb", [("a",), ("b",)]),
        ("a <<X\nopen", [("a",)]),
        ("a 3<<X\nb\nX\nc", [("a",), ("c",)]),
        ("a 3<<-X\nb\n\tX\nc", [("a",), ("c",)]),
        ("a $(b (c) | d) e", [("a", "$(b (c) | d)", "e")]),
        ("a $(open; b", [("a", "$(open; b")]),
        ("diff <(a | b) <(c)", [("diff", "<(a | b)", "<(c)")]),
        ("a#b # c\nd", [("a#b",), ("d",)]),
        ("echo $HOME $", [("echo", "$HOME", "$")]),
        ("(a b) c; (d)", [("a", "b", "c"), ("d",)]),
        ("a '", [("a", "")]),
        ("a 'b\\$c' \"b\\$c\"", [("a", "b\\$c", "b$c")]),
        (";;|\n&&", []),
    ],
)
def test_split(line: str, words: list[tuple[str, ...]]) -> None:
    """Operators part commands outside of quotes, substitutions, comments and here-documents only."""
    assert [simple.words for simple in split_commands(line)] == words
