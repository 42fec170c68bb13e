"""``head``, ``prove``, ``verify`` and ``repair`` as people and programs see them."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ledger.log import FileLog
from ledger.problems import Kind
from tests.support.cli import RECORDINGS, failed, home, run

LEDGER = ("--ledger", "ledger")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A ledger with a head in it, made of a recording."""
    with home(tmp_path):
        monkeypatch.chdir(tmp_path)
        assert run("ingest", "opencode", str(RECORDINGS / "remember.jsonl"), *LEDGER).code == 0
        yield tmp_path


def _lines() -> list[bytes]:
    return Path("ledger/events.jsonl").read_bytes().splitlines(keepends=True)


def _write(lines: list[bytes]) -> None:
    Path("ledger/events.jsonl").write_bytes(b"".join(lines))


def _verified(*options: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run("verify", *options, "--json", *LEDGER).out)
    return document


def test_a_ledger_is_intact() -> None:
    """The head that the compaction has left holds; nothing is written by looking."""
    before = {path: path.read_bytes() for path in Path("ledger").rglob("*") if path.is_file()}
    ran = run("verify", *LEDGER)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("intact: 1 head holds\n  tree    32 lines, root ")
    assert run("head", *LEDGER).code == 0
    assert {path: path.read_bytes() for path in Path("ledger").rglob("*") if path.is_file()} == before
    document = _verified()
    assert (document["intact"], document["heads"], document["breaks"], document["since"]) == (True, 1, [], None)


def test_a_head_that_was_kept_elsewhere() -> None:
    """It holds while the log grows, from a file or from stdin; a change before it is told, with the place."""
    text = run("head", *LEDGER).out
    Path("kept.head").write_text(text)
    document = json.loads(run("head", "--json", *LEDGER).out)
    assert document["text"] == text
    assert text.splitlines()[:2] == [document["origin"], str(document["size"])]
    run("ingest", "opencode", str(RECORDINGS / "tools.jsonl"), *LEDGER)
    assert "nothing before it has changed" in run("verify", "--since", "kept.head", *LEDGER).out
    assert len(_verified("--since", "kept.head")["proof"]) > 0
    with mock.patch("sys.stdin", io.StringIO(text)):
        assert run("verify", "--since", "-", *LEDGER).code == 0
    lines = _lines()
    lines[5] = lines[5].replace(b'"time":"2', b'"time":"1')
    _write(lines)
    ran = run("verify", "--since", "kept.head", *LEDGER)
    assert ran.code == 3
    assert ran.out.startswith("broken: something changed in lines 1 to 31 after they were sealed\n")
    assert "the head over 32 lines doesn't hold" in ran.out
    assert "the head that was given over 32 lines: " in ran.out
    assert _verified("--since", "kept.head")["since"] is False
    assert run("head", *LEDGER).code == 3


def test_lines_that_were_taken_away() -> None:
    """A log that was cut, or is another one, doesn't hold what it held."""
    Path("kept.head").write_text(run("head", *LEDGER).out)
    _write(_lines()[:20])
    assert "there should be 32 lines" in run("verify", "--since", "kept.head", *LEDGER).out
    assert run("ingest", "opencode", str(RECORDINGS / "tools.jsonl"), "--ledger", "other").code == 0
    other = run("verify", "--since", "kept.head", "--ledger", "other")
    assert other.code == 3
    assert "it is of another ledger" in other.out


def test_an_event_is_proven() -> None:
    """Whoever has the line and a head needs nothing else; a line that changed isn't proven any more."""
    Path("five.proof").write_text(run("prove", "5", *LEDGER).out)
    document = json.loads(run("prove", "#5", "--json", *LEDGER).out)
    assert document["line"] == _lines()[5].decode().rstrip("\n")
    assert (document["offset"], document["index"], document["size"]) == (5, 5, 32)
    assert (
        f"proven: line 6 of the tree is event {document['event']}"
        in run("verify", "--proof", "five.proof", *LEDGER).out
    )
    assert _verified("--proof", "five.proof")["event"] == document["event"]
    text = Path("five.proof").read_text()
    Path("six.proof").write_text(text.replace("index 5", "index 6"))
    ran = run("verify", "--proof", "six.proof", *LEDGER)
    assert (ran.code, "not proven: line 7" in ran.out) == (3, True)
    failed(run("prove", "999", *LEDGER), 66, "no event '999'")


@pytest.mark.parametrize(
    ("option", "word"), [("--since", "no head: line 2"), ("--proof", "no proof: it doesn't begin")]
)
def test_what_cannot_be_read_is_named(option: str, word: str) -> None:
    """The file, what is wrong with it, and what makes a good one."""
    Path("x").write_text("a\nb\nc\n")
    failed(run("verify", option, "x", *LEDGER), 65, word, "try: memfold")
    failed(run("verify", option, "missing", *LEDGER), 66, "no file missing")


