"""Ids of events."""

from __future__ import annotations

import itertools
import uuid
from random import Random

import pytest

from ledger.ids import MonotonicIds, RandomPool, is_uuid7, now_ms, uuid7


def test_layout() -> None:
    """The bits stand where RFC 9562 puts them: its example comes out (appendix A.6)."""
    random = ((0xCC3 << 62 | 0x18C4DC0C0C07398F) << 6).to_bytes(10, "big")
    made = uuid7(0x017F22E279B0, random)
    assert made == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
    assert (uuid.UUID(made).version, uuid.UUID(made).variant) == (7, uuid.RFC_4122)


@pytest.mark.parametrize("ms", [-5, 0, 1, 2**48 - 1, 2**60])
def test_any_time_makes_an_id(ms: int) -> None:
    """A time outside 48 bits is clamped, never an error."""
    for random in (b"\0" * 10, b"\xff" * 10):
        assert is_uuid7(uuid7(ms, random))
    assert uuid7(ms, b"\0" * 10) < uuid7(ms, b"\xff" * 10)


def test_ids_rise_when_the_clock_does_not() -> None:
    """Within a millisecond, and when the clock is set back, each id is greater than the one before."""
    times = iter([5, 5, 5, 3, 0, 6, 6])
    random = iter([b"\xff" * 10, b"\0" * 10, b"\x80" * 10, b"\0" * 10, b"\xff" * 10, b"\xff" * 10, b"\0" * 10])
    source = MonotonicIds(clock=lambda: next(times), random=lambda _: next(random))
    ids = [source() for _ in range(7)]
    assert ids == sorted(set(ids))
    assert all(is_uuid7(made) for made in ids)


def test_ids_of_one_moment_differ_in_many_bits() -> None:
    """Whatever bit of an id is flipped, it doesn't become another one: a damaged event must not cost its neighbour."""
    chance = Random(3)  # noqa: S311 - a fixed seed, no secret
    new_id = MonotonicIds(lambda: 5, chance.randbytes)
    made = [int(new_id().replace("-", ""), 16) for _ in range(300)]
    assert min((one ^ two).bit_count() for one, two in itertools.combinations(made, 2)) > 1


def test_ids_follow_time() -> None:
    """An id made later by the clock is greater, whatever its random part."""
    assert uuid7(1, b"\xff" * 10) < uuid7(2, b"\0" * 10)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f",
        "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n",
    ],
)
def test_what_is_no_uuid7(text: str) -> None:
    """Other versions and variants, capitals and line ends are told apart."""
    assert not is_uuid7(text)


def test_default_clock() -> None:
    """The default clock counts whole milliseconds and default ids carry it."""
    before = now_ms()
    made = MonotonicIds()()
    assert before <= uuid.UUID(made).int >> 80 <= now_ms()


def test_a_pool_gives_no_byte_twice() -> None:
    """Refilled before it runs out."""
    pool = RandomPool(16)
    found = [pool(10) for _ in range(50)]
    assert len(set(found)) == 50
    assert {len(one) for one in found} == {10}


def test_a_forked_process_has_random_bytes_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else parent and child would give the same ids."""
    pool = RandomPool()
    pool(10)
    expected = pool._bytes[10:20]
    monkeypatch.setattr("os.getpid", lambda: -7)
    assert pool(10) != expected
