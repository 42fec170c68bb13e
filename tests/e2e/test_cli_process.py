"""What only a process shows: imports, shadowing, pipes, signals, encodings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import pytest

import memfold
from ledger.events import Draft, SessionDeletedData
from ledger.log import FileLog
from memfold import _console
from memfold.cli import reference
from tests.support.cli import EXPECTED, ROOT, make_ledger

SCRIPT = Path(sysconfig.get_path("scripts")) / "memfold"
NEVER = {
    "filelock",
    "watchfiles",
    "asyncio",
    "dataclasses",
    "logging",
    "importlib.metadata",
    "pathlib",
    "tomllib",
    "json",
    "replay.why",
    "memfold.hosts.opencode",
}


def _installed() -> bool:
    """Whether a bare interpreter of this environment finds memfold, and the console script is there."""
    probe = [sys.executable, "-c", "import memfold"]
    bare = {"PATH": os.environ["PATH"]}
    return SCRIPT.exists() and not subprocess.run(probe, cwd="/", env=bare, capture_output=True, check=False).returncode


UNNEEDED = {"typing_extensions", "inspect", "ast", "dis", "tokenize", "_hashlib"}
"""What msgspec imports where it can, and hashlib for its digests, which hot state uses."""


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """The small ledger."""
    return make_ledger(tmp_path / "ledger")


def _environ(home: Path, **more: str) -> dict[str, str]:
    """No configuration of this machine; our packages can be found even where they are not installed."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "dumb", "PYTHONPATH": str(ROOT), **more}


def _run(arguments: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[bytes]:
    environ = _environ(folder, **more)
    return subprocess.run(arguments, cwd=folder, env=environ, capture_output=True, timeout=120, check=False)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A project with packages of our generic names, which fail when they are imported."""
    folder = tmp_path / "project"
    for name in ("ledger", "projections", "replay"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(f"raise ImportError('the project has its own {name}')\n")
    return folder


def test_a_project_with_packages_of_our_names_does_no_harm(hostile: Path, ledger: Path) -> None:
    """Our own packages come first, even where a project's own stand before them in the path."""
    command = [sys.executable, "-m", "memfold", "list", "--ledger", str(ledger)]
    ran = _run(command, hostile, PYTHONPATH=f".{os.pathsep}{ROOT}")
    assert ran.stderr.decode() == ""
    assert ran.stdout.decode() == (EXPECTED / "list.txt").read_text(encoding="utf-8")


@pytest.mark.skipif(not _installed(), reason="needs memfold installed, not only its source tree")
def test_the_console_script_works_in_such_a_project(hostile: Path, ledger: Path) -> None:
    """The installed script too, with PYTHONPATH=. alone."""
    ran = _run([str(SCRIPT), "list", "--ledger", str(ledger)], hostile, PYTHONPATH=".")
    assert ran.stderr.decode() == ""
    assert ran.stdout.decode() == (EXPECTED / "list.txt").read_text(encoding="utf-8")


def test_a_prompt_ends_as_any_command_does(ledger: Path) -> None:
    """All is printed, to a pipe or a file, and the exit code tells how it went; so too in development mode."""
    command = [sys.executable, "-m", "memfold", "prompt"]
    ran = _run([*command, "--ledger", str(ledger)], ledger)
    same = _run(["bash", "-c", f"'{sys.executable}' -X dev -m memfold prompt --ledger '{ledger}' > f; cat f"], ledger)
    assert ran.stdout
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, b"", same.stdout)
    missing = _run([*command, "--ledger", str(ledger / "missing")], ledger)
    assert (missing.returncode, missing.stdout, missing.stderr[:8]) == (66, b"", b"memfold:")
    assert _run([*command, "--next", "--session", "s"], ledger).returncode == 64


def test_a_prompt_with_hot_state_imports_only_what_it_needs(ledger: Path) -> None:
    """Start-up is the product: no module of the list is imported. Of a plain prompt ``tests/golden`` knows each."""
    code = (
        f"import os, sys; sys.argv[1:] = {['prompt', '--ledger', str(ledger), '--session', 'first', '--hot']!r}\n"
        "os._exit = lambda _: sys.stderr.write('\\n'.join(sys.modules))\n"
        "from memfold._console import main\n"
        "main()"
    )
    bare = set(
        _run([sys.executable, "-c", "import sys, msgspec; print('\\n'.join(sys.modules))"], ledger)
        .stdout.decode()
        .split()
    )
    loaded = set(_run([sys.executable, "-c", code], ledger).stderr.decode().split())
    assert "projections.render" in loaded
    assert (loaded - bare) & NEVER == set()
    assert loaded & UNNEEDED == {"_hashlib"}


