"""What a repair finds and does with a damaged log, piece by piece (SPEC 21)."""

from __future__ import annotations

from pathlib import Path

from ledger.events import LedgerRepaired, LedgerRepairedData
from ledger.problems import Kind
from ledger.repair import find_damage, repair
from tests.support.logs import counting_ids, line_of, raw_log

CREATED = line_of(0)
FUSED = line_of(1).rstrip() + line_of(2)
TORN = b"torn {\n"


def _repaired(folder: Path) -> tuple[LedgerRepaired, ...]:
    events = repair(str(folder), time=None, new_id=counting_ids())
    assert all(isinstance(event, LedgerRepaired) for event in events)
    return tuple(event for event in events if isinstance(event, LedgerRepaired))


def test_damage_is_named_by_line_and_byte(tmp_path: Path) -> None:
    """In file order, as ``check`` names it, wherever in the file it stands."""
    raw_log(tmp_path, CREATED + TORN + FUSED + line_of(3) + b"\0\0\0\n")
    fused, zeros = len(CREATED + TORN), len(CREATED + TORN + FUSED + line_of(3))
    assert [(one.kind, one.line, one.byte, one.length) for one in find_damage(str(tmp_path))] == [
        (Kind.NOT_JSON, 2, len(CREATED), len(TORN) - 1),
        (Kind.FUSED_LINE, 3, fused, len(FUSED) - 1),
        (Kind.NUL_BYTES, 5, zeros, 3),
    ]


def test_each_piece_is_kept_under_its_place(tmp_path: Path) -> None:
    """Offset and length in the log as it was; the record tells how many there are, and where."""
    raw_log(tmp_path, CREATED + TORN + FUSED + b"\0\0\0\n")
    (event,) = _repaired(tmp_path)
    assert event.data == LedgerRepairedData(2, "quarantine")
    assert {path.name: path.read_bytes() for path in (tmp_path / "quarantine").iterdir()} == {
        f"{len(CREATED)}-{len(TORN) - 1}.bytes": TORN[:-1],
        f"{len(CREATED + TORN + FUSED)}-3.bytes": b"\0\0\0",
    }
    assert find_damage(str(tmp_path)) == []


def test_a_line_that_is_only_split_leaves_nothing_behind(tmp_path: Path) -> None:
    """No byte is set aside, so the record names no folder, and none is made."""
    raw_log(tmp_path, CREATED + FUSED)
    (event,) = _repaired(tmp_path)
    assert event.data == LedgerRepairedData(0, "")
    assert not (tmp_path / "quarantine").exists()


def test_a_healthy_log_is_left_alone(tmp_path: Path) -> None:
    """Nothing to repair, nothing to record: not a byte changes."""
    log = raw_log(tmp_path, CREATED + line_of(1))
    assert find_damage(str(tmp_path)) == []
    assert _repaired(tmp_path) == ()
    assert Path(log.path).read_bytes() == CREATED + line_of(1)
