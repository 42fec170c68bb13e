"""What ``check`` names."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.check import EVENT_VALIDATORS, FOLDER_VALIDATORS, check
from ledger.codec import TYPE_NAMES, encode
from ledger.errors import LedgerNotFound
from ledger.events import (
    Draft,
    Event,
    LedgerCreated,
    LedgerCreatedData,
    LedgerRepaired,
    LedgerRepairedData,
    LedgerSealed,
    LedgerSealedData,
)
from ledger.log import LOCK_SUFFIX, LOG_NAME
from ledger.problems import KINDS, NOTES, Kind
from ledger.slips import is_one_slip
from ledger.steps import open_steps
from tests.support.logs import draft, event_id, line_of, memory, new_log, raw_log

CREATED = encode(
    LedgerCreated(
        specversion="1.0",
        id=event_id(0),
        source="memfold",
        time="2026-01-01T00:00:00.000Z",
        seq=0,
        data=LedgerCreatedData(format=1, ledger="l", root="/w", key="k"),
    )
)
UNKNOWN = b'{"type":"later.thing","specversion":"1.0","id":"%s","source":"h","seq":1,"data":{}}\n'


def _timed(seq: int, time: str | None) -> bytes:
    line = encode(memory(seq))
    old = b'"time":"2026-01-01T00:00:00.000Z",'
    assert old in line
    return line.replace(old, b"" if time is None else b'"time":"%s",' % time.encode())


def test_healthy(tmp_path: Path) -> None:
    """A ledger that nobody damaged has no problem."""
    log = new_log(tmp_path / "l")
    log.append([draft("a"), draft("b")])
    assert check(log.directory) == []
    assert check(tmp_path / "l") == []


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (CREATED + line_of(1), []),
        (CREATED + _timed(1, None), []),
        (b"", [Kind.NO_CREATED]),
        (b"junk\n", [Kind.NOT_JSON, Kind.NO_CREATED]),
        (line_of(0), [Kind.NO_CREATED]),
        (CREATED + b"\0\0\n", [Kind.NUL_BYTES]),
        (CREATED + line_of(1).rstrip() + line_of(2), [Kind.FUSED_LINE]),
        (CREATED + line_of(1) + line_of(1), [Kind.DUPLICATE_ID]),
        (CREATED + line_of(2), [Kind.SEQ_GAP]),
        (CREATED + line_of(1) + line_of(1, number=5), [Kind.SEQ_BACK]),
        (CREATED + line_of(2**53 - 1, number=9) + line_of(1), [Kind.SEQ_FAR]),
        (CREATED + line_of(1)[:40], [Kind.TORN_TAIL]),
        (CREATED + line_of(1) + line_of(2, number=1), [Kind.ID_REUSED]),
        (CREATED + _timed(1, "yesterday"), [Kind.TIME_FORMAT]),
        (CREATED + _timed(1, ""), [Kind.TIME_FORMAT]),
        (CREATED + _timed(1, "2025-12-31T23:59:59.999Z"), [Kind.TIME_BACK]),
        (CREATED + _timed(1, "2027-01-02T00:00:00.001Z"), []),  # a leap year behind the id, to the millisecond
        (CREATED + _timed(1, "2027-01-02T00:00:00.002Z"), [Kind.TIME_FAR]),
        (CREATED + _timed(1, "9999-12-31T23:59:59Z"), [Kind.TIME_FAR]),
        (CREATED + _timed(1, "9999-12-31T23:59:59Z") + line_of(2), [Kind.TIME_FAR, Kind.TIME_BACK]),
        (CREATED + line_of(1).replace(event_id(1).encode(), b"evt-1"), [Kind.ID_FORMAT]),
        (CREATED + UNKNOWN % event_id(1).encode(), [Kind.UNKNOWN_TYPE]),
        (CREATED + line_of(1).replace(b"memory.added", b"memory.adde"), [Kind.DAMAGED_TYPE]),
        (CREATED.replace(b'"format":1', b'"format":9'), [Kind.NEWER_FORMAT]),
    ],
)
def test_each_problem_is_named(content: bytes, kinds: list[Kind], tmp_path: Path) -> None:
    """Each kind is found, and nothing else; it says where, what, and what helps."""
    raw_log(tmp_path, content)
    problems = check(tmp_path)
    assert sorted(problem.kind for problem in problems) == sorted(kinds)
    for problem in problems:
        assert problem.fix == KINDS[problem.kind][1]
        assert problem.line == content[: problem.byte].count(b"\n") + 1
        assert problem.byte + problem.length <= len(content)
    assert (tmp_path / LOG_NAME).read_bytes() == content


def test_values_are_said(tmp_path: Path) -> None:
    """A problem shows the value, the seq and how far it is off."""
    raw_log(tmp_path, CREATED + _timed(1, "2025-12-31T23:59:59.999Z") + _timed(2, "soon"))
    back, unreadable = check(tmp_path)
    line = _timed(1, "2025-12-31T23:59:59.999Z")
    assert (back.kind, back.line, back.byte, back.length) == (Kind.TIME_BACK, 2, len(CREATED), len(line) - 1)
    assert "2025-12-31T23:59:59.999Z, seq 1, lies 1 ms before seq 0" in back.message
    assert "'soon', seq 2" in unreadable.message


def test_a_log_without_events_is_told_so(tmp_path: Path) -> None:
    """It has no line to name, so the words say it."""
    raw_log(tmp_path, b"")
    (problem,) = check(tmp_path)
    assert problem.message.endswith(": it holds no event at all")


def test_time_going_back_is_measured_from_the_latest(tmp_path: Path) -> None:
    """Every event before the latest time so far is named, not only the first of them."""
    early = "2025-12-31T00:00:00.000Z"
    raw_log(tmp_path, CREATED + _timed(1, early) + _timed(2, early) + line_of(3))
    assert [(problem.kind, problem.line) for problem in check(tmp_path)] == [(Kind.TIME_BACK, 2), (Kind.TIME_BACK, 3)]


@pytest.mark.parametrize("name", sorted(TYPE_NAMES.values()))
def test_a_type_that_was_hit_is_named(name: str) -> None:
    """Whichever character of whichever type another one takes the place of, is lost, doubled or swapped."""
    for index in range(len(name)):
        before, one, behind = name[:index], name[index], name[index + 1 :]
        for hit in (f"{before}{chr(ord(one) ^ 1)}{behind}", before + behind, f"{before}{one}{one}{behind}"):
            assert is_one_slip(hit, name)
        swapped = before + behind[:1] + one + behind[1:]
        assert is_one_slip(swapped, name) == (swapped != name)
    assert not is_one_slip(f"{name}.ex", name)
    assert not is_one_slip(name, name)


def test_a_near_type_with_other_data_is_one_of_a_later_release(tmp_path: Path) -> None:
    """Only what could be read as the known type is damage."""
    raw_log(tmp_path, CREATED + line_of(1).replace(b"memory.added", b"memory.addee").replace(b'"title"', b'"body"'))
    assert [problem.kind for problem in check(tmp_path)] == [Kind.UNKNOWN_TYPE]


REPAIRED = Draft(source="memfold", time=None, data=LedgerRepairedData(pieces=1))


@pytest.mark.parametrize(
    ("numbers", "known"),
    [
        ([(4, 4)], [False]),
        ([(4, 4), (5, 2), (6, 3)], [True]),  # seq and what makes the id: 2 and 3 come again
        ([(4, 4), (5, 3)], [False]),
        ([(4, 4), (5, 5), (6, 6)], [False]),
        ([(4, 4), (5, 2), (6, 3), (9, 9)], [True, False]),
        ([(2, 20), (5, 5), (6, 3), (7, 4)], [False]),  # neighbours out of order
        ([(4, 4), (8, 8), (9, 6), (10, 5), (11, 7)], [False, True]),
    ],
)
def test_a_gap_is_known_when_all_that_was_missing_came_again(
    numbers: list[tuple[int, int]], known: list[bool], tmp_path: Path
) -> None:
    """Events from between its neighbours, as an import appends them; a few of them don't do."""
    raw_log(tmp_path, b"".join([CREATED, line_of(1), *(line_of(seq, number=number) for seq, number in numbers)]))
    gaps = [problem for problem in check(tmp_path) if problem.kind is Kind.SEQ_GAP]
    assert [problem.is_note for problem in gaps] == known
    assert [one.byte for one in open_steps(str(tmp_path / LOG_NAME))] == [one.byte for one in gaps if not one.known]


