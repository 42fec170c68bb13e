"""Settings that all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.effort import PHASES, SMALL, examples

# Deadlines would be timed assertions; folding whole histories is slow to generate, which is no failure.
settings.register_profile(
    "memfold",
    deadline=None,
    max_examples=examples(50),
    phases=PHASES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("small", settings.get_profile("memfold"), derandomize=True, database=None)
settings.load_profile("small" if SMALL else "memfold")

_UNMEASURED = {"laws", "models"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Coverage is of the tests that spell out what they try: tracing histories by the hundred doubles their time."""
    for item in items:
        if _UNMEASURED & set(Path(item.path).relative_to(item.config.rootpath).parts):
            item.add_marker(pytest.mark.no_cover)
