"""``memfold hook`` never harms a host: whatever is wrong, it ends with 0, in silence, and nothing is lost (HKS-01)."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import posix
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ledger.events import MemoryRequested, PolicySet, ToolCompleted, type_name
from ledger.lean import SPAN
from ledger.log import FileLog
from ledger.times import parse_time
from ledger.trust import untrusted
from memfold.bridge.spool import spooled
from memfold.hook import plain, run
from memfold.hook.command import fast_command
from tests.support.bridge import ROOT, events_of, folder_of
from tests.support.broken_disk import broken_disk, error_of
from tests.support.cli import home
from tests.support.cli import run as run_command
from tests.support.hook import SESSION, Bench, bench, ended, hooked, patient, repository, sent, start, taken, tool

FACT = "use integer cents for money"
LEAN = frozenset(
    {
        *("memfold", "memfold.hook", "memfold.hook.run", "memfold.hook.place", "memfold.hook.reduce"),
        *("memfold.innocent", "ledger", "ledger.lean", "_json", "fcntl"),
        "_sha2" if sys.version_info >= (3, 12) else "_sha256",
    }
)


class Place:
    """A workspace and a home folder for hooks that are processes."""

    def __init__(self, top: Path) -> None:
        self.home, self.root = top / "home", repository(top / "w")
        self.folder = folder_of(self.home, self.root)
        self.log = self.folder / "events.jsonl"

    def hook(self, event: object, **options: Any) -> None:
        """One hook."""
        hooked(event, self.home, **options)

    def tool(self, call: str = "c", **options: Any) -> None:
        """One tool call of the common kind."""
        self.hook(tool(self.root, "Read", call, args={"file_path": f"src/{call}.py"}), **options)

    def says(self, text: str, message: str = "m1", **more: Any) -> dict[str, Any]:
        """The user sends a message."""
        return sent("memory.requested", self.root, {"message": message, "text": text}, **more)

    def events(self) -> list[Any]:
        """What the log holds."""
        return events_of(self.home, self.root)

    def calls(self) -> list[str]:
        """The tool calls that it holds."""
        return [event.data.call for event in self.events() if isinstance(event, ToolCompleted)]

    def told(self) -> str:
        """What the private log says."""
        log = self.home / ".local" / "share" / "memfold" / "memfold.log"
        return log.read_text() if log.exists() else ""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A new place; nothing is in it."""
    return Place(Path(os.path.realpath(tmp_path)))


@pytest.fixture
def started(place: Place) -> Place:
    """A place in which a session has begun, and the lean way is known to be open."""
    place.hook(sent("session.started", place.root))
    assert (place.folder / "derived" / "hook.json").exists()
    assert "prompt" not in place.told()
    return place


# -- a session --------------------------------------------------------------------------------------------------


def test_a_session(place: Place) -> None:
    """All events of a session come to what they mean, and memory is what the user asked for."""
    place.hook(sent("session.started", place.root, {"version": "2.1", "instance": "7"}))
    place.hook(place.says(f"Remember: {FACT}"))
    place.tool("c1")
    place.hook(tool(place.root, "Bash", "c2", args={"command": "npm test"}, exit=1, output="FAIL a.js: no\nmore"))
    place.hook(tool(place.root, "Bash", "c3", args={"command": "npm ci"}, status="failed", output="bash: npm: no"))
    place.hook(sent("rules.loaded", place.root, {"path": "AGENTS.md", "text": "Use tabs."}))
    place.hook(sent("session.measured", place.root, {"requests": 2, "input": 7}))
    summary = "Memory candidates:\n- [project] The nightly build runs on port 7400"
    place.hook(sent("session.compacted", place.root, {"message": "s1", "summary": summary}))
    place.hook(sent("session.linked", place.root, {"parent": "p"}, session="sub"))
    place.hook(sent("session.deleted", place.root, time="2026-01-01T00:00:00Z"))
    names = [type_name(event) for event in place.events()]
    assert names[:2] == ["ledger.created", "policy.set"]
    assert names[2:] == [
        *("session.started", "memory.requested", *["tool.completed"] * 3, "rules.loaded", "session.measured"),
        *("session.compacted", "ledger.sealed", "session.linked", "session.deleted", "ledger.sealed"),
    ]
    assert [event.seq for event in place.events()] == list(range(len(names)))
    with home(place.home):
        assert FACT in run_command("list", "--workspace", str(place.root)).out
    assert place.told() == ""


