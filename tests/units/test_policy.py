"""The caps of a policy (SPEC 2.6, 20.1)."""

from __future__ import annotations

from projections.policy import DEFAULT_POLICY, CustomType, Policy, caps_limit, caps_of

LIMITS = {"feedback": 10, "decision": 10, "project": 8, "reference": 6}


def test_caps_can_only_be_lowered() -> None:
    """Down to none at all; a type that isn't there has no cap, and one that isn't named keeps its limit."""
    assert caps_of(DEFAULT_POLICY) == LIMITS
    caps = (("feedback", 99), ("decision", 0), ("project", 3), ("recipes", 4))
    assert caps_of(Policy(caps=caps)) == LIMITS | {"decision": 0, "project": 3}


def test_types_of_one_s_own_have_caps_of_their_own() -> None:
    """Six at most, none at least."""
    types = tuple(CustomType(name, cap) for name, cap in (("none", 0), ("one", 1), ("six", 6), ("many", 7)))
    assert caps_of(Policy(types=types)) == LIMITS | {"none": 0, "one": 1, "six": 6, "many": 6}
    assert {caps_limit(type_) for type_ in ("none", "many")} == {6}
    assert all(caps_limit(type_) == limit for type_, limit in LIMITS.items())
