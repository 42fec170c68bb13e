"""What is kept of the log's blocks and calls changes the time a fold takes and nothing else (DESIGN 5, law 8)."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import projections.hot.state
from ledger.blocks import BlockReader, whole_blocks
from ledger.codec import encode
from ledger.events import AnyEvent, Draft, ToolArguments, ToolCompleted, ToolCompletedData
from ledger.log import FileLog
from ledger.outlines import outline_of, runs_of
from ledger.runs import Run, one_by_one
from ledger.times import format_time
from projections.facts import context_key
from projections.hot.calls import BlockCalls, RunCalls, block_calls
from projections.hot.facts import OpenedError, Success, ToolFacts, Touch, closes
from projections.hot.files import same_file
from projections.hot.session import MAX_ERRORS, MAX_FILES, FileEntry, HotState, OpenError
from projections.hot.state import SessionStates
from projections.hot.tools import Action
from projections.hot.working import Working
from projections.policy import Context
from projections.protocol import fold
from projections.world import World
from replay.blocklines import BlockLines, path_of
from replay.calls import CALLS_NAME, KeptCalls, keep_calls
from replay.outlines import BLOCKS_NAME, by_blocks, keep_outlines
from tests.laws.test_blocks import SIZES, kept_of
from tests.support.effort import examples
from tests.support.entries import NOW
from tests.support.hot_events import histories, recorded
from tests.support.logs import new_log, raw_log
from tests.support.streams import ledgers

Calls = dict[tuple[int, int], BlockCalls]


class Known:
    """Calls at hand, which counts what it was asked for and had."""

    def __init__(self, kept: Calls) -> None:
        self._kept = kept
        self.found = 0

    def __call__(self, run: Run, context: Context) -> RunCalls | None:
        """Those of a run."""
        block = self._kept.get((run.block.begin, run.block.checksum))
        if block is None or block.context != context_key(context).hex():
            return None
        sessions = block.runs[run.place]
        self.found += sessions is not None
        return None if sessions is None else RunCalls(block, sessions)


def calls_of(path: str, size: int, context: Context) -> Calls:
    """The calls of a file's blocks, as they read under a policy and root."""
    found = ((block, outline_of(block.data)) for block in whole_blocks(path, size=size))
    return {
        (block.begin, block.checksum): block_calls(runs_of(block.data, outline), context)
        for block, outline in found
        if outline is not None
    }


@st.composite
def calls_again(draw: st.DrawFn) -> list[AnyEvent]:
    """Sessions whose calls come with times, in runs, and some of them again: in the same run or in a later one."""
    events: list[AnyEvent] = []
    for seq, event in enumerate(recorded(draw(histories) * 2)):
        timed = replace(event, time=format_time(NOW + seq), seq=seq)
        if isinstance(timed, ToolCompleted):
            call = draw(st.sampled_from([f"call {seq}"] * 3 + ["call 1", "call 2"]))
            timed = replace(timed, data=replace(timed.data, call=call))
        events.append(timed)
    return events


@settings(max_examples=examples(80))
@given(events=ledgers() | calls_again(), size=SIZES, window=st.sampled_from([2, 1000]), data=st.data())
def test_a_fold_with_calls_at_hand_gives_the_same_state(
    events: list[AnyEvent], size: int, window: int, data: st.DataObject
) -> None:
    """For all sessions or some of them; calls that were sent again, of other policies and of other roots included."""
    sources = sorted({event.source for event in events})
    only = data.draw(st.none() | st.sets(st.sampled_from(sources)) if sources else st.none())
    with patch.object(projections.hot.state, "CALL_WINDOW", window), tempfile.TemporaryDirectory() as folder:
        plain = fold(World(only), events)
        context = data.draw(st.sampled_from([plain.memory.context, Context()]))
        path = raw_log(Path(folder), b"".join(map(encode, events))).path
        kept, known = kept_of(path, size).get, Known(calls_of(path, size, context))
        assert fold(World(only, calls=known), BlockReader(path, kept, size=size)) == plain
        sessions = SessionStates(only, calls=known)
        state = sessions.initial()
        sessions.run(state, BlockReader(path, kept, size=size))
        assert state == plain.sessions


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of three blocks and some more."""
    from bench.ledgers import ROOT, write_ledger

    folder = tmp_path_factory.mktemp("kept") / "ledger"
    write_ledger(folder, 2000)
    log = FileLog.open(folder)
    assert keep_outlines(log.directory, log.path) == keep_calls(log, Context(root=ROOT)) > 1
    assert keep_outlines(log.directory, log.path) == keep_calls(log, Context(root=ROOT)) == 0
    return folder


@pytest.mark.parametrize("window", [3, 1000])
def test_of_many_calls_the_last_are_known(ledger: Path, window: int) -> None:
    """Whether they came one by one or as runs (SPEC 3.5)."""
    log = FileLog.open(ledger)
    with patch.object(projections.hot.state, "CALL_WINDOW", window):
        plain = fold(World(), log.read())
        assert fold(World(calls=KeptCalls(log.directory)), by_blocks(log)) == plain
    most = max(Counter(event.source for event in log.read() if isinstance(event, ToolCompleted)).values())
    assert max(len(session.calls) for session in plain.sessions.sessions.values()) == min(window, most) > 2


def test_nothing_is_decoded_of_what_is_kept(ledger: Path) -> None:
    """All calls but those of the unfinished block; and of none where the policy or the root is another one."""
    log = FileLog.open(ledger)
    world = fold(World(), log.read())
    kept = KeptCalls(log.directory)
    found = [kept(piece, world.memory.context) for piece in by_blocks(log) if type(piece) is Run]
    assert all(found)
    known = sum(len(one.calls) for run in found if run for one in run.sessions)
    assert known > 0.7 * sum(type(event) is ToolCompleted for event in log.read())
    other = KeptCalls(log.directory)
    assert not any(other(piece, Context(root="/other")) for piece in by_blocks(log) if type(piece) is Run)


def _seams(content: bytes) -> list[int]:
    """Where numbers of the lines' heads end."""
    return [
        head.start() + comma.start()
        for head in re.finditer(rb"^\[[^\]]*\]", content, re.MULTILINE)
        for comma in re.finditer(rb"[\[,\]]", head[0])
    ]


