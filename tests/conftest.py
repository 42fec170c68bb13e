"""Settings that all tests share."""

from __future__ import annotations

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
