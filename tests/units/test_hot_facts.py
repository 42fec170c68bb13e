"""What is kept of a tool call and what it means (SPEC 13.1, 13.2, 13.4; DESIGN 3)."""

from __future__ import annotations

import pytest

from ledger.events import ToolArguments, ToolCompletedData
from projections.hot.excerpt import COMMAND_LIMIT, excerpt
from projections.hot.facts import NO_FACTS, OpenedError, Success, ToolFacts, Touch, closes, tool_facts
from projections.hot.files import PATH_LIMIT, file_path, same_file
from projections.hot.tools import is_own_tool, kind_of
from projections.policy import DEFAULT_POLICY, Context
from tests.support.hot_rows import Status, tool_data

REPO = Context(root="/repo")
PATCH = "*** Begin Patch\n*** Update File: src/a.ts\n+x\n*** Add File: ./b.ts\n+*** Add File: no\n*** Delete File: c.ts"


def touches(data: ToolCompletedData) -> list[tuple[str, str]]:
    """The touches of a call as pairs."""
    return [(touch.path, touch.action) for touch in tool_facts(data, REPO).touches]


def facts(command: str, exit_code: int | None = 0, output: str = "", status: Status = "completed") -> ToolFacts:
    """The facts of a shell call."""
    data = tool_data("bash", {"command": command}, exit_code=exit_code, status=status, output=output)
    return tool_facts(data, REPO)


@pytest.mark.parametrize(
    "name",
    [
        "memory_add",
        "memory_search",
        "memfold_state",
        "memfold_memory_add",
        "mcp__memfold__memory_read",
        "my-memfold_memory_delete",
        "mcp__memfold__memfold_memory_add",
    ],
)
def test_own_tools(name: str) -> None:
    """Our tools are known by name, with a server prefix or without."""
    assert is_own_tool(name)
    assert kind_of(name) == "other"


@pytest.mark.parametrize("name", ["memory", "read", "server_memory_add", "memfold", "x_memfold_bash", "bash"])
def test_other_tools_are_not_ours(name: str) -> None:
    """A tool of another server that happens to speak of memory is not ours."""
    assert not is_own_tool(name)


@pytest.mark.parametrize(
    ("tool", "argument", "action"),
    [
        ("read", "filePath", "read"),
        ("Edit", "file_path", "edit"),
        ("write", "filePath", "write"),
        ("MultiEdit", "file_path", "edit"),
    ],
)
def test_file_tools_touch_their_file(tool: str, argument: str, action: str) -> None:
    """The path comes from either spelling of the argument, relative to the root."""
    assert touches(tool_data(tool, {argument: "/repo/src//a.ts"})) == [("src/a.ts", action)]


def test_calls_that_touch_nothing() -> None:
    """Failed calls, other tools, shell commands and calls without a path touch no file."""
    path: dict[str, object] = {"filePath": "/repo/a.ts"}
    for data in (
        tool_data("edit", path, status="failed"),
        tool_data("edit", path, status="aborted"),
        tool_data("edit", path, exit_code=1),
        tool_data("glob", path),
        tool_data("memory_read", path),
        tool_data("bash", {"command": "sed -i s/a/b/ src/a.ts"}, exit_code=0),
        tool_data("read", {"filePath": 7}),
        tool_data("read", {}),
        tool_data("read", {"filePath": "x" * (PATH_LIMIT + 1)}),
        tool_data("read", {"filePath": "./"}),
    ):
        assert touches(data) == []


@pytest.mark.parametrize(
    "path",
    [
        "/repo/.opencode/memory/MEMORY.md",
        ".opencode/memory/memory.log",
        "/home/u/.local/share/memfold/workspaces/0123/events.jsonl",
        "/home/u/.local/share/opencode/tool-output/tool_1.txt",
        "/home/u/.claude/projects/p/tool-results/x.txt",
    ],
)
def test_own_and_truncation_files_never_count(path: str) -> None:
    """Not by a file tool, not in a patch, not in a grep."""
    assert touches(tool_data("read", {"filePath": path})) == []
    assert touches(tool_data("apply_patch", {"patchText": f"*** Update File: {path}"})) == []
    assert touches(tool_data("grep", {}, output=f"{path}: x")) == []