@settings(max_examples=examples(40))
@given(data=st.data())
def test_what_is_kept_is_only_used_for_its_bytes(ledger: Path, data: st.DataObject) -> None:
    """The files beside the log may be missing, cut or changed, and the log may have other bytes than they are of."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "l"
        shutil.copytree(ledger, place)
        log = FileLog.open(place)
        name = data.draw(
            st.sampled_from([log.path, *(path_of(log.directory, one) for one in (BLOCKS_NAME, CALLS_NAME))])
        )
        content = bytearray(Path(name).read_bytes())
        at = data.draw(st.integers(0, len(content) - 1))
        accident = data.draw(st.sampled_from(["flip", "cut", "glue"]))
        if accident == "flip":
            content[at] ^= 1 << data.draw(st.integers(0, 7))
        elif name != log.path and accident == "cut":
            del content[at:]
        elif name != log.path:  # between numbers of heads, so that what is left of two lines may be one
            seams = _seams(bytes(content))
            begin, end = sorted((data.draw(st.sampled_from(seams)), data.draw(st.sampled_from(seams))))
            del content[begin:end]
        Path(name).write_bytes(content)
        assert list(one_by_one(by_blocks(log))) == list(log.read())
        sessions = SessionStates(calls=KeptCalls(log.directory))
        state = sessions.initial()
        sessions.run(state, by_blocks(log))
        assert state == fold(SessionStates(), log.read())


@pytest.mark.parametrize("name", [BLOCKS_NAME, CALLS_NAME])
def test_what_is_kept_of_another_block_does_not_count(ledger: Path, name: str) -> None:
    """A line that is left of two, place and checksum of one block and what is kept of the other, is none."""
    first, second, *_ = Path(path_of(str(ledger), name)).read_bytes().splitlines(keepends=True)
    seam = [line.index(b"\t", 0) for line in (first, second)]
    comma = [line.rindex(b",", 0, end) for line, end in zip((first, second), seam, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(path_of(folder, name))
        path.parent.mkdir()
        version, begin, checksum, _ = msgspec.json.decode(first[: seam[0]])
        for line, is_there in ((first, True), (first[: comma[0]] + second[comma[1] :], False)):
            path.write_bytes(line)
            assert (BlockLines(folder, name, version).find(begin, checksum) is not None) == is_there


def test_a_path_that_was_changed_in_what_is_kept_is_no_path(ledger: Path, tmp_path: Path) -> None:
    """Its line is sound JSON, and not what was written."""
    shutil.copytree(ledger, tmp_path / "l")
    log = FileLog.open(tmp_path / "l")
    path = Path(path_of(log.directory, CALLS_NAME))
    path.write_bytes(path.read_bytes().replace(b"src/api", b"src/apj"))
    kept, context = KeptCalls(log.directory), fold(World(), log.read()).memory.context
    assert not any(kept(piece, context) for piece in by_blocks(log) if type(piece) is Run)


_DEEP = b"[" * 100_000


@pytest.mark.parametrize("name", [BLOCKS_NAME, CALLS_NAME])
@pytest.mark.parametrize(
    "line",
    [
        *(b"[2,0,0,0," + _DEEP, b"[1,0,0,0," + _DEEP, _DEEP + b"\t" + _DEEP, b"\x00" * (1 << 21)),
        *(b"[%d,-5,0,0]\t[]" % version for version in (1, 2)),
        *(b"[%d,-2%s,0,0]\t[]" % (version, b"0" * 29) for version in (1, 2)),
        *(b"[%d,9%s,0,0]\t[]" % (version, b"0" * 15) for version in (1, 2)),
    ],
)
def test_lines_of_no_use_raise_nothing(ledger: Path, tmp_path: Path, name: str, line: bytes) -> None:
    """Before all others and behind them; new lines are added all the same, and used."""
    shutil.copytree(ledger, tmp_path / "l")
    log, context = FileLog.open(tmp_path / "l"), fold(World(), FileLog.open(ledger).read()).memory.context
    path = Path(path_of(log.directory, name))
    # One of a block that is still to come holds up all that is behind it: there it stands last alone.
    path.write_bytes((b"" if b",9" in line else line + b"\n") + path.read_bytes() + line + b"\n")
    kept = KeptCalls(log.directory)
    assert list(one_by_one(by_blocks(log))) == list(log.read())
    assert fold(World(calls=kept), by_blocks(log)) == fold(World(), log.read())
    for _ in range(2):
        keep_outlines(log.directory, log.path)
        keep_calls(log, context)
    assert (keep_outlines(log.directory, log.path), keep_calls(log, context)) == (0, 0)
    kept = KeptCalls(log.directory)
    found = [kept(piece, context) for piece in by_blocks(log) if type(piece) is Run]
    assert found
    assert all(found)


def test_calls_of_a_log_that_was_replaced_by_a_shorter_one(ledger: Path, tmp_path: Path) -> None:
    """They are of other bytes: those of the log that is there are kept instead."""
    from bench.ledgers import ROOT

    shutil.copytree(ledger, tmp_path / "l")
    log = FileLog.open(tmp_path / "l")
    data = Path(log.path).read_bytes()
    Path(log.path).write_bytes(data[: data.rfind(b"\n", 0, (1 << 18) + 5000) + 1])
    context = Context(root=ROOT)
    assert keep_calls(log, context) == keep_outlines(log.directory, log.path) == 1
    kept = KeptCalls(log.directory)
    assert all(kept(piece, context) for piece in by_blocks(log) if type(piece) is Run)


def test_a_call_with_a_command_of_megabytes_is_read_anew(tmp_path: Path) -> None:
    """It isn't kept twice: a line that the next writer can't find the beginning of would be added again and again."""
    log = new_log(tmp_path / "l")
    for number in range(4):
        command = f"make {'x' * (1 << 21)} {number}"
        data = ToolCompletedData(f"call {number}", "bash", ToolArguments(command=command), exit=0)
        log.append([Draft(source="h/A", time=format_time(NOW + number), data=data)])
    context = fold(World(), log.read()).memory.context
    assert keep_calls(log, context) == keep_outlines(log.directory, log.path) == 5
    assert keep_calls(log, context) == keep_outlines(log.directory, log.path) == 0
    assert Path(path_of(log.directory, CALLS_NAME)).stat().st_size < 1 << 18
    assert fold(World(calls=KeptCalls(log.directory)), by_blocks(log)) == fold(World(), log.read())


def test_a_damaged_stretch_holds_up_nothing(ledger: Path, tmp_path: Path) -> None:
    """What is behind it is kept all the same, however few blocks are read at once; it itself isn't looked at again."""
    from bench.ledgers import ROOT

    shutil.copytree(ledger, tmp_path / "l")
    log, context = FileLog.open(tmp_path / "l"), Context(root=ROOT)
    data = Path(log.path).read_bytes()
    Path(log.path).write_bytes(data.replace(b'"source"', b'"sourcf"', 900))
    shutil.rmtree(tmp_path / "l" / "derived")
    whole = keep_outlines(log.directory, log.path)
    assert [keep_calls(log, context, 1) for _ in range(whole + 1)] == [*[1] * whole, 0]
    assert keep_outlines(log.directory, log.path) == 0
    assert any(type(piece) is Run for piece in by_blocks(log))
    assert fold(World(calls=KeptCalls(log.directory)), by_blocks(log)) == fold(World(), log.read())


