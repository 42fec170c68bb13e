"""How commands fail: an exit code, a sentence, what to do about it; never a traceback, never 2."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from ledger.errors import LockTimeout
from ledger.log import FileLog
from memfold.cli.commands import COMMANDS
from memfold.cli.main import main
from memfold.cli.parser import build_parser
from memfold.paths import workspace_key
from memfold.workspace import Workspace
from projections.policy import DEFAULT_POLICY
from tests.support.broken_disk import broken_disk, error_of
from tests.support.cli import RECORDINGS, ROOT, home, make_ledger, run

RECORDING = str(RECORDINGS / "remember.jsonl")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path) -> Iterator[None]:
    """No configuration of this machine."""
    with home(tmp_path):
        yield


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small ledger."""
    return make_ledger(tmp_path_factory.mktemp("small") / "ledger")


BAD = {
    "no such command": (["wyh"], 64, "there is no command 'wyh'\n  try: memfold why"),
    "nothing like a command": (["zzz"], 64, "there is no command 'zzz'\n  try: memfold --help"),
    "no such option": (["status", "--colour"], 64, "unrecognized arguments: --colour\n  try: memfold status --color"),
    "nothing like an option": (["status", "--zz"], 64, "unrecognized arguments: --zz\n  try: memfold status --help"),
    "an option too early": (["--hot", "prompt"], 64, "memfold prompt … --hot: options stand behind the command"),
    "an option alone": (["--colour"], 64, "required: COMMAND"),
    "a missing word": (["config"], 64, "the action is missing: it can only be show\n  try: memfold config show"),
    "a missing client": (["install"], 64, "the client is missing: it can only be opencode\n  try: memfold install op"),
    "another client": (["install", "claude"], 64, "there is no client 'claude': it can only be opencode\n  try: memf"),
    "a missing shell": (["completion"], 64, "the shell is missing: it can be bash, zsh or fish\n  try: memfold comp"),
    "a missing recording": (["ingest", "opencode"], 64, "required: RECORDING"),
    "no such folder": (
        ["list", "--workspace", "/no/where"],
        66,
        "there is no folder /no/where\n  try: --workspace PATH",
    ),
    "one event and new ones": (["log", "--at", "1", "--follow", "--ledger", "LEDGER"], 64, "--since N --follow"),
    "two places in the log": (["log", "--at", "1", "--since", "1"], 64, "not allowed with"),
    "a session that starts later": (
        ["prompt", "--session", "second", "--at", "3", "--ledger", "LEDGER"],
        66,
        "session 'second' is not there at #3: it begins at #7",
    ),
    "an abbreviated option": (["status", "--work", "/x"], 64, "unrecognized arguments"),
    "a missing argument": (["why"], 64, "TEXT_OR_ID"),
    "a wrong choice": (["completion", "tcsh"], 64, "there is no shell 'tcsh': it can be bash, zsh or fish"),
    "a wrong number": (["log", "--limit", "-3"], 64, "--limit"),
    "a word for a number": (["log", "--limit", "few"], 64, "'few' is no whole number"),
    "two places": (["status", "--ledger", "a", "--workspace", "b"], 64, "not allowed with"),
    "a wrong position": (["list", "--at", "yesterday", "--ledger", "LEDGER"], 64, "neither an offset nor"),
    "a wrong time": (["log", "--since", "soon", "--ledger", "LEDGER"], 64, "neither an offset nor"),
    "no such type of events": (["log", "--type", "weather", "--ledger", "LEDGER"], 64, "no events have the type"),
    "no such type of memories": (["list", "--type", "idea", "--ledger", "LEDGER"], 64, "no memory type here"),
    "an empty query": (["why", " ", "--ledger", "LEDGER"], 64, "the text is empty"),
    "two kinds of block": (["prompt", "--session", "first", "--next", "--ledger", "LEDGER"], 64, "--session names"),
    "an ambiguous session": (["prompt", "--session", "s", "--ledger", "LEDGER"], 64, "several sessions have 's'"),
    "no such session": (["prompt", "--session", "third", "--ledger", "LEDGER"], 66, "first, second"),
    "a position beyond the end": (["list", "--at", "99", "--ledger", "LEDGER"], 66, "the last one is 9"),
    "a huge position": (["list", "--at", "9" * 40, "--ledger", "LEDGER"], 66, "the last one is 9"),
    "a time before all events": (["list", "--at", "1999-01-01", "--ledger", "LEDGER"], 66, "at or before 1999"),
    "no such id": (["show", "MEM-099", "--ledger", "LEDGER"], 66, "ids go up to MEM-003"),
    "no such id to explain": (["why", "mem-99", "--ledger", "LEDGER"], 66, "ids go up to MEM-003"),
    "no such text": (["show", "unheard of", "--ledger", "LEDGER"], 66, "no memory holds 'unheard of'"),
    "words without quotation marks": (["why", "3", "tests", "passed"], 64, "need quotation marks"),
    "no ledger": (["status", "--ledger", "missing"], 66, "memfold ingest opencode RECORDING --ledger"),
    "no ledger of a workspace": (["list", "--workspace", "some where"], 66, "then start OpenCode in '"),
    "no ledger, and an id": (["why", "MEM-003", "--workspace", "w"], 66, "memfold install opencode, then"),
    "no ledger to explain": (["why", "a text", "--ledger", "missing"], 66, "no event was ever received"),
    "no ledger to go back in": (["why", "a text", "--workspace", "w", "--at", "3"], 66, "no event was ever received"),
    "no recording": (["ingest", "opencode", "missing.jsonl"], 66, "there is no file missing.jsonl"),
    "memory off": (["ingest", "opencode", RECORDING], 78, "memory is switched off"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_has_a_code_and_a_sentence(tmp_path: Path, ledger: Path, case: str) -> None:
    """The exit code fits the error, stdout stays empty, stderr has two lines; with --json a third one for programs."""
    arguments, code, words = BAD[case]
    arguments = [str(ledger) if one == "LEDGER" else one for one in arguments]
    for name in ("some where", "w"):
        (tmp_path / name).mkdir()
    extra = {"MEMFOLD": "off"} if case == "memory off" else {}
    with contextlib.chdir(tmp_path), home(tmp_path, **extra):
        ran, as_json = run(*arguments), run(*arguments, "--json")
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err
    *_, last = as_json.err.splitlines()
    document = json.loads(last)
    assert document["schema"] == "memfold.error/1"
    assert document["code"] == code or case == "a wrong choice"
    assert len(ran.err.splitlines()) <= 2


def test_the_bare_name_asks_what_there_is() -> None:
    """The help, on stdout, and no error."""
    ran = run()
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == run("--help").out
    assert "memfold install opencode" in ran.out


NO_RECORDINGS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "The file is empty"),
    "text": (b"hello\nworld\n", "line 1: no recorded hook: 'hello'"),
    "no object": (b'[1, 2]\n{"hook": "init"}\n', "line 1"),
    "no hook": (b'{"hook": "init", "input": {}}\n{"a": 1}\n', "line 2: no recorded hook: '{\"a\": 1}'"),
    "binary": (b"\x00\xff\xfe" * 100 + b"\n", "line 1"),
    "nothing to keep": (b'{"hook": "config"}\n', "holds no event"),
}


