"""``memfold ingest``: recordings in, the same ledger out, once."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from ledger.check import check
from ledger.ids import uuid7
from ledger.log import FileLog
from ledger.problems import NOTES
from memfold.cli import ingest
from memfold.cli.commands import COMMANDS
from memfold.paths import workspace_key
from tests.support.cli import RECORDINGS, home, make_ledger, run

NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path) -> Iterator[None]:
    """No configuration and no data of this machine."""
    with home(tmp_path):
        yield


def _bytes(folder: Path) -> bytes:
    return (folder / "events.jsonl").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_every_recording_becomes_a_sound_ledger(tmp_path: Path, name: str) -> None:
    """Check finds nothing in it, the account adds up, and every record is taken or named."""
    ran = run("ingest", "opencode", str(RECORDINGS / f"{name}.jsonl"), "--ledger", str(tmp_path / "l"), "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["added"] == sum(document["events"].values())
    assert [problem for problem in check(tmp_path / "l") if problem.kind not in NOTES] == []
    assert json.loads(run("account", "--json", "--ledger", str(tmp_path / "l")).out)["adds_up"] is True


def test_the_same_recording_twice_changes_no_byte(tmp_path: Path) -> None:
    """The second time everything is known; a ledger made elsewhere from it is the same bytes."""
    recording = str(RECORDINGS / "remember.jsonl")
    run("ingest", "opencode", recording, "--ledger", str(tmp_path / "a"))
    before = _bytes(tmp_path / "a")
    again = json.loads(run("ingest", "opencode", recording, "--ledger", str(tmp_path / "a"), "--json").out)
    assert (again["added"], again["known"]) == (0, sum(again["events"].values()))
    assert _bytes(tmp_path / "a") == before
    run("ingest", "opencode", recording, "--ledger", str(tmp_path / "b"))
    assert _bytes(tmp_path / "b") == before


def test_a_recording_that_has_grown_adds_what_is_new(tmp_path: Path) -> None:
    """The first half and then the whole gives the ledger of the whole."""
    lines = (RECORDINGS / "remember.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "half.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    run("ingest", "opencode", str(tmp_path / "half.jsonl"), "--ledger", str(tmp_path / "grown"))
    run("ingest", "opencode", str(RECORDINGS / "remember.jsonl"), "--ledger", str(tmp_path / "grown"))
    run("ingest", "opencode", str(RECORDINGS / "remember.jsonl"), "--ledger", str(tmp_path / "whole"))

    def facts(folder: Path) -> list[tuple[str, object]]:
        return [(event.id, event) for event in FileLog.open(folder).read() if event.source != "memfold"]

    assert facts(tmp_path / "grown") == facts(tmp_path / "whole")


def test_ids_of_a_changed_policy_are_new(tmp_path: Path) -> None:
    """A second ingestion under another policy records the policy, and no id comes twice."""
    recording = str(RECORDINGS / "remember.jsonl")
    run("ingest", "opencode", recording, "--ledger", str(tmp_path / "l"))
    folder = tmp_path / ".config" / "memfold"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[prompt]\nmaxEntries = 3\n")
    run("ingest", "opencode", recording, "--ledger", str(tmp_path / "l"))
    events = list(FileLog.open(tmp_path / "l").read())
    assert len({event.id for event in events}) == len(events) == sum(1 for _ in _bytes(tmp_path / "l").splitlines())
    assert [problem for problem in check(tmp_path / "l") if problem.kind not in NOTES] == []


def test_the_workspace_comes_from_the_recording(tmp_path: Path) -> None:
    """Without an option the ledger is that of the recorded folder; --workspace names another one."""
    recording = str(RECORDINGS / "tools.jsonl")
    document = json.loads(run("ingest", "opencode", recording, "--json").out)
    assert document["workspace"] == "/workspace/demo"
    assert document["ledger"].endswith(workspace_key("/workspace/demo"))
    assert run("status", "--workspace", "/workspace/demo").code == 0
    (tmp_path / "app").mkdir()
    document = json.loads(run("ingest", "opencode", recording, "--workspace", str(tmp_path / "app"), "--json").out)
    assert document["workspace"] == str(tmp_path / "app")
    assert run("log", "--workspace", str(tmp_path / "app"), "--limit", "1").code == 0


def test_the_settings_of_the_recorded_workspace_count(tmp_path: Path) -> None:
    """Its .memfold.toml judges what is recorded, in a ledger of another place too."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / ".memfold.toml").write_text("[prompt]\nmaxEntries = 2\n")
    text = (RECORDINGS / "remember.jsonl").read_text().replace("/workspace/demo", str(tmp_path / "app"))
    (tmp_path / "r.jsonl").write_text(text)
    assert run("ingest", "opencode", str(tmp_path / "r.jsonl"), "--ledger", str(tmp_path / "l")).code == 0
    shown = json.loads(run("prompt", "--json", "--ledger", str(tmp_path / "l")).out)["block"]["shown"]
    assert len(shown) == 2


def test_a_ledger_may_be_named_by_its_file(tmp_path: Path) -> None:
    """events.jsonl stands for its folder; a moved ledger keeps its workspace."""
    run("ingest", "opencode", str(RECORDINGS / "tools.jsonl"), "--ledger", str(tmp_path / "l"))
    shutil.move(tmp_path / "l", tmp_path / "moved")
    document = json.loads(run("status", "--json", "--ledger", str(tmp_path / "moved" / "events.jsonl")).out)
    assert document["workspace"] == "/workspace/demo"


