"""What a state knows of its sessions: what deliveries ``status`` warns about (SPEC 3.5)."""

from __future__ import annotations

from collections import Counter

from projections.world import WorldState

__all__ = ["warnings_of"]


def warnings_of(world: WorldState) -> dict[str, int]:
    """What ``status`` warns about, by reason code: deliveries and conflicts of messages, summaries and calls."""
    sessions = world.sessions.sessions.values()
    found = Counter(world.memory.warnings)
    found["duplicate_delivery"] += sum(one.duplicate_deliveries for one in sessions)
    found["id_conflict"] += sum(one.id_conflicts for one in sessions)
    return {code: count for code, count in sorted(found.items()) if count}
