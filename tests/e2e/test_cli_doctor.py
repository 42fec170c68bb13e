"""``memfold doctor`` as people and programs see it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from ledger.log import LOG_NAME
from ledger.times import parse_time
from memfold.doctor import CHECKS, Check
from memfold.hosts.opencode_install import plugin_text
from memfold.terminal import display_width
from tests.support.cli import home, make_ledger, run

BRIDGE = "#!/bin/sh\nread line; echo '{\"id\":1}'; cat >/dev/null\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A workspace, a home with an installed plugin, the client on the path, a ledger."""
    for name, text in (("opencode", "#!/bin/sh\necho 1.18.33\n"), ("start", BRIDGE)):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    plugin = tmp_path / "home" / ".config" / "opencode" / "plugin" / "memfold.js"
    (plugin.parents[1] / "node_modules").mkdir(parents=True)
    plugin.parent.mkdir()
    plugin.write_text(plugin_text([["start", "bridge"]]))
    (tmp_path / "w").mkdir()
    make_ledger(tmp_path / "ledger")
    monkeypatch.chdir(tmp_path / "w")
    monkeypatch.setattr("memfold.cli.doctor.now_ms", lambda: parse_time("2026-02-01T00:00:00Z"))
    with home(tmp_path / "home", PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin"):
        yield tmp_path


def _all(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_all_is_well(place: Path) -> None:
    """Exit 0, one line a check, a summary; and no file is changed, made or left behind (I22)."""
    before = _all(place)
    ran = run("doctor", "--ledger", str(place / "ledger"))
    assert (ran.code, ran.err) == (0, ""), ran.out
    assert _all(place) == before
    *lines, empty, summary = ran.out.splitlines()
    assert (empty, summary.startswith("all is well: ")) == ("", True)
    names = [line.split()[1] for line in lines if line.startswith("✓ ")]
    assert names == [
        *("memory", "workspace", "program", "imports", "client", "plugin", "bridge"),
        *("ledger", "disk", "lock", "log", "events", "memories"),
    ]


def test_a_new_workspace(place: Path) -> None:
    """Nothing was received yet: that is a note, how to test is told, and nothing is made."""
    ran = run("doctor")
    assert ran.code == 0, ran.out
    advice = "send any message in OpenCode in this folder, then: memfold doctor"
    assert f"· events     no event of a client was ever received\n             → {advice}\n" in ran.out
    assert not (place / "home" / ".local").exists()


def test_warnings_and_failures(place: Path) -> None:
    """Exit 3; each with its mark and, below it, what to do."""
    (place / "ledger" / "events.jsonl").chmod(0o644)
    ran = run("doctor", "--ledger", str(place / "ledger"))
    assert ran.code == 3
    assert f"! private    others than you may read the ledger\n             {place}" in ran.out
    assert f"             → chmod -R go-rwx {place}/ledger\n" in ran.out
    assert ran.out.endswith("1 warning in 14 checks\n")
    (place / "bin" / "start").write_text("#!/bin/sh\nexit 1\n")
    ran = run("doctor", "--ledger", str(place / "ledger"))
    assert ran.code == 3
    assert "✗ bridge     what the plugin starts doesn't work" in ran.out
    assert "1 failure and 1 warning in 14 checks" in ran.out


def test_memory_that_is_off(place: Path) -> None:
    """The layer is named, the bridge isn't tried."""
    with mock.patch.dict(os.environ, MEMFOLD="off"):
        ran = run("doctor", "--ledger", str(place / "ledger"))
    assert ran.code == 3
    assert "! memory     switched off by MEMFOLD" in ran.out
    assert "· bridge     not tried" in ran.out


def test_a_data_folder_that_can_not_be_named() -> None:
    """No error of the command, but the first thing to tell."""
    with mock.patch.dict(os.environ, MEMFOLD_DATA_DIR="relative"):
        ran = run("doctor")
    assert ran.code == 3
    assert "✗ ledger     dataDir 'relative' is no absolute path" in ran.out


def test_marks_for_a_locale_without_them(place: Path) -> None:
    """ASCII alone where the locale names another encoding."""
    with mock.patch.dict(os.environ, LC_ALL="C"):
        out = run("doctor", "--ledger", str(place / "ledger")).out
    assert out.isascii()
    assert out.startswith("+ memory     switched on")
    with mock.patch.dict(os.environ, LANG="de_DE.UTF-8"):
        assert run("doctor").out.startswith("✓ ")


def test_the_document(place: Path) -> None:
    """The same for programs: outcomes, and every check with its action."""
    ran = run("doctor", "--json", "--ledger", str(place / "ledger"))
    document = json.loads(ran.out)
    assert document["schema"] == "memfold.doctor/1"
    assert document["ledger"] == str(place / "ledger")
    assert document["outcomes"] == {"ok": 13, "note": 0, "warn": 0, "fail": 0}
    assert document["checks"][0] == {
        "name": "memory",
        "outcome": "ok",
        "seen": "switched on",
        "action": "",
        "details": [],
    }


def test_the_private_log_is_the_one_beside_the_ledgers(place: Path) -> None:
    """A ledger that is named stands in a data folder, whichever is configured."""
    data = place / "elsewhere"
    (data / "workspaces").mkdir(parents=True)
    make_ledger(data / "workspaces" / "0123")
    (data / "memfold.log").write_text("2027-01-01T00:00:00.000Z [ERROR] bridge: full\n")
    ran = run("doctor", "--ledger", str(data / "workspaces" / "0123"))
    assert f"! failures   1 since the last event, says {data}/memfold.log" in ran.out


def _read_all(leader: int) -> bytes:
    """What was written to a terminal whose other end is closed."""
    shown = b""
    with os.fdopen(leader, "rb", buffering=0) as file, contextlib.suppress(OSError):  # the end is an error there
        while piece := file.read(65_536):
            shown += piece
    return shown


def test_on_a_terminal_of_80_columns(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines fit, paths below the home folder are short; an action stays in one piece, so that it can be copied."""
    long = "an action that is longer than a line of any terminal, " * 3

    def looks(_: object) -> Iterator[Check]:
        yield Check("one", "warn", f"{place}/home/file " + "seen " * 40, long.strip(), ("detail " * 30,))
        yield Check("two", "ok", f"{place}/home/file", "", ("a", "b"))

    monkeypatch.setattr("memfold.cli.doctor.examine", looks)
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w", encoding="utf-8") as terminal, mock.patch.dict(os.environ, COLUMNS="80"):
        monkeypatch.setattr(sys, "stdout", terminal)
        from memfold.cli.main import main

        assert main(["doctor"]) == 3
    lines = _read_all(leader).decode().replace("\r", "").splitlines()
    assert lines[0].startswith("! one        ~/file seen")
    assert all(display_width(line) <= 80 for line in lines if "→" not in line)
    assert f"             → {long.strip()}" in lines
    assert "✓ two        ~/file" in lines
    assert "             a; b" in lines


def test_each_check_is_listed_once() -> None:
    """The table has no check twice."""
    assert len(set(CHECKS)) == len(CHECKS)


def test_of_a_log_that_is_gone_nothing_else_is_said(place: Path) -> None:
    """That no event of a client was ever received would be false, and its advice would begin anew."""
    (place / "ledger" / "derived").mkdir(exist_ok=True)
    (place / "ledger" / LOG_NAME).unlink()
    out = run("doctor", "--ledger", str(place / "ledger")).out
    assert "is gone" in out
    assert f"memfold restore-backup PATH --ledger {place / 'ledger'}" in out
    assert "was ever received" not in out


def test_the_command_to_copy_names_the_ledger(place: Path) -> None:
    """``memfold check`` alone would look at that of the current folder."""
    with (place / "ledger" / LOG_NAME).open("ab") as file:
        file.write(b"\0\0\n")
    ledger = str(place / "ledger")
    assert f"memfold check --ledger {ledger} tells each place" in run("doctor", "--ledger", ledger).out