def test_the_ledger_begins_with_its_recording(tmp_path: Path) -> None:
    """Its first event has the time of the first record: else now would run from today on (SPEC 1.2)."""
    run("ingest", "opencode", str(RECORDINGS / "remember.jsonl"), "--ledger", str(tmp_path / "l"))
    first, *rest = FileLog.open(tmp_path / "l").read()
    assert first.time is not None
    assert all(event.time is None or event.time >= first.time for event in rest)


def test_the_report_names_events_sessions_and_what_was_skipped(tmp_path: Path) -> None:
    """Records of an unknown hook are skipped by name and count."""
    lines = (RECORDINGS / "tools.jsonl").read_bytes().splitlines(keepends=True)
    odd = b'{"t": 1, "hook": "weather.changed"}\n'
    (tmp_path / "r.jsonl").write_bytes(b"".join([*lines, odd, odd]))
    ran = run("ingest", "opencode", str(tmp_path / "r.jsonl"), "--ledger", str(tmp_path / "l"))
    assert ran.code == 0
    assert "tool.completed" in ran.out
    assert "ses_" in ran.out
    assert "2  'weather.changed': unknown hook" in ran.out


def test_the_report_says_what_was_written_beside_and_what_to_type_next(tmp_path: Path) -> None:
    """Events of memfold's own are named, and the next command finds the ledger again."""
    out = run("ingest", "opencode", str(RECORDINGS / "tools.jsonl")).out
    assert "ledger.created, policy.set: what memfold writes of itself" in out
    assert "memfold status --workspace /workspace/demo" in out
    out = run("ingest", "opencode", str(RECORDINGS / "tools.jsonl"), "--ledger", str(tmp_path / "a b")).out
    assert f"memfold status --ledger '{tmp_path / 'a b'}'" in out
    assert "beside" not in run("ingest", "opencode", str(RECORDINGS / "tools.jsonl")).out
    assert "default: the one that the recording names" in " ".join(run("ingest", "--help").out.split())


def test_an_older_recording_is_warned_of_once(tmp_path: Path) -> None:
    """Its events count as happening now; check says so in one line."""
    for name, late in (("tools", False), ("remember", None), ("tools", False), ("abort", None)):
        ran = run("ingest", "opencode", str(RECORDINGS / f"{name}.jsonl"), "--ledger", str(tmp_path / "l"))
        assert ran.code == 0
        if late is False:
            assert ran.err == ""
    text = (RECORDINGS / "remember.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.replace("ses_", "ses_x").splitlines()]
    old = [{**line, "t": line["t"] - 86_400} for line in lines]
    (tmp_path / "old.jsonl").write_text("\n".join(map(json.dumps, old)) + "\n")
    ran = run("ingest", "opencode", str(tmp_path / "old.jsonl"), "--ledger", str(tmp_path / "l"))
    assert "events happened before what the ledger held" in ran.err
    assert ran.err.count("\n") == 1
    out = run("check", "--ledger", str(tmp_path / "l")).out
    assert out.count("time_back (note)") == 1
    assert "more, with --json)" in out


def test_settings_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    """On stderr, in the document, and in the first line of status."""
    folder = tmp_path / ".config" / "memfold"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("caps = \n")
    ran = run("ingest", "opencode", str(RECORDINGS / "tools.jsonl"), "--ledger", str(tmp_path / "l"))
    assert f"{folder / 'config.toml'}: is no TOML and is ignored" in ran.err
    again = run("ingest", "opencode", str(RECORDINGS / "tools.jsonl"), "--ledger", str(tmp_path / "l"), "--json")
    assert [one["source"] for one in json.loads(again.out)["findings"]] == [str(folder / "config.toml")]
    status = run("status", "--ledger", str(tmp_path / "l")).out
    assert "1 setting can't be used" in status.splitlines()[0]
    assert f"- {folder / 'config.toml'}: is no TOML" in status


def test_progress_is_for_a_terminal_and_for_what_takes_long(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is shown in a pipe or on a dumb terminal; on another one the count is, and goes away."""
    records: list[dict[str, object]] = [{"hook": "config"}] * 1000
    with mock.patch.object(ingest, "_PATIENCE", -1.0):
        assert list(ingest._with_progress(records)) == records
        assert capsys.readouterr().err == ""
        with mock.patch.object(sys.stderr, "isatty", return_value=True):
            list(ingest._with_progress(records))
            assert capsys.readouterr().err == ""
            with mock.patch.dict("os.environ", TERM="xterm"):
                list(ingest._with_progress(records))
        assert capsys.readouterr().err.startswith("\rread 500 records")
    assert "ingest" in COMMANDS


def test_a_foreign_number_does_not_end_a_ledger(tmp_path: Path) -> None:
    """A line with the highest number there is costs itself alone: appends go on, counts are right, check names it."""
    ledger = make_ledger(tmp_path / "ledger")
    file = ledger / "events.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    far = {**json.loads(lines[-1]), "seq": 2**53 - 1, "id": uuid7(1_768_208_460_000, b"0123456789")}
    file.write_bytes(b"".join([*lines, json.dumps(far).encode() + b"\n"]))
    ran = run("ingest", "opencode", str(RECORDINGS / "remember.jsonl"), "--ledger", str(ledger), "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["known"] == 0
    last = json.loads(file.read_bytes().splitlines()[-1])
    assert last["seq"] == file.read_bytes().count(b"\n") - 2
    assert (
        json.loads(
            run("ingest", "opencode", str(RECORDINGS / "remember.jsonl"), "--ledger", str(ledger), "--json").out
        )["added"]
        == 0
    )
    ran = run("check", "--ledger", str(ledger), "--json")
    assert ran.code == 3
    assert [one["kind"] for one in json.loads(ran.out)["problems"] if not one["note"]] == ["seq_far"]
    assert run("account", "--at", str(last["seq"]), "--ledger", str(ledger)).code == 0
