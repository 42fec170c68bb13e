"""How long the texts of an entry may be, in characters (SPEC 2.6)."""

from __future__ import annotations

__all__ = ["TEXT_LIMIT", "TITLE_LIMIT"]

TEXT_LIMIT = 260
TITLE_LIMIT = 120
