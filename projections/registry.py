"""Every projection there is: registering one puts it under law (``tests/laws/test_every_projection.py``)."""

from __future__ import annotations

from typing import Any

from projections.accounting import PromotionAccounting
from projections.histories import MemoryHistories
from projections.hot.state import SessionStates
from projections.memory.fold import WorkspaceMemory
from projections.memory_file.projection import MemoryFile
from projections.prompts import RenderedPrompts
from projections.protocol import Projection
from projections.world import World

__all__ = ["PROJECTIONS"]

PROJECTIONS: tuple[Projection[Any], ...] = (
    WorkspaceMemory(),
    SessionStates(),
    PromotionAccounting(),
    RenderedPrompts(),
    MemoryFile(),
    MemoryHistories(),
    World(),
)