@pytest.mark.parametrize("case", NO_RECORDINGS)
def test_a_file_that_is_no_recording_writes_nothing(tmp_path: Path, case: str) -> None:
    """65, with line, value and fix; and no ledger is made."""
    content, words = NO_RECORDINGS[case]
    (tmp_path / "session.jsonl").write_bytes(content)
    ran = run("ingest", "opencode", str(tmp_path / "session.jsonl"), "--ledger", str(tmp_path / "ledger"))
    assert (ran.code, ran.out) == (65, "")
    assert words in ran.err
    assert "try:" in ran.err
    assert not (tmp_path / "ledger").exists()


def test_a_damaged_line_late_in_a_recording_writes_nothing(tmp_path: Path) -> None:
    """The whole file is read before anything is written."""
    lines = Path(RECORDING).read_bytes().splitlines(keepends=True)
    (tmp_path / "session.jsonl").write_bytes(b"".join([*lines[:100], b"oops\n", *lines[100:]]))
    ran = run("ingest", "opencode", str(tmp_path / "session.jsonl"), "--ledger", str(tmp_path / "ledger"))
    assert ran.code == 65
    assert "line 101: no recorded hook: 'oops'" in ran.err
    assert not (tmp_path / "ledger").exists()


def test_ledger_trouble_has_codes_of_its_own(tmp_path: Path) -> None:
    """A lock that is held is 75; what is there but no folder, or no file, is 73 or 74, as the system says."""

    def held(*_: object, **__: object) -> None:
        raise LockTimeout("events.jsonl.lock", 2.0)

    with mock.patch.object(FileLog, "append", held):
        assert run("ingest", "opencode", RECORDING, "--ledger", str(tmp_path / "a")).code == 75
    (tmp_path / "file").write_text("")
    assert run("ingest", "opencode", RECORDING, "--ledger", str(tmp_path / "file" / "x")).code in (73, 74)
    (tmp_path / "b" / "events.jsonl").mkdir(parents=True)
    ran = run("status", "--ledger", str(tmp_path / "b"))
    assert ran.code == 74
    assert "b/events.jsonl: it is no regular file" in ran.err
    assert run("paths", "--ledger", str(tmp_path / "b")).code == 0