def test_patch_lines_in_their_order() -> None:
    """Updated is an edit, added a write, deleted leaves the list; added text is no file line."""
    data = tool_data("apply_patch", {"patchText": PATCH})
    assert data.output == "*** Update File: src/a.ts\n*** Add File: ./b.ts\n*** Delete File: c.ts"
    assert touches(data) == [("src/a.ts", "edit"), ("b.ts", "write"), ("c.ts", "delete")]
    assert touches(tool_data("apply_patch", {"patchText": PATCH}, status="failed")) == []


def test_grep_paths() -> None:
    """Distinct files at the start of a line with an extension; images, prose and directories are left out."""
    output = (
        "Found 2 matches\n/repo/src/a.ts:\n  Line 3: b.py: x\n./src/a.ts:4: y\n/repo/my file.md:1\nmain.c:3:1\n"
        "logo.PNG: x\nwords before a.ts: x\ndir/: x\nMakefile:3\nhttp://x.dev/a.ts: x\nC:\\w\\a.ts:1: x\n:"
    )
    assert touches(tool_data("grep", {}, output=output)) == [
        ("src/a.ts", "grep"),
        ("my file.md", "grep"),
        ("main.c", "grep"),
        ("C:/w/a.ts", "grep"),
    ]


def test_first_ten_grep_paths_and_first_two_hundred_of_a_patch() -> None:
    """What is kept of a call is bounded."""
    grep = tool_data("grep", {}, output="\n".join(f"f{n:02}.ts:1: x" for n in range(30)))
    assert [path for path, _ in touches(grep)] == [f"f{n:02}.ts" for n in range(10)]
    patch = tool_data("apply_patch", {"patchText": "\n".join(f"*** Add File: f{n}.ts" for n in range(300))})
    assert len(touches(patch)) == 200
    long = "x" * PATH_LIMIT + ".ts"
    assert touches(tool_data("apply_patch", {"patchText": f"*** Add File: {long}"})) == []
    assert touches(tool_data("grep", {}, output=f"{long}: x")) == []


def test_other_tools_keep_nothing() -> None:
    """No argument and no output of a tool that no rule reads."""
    args = {"command": "x", "filePath": "a.ts", "patchText": PATCH}
    for tool in ("glob", "webfetch", "memory_add"):
        assert excerpt(tool, args, 0, "completed", "Error: x", policy=DEFAULT_POLICY) == (ToolArguments(), "")
    assert excerpt("read", args, 0, "completed", "secret text", policy=DEFAULT_POLICY) == (
        ToolArguments(path="a.ts"),
        "",
    )


def test_long_command_lines_stay_apart() -> None:
    """A command over the limit is cut, and ends in a digest of the whole."""
    first = tool_data("bash", {"command": "x" * 99_999 + "a"}).args.command
    other = tool_data("bash", {"command": "x" * 99_999 + "b"}).args.command
    assert len(first) == len(other) == COMMAND_LIMIT
    assert first != other
    assert first.startswith("x" * (COMMAND_LIMIT - 18) + " …")
    whole = "x" * COMMAND_LIMIT
    assert tool_data("bash", {"command": whole}).args.command == whole
    assert len(tool_data("bash", {"command": whole + "\ud800"}).args.command) == COMMAND_LIMIT


def test_failure_opens_an_error() -> None:
    """Category, file, scope and command of the error come from the command and its output."""
    opened = facts("npx tsc -p ./web/", 2, "/repo/src/a.ts(3,1): error TS2322: x").error
    assert opened == OpenedError(
        category="typecheck",
        summary="/repo/src/a.ts(3,1): error TS2322: x",
        fingerprint="919a8a1e7e13",
        command="npx tsc -p ./web/",
        scope=("web",),
        file="src/a.ts",
    )


