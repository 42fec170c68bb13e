"""The table of laws is complete and names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

_TESTS = Path(__file__).parent.parent
_ROW = re.compile(r"\| I(\d+) [^|]+\|([^|]+)\|")
_NAME = re.compile(r"`(\w+)`")


def test_every_invariant_is_listed_with_tests_that_exist() -> None:
    """I1 to I22 each have a row; every test that a row names is defined somewhere."""
    rows = {
        int(number): _NAME.findall(tests) for number, tests in _ROW.findall((_TESTS / "laws/README.md").read_text())
    }
    assert sorted(rows) == list(range(1, 23))
    sources = "\n".join(path.read_text() for path in _TESTS.rglob("test_*.py"))
    defined = set(re.findall(r"^ *def (test_\w+)|^(Test\w+) =", sources, re.MULTILINE))
    names = {name for pair in defined for name in pair if name}
    assert all(rows.values())
    assert {name for tests in rows.values() for name in tests} <= names
