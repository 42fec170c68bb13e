"""Facts beside the log: disposable, private, complete again when asked for (DESIGN 5, 9)."""

from __future__ import annotations

import os
import shutil
import stat
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.codec import encode
from ledger.events import AnyEvent
from ledger.log import FileLog
from ledger.pin import Pin
from projections.facts import Judged, facts_for, facts_key
from projections.policy import DEFAULT_POLICY, Context
from replay.kept import KeptFacts, facts_path, keep_all, keep_facts
from tests.support.harness import Harness
from tests.support.logs import new_log, raw_log

CONTEXT = Context(DEFAULT_POLICY, "/w/app")


def keys_of(events: list[AnyEvent]) -> list[str]:
    """What the facts of the events are kept under."""
    return [facts_key(event, CONTEXT) for event in events if isinstance(event, Judged)]


@pytest.fixture
def events() -> list[AnyEvent]:
    """Three events whose texts are judged, and others."""
    harness = Harness(None)
    harness.feed(
        [
            {"do": "session_start", "session": "A"},
            {"do": "user_message", "session": "A", "message": "m1", "text": "Remember: deploys run from main only"},
            {"do": "memory_add", "session": "A", "title": "Ports", "content": "Local services start at 7400"},
            {"do": "compacted", "session": "A", "summary": "Memory candidates:\n- [project] ok"},
        ]
    )
    return harness.events()


def test_missing_facts_are_added_once(events: list[AnyEvent], tmp_path: Path) -> None:
    """A second time there is nothing to add."""
    assert keep_all(str(tmp_path), events) == 3
    assert keep_all(str(tmp_path), events) == 0
    assert Path(facts_path(str(tmp_path))).read_bytes().count(b"\n") == 3


def test_facts_of_appended_events_are_found(events: list[AnyEvent], tmp_path: Path) -> None:
    """The writer's context is the fold's."""
    keep_facts(str(tmp_path), events, CONTEXT)
    assert keep_all(str(tmp_path), events) == 0


