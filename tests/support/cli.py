"""A small ledger that never changes, and the command line run on it.

``python -m tests.support.cli`` rewrites what the commands are expected to print.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from ledger.events import Delivery
from ledger.ids import uuid7
from ledger.log import FileLog
from ledger.times import parse_time
from memfold.cli.main import main
from memfold.workspace import Workspace
from projections.policy import DEFAULT_POLICY

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = ROOT / "fixtures" / "expected" / "cli"
RECORDINGS = ROOT / "fixtures" / "recordings"
WORKSPACE = "/w/app"
BEGIN = "2026-01-01T09:00:00Z"
SUMMARY = """Memory candidates:
- [project] The service keeps its tariff tables in config/tariffs.json
- [project] Weekend rates are done, 12 tests passed
- [decision] Prices must be computed in integer cents
- feedback use short names
"""
GOLDEN = {
    "account": ["account"],
    "cache": ["cache"],
    "check": ["check"],
    "head": ["head"],
    "history": ["history", "MEM-001"],
    "list": ["list"],
    "list-all": ["list", "--state", "all"],
    "prompt": ["prompt", "--session", "first", "--hot"],
    "prompt-next": ["prompt", "--next"],
    "prompt-numbered": ["prompt", "--numbered"],
    "prove": ["prove", "3"],
    "show": ["show", "MEM-001"],
    "show-text": ["show", "整数"],
    "status": ["status"],
    "verify": ["verify", "--prompts"],
    "why": ["why", "MEM-001"],
    "why-rejected": ["why", "12 tests passed"],
    "why-text": ["why", "integer cents"],
    "why-unseen": ["why", "Remember: the berths are numbered from the harbour mouth"],
}
"""Name of the expected file → arguments."""


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def run(*arguments: str) -> Ran:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return Ran(code, out.getvalue(), err.getvalue())


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def run_on_terminal(*arguments: str) -> Ran:
    """Run a command whose streams are terminals."""
    out, err = Terminal(), Terminal()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return Ran(code, out.getvalue(), err.getvalue())


def make_ledger(folder: Path) -> Path:
    """The small ledger: two sessions, one compaction, and a request that is still pending ten days later."""
    begin = parse_time(BEGIN) or 0
    ids = (uuid7(begin, (number << 6).to_bytes(10, "big")) for number in range(1, 1000))
    log = FileLog.create(folder, root=WORKSPACE, key="0" * 16, clock=lambda: begin, new_id=lambda: next(ids))
    ws = Workspace(log, WORKSPACE, DEFAULT_POLICY, host="test")
    ws.configure(DEFAULT_POLICY, enabled=True, delivery=Delivery(tools=False))  # as in a recording
    say = ws.capture
    with log:
        ws.record(say.session_started("first", time=BEGIN, host_version="1.0"))
        ws.record(say.user_message("first", "m1", "Remember: 金额一律用整数分存储", time="2026-01-01T09:01:00Z"))
        ws.record(say.user_message("first", "m2", "don't remember this: hunter two", time="2026-01-01T09:02:00Z"))
        call = {"command": "npm test"}
        ws.record(
            say.tool_completed(
                "first", "c1", "bash", call, exit=1, output="FAIL src/rates.js: wrong", time="2026-01-01T09:03:00Z"
            )
        )
        ws.record(say.compacted("first", "m3", SUMMARY, time="2026-01-01T09:04:00Z"))
        ws.record(say.session_started("second", time="2026-01-02T09:00:00Z"))
        ws.record(
            say.user_message("second", "m4", "From now on use integer cents in every API", time="2026-01-02T09:01:00Z")
        )
        ws.record(say.session_started("second", reason="resume", time="2026-01-12T09:01:00Z"))
    return folder


@contextlib.contextmanager
def home(folder: Path, **variables: str) -> Iterator[None]:
    """An environment of its own: nothing of this machine's configuration or terminal counts."""
    environ = {"HOME": os.fspath(folder), "PATH": os.environ.get("PATH", ""), "TERM": "dumb", **variables}
    with mock.patch.dict(os.environ, environ, clear=True):
        yield


def printed(ledger: Path, arguments: list[str]) -> str:
    """What a command prints on a ledger, whose folder is called LEDGER; notes of stderr follow."""
    ran = run(*arguments, "--ledger", str(ledger))
    return (ran.out + ran.err).replace(str(ledger), "LEDGER")


def rewrite() -> None:
    """Write what is printed now."""
    EXPECTED.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, home(Path(folder)):
        ledger = make_ledger(Path(folder) / "ledger")
        for name, arguments in GOLDEN.items():
            (EXPECTED / f"{name}.txt").write_text(printed(ledger, arguments), encoding="utf-8")
            (EXPECTED / f"{name}.json").write_text(printed(ledger, [*arguments, "--json"]), encoding="utf-8")


def done(*arguments: str, code: int = 0) -> dict[str, Any]:
    """The document of a command that went well, or ended with a code."""
    ran = run(*arguments, "--json")
    assert ran.code == code, ran.err
    document: dict[str, Any] = json.loads(ran.out)
    return document


def active() -> list[str]:
    """Texts of the active memories here, by id."""
    rows = done("list")["memories"]
    return [row["text"] for row in sorted(rows, key=lambda row: row["id"])]


def failed(ran: Ran, code: int, *words: str) -> None:
    """A command that did nothing says why."""
    assert ran.code == code, ran.out + ran.err
    for word in words:
        assert word in ran.out + ran.err


if __name__ == "__main__":
    rewrite()