_WEIGHTS = {"edit": 50, "write": 45, "grep": 30, "read": 20}
_PATHS = [f"{folder}{number}.ts" for folder in ("", "src/", "/w/app/src/") for number in range(10)]
_ERRORS = [
    OpenedError(category, summary, summary, command, file=file)
    for category, summary, command, file in [
        ("test", "one", "pytest", "src/1.ts"),
        ("test", "two", "npm test", "2.ts"),
        ("lint", "three", "ruff", None),
        ("lint", "four", "eslint", "/w/app/src/1.ts"),
        ("build", "five", "make", "3.ts"),
        ("build", "six", "make x", "src/3.ts"),
        ("test", "one", "tox", "src/1.ts"),
    ]
]
_touches = st.builds(Touch, st.sampled_from(_PATHS), st.sampled_from(["read", "grep", "write", "edit", "delete"]))
_greps = st.lists(st.sampled_from(_PATHS), max_size=10, unique=True).map(
    lambda paths: tuple(Touch(path, "grep") for path in paths)
)
_searches = st.permutations(_PATHS).map(
    lambda paths: ToolFacts(touches=tuple(Touch(path, "grep") for path in paths[:10]))
)
_successes = st.builds(Success, st.sampled_from(["pytest", "make"]), st.sampled_from([None, "test"]))
_facts = (
    st.builds(ToolFacts, touches=_greps | st.lists(_touches, min_size=1, max_size=1).map(tuple))
    | st.builds(ToolFacts, touches=_greps | st.lists(_touches.filter(lambda one: one.action != "grep")).map(tuple))
    | st.builds(ToolFacts, error=st.sampled_from(_ERRORS))
    | st.builds(
        ToolFacts, success=st.builds(Success, st.sampled_from(["pytest", "make"]), st.sampled_from([None, "test"]))
    )
)


