"""Ledgers with one defect each: what reads, what ``check`` names, and that memories elsewhere survive (SPEC 21)."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.damage import DEFECTS, FACTS, FOLDER, healthy_lines
from ledger.check import check
from ledger.ids import MonotonicIds
from ledger.log import LOG_NAME, FileLog
from ledger.problems import DAMAGE, NOTES, STEPS, Kind
from ledger.repair import repair
from memfold.workspace import Workspace
from projections.policy import DEFAULT_POLICY
from projections.world import WorldState
from replay.state import state_at
from tests.support.logs import draft, raw_log, titles

Found = list[tuple[Kind, int]]
"""Kind and line of each problem, by place."""

ONE, TWO, THREE = FACTS

EXPECTED: dict[str, tuple[str, Found, set[str]]] = {
    "torn-tail": ("recovered", [(Kind.TORN_TAIL, 7)], set()),
    "no-final-newline": ("ok", [], set()),
    "glued-records": ("recovered", [(Kind.FUSED_LINE, 4)], set()),
    "glued-behind-torn": ("recovered", [(Kind.NOT_JSON, 4), (Kind.SEQ_GAP, 4)], {TWO}),
    "foreign-line-without-newline": ("recovered", [(Kind.NOT_JSON, 5)], set()),
    "nul-block": ("recovered", [(Kind.NUL_BYTES, 4), (Kind.SEQ_GAP, 5)], {TWO}),
    "nul-block-before-a-record": ("recovered", [(Kind.NUL_BYTES, 5)], set()),
    "not-utf8": ("recovered", [(Kind.NOT_UTF8, 4), (Kind.SEQ_GAP, 5)], {TWO}),
    "merge-markers": ("recovered", [(Kind.MERGE_MARKER, line) for line in (4, 6, 8)], set()),
    "crlf": ("ok", [], set()),
    "bom": ("ok", [], set()),
    "blank-lines": ("ok", [], set()),
    "duplicate-line": ("ok", [(Kind.DUPLICATE_ID, 5)], set()),
    "swapped-lines": (
        "ok",
        [(Kind.SEQ_GAP, 4), (Kind.SEQ_BACK, 5), (Kind.TIME_BACK, 5), (Kind.SEQ_GAP, 6)],
        set(),
    ),
    "gap-in-seq": ("ok", [(Kind.SEQ_GAP, 4)], {TWO}),
    "repeated-seq": ("ok", [(Kind.SEQ_BACK, 5)], set()),
    "far-seq": ("ok", [(Kind.SEQ_FAR, 5), (Kind.UNKNOWN_TYPE, 5)], set()),
    "no-created": ("ok", [(Kind.NO_CREATED, 1), (Kind.SEQ_GAP, 1)], set()),
    "newer-format": ("ok", [(Kind.NEWER_FORMAT, 1)], set()),
    "unknown-type": ("ok", [(Kind.UNKNOWN_TYPE, 5)], set()),
    "slipped-type": ("ok", [(Kind.DAMAGED_TYPE, 4)], {TWO}),
    "wrong-field-type": ("recovered", [(Kind.INVALID_EVENT, 4), (Kind.SEQ_GAP, 5)], {TWO}),
    "missing-field": ("recovered", [(Kind.INVALID_EVENT, 4), (Kind.SEQ_GAP, 5)], {TWO}),
    "bad-time": ("ok", [(Kind.TIME_FORMAT, 4)], set()),
    "time-going-back": ("ok", [(Kind.TIME_BACK, 4)], set()),
    "far-time": ("ok", [(Kind.TIME_FAR, 4), *((Kind.TIME_BACK, line) for line in (5, 6, 7))], set()),
    "bad-id": ("ok", [(Kind.ID_FORMAT, 4)], set()),
    "nan-number": ("recovered", [(Kind.NOT_JSON, 5), (Kind.SEQ_GAP, 6)], set()),
    "not-an-object": ("recovered", [(Kind.NOT_AN_EVENT, 5)], set()),
    "deep-nesting": ("recovered", [(Kind.NOT_JSON, 5)], set()),
    "long-garbage-line": ("recovered", [(Kind.NOT_JSON, 5)], set()),
    "lone-surrogate": ("recovered", [(Kind.NOT_JSON, 4), (Kind.SEQ_GAP, 5)], {TWO}),
}
"""Defect → health, problems, facts that are lost."""

every = pytest.mark.parametrize("name", DEFECTS)


def damaged_log(name: str, folder: Path) -> FileLog:
    """A private copy of a damaged ledger."""
    return raw_log(folder / "ledger", (FOLDER / name / LOG_NAME).read_bytes())


def known(world: WorldState) -> set[str]:
    """Texts of memories, active or waiting for a decision."""
    active = {entry.proposal.text for entry in world.memory.entries.values() if entry.state == "promoted"}
    return active | {proposal.text for proposal in world.memory.pending.values()}


def test_every_defect_has_its_expectation() -> None:
    """A new defect can't stay untested, and no folder is left over."""
    assert set(DEFECTS) == set(EXPECTED) == {path.name for path in FOLDER.iterdir()}


