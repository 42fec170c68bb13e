"""Capture cleans and redacts what an excerpt reads, and nothing else of a tool call."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from projections.hot.excerpt import excerpt, is_output_read, read_arguments
from projections.policy import DEFAULT_POLICY

TOOLS = ("read", "write", "edit", "multiedit", "Bash", "bash", "grep", "patch", "apply_patch", "webfetch", "memory_add")
NAMES = ("filePath", "file_path", "command", "patchText", "patch", "input", "content", "oldString", "pattern")
TEXTS = ("src/a.ts", "pytest -q", "*** Update File: src/b.ts\n", "/w/app/x.py:3: hit", "Error: boom", "2 failed")


@example("bash", {"command": "pytest -q"}, 1, "completed", "2 failed")
@example("grep", {"pattern": "hit"}, None, "completed", "/w/app/x.py:3: hit")
@example("apply_patch", {"patchText": "*** Update File: src/b.ts\n"}, None, "completed", "")
@example("edit", {"file_path": "src/a.ts", "oldString": "x"}, None, "completed", "")
@given(
    tool=st.sampled_from(TOOLS),
    args=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS) | st.text(max_size=20)),
    exit_code=st.sampled_from((0, 1, None)),
    status=st.sampled_from(("completed", "failed", "aborted")),
    output=st.lists(st.sampled_from(TEXTS)).map("\n".join),
)
def test_what_is_not_read_changes_nothing(
    tool: str, args: dict[str, str], exit_code: int | None, status: str, output: str
) -> None:
    """The excerpt of the arguments and output that are read is the excerpt of all."""
    read = {name: value for name, value in args.items() if name in read_arguments(tool)}
    heard = output if is_output_read(tool) else ""
    whole = excerpt(tool, args, exit_code, status, output, policy=DEFAULT_POLICY)
    assert excerpt(tool, read, exit_code, status, heard, policy=DEFAULT_POLICY) == whole
