"""A client is never harmed: whatever is wrong, each line is answered, the exit is 0, and stderr is empty (HKS-01)."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from ledger.errors import LockTimeout
from ledger.locks import FlockLock
from memfold.bridge.bridge import Bridge
from memfold.bridge.ledger import Ledger
from memfold.bridge.lines import LINE_LIMIT
from tests.support.bridge import (
    Child,
    Client,
    Record,
    asks_for_tools,
    compacted,
    compacting,
    event,
    events_of,
    folder_of,
    has_tools,
    hook,
    init,
    line_of,
    ran,
    said,
    system,
    use,
)
from tests.support.cli import home, run

FACT = "use integer cents for money"
REMEMBER = f"Remember: {FACT}"
_KEYS = frozenset({"id", "part", "system", "context", "tools", "result", "refused", "notice", "private"})


def _day(root: Path) -> list[Record]:
    """Every hook, once."""
    return [
        init(root),
        asks_for_tools(),
        has_tools(),
        event("session.created", info={"id": "S", "version": "1"}),
        hook("command.execute.before", output={"parts": []}, command="x"),
        said(REMEMBER),
        system(),
        hook("tool.execute.before", tool="bash", callID="c1"),
        ran("npm test", 1, "FAIL a.js: no"),
        use("memory_add", "c2", title="Ports", content="Local services start at 7400"),
        use("memory_read", "c3"),
        compacting(todos=[{"content": "a", "status": "pending"}]),
        *compacted("Memory candidates:\n- [project] The nightly build runs on port 7400"),
        event("session.idle"),
        said("go on", message="m2", session="T"),
        system("T"),
        event("session.deleted", info={"id": "S"}),
    ]


def _answered(child: Child, records: list[Record]) -> list[Record]:
    """All answers, in the order of the lines, each of known keys; the process has ended well and quietly."""
    answers = child.feed(records)
    assert [answer["id"] for answer in answers] == list(range(1, len(records) + 1))
    assert all(set(answer) <= _KEYS for answer in answers)
    return answers


# -- faults of the place --------------------------------------------------------------------------------------


def _data_is_a_file(top: Path, _: Path) -> None:
    (top / "home" / ".local" / "share").mkdir(parents=True)
    (top / "home" / ".local" / "share" / "memfold").write_text("not ours")


def _log_is_a_folder(_: Path, ledger: Path) -> None:
    (ledger / "events.jsonl").mkdir(parents=True)


def _log_is_a_pipe(_: Path, ledger: Path) -> None:
    ledger.mkdir(parents=True)
    os.mkfifo(ledger / "events.jsonl")


def _lock_is_a_folder(_: Path, ledger: Path) -> None:
    (ledger / "events.jsonl.lock").mkdir(parents=True)


def _ledger_leads_nowhere(_: Path, ledger: Path) -> None:
    ledger.parent.mkdir(parents=True)
    ledger.symlink_to("/nowhere/at/all")


def _torn_and_unknown(_: Path, ledger: Path) -> None:
    ledger.mkdir(parents=True, mode=0o700)
    unknown = b'{"type":"x.y","specversion":"1.0","id":"u","source":"a/b","seq":0,"data":{}}\n'
    (ledger / "events.jsonl").write_bytes(unknown + b"\0\0\0\n<<<<<<< ours\n\xff{" + b'{"type":"memory.add')
    (ledger / "events.jsonl").chmod(0o600)


def _anyone_may_write(_: Path, ledger: Path) -> None:
    ledger.mkdir(parents=True)
    ledger.chmod(0o777)


def _settings_are_nonsense(top: Path, _: Path) -> None:
    (top / "home" / ".config" / "memfold").mkdir(parents=True)
    (top / "home" / ".config" / "memfold" / "config.toml").write_bytes(b"\xff\0 = [")
    (top / "w" / ".memfold.toml").write_text('enabled = "maybe"\nretention = 7\n')


def _workspace_is_gone(top: Path, _: Path) -> None:
    (top / "w").rmdir()


@pytest.mark.parametrize(
    "break_",
    [
        _data_is_a_file,
        _log_is_a_folder,
        _log_is_a_pipe,
        _lock_is_a_folder,
        _ledger_leads_nowhere,
        _torn_and_unknown,
        _anyone_may_write,
        _settings_are_nonsense,
        _workspace_is_gone,
    ],
)
def test_a_day_in_a_broken_place(tmp_path: Path, break_: Callable[[Path, Path], None]) -> None:
    """HKS-02: every hook is answered and the process ends with 0; where nothing can be stored, that is said."""
    (tmp_path / "w").mkdir()
    (tmp_path / "home").mkdir()
    break_(tmp_path, folder_of(tmp_path / "home", tmp_path / "w"))
    with Child(tmp_path / "home") as child:
        answers = _answered(child, _day(tmp_path / "w"))
    message = next(answer for answer in answers if "notice" in answer)
    if break_ in (_torn_and_unknown, _settings_are_nonsense, _workspace_is_gone):
        assert f"Noted for the next sessions: {FACT}" in message["notice"]
        assert any(FACT in str(answer.get("system")) for answer in answers)
        return
    assert "Not stored yet: " in message["notice"]
    assert all("integer cents" not in str(answer.get("system", "")) for answer in answers)
    log = tmp_path / "home" / ".local" / "share" / "memfold" / "memfold.log"
    assert break_ is _data_is_a_file or "[ERROR] bridge: " in log.read_text()


def test_without_a_home_folder(tmp_path: Path) -> None:
    """HKS-02: no HOME, and one that is nonsense: nothing is stored in a wrong place, and each line has its answer."""
    (tmp_path / "w").mkdir()
    program = "import os, sys; os.environ['HOME'] = 'relative'; from memfold.bridge.process import run_process\n"
    program += "run_process()"
    with Child(tmp_path / "home", command=[sys.executable, "-c", program]) as child:
        answers = _answered(child, _day(tmp_path / "w"))
    assert answers[0]["refused"].startswith("no data folder: ")
    assert all(answer["refused"].startswith("not ready: ") for answer in answers[1:])
    assert list((tmp_path / "home").iterdir()) == []


def test_another_process_holds_the_lock(tmp_path: Path) -> None:
    """HKS-01: a lock that is never let go holds no hook for good; when the client ends, so does the process."""
    (tmp_path / "w").mkdir()
    ledger = folder_of(tmp_path / "home", tmp_path / "w")
    with Child(tmp_path / "home") as child:
        child.ask(init(tmp_path / "w"))
        child.ask(said(REMEMBER, "before"))
        child.ask(system())
        descriptor = os.open(ledger / "events.jsonl.lock", os.O_RDWR)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        answer = child.ask(said("Remember: use tabs in Go files", message="m2"))
        assert answer["notice"] == "Not stored yet: another process is writing"
        assert FACT in child.ask(system())["system"][0]
        os.close(descriptor)
        assert child.end() == b""
    assert len([one for one in events_of(tmp_path / "home", tmp_path / "w") if "tabs" in str(one)]) == 1


@pytest.mark.parametrize("edited", [False, True])
def test_how_often_one_hook_waits_for_a_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, edited: bool) -> None:
    """Half a second each: for what waits, for what the hook says, and for MEMORY.md where a person has edited it."""
    (tmp_path / "w").mkdir()
    client = Client(tmp_path, tmp_path / "w")
    client.bridge = Bridge(client.environ, partial(next, count(0, 100)))  # each look is long after the last failure
    client.configure('memoryFile = "on"' if edited else "")
    client.begin()
    client.ask(said(REMEMBER))
    client.ask(system("T"))
    waits: list[str] = []
    longest = 0

    def held(lock: FlockLock) -> None:
        waits.append(lock._path)
        raise LockTimeout(lock._path, 0.5)

    monkeypatch.setattr(FlockLock, "hold", held)
    file = tmp_path / "w" / ".opencode" / "memory" / "MEMORY.md"
    assert file.exists() == edited
    for number, record in enumerate(_day(tmp_path / "w")):
        if record["hook"] == "tool":
            continue  # a model waits for it, not a person, and up to 8 s
        if edited:
            file.write_text(f"{file.read_text()}\n### [MEM-{100 + number}] Port {number}\nIt is 740{number}\n")
        waits.clear()
        client.bridge.answer(line_of(record, number))
        assert len(waits) <= 2 + edited, (record, waits)
        longest = max(longest, len(waits))
        client.bridge.settle()
    assert longest == 2 + edited


def test_a_read_only_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FSP-02: a tool's call is "not stored", with the reason; blocks come from what is there, and status counts."""
    (tmp_path / "w").mkdir()
    client = Client(tmp_path, tmp_path / "w")
    client.begin()
    client.ask(said(REMEMBER))
    assert FACT in client.ask(system("T"))["system"][0]
    before = client.events()
    client.bridge.close()
    real = os.open

    def read_only(path: str, flags: int, *more: int, **named: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return real(path, flags, *more, **named)

    with monkeypatch.context() as disk:
        disk.setattr(os, "open", read_only)
        client.respawn()
        result = client.ask(use("memory_add", session="T", title="Ports", content="Local services start at 7400"))
        assert "not stored" in result["result"].lower()
        assert os.strerror(errno.EROFS) in result["result"]
        assert FACT in client.ask(system("T"))["system"][0]
        client.bridge.close()
        with home(tmp_path / "home"):
            checked = run("doctor", "--workspace", str(tmp_path / "w")).out
            assert "not stored: " in checked
            assert os.strerror(errno.EROFS) in checked
            assert FACT in run("list", "--workspace", str(tmp_path / "w"), "--state", "all").out
    assert client.events() == before


def test_off_is_no_work_and_on_is_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """UXT-06: 20 prompts with memory off look at nothing and write nothing; on, none opens a connection."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    (tmp_path / "w").mkdir()
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    client = Client(tmp_path, tmp_path / "w", MEMFOLD="off")
    with monkeypatch.context() as off:
        for name in ("record", "store", "world"):
            off.setattr(Ledger, name, refuse)
        client.begin()
        for number in range(20):
            assert client.ask(said(REMEMBER, message=f"m{number}")) == {}
            assert client.ask(system()) == {"system": []}
    assert list((tmp_path / "home").iterdir()) == []
    client.environ.pop("MEMFOLD")
    client.respawn()
    for number in range(20):
        client.ask(said(f"Remember: use colour {number} for headings", f"S{number}", f"m{number}"))
        assert "refused" not in client.ask(system(f"S{number}"))
    with home(tmp_path / "home"):
        status = run("status", "--workspace", str(tmp_path / "w")).out
    assert re.search(r"[0-9]+ of 3,600 characters, about [0-9]+ tokens", status)


# -- faults of the input --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [b"", b"null", b"null\n", b"\n\n\n", b"\0" * 4096, b"\xff\xfe", b"[" * 100_000])
def test_an_input_that_says_nothing(tmp_path: Path, text: bytes) -> None:
    """HKS-02: nothing, null, NUL, no UTF-8, brackets without end: a refusal a line, exit 0, no trace on the disk."""
    with Child(tmp_path / "home") as child:
        child.stdin.write(text)
        answers = [json.loads(line) for line in child.end().splitlines()]
    assert len(answers) == len(text.splitlines())
    assert all(answer["id"] is None and answer["refused"] for answer in answers)
    assert list((tmp_path / "home").iterdir()) == []


def test_fifty_megabytes(tmp_path: Path) -> None:
    """HKS-02: a line of 50 MB is passed over without being kept; the next one is answered."""
    (tmp_path / "w").mkdir()
    with Child(tmp_path / "home") as child:
        child.ask(init(tmp_path / "w"))
        for _ in range(50):
            child.stdin.write(b"x" * (1 << 20))
        child.stdin.write(b"\n")
        child.stdin.flush()
        assert child.receive()["refused"].startswith("too long: ")
        assert child.ask(said(REMEMBER))["notice"].endswith(FACT)
        peak = Path(f"/proc/{child.process.pid}/status")
        if peak.exists():
            kilobytes = next(int(row.split()[1]) for row in peak.read_text().splitlines() if row.startswith("VmHWM"))
            assert kilobytes < (64 << 10) + 2 * (LINE_LIMIT >> 10)
        child.end()


def test_a_huge_text_is_read_in_part(tmp_path: Path) -> None:
    """A message of five megabytes: what stands first in it is remembered, and the user hears that the rest isn't."""
    (tmp_path / "w").mkdir()
    paste = "".join(f"Remember: item {number} of a log\n" for number in range(150_000))
    with Child(tmp_path / "home") as child:
        child.ask(init(tmp_path / "w"))
        answer = child.ask(said(f"{REMEMBER}\n\n```\n{paste}"))
        child.end()
    assert f"Noted for the next sessions: {FACT}" in answer["notice"]
    assert "\nOnly the first 65," in answer["notice"]


# -- files ----------------------------------------------------------------------------------------------------


def _modes(folder: Path) -> dict[str, int]:
    return {str(path): stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}


@pytest.mark.parametrize("umask", [0o777, 0, 0o022, 0o277])
def test_files_are_their_owner_s_under_any_umask(tmp_path: Path, umask: int) -> None:
    """FSP-03: folders are 0700 and files 0600, whatever the umask takes or leaves: of hooks, tools and commands."""
    (tmp_path / "w").mkdir()
    program = f"import os; os.umask({umask}); from memfold.bridge.process import run_process; run_process()"
    (tmp_path / "w" / ".memfold.toml").write_text('memoryFile = "on"')
    with Child(tmp_path / "home", command=[sys.executable, "-c", program]) as child:
        _answered(child, _day(tmp_path / "w"))
    with (folder_of(tmp_path / "home", tmp_path / "w") / "events.jsonl").open("ab") as log:
        log.write(b'{"torn')
    before = os.umask(umask)
    try:
        with home(tmp_path / "home"):
            for command in (["add", "small commits"], ["backup"], ["list"]):
                assert run(*command, "--workspace", str(tmp_path / "w")).code == 0, command
    finally:
        os.umask(before)
    modes = _modes(tmp_path / "home" / ".local")
    assert {
        path: f"{mode:o}" for path, mode in modes.items() if mode != (0o700 if Path(path).is_dir() else 0o600)
    } == {}
    kept = _modes(tmp_path / "w" / ".opencode")
    assert any(path.endswith("MEMORY.md") for path in kept)
    assert all(mode & 0o700 >= (0o700 if Path(path).is_dir() else 0o600) for path, mode in kept.items())
    assert {"quarantine", "backups", "derived"} <= {Path(path).name for path in modes}
