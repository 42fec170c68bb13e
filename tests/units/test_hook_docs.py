"""What the documents say about ``memfold hook`` is what it reads, and how it is started."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from ledger.trust import DERIVED, PRIVATE, SPOOL
from memfold.hook import events
from memfold.hook.command import fast_command
from memfold.hook.place import find
from memfold.hook.reduce import _KINDS
from memfold.hook.run import _MARKS, _WAITING, FOLDER, SEAL_EVERY
from memfold.hook.schema import event_table, hook_schema, schema_text
from memfold.sealing import SEAL_EVERY as SEALED_EVERY
from projections.hot import tools
from tests.support.bridge import ROOT
from tests.support.cli import home, run
from tests.support.hook import sent, tool

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "hook.md").read_text(encoding="utf-8")


def test_the_schema_is_committed(tmp_path: Path) -> None:
    """The committed schema is what the command and the module print."""
    committed = (DOCS / "reference" / "hook.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text()
    with home(tmp_path):
        assert run("schema", "hook").out == committed
    done = subprocess.run([sys.executable, "-m", "memfold.hook.schema"], capture_output=True, check=True, cwd=ROOT)
    assert done.stdout.decode() == committed


def test_the_table_is_in_the_page() -> None:
    """The page lists every event with the fields of its struct."""
    assert PAGE.split("<!-- events: begin -->\n")[1].split("<!-- events: end -->")[0] == event_table()


def test_the_example_is_an_event() -> None:
    """The example of the page is read, and satisfies the schema."""
    example = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0]
    assert isinstance(events.decode(example), events.ToolCompleted)
    jsonschema.Draft202012Validator(hook_schema()).validate(json.loads(example))


@pytest.mark.parametrize(
    ("event", "good"),
    [
        (sent("session.started", "/w"), True),
        (sent("session.started", "/w", {"parent": "p", "reason": "resume"}), True),
        (sent("session.deleted", "/w", time=7.5), True),
        (tool("/w", more=1), True),
        (tool("/w", args={"a": [1]}, exit=None), True),
        (sent("x.y", "/w"), False),
        (sent("memory.requested", "/w"), False),
        (sent("session.measured", "/w", {"requests": -1}), False),
        (tool("/w", exit="1"), False),
        (tool("/w") | {"host": "memfold"}, False),
        (tool("/w") | {"session": "x" * 201}, False),
    ],
)
def test_schema_and_reader_agree(event: dict[str, Any], *, good: bool) -> None:
    """What the schema allows is read, and nothing else."""
    assert jsonschema.Draft202012Validator(hook_schema()).is_valid(event) == good
    if good:
        events.decode(json.dumps(event))
    else:
        with pytest.raises(msgspec.ValidationError):
            events.decode(json.dumps(event))


def test_what_the_lean_way_repeats() -> None:
    """What it can't import is what those modules say."""
    assert set(_KINDS.items()) == set(tools._KINDS.items())
    assert SEAL_EVERY == SEALED_EVERY
    assert FOLDER == DERIVED
    assert (_MARKS, _WAITING) == (PRIVATE, SPOOL)


def test_the_fast_command(tmp_path: Path) -> None:
    """It names the interpreter itself and a file; ``memfold paths`` prints it."""
    command = fast_command()
    assert command[0] == os.path.realpath(sys.executable)
    assert command[1:3] == ["-I", "-S"]
    assert all(Path(path).exists() for path in command[3:])
    with home(tmp_path):
        assert json.loads(run("paths", "--json").out)["hook"] == command
        assert command[3] in run("paths").out


def test_data_and_settings_where_variables_say(tmp_path: Path) -> None:
    """XDG folders are followed, in their plain form."""
    root = Path(os.path.realpath(tmp_path))
    environ = {b"HOME": b"/h", b"XDG_DATA_HOME": b"/d", b"XDG_CONFIG_HOME": b"/c"}
    folder, files = find(str(root), environ)
    assert folder.startswith("/d/memfold/workspaces/")
    assert files == ("/c/memfold/config.toml", f"{root}/.memfold.toml")