def test_what_a_log_notes_about_itself_fills_no_gap(tmp_path: Path) -> None:
    """A head whose id was made between those of a gap's neighbours brings nothing back."""
    own: tuple[Event, ...] = (
        LedgerSealed(
            specversion="1.0", id=event_id(2), source="memfold", time=None, seq=4, data=LedgerSealedData(3, "0" * 64)
        ),
        LedgerRepaired(
            specversion="1.0", id=event_id(2), source="memfold", time=None, seq=4, data=LedgerRepairedData(pieces=1)
        ),
    )
    for event, known in zip(own, ([False], [True]), strict=True):  # a repair says that somebody has looked
        raw_log(tmp_path, CREATED + line_of(1) + line_of(3) + encode(event))
        assert [one.is_note for one in check(tmp_path) if one.kind is Kind.SEQ_GAP] == known


def test_a_repair_makes_what_stands_before_it_known(tmp_path: Path) -> None:
    """Every break in the numbers, its own with it, and none behind it."""
    steps = CREATED + line_of(1) + line_of(1) + line_of(3) + line_of(2, number=9) + line_of(2**50, number=10)
    log = raw_log(tmp_path, steps)
    before = [problem.kind for problem in check(tmp_path)]
    assert before == [Kind.DUPLICATE_ID, Kind.SEQ_GAP, Kind.SEQ_BACK, Kind.SEQ_FAR]
    log.append([REPAIRED])
    assert [problem.kind for problem in check(tmp_path) if problem.is_note] == [*before, Kind.SEQ_GAP]
    Path(log.path).write_bytes(Path(log.path).read_bytes() + line_of(90, number=90))
    assert [problem.kind for problem in check(tmp_path) if not problem.is_note] == [Kind.SEQ_GAP]