def test_a_folder_out_of_sight_is_no_missing_ledger(tmp_path: Path) -> None:
    """Where the system doesn't let us look, that is said with path and owner: 73, and not that nothing was received."""
    real = os.stat

    def refuse(path: str, **options: bool) -> os.stat_result:
        if str(path).endswith("events.jsonl"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path, **options)

    with mock.patch.object(os, "stat", refuse):
        ran = run("status", "--ledger", str(tmp_path))
    assert ran.code == 73
    assert f"{tmp_path}/events.jsonl: Permission denied (owner: user id" in ran.err


def test_a_long_argument_is_not_said_in_full() -> None:
    """A message keeps its beginning and its end, whatever it quotes."""
    for arguments in (
        ["list", "--at", "x" * 100_000],
        ["x" * 100_000],
        ["list", "y" * 100_000],
        ["ingest", "z" * 9999],
    ):
        ran = run(*arguments)
        assert ran.code in (64, 66)
        assert len(ran.err) < 3000, arguments


def test_a_missing_ledger_is_told_with_those_that_exist(tmp_path: Path) -> None:
    """By their workspaces, the latest first and at most five; a damaged one without a root is left out."""
    data = tmp_path / ".local" / "share" / "memfold" / "workspaces"
    for number in range(6):
        FileLog.create(data / str(number), root=f"/w/{number}", key=str(number)).close()
        os.utime(data / str(number) / "events.jsonl", (number, number))
    ran = run("status", "--workspace", str(tmp_path))
    assert ran.code == 66
    assert "there are ledgers of /w/5, /w/4, /w/3, /w/2, /w/1 (--workspace)" in ran.err
    (data / "5" / "events.jsonl").write_bytes(b"junk\n")
    os.utime(data / "5" / "events.jsonl", (5, 5))
    assert "ledgers of /w/4, /w/3, /w/2, /w/1, /w/0 (--workspace)" in run("status", "--workspace", str(tmp_path)).err


def test_no_ledger_says_what_makes_one(tmp_path: Path) -> None:
    """What is next depends on what is there: the plugin, a project, a memory that is on."""
    project = tmp_path / "my app"
    project.mkdir()

    def told(place: Path = project) -> list[str]:
        ran = run("list", "--workspace", str(place))
        assert ran.code == 66
        return ran.err.splitlines()

    add = 'memfold add "what to remember"'
    assert told()[0] == f"memfold: no ledger for {project} yet: no event was ever received"
    assert (
        told()[1]
        == f"  try: memfold install opencode, then start OpenCode in '{project}' and ask it something; or {add}"
    )
    assert "which is no project" in told(tmp_path)[0]
    with mock.patch.dict(os.environ, MEMFOLD="off"):
        assert "memory is switched off (MEMFOLD" in told()[0]
    for folder in (tmp_path / ".config" / "opencode", project / ".opencode"):
        (folder / "plugin").mkdir(parents=True)
        (folder / "plugin" / "memfold.js").write_text("// memfold plugin for OpenCode\n")
        assert told()[1].startswith(f"  try: start OpenCode in '{project}' and ask it something; if that changes")
        (folder / "plugin" / "memfold.js").unlink()
    (project / "opencode.json").write_text('{"plugin": ["./tools/memfold.js"]}')
    assert told()[1].startswith("  try: start OpenCode")
    with mock.patch.dict(os.environ, MEMFOLD_DATA_DIR=str(tmp_path / "data")):
        del os.environ["HOME"]
        assert told()[1].startswith("  try: start OpenCode")


