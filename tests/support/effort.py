"""How much a property tries: ``MEMFOLD_HYPOTHESIS=deep`` searches long, ``draft`` reports what it finds unshrunk."""

from __future__ import annotations

import os

from hypothesis import Phase

__all__ = ["PHASES", "examples"]

_MODE = os.environ.get("MEMFOLD_HYPOTHESIS", "")
_DEEPER = 20

PHASES = tuple(phase for phase in Phase if _MODE != "draft" or phase not in {Phase.shrink, Phase.explain})
"""Shrinking a whole history takes minutes: a draft of a rule is faster tried without."""


def examples(count: int) -> int:
    """How many examples to try where a usual run tries ``count``."""
    return count * _DEEPER if _MODE == "deep" else count
