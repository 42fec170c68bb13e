"""``head``, ``prove``, ``verify`` and ``repair`` as people and programs see them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from msgspec.structs import replace

from ledger.log import FileLog
from ledger.problems import Kind
from replay import stored
from replay.checkpoints import find, save
from replay.live import Live
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


def _keep_checkpoint() -> str:
    """A checkpoint of the ledger as it is; its name."""
    log = FileLog.open("ledger")
    live = Live(log)
    live.world()
    live.keep(every=0)
    return Path(next(find(log)).path).name


def test_checkpoints_that_are_what_the_log_gives() -> None:
    """They are counted, and nothing is written by looking."""
    _keep_checkpoint()
    before = {path: path.read_bytes() for path in Path("ledger").rglob("*") if path.is_file()}
    ran = run("verify", *LEDGER)
    assert (ran.code, ran.err) == (0, "")
    assert "starts  1 checkpoint, as the log gives" in ran.out
    assert (_verified()["checkpoints"], _verified()["removed"]) == (1, [])
    assert {path: path.read_bytes() for path in Path("ledger").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("lie", ["state", "place"])
def test_a_checkpoint_that_is_something_else_is_removed(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is whole and wrong, as only a mistake of ours could leave it, is named; starts are right again."""
    block = run("prompt", *LEDGER).out
    assert block
    with monkeypatch.context() as wrong:
        if lie == "state":
            small = stored._memory_part
            wrong.setattr(stored, "_memory_part", lambda memory: small(type(memory)(now=memory.now)))
        else:
            wrong.setattr("replay.live.save", _save_too_late)
        name = _keep_checkpoint()
    if lie == "state":
        assert run("prompt", *LEDGER).out != block
    ran = run("verify", *LEDGER)
    assert ran.code == 3
    assert f"checkpoint {name} wasn't what the log gives" in " ".join(ran.out.split())
    assert run("prompt", *LEDGER).out == block
    assert run("verify", *LEDGER).code == 0


def _save_too_late(log: FileLog, *arguments: Any, cursor: Any, **more: Any) -> Any:
    """One that says that the log is read on from its first line."""
    return save(log, *arguments, cursor=replace(cursor, byte=0, seq=0, highest=-1), **more)