def test_a_ledger_without_heads_says_so(tmp_path: Path) -> None:
    """It isn't broken; it only can't show anything yet."""
    FileLog.create(tmp_path / "new", root="/w/app", key="k")
    ran = run("verify", "--ledger", "new")
    assert ran.code == 0
    assert ran.out.startswith("no head stands in the ledger yet: ")


def test_a_purge_begins_a_new_history() -> None:
    """Its event holds the old root and the new one; heads from before it aren't compared, and what it did holds."""
    Path("kept.head").write_text(run("head", *LEDGER).out)
    old = _verified()["root"]
    assert run("purge", "MEM-001", "--yes", *LEDGER).code in (0, 3)
    erased = json.loads(next(line for line in _lines() if b"ledger.erased" in line))
    assert erased["data"]["old_root"] == old
    document = _verified()
    assert (document["intact"], document["unchecked"], document["purged"]) == (True, 1, erased["seq"])
    assert f"#{erased['seq']} began a new history" in run("verify", *LEDGER).out
    assert run("verify", "--since", "kept.head", *LEDGER).code == 3
    lines = _lines()
    lines[2] = lines[2].replace(b'"time":"2', b'"time":"1')
    _write(lines)
    assert run("verify", *LEDGER).code == 3


def test_damage_is_set_aside() -> None:
    """First shown, then done when a person says so; afterwards check finds nothing, and every head holds."""
    lines = _lines()
    torn = b'{"type":"memory.added","specver'
    _write([*lines[:9], torn + lines[9], *lines[10:], b"\0\0\0\n", lines[4].rstrip() + lines[5]])
    before = Path("ledger/events.jsonl").read_bytes()
    shown = run("repair", "--dry-run", *LEDGER)
    assert shown.out.startswith("2 damaged pieces, 34 bytes, which reading skips: to be kept in quarantine/\n")
    assert shown.out.endswith("nothing was done (--dry-run)\n")
    assert "1 line with several events: to be split\n" in shown.out
    failed(run("repair", *LEDGER), 1, "nobody has said so", "--yes")
    assert Path("ledger/events.jsonl").read_bytes() == before
    document = json.loads(run("repair", "--yes", "--json", *LEDGER).out)
    assert document["done"]
    kept = {part["kind"]: part["file"] for part in document["pieces"] if part["file"]}
    assert Path(kept["nul_bytes"]).read_bytes() == b"\0\0\0"
    assert Path(kept["not_json"]).read_bytes() == torn
    assert {Path(path).stat().st_mode & 0o777 for path in kept.values()} == {0o600}
    kinds = {problem["kind"] for problem in json.loads(run("check", "--json", *LEDGER).out)["problems"]}
    assert kinds <= {Kind.DUPLICATE_ID.value, Kind.SEQ_BACK.value}
    assert run("verify", *LEDGER).code == 0
    again = run("repair", *LEDGER)
    assert (again.code, again.out) == (0, "no damage: there is nothing to repair\n")
    assert "2 damaged pieces" in run("log", "--type", "ledger.repaired", *LEDGER).out


def test_what_was_lost_stays_told(place: Path) -> None:
    """A repair takes damaged bytes out; a head from before the damage goes on to say that a line is missing."""
    lines = _lines()
    _write([*lines[:9], b"garbage\n", *lines[10:]])
    assert run("repair", "--yes", *LEDGER).code == 0
    ran = run("verify", *LEDGER)
    assert ran.code == 3
    assert "damage was set aside by a repair, #" in ran.out


@pytest.mark.parametrize("made", ["pipe", "device", "large", "folder"])
@pytest.mark.parametrize(
    "command",
    [
        ("verify", "--since"),
        ("verify", "--proof"),
        ("import",),
        ("import", "--format", "bullets"),
        ("ingest", "opencode"),
    ],
    ids=" ".join,
)
def test_a_file_that_has_no_end_is_not_waited_for(command: tuple[str, ...], made: str) -> None:
    """A pipe, a device, a file that is larger than any of its kind: each is refused, and its name is in the message."""
    path = Path("given")
    if made == "pipe":
        os.mkfifo(path)
    elif made == "device":
        path.symlink_to("/dev/zero")
    elif made == "folder":
        path.mkdir()
    else:
        path.touch()
        os.truncate(path, 1 << 27)
    ran = run(*command, "given", *LEDGER)
    assert ran.code in {3, 65, 66, 74}
    assert "given" in ran.out + ran.err


def test_what_comes_on_stdin_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text longer than any head or memory is refused, and not read to its end."""
    for command in (("verify", "--since", "-"), ("add", "-"), ("edit", "MEM-001", "-")):
        monkeypatch.setattr("sys.stdin", io.StringIO("x" * 1_000_001))
        failed(run(*command, *LEDGER), 65, "longer than 1,000,000 bytes")
