"""What each check of ``memfold doctor`` says about sound and broken places."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import replay
from ledger.events import Draft, PromptRenderedData, SessionDeletedData
from ledger.log import FileLog
from ledger.times import format_time, parse_time
from memfold import __version__
from memfold.clock import now_ms
from memfold.config import Layer, resolve
from memfold.doctor import Check, Scene, client, disk, examine, history, program
from memfold.hosts.opencode_install import plugin_text
from memfold.workspace import Workspace
from projections.policy import DEFAULT_POLICY
from projections.prompts import block_digest
from replay.state import state_at
from tests.support.cli import ROOT, make_ledger

NOW = (parse_time("2026-01-12T10:00:00Z")) or 0
SOURCE = "test/second"

Look = Callable[[Scene], Iterable[Check]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace beside a home folder and a place for programs."""
    for name in ("w", "home", "bin"):
        (tmp_path / name).mkdir()
    return tmp_path


def scene(folder: Path, *, ledger: str | None = None, settings: object = None, **more: Any) -> Scene:
    """A scene in that workspace; programs are those of ``bin`` and of the system."""
    environ = {"HOME": str(folder / "home"), "PATH": f"{folder / 'bin'}:/usr/bin:/bin", **more.pop("environ", {})}
    given: dict[str, Any] = {
        "directory": str(folder / "w"),
        "root": str(folder / "w"),
        "ledger": str(folder / "ledger") if ledger is None else ledger,
        "data": str(folder / "data"),
        "resolved": resolve([] if settings is None else [Layer("user", settings, "config.toml")]),
        "environ": environ,
        "now": NOW,
    }
    return Scene(**given | more)


def found(look: Look, where: Scene) -> list[Check]:
    """What a check says."""
    return list(look(where))


def only(look: Look, where: Scene) -> Check:
    """The one thing that a check says."""
    (check,) = look(where)
    return check


def script(path: Path, text: str) -> str:
    """A program in a shell or in Python."""
    head = "#!/bin/sh" if not text.startswith("import") else f"#!{sys.executable}"
    path.write_text(f"{head}\n{text}\n")
    path.chmod(0o755)
    return str(path)


def plugin(folder: Path, *commands: list[str], name: str = "memfold.js") -> Path:
    """A plugin of this release in the user's folder."""
    path = folder / "home" / ".config" / "opencode" / "plugin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(plugin_text(commands or [["/bin/sh", "bridge"]]))
    return path


# Memory itself.


def test_memory_is_on_or_it_is_told_who_switched_it_off(folder: Path) -> None:
    """The layer is named, and so are the client's settings that give the plugin ``enabled: false``."""
    assert only(program.check_memory, scene(folder)).outcome == "ok"
    off = only(program.check_memory, scene(folder, settings={"enabled": False}))
    assert (off.outcome, off.seen) == ("warn", "switched off by config.toml")
    (folder / "w" / "opencode.json").write_text('{"plugin": [["memfold", {"enabled": false}]]}')
    assert "the plugin's options in" in only(program.check_memory, scene(folder)).seen
    _, wrong = found(program.check_memory, scene(folder, settings={"enabled": 3}))
    assert (wrong.name, wrong.outcome) == ("settings", "warn")


def test_places_that_are_no_project_are_noted(folder: Path) -> None:
    """Hot state alone works there (SPEC 1.6)."""
    assert only(program.check_project, scene(folder)).outcome == "ok"
    home = only(program.check_project, scene(folder, root=str(folder / "home")))
    assert (home.outcome, "is no project" in home.seen) == ("note", True)
    assert only(program.check_project, scene(folder, root="")).outcome == "note"