def test_off_the_record(started: Place) -> None:
    """SPEC 3.7: nothing of the turn is written, sub-agents' calls included, by any process; the next turn is."""
    started.hook(sent("session.linked", started.root, {"parent": SESSION}, session="sub"))
    before = started.log.read_bytes()
    started.hook(started.says("off the record\nRemember: my salary is a secret thing"))
    started.tool()
    started.hook(tool(started.root, "Bash", session="sub", args={"command": "ls"}) | {"session": "sub"})
    assert started.log.read_bytes() == before
    assert [len(path.name) for path in (started.folder / "private").iterdir()] == [32]
    started.hook(started.says(f"Remember: {FACT}"))
    started.tool("c9")
    assert started.calls() == ["c9"]
    assert not (started.folder / "private").exists()


def test_off_the_record_is_not_for_ever(here: Bench) -> None:
    """A session that has said nothing for a week is waited for no longer, and no hook is slow for it."""
    for session, age in (("old", 8), ("new", 6)):
        said = sent("memory.requested", here.root, {"message": "m", "text": "off the record"}, session=session)
        taken(said, here.top / "home")
        for mark in (here.folder / "private").iterdir():
            os.utime(mark, (time.time() - age * 86400,) * 2)
        taken(tool(here.root, **_CALL), here.top / "home")
        assert (here.folder / "private").exists() == (session == "new")


@pytest.mark.parametrize("spoilt", ["", "mark"])
def test_marks_that_others_may_have_made(here: Bench, spoilt: str) -> None:
    """Who knows what is off the record, if anyone may make or remove a mark? Nothing is recorded, and it is said."""
    said = {"message": "m", "text": "off the record"}
    taken(sent("memory.requested", here.root, said), here.top / "home")
    (mark,) = (here.folder / "private").iterdir()
    place = mark if spoilt else mark.parent
    place.chmod(0o707)
    before = here.log.read_bytes()
    for event in (tool(here.root, **_CALL), tool(here.root, **_CALL) | {"session": "other"}):
        taken(event, here.top / "home")
    assert here.log.read_bytes() == before
    told = (here.top / "home" / ".local" / "share" / "memfold" / "memfold.log").read_text()
    assert str(place) in told
    assert "anyone may write to it (mode 0707)" in told
    assert [path for path, _ in untrusted(str(here.folder))] == [str(place)]
    place.chmod(0o700)
    taken(tool(here.root, **_CALL) | {"session": "other"}, here.top / "home")
    assert here.log.read_bytes() != before


def test_a_folder_of_marks_that_anyone_may_write_to(here: Bench) -> None:
    """Somebody may have removed a mark from it, though it is empty: nothing is recorded until it is put right."""
    (here.folder / "private").mkdir()
    (here.folder / "private").chmod(0o777)
    before = here.log.read_bytes()
    taken(tool(here.root, **_CALL), here.top / "home")
    assert here.log.read_bytes() == before
    told = (here.top / "home" / ".local" / "share" / "memfold" / "memfold.log").read_text()
    assert "anyone may write to it (mode 0777)" in told
    (here.folder / "private").chmod(0o700)
    taken(tool(here.root, **_CALL), here.top / "home")
    assert here.log.read_bytes() != before