@every
def test_files_are_what_the_script_makes(name: str) -> None:
    """``python -m fixtures.damage`` would write the same bytes again."""
    assert (FOLDER / name / LOG_NAME).read_bytes() == b"".join(DEFECTS[name].damage(healthy_lines()))


@every
def test_check_names_the_defect(name: str, tmp_path: Path) -> None:
    """Kind and line are those of the defect, and nothing else is named."""
    found = [(one.kind, one.line) for one in check(damaged_log(name, tmp_path).directory)]
    assert sorted(found) == sorted(EXPECTED[name][1])


@pytest.mark.parametrize("name", [name for name in DEFECTS if name != "newer-format"])
def test_a_repair_settles_what_bytes_and_numbers_say(name: str, tmp_path: Path) -> None:
    """Afterwards only what an event itself says is a problem, and a second repair finds nothing to do."""
    directory = damaged_log(name, tmp_path).directory
    repair(directory, time=None, new_id=MonotonicIds())
    left = {kind for kind, _ in EXPECTED[name][1]} - DAMAGE - STEPS - NOTES - {Kind.FUSED_LINE}
    assert {one.kind for one in check(directory) if not one.is_note} == left
    assert repair(directory, time=None, new_id=MonotonicIds()) == ()


@every
def test_bytes_that_are_named_stand_in_the_line_that_is_named(name: str, tmp_path: Path) -> None:
    """Line and byte tell the same place, and the piece ends within its line."""
    log = damaged_log(name, tmp_path)
    content = Path(log.path).read_bytes()
    for one in check(log.directory):
        assert content[: one.byte].count(b"\n") + 1 == one.line
        assert content[one.byte : one.byte + one.length].strip()
        assert b"\n" not in content[one.byte : one.byte + one.length]


@every
def test_health_tells_whether_bytes_were_set_aside(name: str, tmp_path: Path) -> None:
    """It is "recovered" wherever a line couldn't be read as it stands, "ok" where only order or meaning is odd."""
    health = damaged_log(name, tmp_path).health()
    assert health.status == EXPECTED[name][0]
    assert health.damaged == sum(kind in DAMAGE for kind, _ in EXPECTED[name][1])


@every
def test_memories_elsewhere_survive(name: str, tmp_path: Path) -> None:
    """Only what stood in the damaged bytes is lost."""
    world = state_at(damaged_log(name, tmp_path).read())
    assert known(world) == set(FACTS) - EXPECTED[name][2]


@every
def test_reading_changes_nothing(name: str, tmp_path: Path) -> None:
    """A damaged file stays as it is until somebody writes (I22)."""
    log = damaged_log(name, tmp_path)
    before = Path(log.path).read_bytes()
    check(log.directory)
    log.health()
    assert list(log.read(3)) == [event for event in log.read() if event.seq >= 3]
    assert Path(log.path).read_bytes() == before
    assert {path.name for path in Path(log.directory).iterdir()} == {LOG_NAME}


@pytest.mark.parametrize("name", [name for name in DEFECTS if name != "newer-format"])
def test_the_log_goes_on(name: str, tmp_path: Path) -> None:
    """The next append is read back, alone on its line, and costs no event that could be read before."""
    log = damaged_log(name, tmp_path)
    before = list(log.read())
    log.append([draft("still here")])
    after = list(log.read())
    assert after[: len(before)] == before
    assert titles(after[len(before) :]) == ["still here"]
    assert Path(log.path).read_bytes().endswith(b"\n")


@pytest.mark.parametrize("name", [name for name in DEFECTS if name != "newer-format"])
def test_a_change_can_be_undone(name: str, tmp_path: Path) -> None:
    """Also where a number was damaged: nobody has appended between the look and the undo."""
    with damaged_log(name, tmp_path) as log:
        workspace = Workspace(log, "/workspace/demo", DEFAULT_POLICY, host="test")
        before = known(workspace.world())
        workspace.record([draft("use tabs in Go files")])
        assert known(workspace.world()) == before | {"use tabs in Go files"}
        plan = workspace.plan_undo()
        assert plan is not None
        workspace.undo(plan, time=None)
        assert known(workspace.world()) == before