def test_packages_from_several_places_are_a_failure(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel that ships a ``replay`` of its own may have taken the place of ours."""
    assert only(program.check_program, scene(folder)).outcome == "ok"
    monkeypatch.setattr(replay, "__file__", "/elsewhere/replay/__init__.py")
    check = only(program.check_program, scene(folder))
    assert check.outcome == "fail"
    assert "replay comes from /elsewhere" in check.details


def test_modules_of_the_project_with_our_names(folder: Path) -> None:
    """They are named, and the command that the plugin uses is tried among them, with ``PYTHONPATH=.``."""
    where = scene(folder)
    assert only(program.check_imports, where).outcome == "ok"
    assert only(program.check_imports, scene(folder, directory=str(ROOT), root=str(ROOT))).details == ()
    (folder / "w" / "replay").mkdir()
    assert only(program.check_imports, where).details == ()  # no package: nothing would be imported from it
    (folder / "w" / "replay" / "__init__.py").write_text("")
    (folder / "w" / "msgspec.py").write_text("")
    version = "echo memfold $(cat '{}/version')"
    (folder / "version").write_text(__version__)
    cases = {
        version.format(folder): ("ok", "isn't touched"),
        f'[ -z "$PYTHONPATH" ] && {version.format(folder)}': ("note", "drops PYTHONPATH"),
        "echo 'No module' >&2; exit 1": ("fail", "imported instead of ours: No module"),
    }
    for text, (outcome, words) in cases.items():
        plugin(folder, [script(folder / "bin" / "start", text), "bridge"])
        check = only(program.check_imports, scene(folder))
        assert (check.outcome, words in check.seen) == (outcome, True)
        assert check.details == (str(folder / "w/replay/__init__.py"), str(folder / "w/msgspec.py"))
    plugin(folder, ["/no/such/program", "bridge"])
    assert "no command to try" in only(program.check_imports, scene(folder)).seen


# The client.


@pytest.mark.parametrize(
    ("text", "outcome", "words"),
    [
        (None, "warn", "not on the PATH"),
        ("echo 1.18.33", "ok", "opencode 1.18.33"),
        ("echo v1.18.33", "ok", "opencode v1.18.33"),
        ("echo 2.0.0", "note", "tested with 1.18.33"),
        ("echo cannot >&2; exit 4", "warn", "opencode --version: cannot"),
        ("exit 0", "warn", "it ended with 0 and said nothing"),
        ("sleep 60", "warn", "no end after 0.2 s"),
        ("exec yes", "warn", "it printed more than 1 MB"),
        ("exec yes >&2", "warn", "it printed more than 1 MB"),
        ("for kind in CONFIG DATA STATE CACHE; do eval mkdir -p \\$XDG_${kind}_HOME/x; done; echo 1.18.33", "ok", ""),
    ],
)
def test_the_client_and_its_version(
    folder: Path, text: str | None, outcome: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Absent, another release than was tested, broken, hanging; what it writes at its start is written elsewhere."""
    monkeypatch.setattr(client, "_CLIENT_SECONDS", 0.2 if text == "sleep 60" else 10)
    if text is not None:
        script(folder / "bin" / "opencode", text)
    before = sorted(folder.rglob("*"))
    check = only(client.check_client, scene(folder))
    assert (check.outcome, words in check.seen) == (outcome, True)
    assert sorted(folder.rglob("*")) == before


def test_the_plugin_of_this_release(folder: Path) -> None:
    """Found is well; absent, of another release, or with nothing to start is told with the command that helps."""
    absent = only(client.check_plugin, scene(folder))
    assert (absent.outcome, absent.action) == ("warn", "memfold install opencode")
    path = plugin(folder)
    assert only(client.check_plugin, scene(folder)) == Check("plugin", "ok", str(path))
    path.write_text(path.read_text() + "// edited\n")
    edited = only(client.check_plugin, scene(folder))
    assert (edited.outcome, edited.action) == ("warn", "memfold install opencode, again")
    plugin(folder, ["/gone/python", "bridge"], ["sh", "bridge"])
    assert "sh serves instead" in only(client.check_plugin, scene(folder)).seen
    plugin(folder, ["sh", "bridge"], ["/gone/python", "bridge"])
    assert only(client.check_plugin, scene(folder)).outcome == "ok"
    plugin(folder, ["/gone/python", "bridge"], ["gone", "bridge"])
    check = only(client.check_plugin, scene(folder))
    assert (check.outcome, "/gone/python or gone: not there" in check.seen) == ("fail", True)


def test_several_copies_and_settings_that_name_one(folder: Path) -> None:
    """One of them serves; settings that name a missing file, or can't be read, are told."""
    path = plugin(folder)
    shared = folder / "w" / ".opencode" / "plugin" / "memfold.js"
    shared.parent.mkdir(parents=True)
    shared.write_text("// memfold plugin for OpenCode\n")
    *_, old, several = found(client.check_plugin, scene(folder))
    assert old.action == "memfold install opencode --project, again"
    assert (several.outcome, "one of them serves" in several.seen) == ("note", True)
    shared.write_text(plugin_text([["gone", "bridge"]]))
    assert [one.outcome for one in found(client.check_plugin, scene(folder))] == ["ok", "warn", "note"]
    shared.unlink()
    settings = folder / "w" / "opencode.json"
    settings.write_text(json.dumps({"plugin": [path.as_uri()]}))
    assert only(client.check_plugin, scene(folder)).outcome == "ok"  # one file, named twice
    settings.write_text('{"plugin": ["./tools/memfold.js", "memfold"]}')
    assert [one.outcome for one in found(client.check_plugin, scene(folder))] == ["ok", "warn", "warn"]
    settings.write_text("{")
    assert "can't be read" in found(client.check_plugin, scene(folder))[1].seen
    path.unlink()
    tool = folder / "w" / "tools" / "memfold.js"
    tool.parent.mkdir()
    tool.write_text(plugin_text([["sh", "bridge"]]))
    settings.write_text('{"plugin": ["./tools/memfold.js"]}')
    assert only(client.check_plugin, scene(folder)) == Check("plugin", "ok", str(tool))


def test_the_wait_at_the_first_start(folder: Path) -> None:
    """Without a network the client's install takes long; what helps is told, and no file is put there."""
    assert found(client.check_first_start, scene(folder)) == []
    path = plugin(folder)
    check = only(client.check_first_start, scene(folder))
    assert (check.outcome, check.action) == ("note", "without a network: npm_config_offline=true opencode")
    assert found(client.check_first_start, scene(folder, environ={"npm_config_offline": "true"})) == []
    (path.parents[1] / "node_modules").mkdir()
    assert found(client.check_first_start, scene(folder)) == []


BRIDGES = {
    "answers": ("read line; echo '{\"id\":1}'; cat >/dev/null", ""),
    "answers, then waits for the end": ("import sys\nprint('{\"id\":1}', flush=True)\nsys.stdin.read()", ""),
    "answers in pieces": ("printf '{\"id\"'; sleep 0.1; echo ':1}'; cat >/dev/null", ""),
    "refuses": ('echo \'{"id":1,"refused":"off: memory is off"}\'; cat >/dev/null', "it refuses: off: memory is off"),
    "says nothing": ("cat >/dev/null", "no answer within 0.3 s"),
    "doesn't read": ("exec <&-; exec sleep 60", "no answer within 0.3 s"),
    "ends at once": ("echo 'no such command' >&2; exit 64", "no answer: no such command"),
    "ends silently": ("exit 0", "it ended without an answer"),
    "fails at the end": ("echo '{\"id\":1}'; cat >/dev/null; exit 5", "it ended with 5"),
    "doesn't end": ("echo '{\"id\":1}'; sleep 60", "it doesn't end within 0.3 s"),
    "garbage": ("echo hello; cat >/dev/null", "its answer is 'hello'"),
    "talks without end": ("exec yes", "its answer is 'y'"),
    "floods": ("exec tr '\\0' a </dev/zero", "it printed more than 1 MB"),
    "floods after its answer": ("echo '{\"id\":1}'; exec yes", "it printed more than 1 MB"),
    "floods stderr": ("echo '{\"id\":1}'; exec yes >&2", "it printed more than 1 MB"),
    "another id": ("echo '{\"id\":2}'; cat >/dev/null", "its answer is"),
    "no object": ("echo '[1]'; cat >/dev/null", "its answer is"),
}


@pytest.mark.parametrize("case", BRIDGES)
def test_what_the_plugin_starts(folder: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has to answer a greeting, and to end when its input does."""
    text, words = BRIDGES[case]
    if "within" in words:
        monkeypatch.setattr(client, "_ANSWER_SECONDS", 0.3)
    plugin(folder, [script(folder / "bin" / "start", text), "bridge"])
    check = only(client.check_bridge, scene(folder))
    assert check.outcome == ("fail" if words else "ok")
    assert words in " ".join(check.details)


def test_another_command_serves_where_the_first_fails(folder: Path) -> None:
    """As in the plugin, commands are tried in order; that the first one is broken is noted."""
    good = script(folder / "bin" / "good", BRIDGES["answers"][0])
    plugin(folder, ["/gone/python", "bridge"], [good, "bridge"])
    check = only(client.check_bridge, scene(folder))
    assert (check.outcome, check.action) == ("note", "memfold install opencode")
    assert check.details == ("/gone/python bridge: not there",)
    plugin(folder, [str(folder / "bin"), "bridge"], [good, "bridge"])
    assert only(client.check_bridge, scene(folder)).outcome == "note"
    off = only(client.check_bridge, scene(folder, settings={"enabled": False}))
    assert (off.outcome, "not tried" in off.seen) == ("note", True)


def test_the_real_bridge_answers_and_writes_nothing(folder: Path) -> None:
    """A greeting alone makes no ledger, no folder and no line."""
    run = [
        sys.executable,
        "-P",
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import memfold.cli.main as m; sys.exit(m.main())",
    ]
    plugin(folder, [*run, "bridge"])
    before = sorted(folder.rglob("*"))
    assert only(client.check_bridge, scene(folder)).outcome == "ok"
    assert sorted(folder.rglob("*")) == before


# The disk.


def test_a_sound_ledger(folder: Path) -> None:
    """Private, writable, with a lock that works; and nothing stays behind in its folder."""
    make_ledger(folder / "ledger")
    before = {path: path.read_bytes() for path in (folder / "ledger").rglob("*") if path.is_file()}
    where = scene(folder)
    for look in (disk.check_ledger, disk.check_disk, disk.check_lock):
        assert only(look, where).outcome == "ok"
    assert {path: path.read_bytes() for path in (folder / "ledger").rglob("*") if path.is_file()} == before
    (folder / "ledger" / "events.jsonl.lock").unlink()
    assert "nobody has needed" in only(disk.check_lock, where).seen
    assert not (folder / "ledger" / "events.jsonl.lock").exists()


def test_a_ledger_that_is_not_there_yet(folder: Path) -> None:
    """It comes with the first event; until then the folder above has to be writable."""
    where = scene(folder)
    assert only(disk.check_ledger, where).outcome == "note"
    assert only(disk.check_disk, where).outcome == "ok"
    assert found(disk.check_lock, where) == []
    (folder / "ledger").mkdir(mode=0o700)
    assert only(disk.check_ledger, where).outcome == "note"
    nowhere = scene(folder, ledger="", data="", trouble=("dataDir is relative", "write it from / on"))
    assert only(disk.check_ledger, nowhere) == Check("ledger", "fail", "dataDir is relative", "write it from / on")
    assert found(disk.check_disk, nowhere) == found(disk.check_lock, nowhere) == []


def test_others_may_read_or_write(folder: Path) -> None:
    """Told with the command that helps."""
    make_ledger(folder / "ledger")
    (folder / "ledger" / "events.jsonl").chmod(0o644)
    _, check = found(disk.check_ledger, scene(folder))
    assert (check.outcome, check.seen) == ("warn", "others than you may read the ledger")
    assert check.action == f"chmod -R go-rwx {folder}/ledger"
    for mode, outcome in ((0o775, "warn"), (0o777, "fail")):
        (folder / "ledger").chmod(mode)
        check = found(disk.check_ledger, scene(folder))[1]
        assert (check.outcome, "may write" in check.seen) == (outcome, True)


def test_a_foreign_owner(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Path and owner are named, with what to do (FSP-03)."""
    make_ledger(folder / "ledger")
    owner = (folder / "ledger").stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    check = found(disk.check_ledger, scene(folder))[1]
    assert (check.name, check.outcome) == ("owner", "fail")
    assert f"{folder}/ledger belongs to user id {owner}" in check.seen
    assert check.action.startswith(f"chown -R {owner + 1} {folder}/ledger")


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("what", ["log", "folder"])
def test_what_can_not_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, what: str) -> None:
    """Read-only, without permission, full: "not stored", with place and reason (FSP-02); the lock isn't tried."""
    make_ledger(folder / "ledger")
    real = os.open

    def refused(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY if what == "log" else os.O_EXCL):
            raise OSError(number, os.strerror(number), path)
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", refused)
    check = only(disk.check_disk, scene(folder))
    place = folder / "ledger" / "events.jsonl" if what == "log" else folder / "ledger"
    assert check.outcome == "fail"
    assert check.seen.startswith(f"not stored: {place} can't be written: {os.strerror(number)} (owner: user id")
    assert check.action
    assert only(disk.check_lock, scene(folder)).outcome == "ok"


def test_a_folder_above_that_can_not_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is there yet, nothing is made to find out."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "Permission denied" in only(disk.check_disk, scene(folder)).seen
    _volume(monkeypatch, f_flag=os.ST_RDONLY)
    assert "Read-only" in only(disk.check_disk, scene(folder)).seen


class _Volume(NamedTuple):
    f_bavail: int = 1 << 30
    f_frsize: int = 1
    f_files: int = 10
    f_favail: int = 10
    f_flag: int = 0


def _volume(monkeypatch: pytest.MonkeyPatch, **fields: int) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: _Volume(**fields))


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"f_bavail": 0}, "fail"),
        ({"f_favail": 0}, "fail"),
        ({"f_favail": 0, "f_files": 0}, "ok"),
        ({"f_bavail": 40 << 20}, "warn"),
        ({"f_bavail": 50 << 20}, "ok"),
    ],
)
def test_room_on_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch, fields: dict[str, int], outcome: str) -> None:
    """Little is a warning, none a failure, be it of bytes or of files."""
    make_ledger(folder / "ledger")
    _volume(monkeypatch, **fields)
    assert only(disk.check_disk, scene(folder)).outcome == outcome