def test_what_msgspec_is_imported_without_is_there_for_whoever_wants_it(ledger: Path) -> None:
    """Nothing of what stood in its place is left, and ``uuid`` is what it is elsewhere."""
    tell = (
        "import platform, sys, uuid, typing_extensions; print(platform.system(), platform.python_version(),"
        " uuid._AIX, uuid._LINUX, uuid.UUID(int=1), typing_extensions.__name__, sys.modules['platform'].__file__)"
    )
    ours = _run(
        [sys.executable, "-c", f"from memfold.cli.start import import_msgspec; import_msgspec(); {tell}"], ledger
    )
    plain = _run([sys.executable, "-c", tell], ledger)
    assert plain.stdout
    assert (ours.stdout, ours.stderr) == (plain.stdout, b"")


def test_output_is_utf_8_in_any_locale(ledger: Path) -> None:
    """The bytes of a block don't depend on the console's code page."""
    command = [sys.executable, "-m", "memfold", "prompt", "--ledger", str(ledger)]
    ran = {_run(command, ledger, **one).stdout for one in ({}, {"LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1"})}
    assert len(ran) == 1
    assert "金额一律用整数分存储" in ran.pop().decode("utf-8")


def test_a_reader_that_goes_away_is_no_error(ledger: Path) -> None:
    """``memfold log | head -1`` is silent."""
    command = f"'{sys.executable}' -m memfold log --json --ledger '{ledger}' | head -c 10; echo ${{PIPESTATUS[0]}}"
    big = b"".join((ledger / "events.jsonl").read_bytes().splitlines(keepends=True)[-1:]) * 3000
    with (ledger / "events.jsonl").open("ab") as file:
        for number, line in enumerate(big.splitlines(), 10):
            event = {**json.loads(line), "seq": number, "id": f"{number}"}
            file.write(json.dumps(event).encode() + b"\n")
    ran = _run(["bash", "-c", command], ledger)
    assert ran.stderr == b""
    assert ran.stdout.endswith(b"0\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("command", ["list", "prompt"])
def test_a_full_disk_is_said_once(command: str, ledger: Path) -> None:
    """74 and one line, nothing more at exit; of a prompt too, whose process tidies nothing up."""
    ran = _run(["bash", "-c", f"'{sys.executable}' -m memfold {command} --ledger '{ledger}' > /dev/full"], ledger)
    assert ran.returncode == 74
    assert ran.stderr.decode().splitlines() == ["memfold: No space left on device"]


def test_follow_prints_what_is_appended_and_ends_with_130(ledger: Path) -> None:
    """New events appear as they are written; Ctrl-C ends it without a traceback."""
    command = [sys.executable, "-m", "memfold", "log", "--follow", "--limit", "1", "--ledger", str(ledger)]
    with subprocess.Popen(
        command, env=_environ(ledger), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ledger
    ) as process:
        stop = threading.Timer(60, process.kill)
        stop.start()
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"time (UTC)" in process.stdout.readline()
        assert b"session.started" in process.stdout.readline()
        FileLog.open(ledger).append([Draft(source="test/third", time=None, data=SessionDeletedData())])
        assert b"session.deleted" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
        code = process.wait()
        stop.cancel()
    assert (code, errors) == (130, b"")


def test_console_puts_our_folder_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry point changes the path of its process, and gives the exit code."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", ["memfold", "--version"])
    assert _console.main() == 0
    assert Path(sys.path[0]) == Path(memfold.__file__).parents[1]