@pytest.mark.parametrize(
    ("command", "exit_code", "output", "category"),
    [
        ("node x.js", 1, "Error: x", "runtime"),
        ("sh build.sh", 1, "src/a.ts(3,1): error TS2322: x", "typecheck"),
        ("make", 2, "", "build"),
        ("npm test && git diff", 1, "1 failed", "test"),
    ],
)
def test_category_of_an_error(command: str, exit_code: int, output: str, category: str) -> None:
    """The command's category, else typecheck by a TypeScript code, else runtime."""
    opened = facts(command, exit_code, output).error
    assert opened
    assert opened.category == category


def test_results_that_mean_nothing() -> None:
    """Unknown and benign exits and uncategorised failures without a signal neither open nor close."""
    assert facts("npm test", None, "1 failed") == NO_FACTS
    assert facts("npm test", 130, "1 failed") == NO_FACTS
    assert facts("npm test", None, "1 failed", "aborted") == NO_FACTS
    assert facts("grep x f", 1, "error: x") == NO_FACTS
    assert facts("node x.js", 1, "bad luck") == NO_FACTS
    assert facts("npm test | cat", 0, "12") == NO_FACTS


def test_masked_exits() -> None:
    """A runner summary stands in for the exit: low confidence when it tells failures, else a success."""
    opened = facts("npm test | cat", 0, "Error: x\n2 failed").error
    assert opened
    assert (opened.confidence, opened.summary) == ("low", "Error: x 2 failed")
    assert facts("npm test | cat", 0, "4 passed").success == Success("npm test | cat", "test")
    assert facts("ls | cat", 0).success == Success("ls | cat")


def test_silent_failure_of_an_unknown_code() -> None:
    """A reported failure without exit and output is told by its command."""
    opened = facts("make all", None, "", "failed").error
    assert opened
    assert opened.summary == "make all exited with a non-zero code"


def error(category: str = "test", scope: tuple[str, ...] = (), file: str | None = None) -> OpenedError:
    """An open error."""
    return OpenedError(category, "s", "f", "first command", scope, file)


@pytest.mark.parametrize(
    ("success", "opened", "closed"),
    [
        (Success("first command"), error(), True),
        (Success("ls"), error(), False),
        (Success("x", "lint"), error(), False),
        (Success("x", "test"), error(scope=("a",)), True),
        (Success("x", "test", ("a",)), error(), False),
        (Success("x", "test", ("a",)), error(scope=("a",)), True),
        (Success("x", "test", ("a",)), error(scope=("a", "b")), False),
        (Success("x", "test", ("src/a.ts",)), error(file="src/a.ts"), True),
        (Success("x", "test", ("a.ts",)), error(file="src/a.ts"), True),
        (Success("x", "test", ("src",)), error(file="src/a.ts"), True),
        (Success("x", "test", ("sr",)), error(file="src/a.ts"), False),
        (Success("x", "test", ("b.ts",)), error(file="src/ab.ts"), False),
    ],
)
def test_what_a_success_closes(success: Success, opened: OpenedError, closed: bool) -> None:
    """The whole category, or under a scope what has the same scope or lies in it (SPEC 13.5)."""
    assert closes(success, opened) is closed


def test_paths() -> None:
    """Paths of tools have one form; suffixes are compared in whole segments."""
    assert file_path("/repo//src/./", "/repo/") == "src/."
    assert file_path("./././a\\b.ts", "") == "a/b.ts"
    assert file_path("[id]/page.tsx", "/repo") == "[id]/page.tsx"
    assert same_file("a.ts", "src/a.ts")
    assert not same_file("a.ts", "src/ba.ts")


def test_two_updates_of_one_patch_are_two_touches() -> None:
    """Touches within one event count in their order."""
    data = tool_data("patch", {"patch": "*** Add File: a.ts\n*** Delete File: a.ts\n*** Add File: a.ts"})
    assert tool_facts(data, REPO).touches == (
        Touch("a.ts", "write"),
        Touch("a.ts", "delete"),
        Touch("a.ts", "write"),
    )