@settings(max_examples=examples(200))
@given(st.lists(_searches, max_size=4), st.lists(_facts, max_size=30), st.lists(st.booleans(), max_size=30))
def test_many_calls_do_what_each_does(first: list[ToolFacts], calls: list[ToolFacts], looks: list[bool]) -> None:
    """However often somebody looks in between, files, errors and counts are what SPEC 13 tells call by call."""
    told = expected = HotState()
    working = Working(told)
    for facts, look in zip([*first, *calls], [*looks, *[False] * 34], strict=False):
        expected = _after(expected, facts)
        working.take(facts)
        if look:
            told = working.state()
            assert told == expected
            working = Working(told)
    assert working.state() == expected


@pytest.mark.parametrize("stronger", range(MAX_FILES - 2, MAX_FILES + 2))
def test_the_last_place_is_a_newcomer_s(stronger: int) -> None:
    """As long as fewer than twenty files are stronger; of several newcomers the latest stay (SPEC 13.1)."""
    state = HotState()
    for facts in [ToolFacts(touches=(Touch(f"{number}.ts", "edit"),)) for number in range(stronger)]:
        state = _after(state, facts)
    for paths in (["a"], ["a", "b", "c"]):
        working, facts = Working(state), ToolFacts(touches=tuple(Touch(path, "grep") for path in paths))
        working.take(facts)
        assert working.state() == _after(state, facts)
        assert len([file for file in working.state().files if file.path in paths]) == min(
            len(paths), max(MAX_FILES - stronger, 0)
        )


def _after(state: HotState, facts: ToolFacts) -> HotState:
    """SPEC 13.1, 13.4 and 13.5 to the letter, one call at a time."""
    files = {file.path: file for file in state.files}
    for number, touch in enumerate(facts.touches, state.touches + 1):
        known = files.pop(touch.path, None)
        if touch.action != "delete":
            action: Action = touch.action
            if known and _WEIGHTS[known.action] > _WEIGHTS[action]:
                action = known.action
            files[touch.path] = FileEntry(touch.path, action, known.count + 1 if known else 1, number)
    ranked = sorted(
        files.values(), key=lambda file: (-(_WEIGHTS[file.action] + 3 * file.count), -file.touched, file.path)
    )
    changed = [touch.path for touch in facts.touches if touch.action in ("edit", "write")]
    errors = [
        OpenError(one.seen, one.count, one.maybe_fixed or _lies_in(one.seen.file, changed)) for one in state.errors
    ]
    if facts.error:
        seen = facts.error
        same = next((one for one in errors if one.seen.fingerprint == seen.fingerprint), None)
        others = [one for one in errors if one is not same and one.seen.command != seen.command]
        errors = [OpenError(seen, same.count + 1 if same else 1), *others]
    if facts.success:
        errors = [one for one in errors if not closes(facts.success, one.seen)]
    return HotState(
        tuple(islice(ranked, MAX_FILES)), tuple(islice(errors, MAX_ERRORS)), (), state.touches + len(facts.touches)
    )


def _lies_in(file: str | None, changed: list[str]) -> bool:
    return file is not None and any(same_file(file, path) for path in changed)