def test_promised_names_are_there_and_lazy() -> None:
    """Each name of the API is imported when it is used, and no other attribute appears."""
    assert all(getattr(memfold, name) is not None for name in memfold.__all__)
    assert memfold.__all__ == sorted(memfold.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Ledger'"):
        _ = memfold.Ledger
    ran = _run([sys.executable, "-c", "import memfold, sys; print('msgspec' in sys.modules)"], ROOT)
    assert ran.stdout == b"False\n"


@pytest.mark.parametrize("path", reference.generated(), ids=lambda path: path.name)
def test_generated_files_are_up_to_date(path: Path) -> None:
    """``python -m memfold.cli.reference`` would change nothing."""
    assert path.read_text(encoding="utf-8") == reference.generated()[path]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_exit_code_and_no_ledger(closed: str, tmp_path: Path, ledger: Path) -> None:
    """A caller may close any of the three: the outcome is the same, and nothing is printed into a file of ours."""

    def shell(arguments: str) -> int:
        command = f'exec "$0" -X dev -W error -m memfold {arguments} {closed}'
        return _run(["sh", "-c", command, sys.executable, str(ledger)], tmp_path).returncode

    before = (ledger / "events.jsonl").read_bytes()
    recording = ROOT / "fixtures" / "recordings" / "remember.jsonl"
    assert shell(f"list --ledger '{ledger}'") == 0
    assert (ledger / "events.jsonl").read_bytes() == before
    assert shell(f"ingest opencode '{recording}' --ledger made") == 0
    assert all(
        json.loads(line)["specversion"] for line in (tmp_path / "made" / "events.jsonl").read_bytes().splitlines()
    )


def test_closed_streams_and_an_error(tmp_path: Path) -> None:
    """The exit code of an error is that of the error, though nobody can be told."""
    ran = _run(["sh", "-c", 'exec "$0" -m memfold nonsense 2>&-', sys.executable], tmp_path)
    assert ran.returncode == 64


def test_help_on_a_full_disk_is_a_failure(tmp_path: Path) -> None:
    """Help and version too are output that was not delivered, buffered or not."""
    for option in ("--help", "--version"):
        for unbuffered in ("", "1"):
            command = ["sh", "-c", f'exec "$0" -m memfold {option} >/dev/full', sys.executable]
            ran = _run(command, tmp_path, PYTHONUNBUFFERED=unbuffered)
            assert ran.returncode == 74
            assert b"No space left" in ran.stderr


def test_a_working_directory_that_is_gone(tmp_path: Path, ledger: Path) -> None:
    """It is needed for a relative path alone; where it is, that is said."""
    command = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" -m memfold "$@"'

    def gone(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return _run(["sh", "-c", command, sys.executable, *arguments], tmp_path)

    ran = gone("list", "--ledger", str(ledger))
    assert (ran.returncode, ran.stderr) == (0, b"")
    for arguments in ([], ["--workspace", "x"], ["--ledger", "x"]):
        ran = gone("list", *arguments)
        assert ran.returncode == 66
        assert b"the current directory is gone" in ran.stderr


def test_arguments_that_are_no_utf8(tmp_path: Path, ledger: Path) -> None:
    """Any bytes may be an argument; each ends in a sentence or a result."""
    odd = b"\xff\xfe\xed\xa0\x80"
    for arguments in (
        [b"list", b"--workspace", odd],
        [b"list", b"--ledger", odd],
        [b"why", odd, b"--ledger", os.fsencode(ledger)],
        [b"show", odd, b"--ledger", os.fsencode(ledger)],
        [b"log", b"--session", odd, b"--ledger", os.fsencode(ledger)],
        [b"list", b"--at", odd, b"--ledger", os.fsencode(ledger)],
        [b"ingest", b"opencode", odd],
        [b"paths", b"--workspace", odd],
        [odd],
        [b"list", odd],
    ):
        for more in ([], [b"--json"]):
            command: list[str | bytes] = [sys.executable, b"-m", b"memfold", *arguments, *more]
            environ = _environ(tmp_path)
            ran = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, timeout=120, check=False)
            assert ran.returncode in (0, 64, 66), arguments
            assert b"unexpected" not in ran.stderr
            ran.stderr.decode()
            ran.stdout.decode()


def test_a_closed_descriptor_is_filled_with_the_null_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream that Python has none for can be printed to afterwards."""
    real, opened = os.fstat, list[str]()

    def closed(number: int) -> os.stat_result:
        if number == 1:
            raise OSError
        return real(number)

    monkeypatch.setattr(os, "fstat", closed)
    monkeypatch.setattr(os, "open", lambda path, _: opened.append(path))
    monkeypatch.setattr("memfold.cli.main.main", lambda: 0)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "stdout", None)
    assert _console.main() == 0
    assert sys.stdout.writable()
    assert opened == [os.devnull]
