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
from msgspec.structs import replace

from ledger.events import Draft, LedgerSealedData
from ledger.log import FileLog
from ledger.problems import Kind
from replay import stored
from replay.checkpoints import find, save
from replay.live import Live
from replay.recheck import Rechecked
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
    run("ingest", "opencode", str(RECORDINGS / "compaction.jsonl"), *LEDGER)
    ran = run("verify", "--since", "kept.head", *LEDGER)
    assert ran.out.startswith("intact: the head you gave holds, and so do 2 heads in the ledger\n")
    assert "nothing before it has changed" in ran.out
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
    ran = run("head", *LEDGER)
    assert (ran.code, ran.err) == (
        3,
        f"memfold: {len(_verified()['breaks'])} heads in the ledger don't hold: memfold verify\n",
    )
    _write(_lines()[:32])
    assert run("head", *LEDGER).err == "memfold: 1 head in the ledger doesn't hold: memfold verify\n"


def test_a_given_head_trusts_no_head_in_the_ledger() -> None:
    """Whoever changed a line and made the heads behind it anew is found; any line before the kept head may be it."""
    Path("kept.head").write_text(run("head", *LEDGER).out)
    lines = _lines()
    lines[5] = lines[5].replace(b'"time":"2', b'"time":"1')
    _write(lines)
    (broken,) = _verified()["breaks"]
    _write([line.replace(broken["expected"].encode(), broken["found"].encode()) for line in lines])
    assert run("verify", *LEDGER).code == 0
    ran = run("verify", "--since", "kept.head", *LEDGER)
    assert ran.out.startswith("broken: something changed in lines 1 to 32 after that head was taken\n")
    (broken,) = _verified("--since", "kept.head")["breaks"]
    assert (broken["first_line"], broken["last_line"], broken["after"]) == (1, 32, 31)


def test_heads_that_contradict_an_earlier_one() -> None:
    """Its lines are as the earlier one says: what isn't right is the head itself, whose line is named."""
    with FileLog.open("ledger") as log:
        data = LedgerSealedData(31, "0" * 64)
        log.append([Draft(source="memfold", time=None, data=data) for _ in range(12)])
    ran = run("verify", *LEDGER)
    assert ran.code == 3
    assert ran.out.startswith("broken: head #32 in line 33 contradicts a head before it that holds\n")
    assert "… and 2 more: " in ran.out


def test_lines_that_were_taken_away() -> None:
    """A log that was cut, or is another one, doesn't hold what it held."""
    Path("kept.head").write_text(run("head", *LEDGER).out)
    _write(_lines()[:20])
    assert "there should be 32 lines" in run("verify", "--since", "kept.head", *LEDGER).out
    assert run("ingest", "opencode", str(RECORDINGS / "tools.jsonl"), "--ledger", "other").code == 0
    other = run("verify", "--since", "kept.head", "--ledger", "other")
    assert (other.code, other.out) == (65, "")
    assert other.err.startswith("memfold: this head is of another ledger, memfold/ledger/")


def test_a_head_with_another_name_is_of_another_ledger() -> None:
    """Though its lines are the same: nothing is compared, and nothing is called broken."""
    origin, *rest = run("head", *LEDGER).out.splitlines(keepends=True)
    Path("kept.head").write_text("".join(["memfold/ledger/another\n", *rest]))
    failed(
        run("verify", "--since", "kept.head", *LEDGER),
        65,
        f"of another ledger, memfold/ledger/another; this one is {origin[:-1]}",
    )


def test_an_event_is_proven() -> None:
    """Whoever has the line and a head needs nothing else; a line that changed isn't proven any more."""
    Path("five.proof").write_text(run("prove", "5", *LEDGER).out)
    document = json.loads(run("prove", "#5", "--json", *LEDGER).out)
    assert document["line"] == _lines()[5].decode().rstrip("\n")
    assert (document["offset"], document["index"], document["size"]) == (5, 5, 32)
    assert (
        f"proven: index 5 of the tree is event {document['event']}"
        in run("verify", "--proof", "five.proof", *LEDGER).out
    )
    assert _verified("--proof", "five.proof")["event"] == document["event"]
    text = Path("five.proof").read_text()
    Path("six.proof").write_text(text.replace("index 5", "index 6"))
    ran = run("verify", "--proof", "six.proof", *LEDGER)
    assert (ran.code, "not proven: index 6" in ran.out) == (3, True)
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
    Path("new.head").write_text(run("head", "--ledger", "new").out)
    assert run("verify", "--since", "new.head", "--ledger", "new").out.startswith("intact: the head you gave holds\n")
    lines = Path("new/events.jsonl").read_bytes()
    Path("new/events.jsonl").write_bytes(lines.replace(b'"key":"k"', b'"key":"l"'))
    ran = run("verify", "--since", "new.head", "--ledger", "new")
    assert (ran.code, ran.out.partition("\n")[0]) == (
        3,
        "broken: something changed in line 1 after that head was taken",
    )