def test_two_sessions_off_the_record(here: Bench) -> None:
    """The one that goes on is recorded again, whatever the other one does."""
    for session in ("a", "b"):
        said = sent("memory.requested", here.root, {"message": "m", "text": "off the record"}, session=session)
        taken(said, here.top / "home")
    before = here.log.read_bytes()
    asked = {"message": "n", "text": "Remember: the berths are numbered from the mouth"}
    taken(sent("memory.requested", here.root, asked, session="a"), here.top / "home")
    assert b"the berths are numbered" in here.log.read_bytes().removeprefix(before)
    assert len(list((here.folder / "private").iterdir())) == 1
    rest = here.log.read_bytes()
    taken(tool(here.root, **_CALL) | {"session": "b"}, here.top / "home")
    assert here.log.read_bytes() == rest


def test_a_workspace_that_cannot_be_seen(here: Bench) -> None:
    """Nobody knows then which one it is: the event goes to none, and the private log says why."""
    raw = json.dumps(tool(here.root, **_CALL)).encode()
    with broken_disk(lambda call: error_of(errno.EACCES) if call.path.endswith("/.git") else None):
        assert here.plain(raw) == b""
    assert "nobody knows which workspace this is" in (here.top / "home/.local/share/memfold/memfold.log").read_text()
    assert here.plain(raw) != b""


def test_off_and_on(started: Place) -> None:
    """Switched off in any place, nothing is written; switched on, it is again, and no restart is needed."""
    before = started.log.read_bytes()
    started.tool(more={"MEMFOLD": "off"})
    started.tool(more={"MEMFOLD_IN_HOOK": "1"})
    settings = started.root / ".memfold.toml"
    settings.write_text("enabled = false")
    started.tool()
    assert started.log.read_bytes() == before
    settings.write_text("enabled = true")
    started.tool()
    settings.write_text("[prompt]\nmaxEntries = 3")
    started.tool("other")
    settings.unlink()
    started.tool("again")
    assert started.calls() == ["c", "other", "again"]
    policies = [event.data.digest for event in started.events() if isinstance(event, PolicySet)]
    assert len(policies) == 3
    assert policies[0] == policies[2] != policies[1]


# -- the lean way -----------------------------------------------------------------------------------------------


def test_what_the_lean_way_imports(started: Place) -> None:
    """Exactly these modules, beside those of an interpreter that runs nothing."""
    program = f"""if True:
        import posix, sys
        before = set(sys.modules)
        def end(code):
            names = " ".join(sorted(set(sys.modules) - before)).encode()
            posix.write(posix.open({str(started.home / "names")!r}, posix.O_CREAT | posix.O_WRONLY), names)
        posix._exit = end
        sys.path.append({ROOT!r})
        from memfold.hook.run import main
        main()
    """
    started.tool(command=[os.path.realpath(sys.executable), "-I", "-S", "-c", program])
    assert (started.home / "names").read_text().split() == sorted(LEAN)
    assert started.calls() == ["c"]


def _plainly(monkeypatch: pytest.MonkeyPatch) -> list[bytes | None]:
    """From now on nothing goes the plain way, but is noted."""
    noted: list[bytes | None] = []
    monkeypatch.setattr(plain, "record", lambda raw, *_: noted.append(raw))
    return noted


@pytest.fixture
def here() -> Any:
    """A ledger to which both ways write in this process."""
    with bench() as made:
        yield made


_CALL = {"name": "Read", "args": {"file_path": "a.py"}}


def _goes_lean(here: Bench, root: Path | None = None) -> bool:
    return here.lean(json.dumps(tool(root or here.root, **_CALL)).encode()) is not None


def _spool_holds(here: Bench) -> None:
    (here.folder / "spool").mkdir()
    (here.folder / "spool" / "x.jsonl").touch()


def _private_holds(here: Bench) -> None:
    (here.folder / "private").mkdir()
    (here.folder / "private" / "x").touch()


