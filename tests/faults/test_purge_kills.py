"""A purge that is killed at any moment leaves the log as it was or as it will be, and can be done again (SPEC 15.4)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.check import check
from ledger.events import Draft, MemoryRequestedData
from ledger.log import FileLog
from ledger.problems import NOTES, Kind
from memfold.backups import known_backups, make_backup
from memfold.bridge.spool import Spool, spooled
from memfold.errors import MemfoldError
from memfold.paths import ledger_dir, workspace_key
from memfold.purge.naming import of_message
from memfold.purge.purge import Purge
from tests.faults.test_processes import ROOT_FOLDER, _writer
from tests.support.harness import Harness
from tests.support.logs import titles

TEXT = "the pilot boat waits behind the breakwater"
OTHER = "error: the crane is rusty"
"""A text that is no memory's; purged with the other one."""
WORKSPACE = "/w/app"
_STEPS = ("open", "write", "fsync", "replace", "unlink", "rmdir", "fchmod")
"""The calls by which a purge changes anything."""
_KILLED = 9


def _ledger(data: Path) -> str:
    """A ledger that holds the text in many places, with a backup; its folder."""
    harness = Harness(str(data), workspace=WORKSPACE)
    harness.feed(
        [
            {"do": "session_start", "session": "A"},
            {"do": "user_message", "session": "A", "message": "m", "text": f"Remember: {TEXT}"},
            {"do": "memory_add", "session": "A", "title": "Pilots", "content": "They come at dawn"},
            {
                "do": "tool",
                "session": "A",
                "tool": "bash",
                "args": {"command": f"echo {TEXT}"},
                "exit": 1,
                "output": f"error: {TEXT}",
            },
            {"do": "memory_delete", "session": "A", "message": "m", "reason": f"it said {TEXT}"},
            {"do": "tool", "session": "A", "tool": "bash", "args": {"command": "make"}, "exit": 1, "output": OTHER},
            {"do": "session_start", "session": "B"},
        ]
    )
    directory = ledger_dir(str(data), workspace_key(WORKSPACE))
    make_backup(directory, str(data), workspace_key(WORKSPACE), now=1_800_000_000_000)
    Path(directory, "operations.log").write_text(f"- [INFO] memory_add — saved: {TEXT}\n", encoding="utf-8")
    quarantine = Path(directory, "quarantine")
    quarantine.mkdir()
    (quarantine / "12-40.bytes").write_text(TEXT, encoding="utf-8")
    return directory


def _purge(data: Path) -> Purge:
    key = workspace_key(WORKSPACE)
    return Purge(
        ledger_dir(str(data), key),
        data=str(data),
        key=key,
        named=lambda world: of_message(world, "m"),
        texts=(OTHER,),
        time=None,
    )


def _holding(data: Path) -> list[Path]:
    """The files that hold one of the texts."""
    held = ((path, path.read_bytes()) for path in data.rglob("*") if path.is_file())
    return [path for path, found in held if TEXT.encode() in found or OTHER.encode() in found]


class _Death:
    """Ends the process at one of the calls, before it or behind it."""

    def __init__(self, at: int, *, behind: bool) -> None:
        self.left, self.behind = at, behind

    def arm(self) -> None:
        for name in _STEPS:
            setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0 and not self.behind:
                os._exit(_KILLED)
            try:
                return call(*arguments, **options)
            finally:
                if self.left == 0:
                    os._exit(_KILLED)

        return counted


def _run_until(data: Path, at: int, *, behind: bool) -> bool:
    """Purge in a process that dies at a call; whether it died."""
    purge = _purge(data)
    preview = purge.look()
    if (child := os.fork()) == 0:
        code = 1
        try:
            _Death(at, behind=behind).arm()
            purge.run(preview)
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, _KILLED)
    return code == _KILLED


@pytest.mark.parametrize("behind", [False, True])
def test_a_kill_at_any_call_leaves_the_old_log_or_the_new_one(tmp_path: Path, behind: bool) -> None:
    """Before the rename the purge hasn't happened and can be done; behind it only disposable files are left."""
    _ledger(tmp_path / "origin")
    at, deaths = 0, 0
    outcomes: set[str] = set()
    died = True
    while died:
        at += 1
        data = tmp_path / str(at)
        shutil.copytree(tmp_path / "origin", data)
        directory = Path(ledger_dir(str(data), workspace_key(WORKSPACE)))
        before = (directory / "events.jsonl").read_bytes()
        died = _run_until(data, at, behind=behind)
        deaths += died
        log = directory / "events.jsonl"
        assert {problem.kind for problem in check(directory)} <= {Kind.UNFINISHED_REWRITE}
        if log.read_bytes() == before:
            outcomes.add("old")
            purge = _purge(data)
            purge.run(purge.look())
        else:
            outcomes.add("new")
            assert log not in _holding(data)
        assert _holding(data) == []
        assert check(directory) == []
        (backup,) = known_backups(str(data), workspace_key(WORKSPACE))
        assert check(backup) == []
        shutil.rmtree(data)
    assert outcomes == {"old", "new"}
    assert deaths > 20