def test_a_project_that_is_gone_is_read_by_its_old_path(tmp_path: Path) -> None:
    """A ledger makes a folder that isn't there any more a place to read; without one it is a mistake."""
    old = tmp_path / "old"
    for command in (["list"], ["why", "a text"], ["paths"], ["config", "show"], ["doctor"]):
        ran = run(*command, "--workspace", str(old))
        assert (ran.code, ran.out) == (66, "")
        assert ran.err.startswith(f"memfold: there is no folder {old}\n")
    data = tmp_path / ".local" / "share" / "memfold" / "workspaces"
    FileLog.create(data / workspace_key(str(old)), root=str(old), key=workspace_key(str(old))).close()
    for command in (["list"], ["why", "a text"], ["paths"], ["config", "show"]):
        assert run(*command, "--workspace", str(old)).code == 0
    assert (
        f"there is no folder {tmp_path}/new; there are ledgers of {old} "
        in run("list", "--workspace", str(tmp_path / "new")).err
    )


def test_why_says_first_what_keeps_all_of_it_out(tmp_path: Path) -> None:
    """Memory that is off, or a place that is no project, comes before what the rules make of a text (SPEC 1.6, 3.7)."""
    text = "Remember: use tabs in Go files"
    (tmp_path / "app").mkdir()
    with mock.patch.dict(os.environ, MEMFOLD="off"):
        off = run("why", text, "--workspace", str(tmp_path / "app"))
        document = json.loads(run("why", text, "--workspace", str(tmp_path / "app"), "--json").out)
    head, rules = off.out.split("what the rules would say, were memory on\n")
    assert "memory is switched off" in head
    assert "in a user's message: kept" in rules
    assert document["enabled"] is False
    at_home = run("why", text, "--workspace", str(tmp_path)).out
    head, rules = at_home.split("what the rules say now\n")
    assert "this folder is no project" in head
    assert "in a user's message: refused" in rules
    assert rules.count("not_a_project (SPEC 1.6)") == 2


@pytest.mark.parametrize("command", [["add", "use tabs"], ["list"], ["doctor"], ["import", "x.md"], ["paths"]])
def test_a_repository_that_cannot_be_seen_is_no_other_workspace(tmp_path: Path, command: list[str]) -> None:
    """An I/O error at ``.git`` ends a person's command: without it, the folder would get a ledger of its own."""
    (tmp_path / "app" / ".git").mkdir(parents=True)
    (tmp_path / "app" / "sub").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with broken_disk(lambda call: error_of(errno.EIO) if call.path.endswith("app/.git") else None):
        ran = run(*command, "--workspace", str(tmp_path / "app" / "sub"))
    assert ran.code == 74
    assert f"{tmp_path}/app/.git can't be read, so nobody knows which workspace this is" in ran.err
    assert sorted(tmp_path.rglob("*")) == before


def test_status_praises_no_place_that_is_no_project(tmp_path: Path) -> None:
    """Events arrive there, and nothing of them becomes memory; whoever starts there is not told to go on."""
    with FileLog.create(tmp_path / "ledger", root=str(tmp_path), key="k", project=False) as log:
        said = "this folder is no project: nothing becomes memory in it"
        assert run("status", "--ledger", str(tmp_path / "ledger")).out.startswith(f"{said}\n\n")
        ws = Workspace(log, str(tmp_path), DEFAULT_POLICY, host="test")
        ws.record(ws.capture.session_started("s", time=None))
        ws.record(ws.capture.user_message("s", "m1", "Remember: use tabs in Go files", time=None))
    assert run("status", "--ledger", str(tmp_path / "ledger")).out.startswith(f"{said}\n\n")


def test_why_without_a_ledger_judges_by_the_configured_rules(tmp_path: Path) -> None:
    """A sentence can be tried before the first session; it is said that nothing was recorded."""
    (tmp_path / "app").mkdir()
    place = ("--workspace", str(tmp_path / "app"))
    ran = run("why", "Recuerda: usamos pnpm en todos los paquetes", *place)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("never captured\n  there is no ledger here yet; the configured rules have judged\n")
    assert "the pack 'es' would find one" in ran.out
    (tmp_path / ".config" / "memfold").mkdir(parents=True)
    (tmp_path / ".config" / "memfold" / "config.toml").write_text('triggers.languages = ["es"]')
    document = json.loads(run("why", "Recuerda: usamos pnpm en todos los paquetes", "--json", *place).out)
    assert [one["accepted"] for one in document["unseen"]["as_message"]] == [True]
    assert (document["recorded"], document["position"], document["stories"]) == (False, -1, [])
    assert not (tmp_path / ".local").exists()


