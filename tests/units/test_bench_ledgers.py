"""Ledgers made for measurements: the same for the same seed, sound, and in the proportions they promise."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from bench.ledgers import Mix, write_ledger
from bench.measure import in_turn, median, ratio
from ledger.check import check
from ledger.events import SessionStarted, type_name
from ledger.log import LOG_NAME, FileLog
from ledger.problems import NOTES

MEMORY = ("memory.requested", "memory.added", "session.compacted")


def test_the_seed_decides_every_byte(tmp_path: Path) -> None:
    """Two runs measure the same bytes; another seed gives others."""
    files: list[bytes] = []
    for number, seed in enumerate((1, 1, 2)):
        write_ledger(tmp_path / str(number), 300, seed=seed)
        files.append((tmp_path / str(number) / LOG_NAME).read_bytes())
    assert files[0] == files[1] != files[2]


def test_ledger_has_the_size_and_no_problem(tmp_path: Path) -> None:
    """So many events as were asked for, dense and readable, and the session that is returned is in it."""
    latest = write_ledger(tmp_path / "l", 2_500)
    events = list(FileLog.open(tmp_path / "l").read())
    assert [event.seq for event in events] == list(range(2_500))
    assert [found for found in check(tmp_path / "l") if found.kind not in NOTES] == []
    assert any(isinstance(event, SessionStarted) and event.source == latest for event in events)


def test_mix_is_kept(tmp_path: Path) -> None:
    """Tool and memory events come in the given proportions, about."""
    write_ledger(tmp_path / "l", 4_000, mix=Mix(tools=700, memories=250))
    kinds = Counter(type_name(event) for event in FileLog.open(tmp_path / "l").read())
    assert 2_500 < kinds["tool.completed"] < 3_000
    assert 850 < sum(kinds[name] for name in MEMORY) < 1_150
    assert all(kinds[name] > 100 for name in MEMORY)


def test_ratios_are_taken_within_a_round() -> None:
    """A slow round is slow for case and baseline alike, and leaves the ratio as it is."""
    samples = {"base": [1.0, 10.0, 1.0], "case": [2.0, 20.0, 4.0]}
    assert ratio(samples, "case", "base") == (2.0, 2.0, 4.0)
    assert median(samples, "case") == 4.0


def test_cases_run_in_turn() -> None:
    """Each case runs once a round, every other round backwards, never all rounds of one before the next."""
    order: list[str] = []
    ticks = iter(range(100))
    samples = in_turn({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2, lambda: float(next(ticks)))
    assert order == ["a", "b", "b", "a"]
    assert samples == {"a": [1.0, 1.0], "b": [1.0, 1.0]}