def _append(line: bytes, here: Bench) -> None:
    with here.log.open("ab") as log:
        log.write(line)
    here.begin = here.log.stat().st_size


def _settings_changed(here: Bench) -> None:
    (here.root / ".memfold.toml").write_text("")


def _replaced(here: Bench) -> None:
    shutil.copy(here.log, here.folder / "copy")
    (here.folder / "copy").replace(here.log)


def _rewritten(here: Bench) -> None:
    text = here.log.read_bytes()
    here.log.write_bytes(text.replace(SESSION.encode(), SESSION[::-1].encode()))


def _shorter(here: Bench) -> None:
    os.truncate(here.log, here.log.stat().st_size - 1)


def _anyone(here: Bench) -> None:
    here.log.chmod(0o602)


def _anyone_in(here: Bench) -> None:
    here.folder.chmod(0o702)


def _anyone_in_derived(here: Bench) -> None:
    (here.folder / "derived").chmod(0o702)


def _note_of_anyone(here: Bench) -> None:
    (here.folder / "derived" / "hook.json").chmod(0o602)


def _note_of_another(here: Bench) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(here.folder / "derived" / "hook.json", 4242, -1)


def _note_elsewhere(here: Bench) -> None:
    note = here.folder / "derived" / "hook.json"
    note.rename(here.top / "note")
    note.symlink_to(here.top / "note")


def _note_damaged(text: bytes, here: Bench) -> None:
    (here.folder / "derived" / "hook.json").write_bytes(text)


def _other_version(here: Bench) -> None:
    note = here.folder / "derived" / "hook.json"
    note.write_bytes(note.read_bytes().replace(b'"0.', b'"9.'))


def _variable(here: Bench) -> None:
    here.environ["MEMFOLD_TOOLS"] = "off"


def _no_home(here: Bench) -> None:
    here.environ["HOME"] = ""


def _no_lock(here: Bench) -> None:
    (here.folder / "events.jsonl.lock").unlink()


def _line(seq: int, **more: object) -> bytes:
    data = {"call": "c", "tool": "Read", "args": {}, **more}
    event = {"type": "tool.completed", "specversion": "1.0", "id": "x", "source": "a/b", "seq": seq, "data": data}
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize(
    "change",
    [
        *(_spool_holds, _private_holds, _settings_changed, _replaced, _rewritten, _shorter, _anyone, _anyone_in),
        *(_other_version, _variable, _no_home, _no_lock, _anyone_in_derived, _note_of_anyone, _note_elsewhere),
        _note_of_another,
        *(partial(_note_damaged, text) for text in (b"", b"[]", b"{}", b"7", b'["0.1.0"', b"[" * 4000, b"\xff")),
        *(partial(_append, line) for line in (b"\n", b"{", b"x\n", b"\0\n", _line(3)[:-1], _line(4), _line(2))),
        *(partial(_append, _line(3, **more)) for more in ({"exit": "1"}, {"status": "x"}, {"args": 1}, {"call": None})),
        partial(_append, _line(3).replace(b"tool.completed", b"policy.set")),
        partial(_append, _line(3) + _line(4).replace(b"tool.completed", b"x.y") + _line(5)),
        partial(_append, _line(3, output="x" * SPAN)),
        partial(_append, _line(3).replace(b'"c"', b'"\\ud800"')),
    ],
)
def test_what_is_not_as_it_was_is_left_to_the_plain_way(here: Bench, change: Callable[[Bench], None]) -> None:
    """The lean way writes behind a tail that it knows, in a place that it knows, and nowhere else."""
    assert _goes_lean(here)
    change(here)
    try:
        assert not _goes_lean(here)
    finally:
        here.folder.chmod(0o700)


