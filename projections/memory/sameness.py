"""Whether two wordings state the same fact (SPEC 8.5)."""

from __future__ import annotations

from projections.memory.model import Proposal

__all__ = ["same_fact"]


def same_fact(first: Proposal, second: Proposal, root: str) -> bool:
    """Whether two texts have one type and one identity; asked only where their identity keys are equal already."""
    if first.type != second.type:
        return False
    # Rarely asked, and what it imports is dear: see projections.facts.
    from projections.text.identity import same_identity

    return same_identity(first.type, first.text, second.text, root) is not None