def test_a_lock_that_is_held(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that holds it is named, as far as the kernel tells."""
    monkeypatch.setattr(disk, "_LOCK_SECONDS", 0.05)
    make_ledger(folder / "ledger")
    with (folder / "ledger" / "events.jsonl.lock").open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        check = only(disk.check_lock, scene(folder))
        assert check.outcome == "fail"
        if any(str(os.getpid()) in row.split() for row in Path("/proc/locks").read_text().splitlines()):
            assert f"number {os.getpid()} (" in check.seen
        monkeypatch.setattr("builtins.open", _refuse)
        assert only(disk.check_lock, scene(folder)).seen.startswith("another process has held")


def _refuse(*_: object, **__: object) -> None:
    raise PermissionError


def test_a_lock_that_can_not_be_opened(folder: Path) -> None:
    """Told here if it is the lock alone; where nothing can be written, the check of the disk tells it."""
    make_ledger(folder / "ledger")
    (folder / "ledger" / "events.jsonl.lock").unlink()
    (folder / "ledger" / "events.jsonl.lock").mkdir()
    check = only(disk.check_lock, scene(folder))
    assert (check.outcome, "events.jsonl.lock" in check.seen) == ("fail", True)
    (folder / "ledger" / "events.jsonl").unlink()
    (folder / "ledger" / "events.jsonl").mkdir()
    assert only(disk.check_disk, scene(folder)).outcome == "fail"
    assert found(disk.check_lock, scene(folder)) == []


def test_no_file_in_the_place_of_the_log(folder: Path) -> None:
    """A folder there is told by the check of the ledger; what would read the log is silent."""
    make_ledger(folder / "ledger")
    (folder / "ledger" / "events.jsonl").unlink()
    (folder / "ledger" / "events.jsonl").mkdir(mode=0o700)
    check = only(disk.check_ledger, scene(folder))
    assert (check.outcome, check.action) == ("fail", "move it away")
    assert "events.jsonl is a folder" in check.seen
    assert found(history.check_log, scene(folder)) == found(history.check_memories, scene(folder)) == []


def test_locks_that_keep_nobody_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on some network drives."""
    make_ledger(folder / "ledger")
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    check = only(disk.check_lock, scene(folder))
    assert (check.outcome, "keeps nobody out" in check.seen) == ("fail", True)


# What the log tells.


def test_a_sound_log(folder: Path) -> None:
    """No damage; each kind of event with its last time; the account with the top reasons (UXT-09)."""
    make_ledger(folder / "ledger")
    where = scene(folder)
    assert only(history.check_log, where).outcome == "ok"
    events = only(history.check_events, where)
    assert (events.outcome, events.seen) == ("ok", "10, the last from a client 59 minutes ago")
    assert events.details[0] == "last 59 minutes ago: 3 session.started"
    assert events.details[1] == "last 10 days ago: 3 memory.requested"
    memories = only(history.check_memories, where)
    assert memories.outcome == "ok"
    assert memories.seen.startswith("7 proposed = 1 pending + ")
    assert any("rejected: " in one for one in memories.details)
    assert found(history.check_failures, where) == []
    now = only(history.check_events, scene(folder, now=parse_time("2026-01-12T09:01:30Z")))
    assert now.seen == "10, the last from a client just now"


def test_no_event_was_ever_received(folder: Path) -> None:
    """Without a ledger, and with one that holds its first line alone, it is told how to test (UXT-09)."""
    for _ in range(2):
        check = only(history.check_events, scene(folder))
        assert (check.outcome, check.seen) == ("note", "no event of a client was ever received")
        assert "send any message" in check.action
        assert "Remember" not in check.action  # it would stay a memory
        assert found(history.check_log, scene(folder)) == [] or (folder / "ledger").exists()
        FileLog.create(folder / "ledger", root=str(folder / "w"), key="0" * 16)
    assert only(history.check_memories, scene(folder)).seen == "0 proposed"


def test_a_damaged_log(folder: Path) -> None:
    """Kinds and numbers, and what helps; a newer format is a failure, since nothing can be written."""
    make_ledger(folder / "ledger")
    path = folder / "ledger" / "events.jsonl"
    path.write_bytes(path.read_bytes() + b"garbage\n" * 2 + b'{"type":"memory.add')
    check = only(history.check_log, scene(folder))
    assert (check.outcome, check.seen) == ("warn", "problems were found (not_json: 2, torn_tail: 1)")
    assert "torn_tail: the next append closes it off" in check.details
    path.write_bytes(path.read_bytes().replace(b'"format":1', b'"format":9', 1))
    newer, rest = found(history.check_log, scene(folder))
    assert (newer.outcome, rest.outcome) == ("fail", "warn")
    assert "upgrade memfold" in newer.action


def test_events_of_the_future(folder: Path) -> None:
    """A clock that ran ahead is a warning; ages would count from there."""
    make_ledger(folder / "ledger")
    _, check = found(history.check_events, scene(folder, now=NOW - 86_400_000))
    assert (check.name, check.outcome) == ("clock", "warn")
    assert "23 hours in the future" in check.seen


def test_forty_captured_and_none_kept(folder: Path) -> None:
    """It is a warning, with counts and the top reasons (UXT-09)."""
    with FileLog.create(folder / "ledger", root="/w", key="0" * 16) as log:
        workspace = Workspace(log, "/w", DEFAULT_POLICY, host="test")
        workspace.record(workspace.capture.session_started("s", time="2026-01-01T00:00:00Z"))
        lines = "\n".join(f"- [project] {number} of 40 tests passed now" for number in range(40))
        summary = f"Memory candidates:\n{lines}\n"
        workspace.record(workspace.capture.compacted("s", "m", summary, time="2026-01-01T00:01:00Z"))
    check = only(history.check_memories, scene(folder))
    assert (check.outcome, check.seen) == ("warn", "40 proposed = 40 rejected")
    assert check.details[0].startswith("40 rejected: ")
    assert "memfold list --state rejected" in check.action


@pytest.fixture
def receipts(folder: Path) -> Iterator[Callable[[str, int], Check]]:
    """Adds a receipt for a digest in an epoch, and gives what is said about prompts then."""
    make_ledger(folder / "ledger")
    log = FileLog.open(folder / "ledger")

    def add(digest: str, epoch: int) -> Check:
        data = PromptRenderedData("workspace", epoch, epoch, digest, 1)
        log.append([Draft(source=SOURCE, time="2026-01-12T09:02:00Z", data=data)])
        _, check = found(history.check_memories, scene(folder))
        return check

    with log:
        yield add


def test_blocks_that_stay_the_same(folder: Path, receipts: Callable[[str, int], Check]) -> None:
    """One digest per epoch, the one that the log gives; another one, or a second one, is a warning (I12)."""
    (epoch,) = state_at(FileLog.open(folder / "ledger").read()).prompts.epochs[SOURCE]
    sound = receipts(epoch.digest, epoch.offset)
    assert (sound.outcome, "byte for byte, in 1 epoch" in sound.seen) == ("ok", True)
    assert receipts(block_digest(""), epoch.offset).outcome == "ok"  # memory was off meanwhile
    changed = receipts("f" * 64, epoch.offset)
    assert changed.outcome == "warn"
    assert changed.details == (f"session second, epoch #{epoch.offset}: 2 blocks were given",)


def test_of_many_sessions_the_latest_are_looked_at(folder: Path) -> None:
    """Ten of them, and it is said so; the account is that of all."""
    with FileLog.create(folder / "ledger", root="/w", key="0" * 16) as log:
        workspace = Workspace(log, "/w", DEFAULT_POLICY, host="test")
        for number in range(12):
            (*_, started) = workspace.record(
                workspace.capture.session_started(f"s{number}", time="2026-01-01T00:00:00Z")
            )
            data = PromptRenderedData("workspace", started.seq, started.seq, block_digest(""), 1)
            log.append([Draft(source=started.source, time="2026-01-01T00:00:00Z", data=data)])
    _, check = found(history.check_memories, scene(folder))
    assert check.outcome == "ok"
    assert check.seen.endswith("in 10 epochs of the last 10 of 12 sessions")


def test_a_block_that_the_log_does_not_give(folder: Path, receipts: Callable[[str, int], Check]) -> None:
    """An epoch that isn't known tells nothing; a known one has to give the block that was given."""
    assert receipts("f" * 64, 3).outcome == "ok"
    (epoch,) = state_at(FileLog.open(folder / "ledger").read()).prompts.epochs[SOURCE]
    other = receipts("f" * 64, epoch.offset)
    assert (other.outcome, "another block" in other.details[0]) == ("warn", True)


def test_failures_of_the_private_log(folder: Path) -> None:
    """Those since the last event, each once with its number; older ones are over."""
    make_ledger(folder / "ledger")
    (folder / "data").mkdir()
    path = folder / "data" / "memfold.log"
    path.write_text(
        "2026-01-01T09:00:00.000Z [ERROR] bridge: old\n"
        "2026-01-12T09:30:00.000Z [ERROR] bridge: full\n"
        "2026-01-12T09:31:00.000Z [INFO] bridge: hello\n"
        "no line of ours\n\n"
        "2026-01-12T09:40:00.000Z ERROR bridge: full\n"
        "2026-01-12T09:41:00.000Z [ERROR] bridge: read-only\n",
    )
    check = only(history.check_failures, scene(folder))
    assert (check.outcome, check.seen) == ("warn", f"2 since the last event, says {path}")
    assert check.details == ("2026-01-12T09:40:00 bridge: full (2 times)", "2026-01-12T09:41:00 bridge: read-only")
    log = FileLog.open(folder / "ledger")
    log.append([Draft(source=SOURCE, time="2026-01-12T09:59:00Z", data=SessionDeletedData())])
    log.close()
    assert only(history.check_failures, scene(folder)).outcome == "ok"
    path.write_text("2026-01-12T09:59:30.000Z [ERROR] bridge: early\n" + "x" * 70_000 + "\n2026-01-13T00:00:00Z E late")
    assert only(history.check_failures, scene(folder)).details == ("2026-01-13T00:00:00 late",)
    assert format_time(now_ms())


# All of them.


def test_a_check_that_fails_is_a_failure_and_ends_no_other(folder: Path) -> None:
    """Whatever goes wrong is told as one more finding."""

    def check_odd(_: Scene) -> Iterator[Check]:
        yield Check("odd", "ok", "so far")
        raise RuntimeError

    def check_last(_: Scene) -> list[Check]:
        return [Check("last", "ok", "reached")]

    said = list(examine(scene(folder), (check_odd, check_last)))
    assert [(one.name, one.outcome) for one in said] == [("odd", "ok"), ("odd", "fail"), ("last", "ok")]
    assert "RuntimeError" in said[1].seen


@pytest.mark.parametrize("what", ["folder", "file", "pipe"])
def test_nothing_is_raised_whatever_stands_there(folder: Path, what: str) -> None:
    """A folder, a pipe or garbage in the place of the log."""
    if what == "file":
        (folder / "ledger").write_text("x")
    else:
        (folder / "ledger").mkdir(mode=0o700)
        path = folder / "ledger" / "events.jsonl"
        path.mkdir() if what == "folder" else os.mkfifo(path, 0o600)
    said = list(examine(scene(folder)))
    assert any(one.outcome == "fail" for one in said)
