"""How much a property tries, by ``MEMFOLD_HYPOTHESIS``, whose words can be joined by ``+``.

``deep`` searches long; ``draft`` doesn't shrink; ``small`` tries little, the same each time, as for mutants.
"""

from __future__ import annotations

import os

from hypothesis import Phase

__all__ = ["PHASES", "SMALL", "examples"]

_MODE = os.environ.get("MEMFOLD_HYPOTHESIS", "").split("+")
_DEEPER = 20
_SMALLER = 6

SMALL = "small" in _MODE
"""The same few examples each time: a mutant's verdict must not be luck, nor a test's time."""

_LEFT_OUT = {Phase.shrink, Phase.explain} if SMALL or "draft" in _MODE else set[Phase]()
PHASES = tuple(phase for phase in Phase if phase not in _LEFT_OUT)
"""Shrinking a whole history takes minutes: a draft of a rule is faster tried without."""


def examples(count: int) -> int:
    """How many examples to try where a usual run tries ``count``."""
    if SMALL:
        return max(count // _SMALLER, 5)
    return count * _DEEPER if "deep" in _MODE else count