def test_a_purge_begins_a_new_history() -> None:
    """Its event holds the old root and the new one; heads from before it aren't compared, and what it did holds."""
    old = _verified()["root"]
    assert run("purge", "MEM-001", "--yes", *LEDGER).code in (0, 3)
    erased = json.loads(next(line for line in _lines() if b"ledger.erased" in line))
    assert erased["data"]["old_root"] == old
    document = _verified()
    assert (document["intact"], document["unchecked"], document["purged"]) == (True, 1, erased["seq"])
    assert f"#{erased['seq']} began a new history; the head before it can't be compared" in run("verify", *LEDGER).out
    lines = _lines()
    lines[2] = lines[2].replace(b'"time":"2', b'"time":"1')
    _write(lines)
    assert run("verify", *LEDGER).code == 3


def test_a_head_from_before_a_purge_holds_in_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor in the one that says that something was changed."""
    Path("kept.head").write_text(run("head", *LEDGER).out)
    assert run("purge", "MEM-001", "--yes", *LEDGER).code in (0, 3)
    monkeypatch.setattr("memfold.cli.verify.recheck", lambda _: Rechecked(0, ("blocks.jsonl",)))
    told = " ".join(run("verify", "--since", "kept.head", *LEDGER).out.split())
    assert told.startswith("changed: what was kept of the log when it was read isn't what it says now")
    assert "holds" not in told.partition("tree")[0]


def test_a_purge_ends_what_was_kept(tmp_path: Path) -> None:
    """No tampering: a head, or a proof, that is from before it is told so, and whether the log says it was true."""
    Path("early.head").write_text(run("head", *LEDGER).out)
    assert run("add", "the quay lights are green", *LEDGER).code == 0
    Path("kept.head").write_text(run("head", *LEDGER).out)
    Path("old.proof").write_text(run("prove", "5", *LEDGER).out)
    assert run("purge", "MEM-001", "--yes", *LEDGER).code in (0, 3)
    purge = _verified()["purged"]
    for option, name, words in (
        (
            "--since",
            "kept.head",
            f"that head is from before purge #{purge}; it matches the log as it was then; take a new",
        ),
        ("--since", "early.head", f"that head is from before purge #{purge}: it can't be compared; take a new head"),
        ("--proof", "old.proof", f"the head in that proof is from before purge #{purge}; it matches the log"),
    ):
        ran = run("verify", option, name, *LEDGER)
        assert ran.code == 3
        assert ran.out.startswith(words)
        assert "broken" not in ran.out
        (given,) = _verified(option, name)["given"]
        assert (given["standing"], given["purge"]) == ("purged", purge)
        assert given["matched"] is (name != "early.head")
    Path("new.head").write_text(run("head", *LEDGER).out)
    assert run("verify", "--since", "new.head", *LEDGER).code == 0
    FileLog.create(tmp_path / "new", root="/w/app", key="k")
    assert run("add", "remember the red buoy", "--ledger", "new").code == 0
    assert run("purge", "MEM-001", "--yes", "--ledger", "new").code == 0
    assert "began a new history\n" in run("verify", "--ledger", "new").out


def test_a_proof_is_checked_against_a_kept_head() -> None:
    """Its own head is no better than who sent it: both must be heads of this ledger."""
    Path("kept.head").write_text(run("head", *LEDGER).out)
    run("ingest", "opencode", str(RECORDINGS / "tools.jsonl"), *LEDGER)
    Path("five.proof").write_text(run("prove", "5", *LEDGER).out)
    both = ("verify", "--since", "kept.head", "--proof", "five.proof")
    ran = run(*both, *LEDGER)
    assert ran.code == 0
    assert ran.out.startswith(
        "intact: the head you gave and the head in the proof hold, and so does 1 head in the ledger\n"
    )
    assert "proven: index 5" in ran.out
    lines = _lines()
    lines[5] = lines[5].replace(b'"time":"2', b'"time":"1')
    _write(lines)
    Path("five.proof").write_text(run("prove", "5", *LEDGER).out)
    ran = run(*both, *LEDGER)
    assert (ran.code, "proven" in ran.out) == (3, False)
    assert [one["standing"] for one in json.loads(run(*both, "--json", *LEDGER).out)["given"]] == ["broken", "holds"]
    Path("kept.head").write_text(Path("kept.head").read_text().replace("ledger/0", "ledger/1"))
    failed(run(*both, *LEDGER), 65, "the head is of memfold/ledger/1")
    failed(run("verify", "--since", "-", "--proof", "-", *LEDGER), 64, "stdin can't be both")


def test_a_proof_is_checked_without_its_ledger(tmp_path: Path) -> None:
    """The document holds the line: line, hashes and head must belong together, and what that shows is said."""
    head = run("head", *LEDGER).out
    document = json.loads(run("prove", "5", "--json", *LEDGER).out)
    Path("five.json").write_text(json.dumps(document))
    Path("five.proof").write_text(document["text"])
    assert "proven: index 5" in run("verify", "--proof", "five.json", *LEDGER).out
    Path("ledger").rename("away")
    Path("kept.head").write_text(head)
    alone = ("verify", "--proof", "five.json")
    ran = run(*alone)
    assert ran.code == 0
    assert ran.out.startswith(f"proven under the head in the proof alone: index 5 is event {document['event']}\n")
    assert "the line stands under that head; " in ran.out
    ran = run(*alone, "--since", "kept.head")
    assert (ran.code, "the head in the proof is the one you gave" in ran.out) == (0, True)
    assert ran.out.startswith("proven under the head you gave: index 5 is event ")
    found = json.loads(run(*alone, "--since", "kept.head", "--json").out)
    assert (found["ledger"], found["intact"], found["since"], found["event"]) == ("", True, True, document["event"])
    Path("kept.head").write_text(head.replace("\n32\n", "\n31\n"))
    ran = run(*alone, "--since", "kept.head")
    assert (ran.code, "another number of lines" in ran.out) == (3, True)
    Path("kept.head").write_text(head.replace("\nm", "\nn").replace("/ledger/n", "/ledger/m"))
    ran = run(*alone, "--since", "kept.head")
    assert (ran.code, "as many lines, but over others" in ran.out) == (3, True)
    failed(run("verify", "--proof", "five.proof"), 66, "the ledger of that proof isn't here", "--json")
    failed(run(*alone, "--ledger", "away/not"), 66, "no ledger in")
    Path("five.json").write_text(json.dumps({**document, "line": document["line"].replace("harbour", "airport") + " "}))
    ran = run(*alone)
    assert (ran.code, ran.out.startswith("not proven: line, hashes and head")) == (3, True)
    assert json.loads(run(*alone, "--json").out)["event"] == ""
    assert "not proven: index 5" in run(*alone, "--ledger", "away").out
    Path("five.json").write_text('{"schema": "memfold.proof/1"}')
    failed(run(*alone), 65, "five.json is no proof: ")


def test_a_proof_beside_another_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a ledger of its own is no hindrance, unless that ledger was named."""
    Path("five.json").write_text(run("prove", "5", "--json", *LEDGER).out)
    Path("five.proof").write_text(run("prove", "5", *LEDGER).out)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    assert run("add", "the quay lights are green").code == 0
    assert run("verify", "--proof", "../five.json").out.startswith("proven under the head in the proof alone: ")
    failed(run("verify", "--proof", "../five.proof"), 65, "this proof is of another ledger")
    failed(run("verify", "--proof", "../five.json", "--workspace", "."), 65, "this proof is of another ledger")


