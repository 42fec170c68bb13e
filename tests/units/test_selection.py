"""Whether a new candidate would pass the caps (SPEC 9.4)."""

from __future__ import annotations

from projections.memory.selection import fits_caps
from projections.policy import Policy
from tests.support.entries import add_entry, empty_state


def test_every_group_of_equals_counts_against_the_cap() -> None:
    """One that is weaker than the candidate hides none of those that come after it."""
    newcomer = add_entry(empty_state(), {"id": "new", "type": "reference"}, 9)
    state = empty_state(policy=Policy(caps=(("reference", 1),)))
    add_entry(state, {"id": "weak", "type": "reference", "importance": "low", "source": "manual"}, 0)
    assert fits_caps(state, newcomer)
    add_entry(state, {"id": "strong", "type": "reference", "importance": "high", "source": "manual"}, 1)
    assert not fits_caps(state, newcomer)


def test_a_type_that_is_not_configured_has_no_room() -> None:
    """Its cap is 0, also where none of it is active."""
    newcomer = add_entry(empty_state(), {"id": "new", "type": "gone", "source": "manual"}, 0)
    assert not fits_caps(empty_state(), newcomer)
