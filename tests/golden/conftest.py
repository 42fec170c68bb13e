"""``--update-golden`` rewrites what these tests compare with."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite fixtures/ledgers and what is expected of them, and of imports",
    )


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether to rewrite rather than compare."""
    return bool(request.config.getoption("--update-golden", default=False))