def test_a_memory_is_no_event() -> None:
    """Its events are named, for one of them can be proven."""
    failed(
        run("prove", "mem-1", *LEDGER),
        66,
        "mem-1 is a memory, and a proof is of one event: its event",
        "memfold history MEM-001",
    )
    offsets = [step["offset"] for step in json.loads(run("history", "MEM-001", "--json", *LEDGER).out)["steps"]]
    shown = ", ".join(f"#{offset}" for offset in offsets)
    assert shown in run("prove", "MEM-001", *LEDGER).err
    assert run("prove", f"#{offsets[0]}", *LEDGER).code == 0
    failed(run("prove", "MEM-999", *LEDGER), 66, "no event 'MEM-999'")


def test_an_import_is_sealed(tmp_path: Path) -> None:
    """Who never uses a client has heads too: one behind each import, none behind each memory added by hand."""
    FileLog.create(tmp_path / "new", root="/w/app", key="k")
    assert run("add", "the quay lights are green", "--ledger", "new").code == 0
    assert json.loads(run("verify", "--ledger", "new", "--json").out)["heads"] == 0
    Path("list.md").write_text("- the harbour closes at ten\n- moor at the third buoy\n")
    assert run("import", "list.md", "--format", "bullets", "--ledger", "new").code == 0
    assert json.loads(run("verify", "--ledger", "new", "--json").out)["heads"] == 1


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
    assert "kept    1 checkpoint for fast starts, as the log gives" in ran.out
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
            wrong.setattr(stored, "_memory_part", lambda memory, older: small(type(memory)(now=memory.now), older))
        else:
            wrong.setattr("replay.live.save", _save_too_late)
        name = _keep_checkpoint()
    if lie == "state":
        assert run("prompt", *LEDGER).out != block
    ran = run("verify", *LEDGER)
    assert ran.code == 3
    told = " ".join(ran.out.split())
    assert "changed: 1 head holds, but what was kept of the log when it was read isn't what it says now" in told
    assert f"removed {name}: answers follow the log from now on" in told
    assert run("prompt", *LEDGER).out == block
    assert run("verify", *LEDGER).code == 0


def _save_too_late(log: FileLog, *arguments: Any, cursor: Any, **more: Any) -> Any:
    """One that says that the log is read on from its first line."""
    return save(log, *arguments, cursor=replace(cursor, byte=0, seq=0, highest=-1), **more)


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