@pytest.mark.parametrize(
    "settings",
    ['[redaction]\nextra = ["harbour"]', "[errorCategories.odd]\nprograms = ['x']", 'worktrees = "separate"'],
)
def test_settings_that_the_lean_way_cannot_follow(here: Bench, settings: str) -> None:
    """Words to redact, categories of errors, worktrees apart: the note serves the plain way alone."""
    file = here.root / ".memfold.toml"
    file.write_text(settings)
    os.utime(file, (1e9, 1e9))
    note = here.folder / "derived" / "hook.json"
    for _ in range(2):
        assert not taken(tool(here.root, **_CALL), here.top / "home")
    known = json.loads(note.read_bytes())
    assert known[2] is None
    assert known[5] == here.log.stat().st_size
    file.unlink()
    assert not taken(tool(here.root, **_CALL), here.top / "home")
    assert taken(tool(here.root, **_CALL), here.top / "home")


def test_a_linked_folder_slows_nobody_else(here: Bench) -> None:
    """What comes through a link goes the plain way, and the next hook without one still goes the lean way."""
    (here.top / "link").symlink_to(here.root)
    for folder, lean in ((here.root, True), (here.top / "link", False), (here.root, True)):
        assert taken(tool(folder, **_CALL), here.top / "home") == lean


def test_what_others_have_appended_is_counted(here: Bench) -> None:
    """Tool calls of other processes change nothing but the number."""
    _append(_line(3) + _line(4, output="y"), here)
    raw = json.dumps(tool(here.root, **_CALL)).encode()
    assert here.lean(raw) == here.plain(raw)


def test_the_event_before_a_head_is_left(here: Bench) -> None:
    """Every thousandth event is followed by a head, which the lean way can't write."""
    note = here.folder / "derived" / "hook.json"
    known = json.loads(note.read_bytes())
    for seq, lean in ((998, True), (999, False), (1000, True)):
        known[6] = seq
        here.note = json.dumps(known).encode()
        note.write_bytes(here.note)
        assert _goes_lean(here) == lean


def test_places_that_are_not_plain_to_see(here: Bench) -> None:
    """Links, folders that are gone, repositories of other kinds: the plain way finds the same ledger, or another."""
    root = here.root
    (root / "sub" / "deeper").mkdir(parents=True)
    assert _goes_lean(here, root / "sub" / "deeper")
    (here.top / "link").symlink_to(root)
    (root / "bare").mkdir()
    (root / "bare" / "HEAD").touch()
    (root / "module").mkdir()
    (root / "module" / ".git").write_text("gitdir: ../.git/modules/module\n")
    inside = (root / name for name in ("bare", "module", "gone", "sub/..", ".git/HEAD"))
    for place in (here.top / "link", *inside):
        assert not _goes_lean(here, place)
    worktree = here.top / "tree"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {root}/.git/worktrees/tree\n")
    assert not _goes_lean(here, worktree)
    (root / ".git" / "worktrees" / "tree").mkdir(parents=True)
    (root / ".git" / "worktrees" / "tree" / "commondir").write_text("../..\n")
    assert not _goes_lean(here, worktree)
    (root / ".git" / "worktrees" / "tree" / "gitdir").write_text(f"{worktree}/.git\n")
    assert _goes_lean(here, worktree)
    (root / ".git" / "commondir").write_text("x\n")
    assert not _goes_lean(here)


# -- faults of the input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "stdin was empty"),
        (b" \n", "stdin was empty"),
        (b"null", "Expected `object`, got `null`"),
        (b"\xff\xfe", "stdin holds no JSON object"),
        (b"\0" * 4096, "stdin holds no JSON object"),
        (b"[" * 100_000, ""),
        (b'{"type":"tool.completed","data":' + b"[" * 100_000, ""),
        (b'{"type":"x.y"}', "Invalid value 'x.y' - at `$.type`"),
        (b'{"type":"tool.completed"}', "Object missing required field"),
        (b'{"type":"tool.completed","host":"h","session":7,"cwd":"/","data":{}}', "got `int` - at `$.session`"),
        (b'{"type":"tool.completed","host":"H","session":"s","cwd":"/","data":{}}', "at `$.host`"),
        (b'{"type":"session.deleted","host":"h","session":"s","cwd":"w"}', "cwd is no absolute path"),
        (b"x" * 50_000_000, f"the event is longer than {run.INPUT_LIMIT} bytes"),
    ],
)
def test_an_input_that_says_nothing(place: Place, raw: bytes, said: str) -> None:
    """Nothing is written but one line in the private log, which names what is wrong and where to read on."""
    place.hook(raw)
    told = place.told()
    assert "[ERROR] hook: " in told
    assert said in told
    assert "docs/reference/hook.md" in told
    assert len(told.splitlines()) == 1
    assert not place.folder.parent.exists()


