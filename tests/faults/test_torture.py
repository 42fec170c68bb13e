"""A short torture, and that the harness which plays it would notice what must not be."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.log import LOG_NAME, FileLog
from ledger.writer import QUARANTINE
from tests.faults.test_processes import ROOT_FOLDER
from tests.support.logs import new_log
from tests.torture.texts import draft_of
from tests.torture.verdict import Verdict, judge

TITLES = ("w1-0-500", "w1-1-600", "w2-0-700")


def test_a_hundred_kills() -> None:
    """Of eight writers that are killed at random moments, none loses, fuses or repeats what was acknowledged."""
    command = [sys.executable, "-m", "tests.torture", "--kills", "100", "--seconds", "12", "--writers", "8"]
    run = subprocess.run(command, cwd=ROOT_FOLDER, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    assert re.search(r"^ *violations  0$", run.stdout, re.MULTILINE)
    found = re.search(r"^ *acknowledged events  ([\d,]+)$", run.stdout, re.MULTILINE)
    assert found is not None
    assert int(found[1].replace(",", "")) > 8


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A ledger with three memories, the second behind a torn piece that was closed off."""
    with new_log(tmp_path / "l") as log:
        log.append([draft_of(TITLES[0])])
        with Path(log.path).open("ab") as file:
            file.write(b'{"type":"memory.added","specversion":"1.0","id":"0')
        log.append([draft_of(title) for title in TITLES[1:]])
    return tmp_path / "l"


def _judge(folder: Path) -> Verdict:
    return judge(str(folder), {title: seq for seq, title in enumerate(TITLES, 1)})


def test_a_sound_ledger_has_no_violation(folder: Path) -> None:
    """A torn piece that was set aside and closed off is none."""
    verdict = _judge(folder)
    assert (verdict.violations, verdict.events, verdict.torn) == ([], 4, 1)


def _lines(folder: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path = folder / LOG_NAME
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def _lose(folder: Path) -> None:
    _lines(folder, lambda lines: lines[:-1])


def _twice(folder: Path) -> None:
    FileLog.open(folder).append([draft_of(TITLES[0])])


def _swap(folder: Path) -> None:
    _lines(folder, lambda lines: [*lines[:3], lines[4], lines[3]])


def _fuse(folder: Path) -> None:
    _lines(folder, lambda lines: [*lines[:3], lines[3].rstrip(b"\n") + lines[4]])


def _mix(folder: Path) -> None:
    _lines(folder, lambda lines: [*lines[:4], lines[4].replace("海".encode(), "川".encode(), 1)])


def _glue(folder: Path) -> None:
    _lines(folder, lambda lines: [*lines[:2], lines[2].rstrip(b"\n") + lines[3], lines[4]])


def _garbage(folder: Path) -> None:
    _lines(folder, lambda lines: [*lines, b"garbage\n"])


def _forget(folder: Path) -> None:
    (path,) = (folder / QUARANTINE).iterdir()
    path.unlink()


def _cut(folder: Path) -> None:
    _lines(folder, lambda lines: [*lines[:-1], lines[-1].rstrip(b"\n")])


DAMAGE: tuple[tuple[Callable[[Path], None], str], ...] = (
    (_lose, "is lost"),
    (_twice, "as seq 1 and 4"),
    (_swap, "has seq 3"),
    (_fuse, "several events stand on one line"),
    (_mix, "isn't what was written"),
    (_glue, "fused with something else"),
    (_garbage, "no beginning of an event"),
    (_forget, "was not set aside"),
    (_cut, "was not closed off"),
)


@pytest.mark.parametrize(("damage", "said"), DAMAGE)
def test_a_violation_is_noticed(folder: Path, damage: Callable[[Path], None], said: str) -> None:
    """Whatever is lost, repeated, mixed up, fused or left open is named."""
    damage(folder)
    assert any(said in violation for violation in _judge(folder).violations), _judge(folder).violations