def test_a_relative_data_folder_is_a_configuration_error(tmp_path: Path) -> None:
    """78, with the setting named."""
    with home(tmp_path, MEMFOLD_DATA_DIR="somewhere"):
        ran = run("paths")
    assert ran.code == 78
    assert "somewhere" in ran.err


def test_a_surprise_is_a_sentence_too(ledger: Path) -> None:
    """Whatever is raised inside ends as code 1 without a traceback, unless Python runs in development mode."""
    with mock.patch("replay.state.fold", side_effect=ValueError("odd\x1b[31m")):
        ran = run("status", "--ledger", str(ledger))
        assert ran.code == 1
        assert "unexpected ValueError: odd" in ran.err
        assert "Traceback" not in ran.err
        assert "\x1b" not in ran.err
        flags = mock.Mock(dev_mode=True)
        with mock.patch.object(sys, "flags", flags), pytest.raises(ValueError, match="odd"):
            main(["status", "--ledger", str(ledger)])


def test_interrupt_is_130(ledger: Path) -> None:
    """Ctrl-C ends quietly."""
    with mock.patch("replay.state.fold", side_effect=KeyboardInterrupt):
        ran = run("status", "--ledger", str(ledger))
    assert ran == (130, "", "")


@pytest.mark.parametrize(("failure", "code"), [(BrokenPipeError(), 0), (OSError(28, "No space left on device"), 74)])
def test_stdout_that_fails(ledger: Path, failure: OSError, code: int) -> None:
    """A reader that went away is no error; a full disk is one."""
    with mock.patch("memfold.cli.console.Console.out", side_effect=failure):
        ran = run("account", "--ledger", str(ledger))
    assert ran.code == code
    assert ran.err == ("" if code == 0 else "memfold: No space left on device\n")


def test_errors_survive_a_stderr_that_cannot_be_written() -> None:
    """The exit code still tells."""
    stream = mock.Mock(write=mock.Mock(side_effect=OSError), isatty=mock.Mock(return_value=False))
    with mock.patch.object(sys, "stderr", stream):
        assert main(["wyh"]) == 64


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name: str) -> None:
    """Help leads with examples and says what the command writes; it ends with 0."""
    ran = run(name, "--help")
    assert ran.code == 0
    assert f"memfold {name}" in ran.out
    assert "examples:" in ran.out
    assert COMMANDS[name].writes in ran.out


def test_help_and_version_of_the_whole() -> None:
    """``--help`` lists every command; ``--version`` is one line."""
    assert all(command.summary.split()[0] in run("--help").out for command in COMMANDS.values())
    assert run("--version") == (0, "memfold 0.1.0\n", "")


def test_no_parser_exits_with_2() -> None:
    """Usage errors of every parser, nested ones too, are exceptions of ours."""
    for name in COMMANDS:
        assert run(name, "--no-such-option").code == 64
    assert build_parser().prog == "memfold"


DAMAGED = sorted(path.parent for path in (ROOT / "fixtures" / "damaged").glob("*/events.jsonl"))


@pytest.mark.parametrize("folder", DAMAGED, ids=lambda folder: folder.name)
def test_no_damage_stops_a_command(folder: Path) -> None:
    """Every reading command answers on every damaged ledger, in both forms."""
    for arguments in (["status"], ["list", "--state", "all"], ["log"], ["check"], ["why", "a"], ["prompt", "--hot"]):
        ran, as_json = run(*arguments, "--ledger", str(folder)), run(*arguments, "--json", "--ledger", str(folder))
        assert {ran.code, as_json.code} <= ({0, 3} if arguments == ["check"] else {0})
        if arguments != ["log"]:
            json.loads(as_json.out)


def test_the_current_directory_is_gone(ledger: Path) -> None:
    """66 where it is needed, and no word of it where it isn't."""
    with mock.patch.object(os, "getcwd", side_effect=FileNotFoundError):
        ran = run("list")
        assert (ran.code, ran.err.splitlines()[0]) == (66, "memfold: the current directory is gone")
        assert run("list", "--ledger", str(ledger)).code == 0