def test_open_files(tmp_path: Path) -> None:
    """Files and folders that others may use are named with their mode: to read them is a note, to write a problem."""
    log = new_log(tmp_path / "l")
    for path, mode in ((log.path, 0o644), (log.path + LOCK_SUFFIX, 0o606), (log.directory, 0o711)):
        Path(path).chmod(mode)
    problems = check(log.directory)
    assert [problem.kind for problem in problems] == [Kind.READABLE_FILE, Kind.READABLE_FILE, Kind.WRITABLE_FILE]
    assert [problem.message.rsplit(" ", 1)[1] for problem in problems] == ["0711", "0644", "0606"]
    assert [problem.path for problem in problems] == [log.directory, log.path, log.path + LOCK_SUFFIX]
    assert {(problem.line, problem.byte) for problem in problems} == {(0, 0)}
    assert [problem.kind in NOTES for problem in problems] == [True, True, False]


def test_what_concerns_the_folder_comes_first(tmp_path: Path) -> None:
    """Before the problems of lines, also of the first line."""
    raw_log(tmp_path, b"junk\n" + CREATED)
    tmp_path.chmod(0o777)
    assert [(problem.line > 0) for problem in check(tmp_path)][:2] == [False, True]


@pytest.mark.parametrize(
    "name",
    [
        "events (conflicted copy 2026-01-01).jsonl",
        "events.sync-conflict-20260101-123456-ABC.jsonl",
        "events-laptop.jsonl",
        "events.jsonl.orig",
    ],
)
def test_conflicted_copies(name: str, tmp_path: Path) -> None:
    """A second copy of the log beside it is named with its path; other files and folders are not."""
    log = new_log(tmp_path / "l")
    copy = Path(log.directory) / name
    copy.write_bytes(b"")
    for other in ("notes.txt", "eventually.json", "notes.jsonl", "events.txt"):
        (Path(log.directory) / other).write_bytes(b"")
    (Path(log.directory) / "events.jsonl.d").mkdir()
    (problem,) = check(log.directory)
    assert (problem.kind, problem.line, problem.path) == (Kind.CONFLICTED_COPY, 0, str(copy))
    assert str(copy) in problem.message


def test_nothing_there(tmp_path: Path) -> None:
    """A ledger that isn't there is the caller's mistake, not a problem of data."""
    with pytest.raises(LedgerNotFound):
        check(tmp_path / "none")


def test_tables_cannot_grow_by_accident() -> None:
    """Validators stand in tuples: what one caller adds is nobody else's."""
    assert isinstance(EVENT_VALIDATORS, tuple)
    assert isinstance(FOLDER_VALIDATORS, tuple)


@pytest.mark.parametrize(("numbers", "open_"), [([], 1), ([0], 1), ([0, 1], 0)])
def test_a_gap_at_the_beginning_is_one_like_any_other(numbers: list[int], open_: int, tmp_path: Path) -> None:
    """Nothing has noted it, until as many events as are missing came again; one of them doesn't do."""
    again = (line_of(seq, number=number) for seq, number in enumerate(numbers, 3))
    log = raw_log(tmp_path, b"".join([line_of(2, number=2), *again]))
    assert len(open_steps(log.path)) == open_