def test_the_file_is_private(events: list[AnyEvent], tmp_path: Path) -> None:
    """Folder 0700, file 0600: it holds what memories hold."""
    keep_all(str(tmp_path), events)
    path = Path(facts_path(str(tmp_path)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_place_that_can_t_be_written_costs_time_only(events: list[AnyEvent], tmp_path: Path) -> None:
    """Nothing is raised: the facts are judged again at each fold."""
    (tmp_path / "derived").write_text("a file where a folder should be")
    keep_facts(str(tmp_path), events, CONTEXT)
    assert not any(map(KeptFacts(str(tmp_path)).get, keys_of(events)))


def test_nothing_to_keep_makes_no_file(tmp_path: Path) -> None:
    """A ledger without texts has no folder for them."""
    keep_facts(str(tmp_path), [], Context())
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - the folder's names are what is asked


@pytest.mark.parametrize(
    "line",
    [b"no json\n", b'{"k":"x"}\n', b"\xff\n", b'{"k":"x","d":"0","f":[1]}\n', b""],
    ids=["no-json", "no-line", "no-utf8", "wrong-digest", "empty"],
)
def test_lines_that_are_none_are_passed_over(line: bytes, events: list[AnyEvent], tmp_path: Path) -> None:
    """The others are found."""
    keep_all(str(tmp_path), events)
    path = Path(facts_path(str(tmp_path)))
    path.write_bytes(line + path.read_bytes())
    kept = KeptFacts(str(tmp_path))
    assert keep_all(str(tmp_path), events) == 0
    assert kept.get("x") is None
    assert all(map(kept.get, keys_of(events)))


def test_a_file_that_is_written_over_gives_no_facts_of_another_event(events: list[AnyEvent], tmp_path: Path) -> None:
    """Where a line stood when the places were read there may be another one, whole and sound."""
    keep_all(str(tmp_path), events)
    path = Path(facts_path(str(tmp_path)))
    kept = KeptFacts(str(tmp_path))
    first, *others = keys_of(events)
    assert kept.get(others[-1])  # the others were passed over
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    assert kept.get(first) is None


def test_a_file_that_goes_while_it_is_read(events: list[AnyEvent], tmp_path: Path) -> None:
    """Whoever holds it has its facts, also those not asked for yet."""
    keep_all(str(tmp_path), events)
    kept = KeptFacts(str(tmp_path))
    kept.hold()
    Path(facts_path(str(tmp_path))).unlink()
    assert all(map(kept.get, keys_of(events)))
    assert not any(map(KeptFacts(str(tmp_path)).get, keys_of(events)))


def test_where_a_fold_has_read_to_the_next_one_begins(events: list[AnyEvent], tmp_path: Path) -> None:
    """Those of later events alone are found from there, and what is torn is left for another time."""
    keep_all(str(tmp_path), events)
    path = Path(facts_path(str(tmp_path)))
    first, *others = keys_of(events)
    kept = KeptFacts(str(tmp_path))
    assert kept.end == 0
    assert kept.get(first)
    lines = path.read_bytes().splitlines(keepends=True)
    assert kept.end == len(lines[0])
    path.write_bytes(b"".join(lines)[:-9])
    later = KeptFacts(str(tmp_path), kept.end)
    assert [later.get(key) is not None for key in (first, *others)] == [False, True, False]
    assert later.end == len(lines[0]) + len(lines[1])


def test_facts_of_another_event_do_not_count(events: list[AnyEvent], tmp_path: Path) -> None:
    """A line that is left of two, the key of one and the facts of the other, is none."""
    keep_all(str(tmp_path), events)
    path = Path(facts_path(str(tmp_path)))
    first, second, third = path.read_bytes().splitlines(keepends=True)
    seam = first.index(b',"f"')
    path.write_bytes(first[:seam] + second[second.index(b',"f"') :] + third)
    kept = KeptFacts(str(tmp_path))
    assert [kept.get(key) is not None for key in keys_of(events)] == [False, False, True]
    with path.open("ab") as file:
        file.write(first)
    kept = KeptFacts(str(tmp_path))
    assert [kept.get(key) is not None for key in keys_of(events)] == [True, False, True]  # whichever line has it


def test_a_pipe_in_place_of_the_facts_is_not_waited_for(events: list[AnyEvent], tmp_path: Path) -> None:
    """Whatever else stands there is an empty file to readers, and writers leave it alone."""
    path = Path(facts_path(str(tmp_path)))
    path.parent.mkdir()
    os.mkfifo(path)
    assert keep_all(str(tmp_path), events) == 3
    assert not any(map(KeptFacts(str(tmp_path)).get, keys_of(events)))


@pytest.mark.parametrize("way", [keep_facts, keep_all], ids=["new", "all"])
def test_facts_of_a_log_that_was_replaced_are_written_nowhere(
    events: list[AnyEvent], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Callable[..., object]
) -> None:
    """A purge may come between the reading and the writing, and removes what is derived before that."""
    log = raw_log(tmp_path / "l", b"".join(map(encode, events)))
    more = (CONTEXT,) if way is keep_facts else ()

    def judged(*of: Any) -> Any:
        shutil.copy(log.path, f"{log.path}.new")
        Path(f"{log.path}.new").rename(log.path)
        return facts_for(*of)

    with Pin(log) as pin:
        way(log.directory, events[:-1], *more, pin)
    before = Path(facts_path(log.directory)).read_bytes()
    assert before
    monkeypatch.setattr("replay.kept.facts_for", judged)
    with Pin(log) as pin:
        way(log.directory, events, *more, pin)
    assert Path(facts_path(log.directory)).read_bytes() == before


def test_a_pin_of_a_log_that_isn_t_there_never_holds(tmp_path: Path) -> None:
    """Nor does one whose lock another writer holds all the time."""
    with Pin(FileLog(tmp_path / "none")) as pin, pin.unchanged() as is_its:
        assert not is_its
    log = new_log(tmp_path / "l")
    busy = FileLog(log.directory, lock_timeout=0.01)
    with Pin(busy) as pin, log.hold(), pin.unchanged() as is_its:
        assert not is_its
    with Pin(busy) as pin, pin.unchanged() as is_its:
        assert is_its


def test_a_line_that_is_nested_without_end_is_passed_over(events: list[AnyEvent], tmp_path: Path) -> None:
    """It is no reason to raise."""
    keep_all(str(tmp_path), events)
    path = Path(facts_path(str(tmp_path)))
    deep = b'{"z":' + b"[" * 100_000 + b"\n"
    path.write_bytes(deep + path.read_bytes() + deep)
    assert all(map(KeptFacts(str(tmp_path)).get, keys_of(events)))


def test_a_file_without_line_feeds_takes_no_memory(events: list[AnyEvent], tmp_path: Path) -> None:
    """However long it is: what is behind it is found."""
    keep_all(str(tmp_path), events)
    path = Path(facts_path(str(tmp_path)))
    lines = path.read_bytes()
    with path.open("wb") as file:
        file.truncate(1 << 30)
        file.seek(1 << 30)
        file.write(b"\n" + lines)
    tracemalloc.start()
    try:
        assert all(map(KeptFacts(str(tmp_path)).get, keys_of(events)))
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()
