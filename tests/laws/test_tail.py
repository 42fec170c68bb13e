"""The end of a file says the same, whether its lines are decoded at once or recovered piece by piece (SPEC 21)."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from hypothesis import event, example, given
from hypothesis import strategies as st

import ledger.tail
from ledger.problems import Kind, problem
from ledger.tail import read_tail


def _line(seq: int, more: str = "") -> bytes:
    return (
        f'{{"type":"session.deleted","specversion":"1.0","id":"e{seq}","source":"t/s","seq":{seq},"data":{{}}}}{more}'
    ).encode()


_LINES = st.builds(_line, st.integers(-1, 60) | st.sampled_from([2**40, 2**53]), st.sampled_from(["", " ", "\r", "}"]))
_ODD = st.sampled_from(
    [b"", b" ", b"{}", b'{"type":"x"}', b"\xef\xbb\xbf" + _line(3), _line(4) + _line(5), b"{" * 5000]
)
_TORN = st.integers(1, 80).map(lambda length: _line(7)[:length])


@given(st.lists(_LINES | _ODD | _TORN, max_size=60), st.booleans())
@example([_line(number) for number in range(100)], True)
@example([_line(1), b"x" * 5000], False)
def test_a_tail_is_what_recovery_finds(lines: list[bytes], ends: bool) -> None:
    """Damage, foreign numbers, blanks and glued records among the lines included."""
    data = b"\n".join(lines) + (b"\n" if ends else b"")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.write_bytes(data)
        descriptor = os.open(path, os.O_RDONLY)
        try:
            found = read_tail(descriptor, len(data))
            event(f"next {found.next_seq > 0}, rest {bool(found.rest)}")
            with mock.patch.object(ledger.tail, "decode", return_value=problem(Kind.NOT_JSON, "asked of nobody")):
                assert read_tail(descriptor, len(data)) == found
        finally:
            os.close(descriptor)
