"""No command and no bridge opens a network connection, or asks for a name: a hook of the interpreter would end them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.events import ToolCompleted
from memfold.cli.commands import COMMANDS
from tests.support.bridge import (
    ROOT,
    Child,
    asks_for_tools,
    compacted,
    compacting,
    environment,
    events_of,
    init,
    ran,
    said,
    system,
)
from tests.support.cli import RECORDINGS
from tests.support.hook import repository, sent, tool

_CAUGHT = 99
_GUARD = f"""
import os, sys

def guard(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.client.", "ftplib.", "smtplib.", "poplib.", "imaplib.")):
        os.write(2, f"network: {{event}}\\n".encode())
        os._exit({_CAUGHT})

sys.addaudithook(guard)
"""
_HOOK = _GUARD + "from memfold.hook.run import main\nmain()\n"
_BRIDGE = _GUARD + "from memfold.bridge.process import run_process\nrun_process()\n"
_COMMANDS = (
    _GUARD
    + """
import json
from memfold.cli.main import main
for command in json.loads(sys.argv[1]):
    code = main(command)
    sys.stdout.flush()
    print("\\ndone", json.dumps([command[0], code]), flush=True)
"""
)
_FACT = "use integer cents for money"
_LINES = [
    ["install", "opencode"],
    ["add", _FACT],
    ["ingest", "opencode", str(RECORDINGS / "remember.jsonl"), "--ledger", "demo"],
    ["import", "list.md", "--format", "bullets"],
    ["edit", "MEM-001", "--title", "use cents"],
    *(["pin", "MEM-001"], ["unpin", "MEM-001"], ["forget", "MEM-001"], ["restore", "MEM-001"], ["undo", "--yes"]),
    *([name] for name in ("status", "list", "account", "cache", "log", "check", "head", "doctor", "paths", "sync")),
    *([name, "MEM-001"] for name in ("show", "why", "history")),
    *(["verify", "--prompts"], ["prove", "1"], ["prompt", "--next"], ["repair", "--dry-run"], ["workspaces"]),
    *(["export"], ["backup"], ["restore-backup", "backup", "--dry-run"], ["purge", "MEM-001", "--yes"]),
    *(["config", "show"], ["schema", "events"], ["completion", "bash"], ["uninstall", "opencode"]),
]


def _child(program: str, folder: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments],
        cwd=folder,
        env=environment(folder / "home") | {"PYTHONPATH": ROOT},
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_command_uses_the_network(tmp_path: Path) -> None:
    """Each of them runs to its end; only the bridge and the hook, which serve clients, have tests of their own."""
    project = tmp_path / "app"
    project.mkdir()
    (tmp_path / "home").mkdir()
    (project / "list.md").write_text("- the berths are numbered from the mouth of the harbour\n")
    (project / "home").symlink_to(tmp_path / "home")
    done = _child(_COMMANDS, project, json.dumps(_LINES))
    assert done.returncode == 0, done.stderr
    ends = [json.loads(line[5:]) for line in done.stdout.splitlines() if line.startswith("done ")]
    assert [name for name, _ in ends] == [line[0] for line in _LINES]
    assert {line[0] for line in _LINES} | {"bridge", "hook"} == set(COMMANDS)
    assert ["add", 0] in ends


def test_a_bridge_uses_no_network(tmp_path: Path) -> None:
    """A whole session: tools are asked for, a request, a command that fails, a compaction, and the end."""
    (tmp_path / "w").mkdir()
    with Child(tmp_path / "home", command=[sys.executable, "-c", _BRIDGE]) as child:
        for record in (init(tmp_path / "w"), asks_for_tools(), said(f"Remember: {_FACT}"), system()):
            child.ask(record)
        child.ask(ran("npm test", 1, "FAIL rates.js: wrong"))
        child.ask(compacting())
        for record in compacted("Memory candidates:\n- [project] The nightly build runs on port 7400"):
            child.send(record)
        assert _FACT in str(child.ask(system("T")))
        child.stdin.close()
        assert child.process.wait() == 0


def test_a_hook_uses_no_network(tmp_path: Path) -> None:
    """The plain way, then the lean one behind it; both store what they are given."""
    root = repository(tmp_path / "w")
    calls = [f"c{number}" for number in range(3)]
    for event in (sent("session.started", root), *(tool(root, "Read", call) for call in calls)):
        done = _child(_HOOK, tmp_path, given=json.dumps(event))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    events = events_of(tmp_path / "home", root)
    assert [one.data.call for one in events if isinstance(one, ToolCompleted)] == calls


@pytest.mark.parametrize(
    "deed",
    [
        "import socket; socket.socket()",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import urllib.request; urllib.request.urlopen('http://localhost:9')",
    ],
)
def test_the_guard_sees_what_it_is_there_for(tmp_path: Path, deed: str) -> None:
    """A program that only makes a socket, or asks for a name, is ended."""
    done = _child(_GUARD + deed, tmp_path)
    assert done.returncode == _CAUGHT
    assert done.stderr.startswith("network: ")
