"""How much a property tries, by ``MEMFOLD_HYPOTHESIS``: ``deep`` searches long, ``draft`` doesn't shrink, or both."""

from __future__ import annotations

import os

from hypothesis import Phase

__all__ = ["PHASES", "examples"]

_MODE = os.environ.get("MEMFOLD_HYPOTHESIS", "").split("+")
_DEEPER = 20

PHASES = tuple(phase for phase in Phase if "draft" not in _MODE or phase not in {Phase.shrink, Phase.explain})
"""Shrinking a whole history takes minutes: a draft of a rule is faster tried without."""


def examples(count: int) -> int:
    """How many examples to try where a usual run tries ``count``."""
    return count * _DEEPER if "deep" in _MODE else count