def test_appenders_lose_nothing_while_purges_run(tmp_path: Path) -> None:
    """Eight processes append while memory after memory is purged: what they were told is stored stands in the log."""
    directory = _ledger(tmp_path)
    writers = [_writer(Path(directory), str(name), 60, 10) for name in range(8)]
    purged = 0
    while any(writer.poll() is None for writer in writers) or purged < 2:
        purge = _purge_of(tmp_path, "m" if purged == 0 else f"again{purged}")
        preview = purge.look()
        purge.run(preview)
        purged += 1
        harness = Harness(str(tmp_path), workspace=WORKSPACE)
        harness.step(
            {"do": "user_message", "session": "A", "message": f"again{purged}", "text": f"Remember: {TEXT} {purged}"}
        )
    acknowledged: list[str] = []
    for writer in writers:
        output, _ = writer.communicate(timeout=120)
        assert writer.returncode == 0
        acknowledged += [line.split()[1] for line in output.decode().splitlines()]
    assert len(acknowledged) == 480
    log = FileLog.open(directory)
    assert sorted(set(titles(log.read())) & set(acknowledged)) == sorted(acknowledged)
    assert [event.seq for event in log.read()] == list(range(log.size()))
    assert purged > 1


def _purge_of(data: Path, message: str) -> Purge:
    key = workspace_key(WORKSPACE)
    return Purge(
        ledger_dir(str(data), key), data=str(data), key=key, named=lambda world: of_message(world, message), time=None
    )


def test_two_purges_at_once(tmp_path: Path) -> None:
    """Of two processes that purge the same at once one does it, and the other says that the memory has changed."""
    directory = _ledger(tmp_path)
    code = (
        "import sys\n"
        "from tests.faults.test_purge_kills import _purge\n"
        "from pathlib import Path\n"
        "from memfold.errors import MemfoldError\n"
        "purge = _purge(Path(sys.argv[1]))\n"
        "preview = purge.look()\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "try:\n"
        "    purge.run(preview)\n"
        "except MemfoldError as error:\n"
        "    print(error)\n"
        "else:\n"
        "    print('done')\n"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT_FOLDER,
            text=True,
        )
        for _ in range(2)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    said = sorted(child.communicate("\n", timeout=60)[0].strip() for child in children)
    assert said[0] == "done"
    assert said[1].startswith("the memory has changed meanwhile")
    assert _holding(tmp_path) == []
    assert check(directory) == []


def test_what_waits_is_purged_too(tmp_path: Path) -> None:
    """Requests that could not be stored yet are stored first: what holds the text loses that and nothing else."""
    directory = _ledger(tmp_path)
    other, third = "keep the ropes dry", "oil the crane on Mondays"
    for number, text in enumerate((f"Remember: {TEXT}\nRemember: {other}", f"Remember: {third}")):
        data = MemoryRequestedData(message=f"w{number}", text=text)
        Spool(directory).keep([Draft(source="test/A", time=None, data=data)])
        time.sleep(0.002)  # files of two processes are in the order of their milliseconds
    assert spooled(directory) == 2
    purge = _purge(tmp_path)
    preview = purge.look()
    assert spooled(directory) == 2  # a look changes nothing
    assert [place.action for place in preview.places if place.kind == "spool"] == ["store"]
    purge.run(preview)
    assert (_holding(tmp_path), spooled(directory), purge.left(preview.choice)) == ([], 0, ())
    records = Harness(str(tmp_path), workspace=WORKSPACE).state().accounts.records.values()
    assert [record.proposal.text for record in records][-3:] == ["[erased]", other, third]
    assert {problem.kind for problem in check(directory)} <= NOTES


def test_what_comes_to_the_spool_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stops the purge before anything went if it holds the text; behind the purge it is told of, and stays there."""
    directory = _ledger(tmp_path)
    purge = _purge(tmp_path)
    preview = purge.look()

    def keep() -> None:
        data = MemoryRequestedData(message="w", text=f"Remember: {TEXT}\nRemember: keep the ropes dry")
        Spool(directory).keep([Draft(source="test/A", time=None, data=data)])

    def keep_now(_: Purge) -> None:
        keep()

    with monkeypatch.context() as patch:
        patch.setattr(Purge, "_store_waiting", keep_now)
        with pytest.raises(MemfoldError, match="changed meanwhile; nothing was purged"):
            purge.run(preview)
    assert spooled(directory) == 1
    purge.run(purge.look())
    keep()
    purge.clear(preview.choice)
    assert [(place.kind, place.action) for place in purge.left(preview.choice)] == [("spool", "tell")]
    assert spooled(directory) == 1
