"""The places of a cohort in a checkpoint: a list, whatever is done with it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay import rows
from replay.archive import Damaged
from replay.rows import NONE, Older, Place, Row, older_of, read_older

_PLACES = st.lists(st.tuples(st.integers(-(2**40), 2**43), st.integers(0, 2**53)), max_size=12, unique=True).map(sorted)


def _insert(row: list[Place], place: Place) -> None:
    if place not in list(row):
        insort(row, place)


_CHANGES: tuple[Callable[[list[Place], Place], object], ...] = (
    _insert,
    lambda row, place: row.append(place) if not row or row[-1] < place else None,
    lambda row, place: row.__delitem__(bisect_left(row, place)) if bisect_left(row, place) < len(row) else None,
    lambda row, place: row.__delitem__(place[1] % len(row)) if row else None,
    lambda row, _: row.__delitem__(0) if row else None,
)
_QUESTIONS: tuple[Callable[[list[Place]], object], ...] = (
    len,
    bool,
    list,
    lambda row: list(reversed(row)),
    lambda row: list(islice(reversed(row), 2)),
    lambda row: [row[-n] for n in range(1, len(row) + 1)],
    lambda row: row[0] if row else None,
    lambda row: row[:2],
    lambda row: bisect_left(row, (0, 0)),
    lambda row: list(row.copy()),
    lambda row: (0, 0) in row,
)


@given(
    _PLACES,
    st.integers(0, 12),
    st.lists(st.tuples(st.sampled_from(_CHANGES), _PLACES.filter(bool)), max_size=6),
    st.data(),
)
def test_a_row_is_a_list(
    places: list[Place],
    newest: int,
    changes: list[tuple[Callable[[list[Place], Place], object], list[Place]]],
    data: st.DataObject,
) -> None:
    """Any questions and changes in any order, the older part at hand or not."""
    split = max(0, len(places) - newest)
    older = Older(split, places[0]) if split else NONE
    row, plain = Row(places[split:], older, lambda _: places[:split]), list(places)
    for change, of in changes:
        question = data.draw(st.sampled_from(_QUESTIONS))
        assert question(row) == question(plain)
        for place in of[:1]:
            change(row, place)
            change(plain, place)
    for question in _QUESTIONS:
        assert question(row.copy()) == question(plain)
    assert all(place in row.copy() for place in plain)
    assert row.copy() == plain
    assert plain == row.copy()
    assert (row != plain) is False


def test_what_is_newest_needs_no_look_at_the_rest() -> None:
    """Nor does its copy, its length, or what is added at its end."""
    row = Row([(5, 5), (6, 6)], Older(3, (1, 1)), lambda _: pytest.fail("it was read"))
    row.append((8, 8))
    row.insert(5, (7, 7))
    same = row.copy()
    assert (len(row), bool(row), row[-1], row[-4], next(reversed(same))) == (7, True, (8, 8), (5, 5), (8, 8))
    del row[6]
    assert (row[0], row[5], len(row)) == ((1, 1), (7, 7), 6)


def test_an_older_place_goes_without_the_others_being_made() -> None:
    """It is read where it stood; a copy of before still has it."""
    reads: list[Older] = []

    def read(older: Older) -> list[Place]:
        reads.append(older)
        return [(1, 1), (2, 2), (3, 3)]

    row = Row([(5, 5)], Older(3, (1, 1)), read)
    same = row.copy()
    assert bisect_left(row, (2, 2)) == 1
    del row[1]
    assert (row[1], bisect_left(row, (3, 3)), len(row)) == ((3, 3), 1, 3)
    del row[0]
    assert (row[0], row[1], len(row)) == ((3, 3), (5, 5), 2)
    assert (list(row), list.__len__(row), len(reads)) == ([(3, 3), (5, 5)], 2, 1)
    assert list(same) == [(1, 1), (2, 2), (3, 3), (5, 5)]
    del same[0]
    del same[0]
    del same[1]
    assert list(same) == [(3, 3)]


def test_a_row_is_written_whole() -> None:
    """Also one that has become so short that all of it is at hand in the next checkpoint."""
    row = Row([(5, 5)], Older(2, (1, 1)), lambda _: [(1, 1), (2, 2)])
    assert msgspec.json.encode(older_of(row, [])[0]) == b"[[1,1],[2,2],[5,5]]"


def test_older_places_are_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From behind the head of a file; a byte that changed makes them damaged, as a file that is gone."""
    monkeypatch.setattr(rows, "NEWEST", 2)
    (tmp_path / "d").mkdir()
    path = tmp_path / "d" / "f"
    packed: list[bytes] = []
    few, none = older_of([(1, 1), (2, 2)], packed)
    many, older = older_of([(n, n) for n in range(9)], packed)
    _, more = older_of([(-n, 2**53) for n in range(9, 0, -1)], packed)
    assert (few, none, many, older.count) == ([(1, 1), (2, 2)], NONE, [(7, 7), (8, 8)], 7)
    path.write_bytes(b"head\n" + b"".join(packed))
    assert list(read_older(str(path), 5, older)) == [(n, n) for n in range(7)]
    with monkeypatch.context() as other:
        other.setattr("sys.byteorder", "big")
        assert list(read_older(str(path), 5, more)) == [(-n, 2**53) for n in range(9, 2, -1)]
    assert list(read_older(str(path), 5, more)) == [(-n, 2**53) for n in range(9, 2, -1)]
    for place in range(5, 5 + 7 * 16):
        content = bytearray(path.read_bytes())
        content[place] ^= 1
        path.with_name("g").write_bytes(content)
        with pytest.raises(Damaged):
            read_older(str(path.with_name("g")), 5, older)
    with pytest.raises(Damaged):
        read_older(str(tmp_path / "d" / "h"), 5, older)