@contextmanager
def _all_of_it() -> Iterator[int]:
    """A descriptor for a hook: behind the block, each process that had it has ended."""
    read_end, write_end = os.pipe()
    yield write_end
    os.close(write_end)
    assert os.read(read_end, 1) == b""
    os.close(read_end)


def test_stdin_that_nobody_closes(place: Place) -> None:
    """The hook ends all the same, and says why."""
    with _all_of_it() as mark:
        process = start(b"", place.home, stdin=subprocess.PIPE, command=fast_command(), pass_fds=[mark])
        process.wait(timeout=60)
        ended(process)
    assert "hook: no event within two seconds" in place.told()


def test_a_busy_machine(place: Place) -> None:
    """Where two seconds aren't enough, the host goes on, and a child of the hook stores what was read."""
    hurried = [word.replace("SECONDS = 60.0", "SECONDS = 0.01") for word in patient()]
    with _all_of_it() as mark:
        hooked(place.says(f"Remember: {FACT}"), place.home, command=hurried, pass_fds=[mark])
    assert [event.data.text for event in place.events() if isinstance(event, MemoryRequested)] == [f"Remember: {FACT}"]


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2), (1, 2)])
def test_closed_descriptors(started: Place, closed: tuple[int, ...]) -> None:
    """What a host has closed is nobody's: not the ledger's either."""

    def close() -> None:
        for descriptor in closed:
            os.close(descriptor)

    started.hook(tool(started.root, **_CALL), preexec_fn=close)
    started.hook(started.says("Remember: use tabs in Go files"), preexec_fn=close)
    assert started.calls() == ([] if 0 in closed else ["toolu_01"])
    assert all(json.loads(line) for line in started.log.read_bytes().splitlines())


# -- faults of the place ----------------------------------------------------------------------------------------


def _log_is_a_folder(place: Place) -> None:
    place.log.mkdir(parents=True)


def _log_is_a_pipe(place: Place) -> None:
    place.folder.mkdir(parents=True)
    os.mkfifo(place.log)


def _lock_is_a_folder(place: Place) -> None:
    (place.folder / "events.jsonl.lock").mkdir(parents=True)


def _leads_nowhere(place: Place) -> None:
    place.folder.parent.mkdir(parents=True)
    place.folder.symlink_to("/nowhere/at/all")


def _anyone_may_write(place: Place) -> None:
    place.folder.mkdir(parents=True)
    place.folder.chmod(0o777)


_BROKEN = (_log_is_a_folder, _log_is_a_pipe, _lock_is_a_folder, _leads_nowhere, _anyone_may_write)


@pytest.mark.parametrize("broken", _BROKEN)
def test_a_broken_place(place: Place, broken: Callable[[Place], None]) -> None:
    """Nothing is stored, and the private log says why, for both kinds of events."""
    broken(place)
    place.tool()
    place.hook(place.says(f"Remember: {FACT}"))
    assert "[ERROR] hook: " in place.told()
    assert not place.log.is_file() or place.log.stat().st_size == 0


def test_a_ledger_that_is_gone(started: Place) -> None:
    """It begins anew, with what tells whose it is; what the note knew is of no account."""
    for gone in (started.log, started.folder):
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
        started.tool()
        assert [type_name(event) for event in started.events()] == ["ledger.created", "policy.set", "tool.completed"]


def test_a_workspace_that_is_gone(place: Place) -> None:
    """A folder that isn't there any more still has its ledger, as everywhere else."""
    shutil.rmtree(place.root)
    place.tool()
    assert place.calls() == ["c"]


def test_a_torn_tail_is_closed_off(started: Place) -> None:
    """SIGKILL leaves half a line: the next hook is whole, and the one after it lean again."""
    with started.log.open("ab") as log:
        log.write(b'{"type":"tool.completed","specversion":"1.0","id":"')
    started.tool("c1")
    started.tool("c2")
    assert started.calls() == ["c1", "c2"]
    assert [event.seq for event in started.events()] == list(range(5))
    assert any((started.folder / "quarantine").iterdir())


def test_a_lock_that_is_held(started: Place) -> None:
    """Requests wait in the spool, tool calls need not; whoever comes next stores them, once."""
    descriptor = os.open(started.folder / "events.jsonl.lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    started.hook(started.says(f"Remember: {FACT}"))
    started.tool("lost")
    assert spooled(str(started.folder)) == 1
    assert "hook: " in started.told()
    os.close(descriptor)
    started.tool("kept")
    started.tool("lean")
    assert spooled(str(started.folder)) == 0
    assert started.calls() == ["kept", "lean"]
    requests = [event.data.text for event in started.events() if isinstance(event, MemoryRequested)]
    assert requests == [f"Remember: {FACT}"]


def _half(descriptor: int, data: bytes) -> int:
    return os.write(descriptor, data[: len(data) // 2])


def _all_but_one(descriptor: int, data: bytes) -> int:
    return os.write(descriptor, data[:-1])


def _all_and_an_error(descriptor: int, data: bytes) -> int:
    os.write(descriptor, data)
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def _full(descriptor: int, data: bytes) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("write", [_half, _all_but_one, _all_and_an_error, _full])
def test_a_write_that_ends_early(
    here: Bench, monkeypatch: pytest.MonkeyPatch, write: Callable[[int, bytes], int]
) -> None:
    """Whatever of a line is there, the event is stored once: the plain way looks for it under the same id."""
    raw = json.dumps(tool(here.root, **_CALL)).encode()
    for name, text in here.environ.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setattr(posix, "environ", {os.fsencode(name): os.fsencode(text) for name, text in here.environ.items()})
    monkeypatch.setattr(run, "_read", lambda: raw)
    monkeypatch.setattr(posix, "write", write)
    run.handle()
    monkeypatch.undo()
    events = [event for event in FileLog.open(here.folder).read() if isinstance(event, ToolCompleted)]
    assert len(events) == 1
    assert FileLog.open(here.folder).append([]) == ()
    assert FileLog.open(here.folder).health().events == 4


# -- many at once -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("new", [False, True])
def test_sixteen_at_once(place: Place, *, new: bool) -> None:
    """Nothing is lost, and numbers are dense, whoever makes the ledger."""
    if not new:
        place.hook(sent("session.started", place.root))
    calls = [f"c{number:02}" for number in range(16)]
    processes = [start(tool(place.root, "Read", call, args={"file_path": "a.py"}), place.home) for call in calls]
    for process in processes:
        ended(process)
    assert sorted(place.calls()) == calls
    assert [event.seq for event in place.events()] == list(range(len(place.events())))


def test_kills_at_any_moment(started: Place) -> None:
    """Of hooks that are killed each is stored as a whole or not at all, and those that end are."""
    chance = random.Random(7)  # noqa: S311 - a test value
    done: list[str] = []
    for number in range(24):
        call = f"c{number}"
        process = start(tool(started.root, "Read", call, args={"file_path": "a.py"}), started.home)
        time.sleep(chance.random() * 0.03)
        if number % 3:
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=60)
        else:
            ended(process)
            done.append(call)
    started.tool("last")
    calls = started.calls()
    assert [call for call in calls if call in {*done, "last"}] == [*done, "last"]
    assert len(calls) == len(set(calls))
    assert FileLog.open(started.folder).health().status == "ok"


def test_the_command(started: Place) -> None:
    """``memfold hook`` does the same as the fast command line, and so does a word behind it that it doesn't know."""
    command = [sys.executable, "-m", "memfold", "hook"]
    started.tool(command=command, more={"PYTHONPATH": ROOT})
    assert started.calls() == ["c"]
    started.hook(b"", command=command, more={"PYTHONPATH": ROOT})
    assert "hook: stdin was empty" in started.told()
    assert fast_command()[1:3] == ["-I", "-S"]


@pytest.mark.parametrize(
    "note", [b"{", b'{"a" x', b"[1,2", b'["0.1.0"', b"[1 2]", b"[", b'["', b"[tru", b"{}x", b"nul", b"-", b""]
)
def test_a_note_that_is_no_json_costs_no_call(started: Place, note: bytes) -> None:
    """Python says otherwise what is no JSON where nobody has imported json: only a process of its own can show it."""
    (started.folder / "derived" / "hook.json").write_bytes(note)
    started.tool("c1")
    started.tool("c2")
    assert started.calls() == ["c1", "c2"]
    assert started.told() == ""


@pytest.mark.parametrize("ending", [b"", b"}", b",", b"{,", b'{"a" x', b'"'])
def test_a_damaged_last_line_costs_no_call(started: Place, ending: bytes) -> None:
    """It begins as our own do and goes on as no JSON does: the plain way looks, and numbers what is behind it."""
    started.tool("c1")
    last = started.log.read_bytes().splitlines(keepends=True)[-1].replace(b"c1", b"c0")
    started.log.write_bytes(started.log.read_bytes() + last[: last.index(b'"data"')] + ending + b"\n")
    started.tool("c2")
    started.tool("c3")
    assert started.calls() == ["c1", "c2", "c3"]
    events = started.events()
    assert [event.seq for event in events] == list(range(len(events)))


@pytest.mark.parametrize("cut", [25, 60, 90, -1])
def test_an_event_that_is_cut_is_told_of(started: Place, cut: int) -> None:
    """Whatever its type: what can't be used is a line in the private log."""
    started.hook(json.dumps(tool(started.root, "Bash", "c1", args={"command": "ls"})).encode()[:cut])
    assert started.calls() == []
    assert "stdin holds no JSON object" in started.told()


@pytest.mark.parametrize(
    ("when", "said"),
    [("yesterday", "can't be read"), (-1, "can't be read"), (1e300, "can't be read"), (4_000_000_000, "to come")],
)
def test_a_time_of_no_use_is_now(started: Place, when: object, said: str) -> None:
    """A time to come would stop the ageing of all memories until then; the call itself is none the worse."""
    begin = time.time()
    started.hook(tool(started.root, "Read", "c1", args={"file_path": "a.py"}) | {"time": when})
    (event,) = [event for event in started.events() if isinstance(event, ToolCompleted)]
    assert begin - 1 <= (parse_time(event.time) or 0) / 1000 <= time.time() + 1
    assert said in started.told()


@pytest.mark.parametrize(
    "when",
    ["2026-01-01T10:00:00Z", "2026-01-01T10:00:00+00:00", "2026-01-01T10:00:00.000123+00:00", 1_767_261_600],
)
def test_times_as_hosts_write_them_go_the_lean_way(here: Bench, when: object) -> None:
    """In each of them it is the same one."""
    raw = json.dumps(tool(here.root, args={"command": "ls"}) | {"time": when}).encode()
    line = here.lean(raw)
    assert line is not None
    assert line == here.plain(raw)
    assert b'"time":"2026-01-01T10:00:00.000Z"' in line
