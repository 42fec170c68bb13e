"""Area ``identity``: canonical text, keys, and whether two texts are the same (SPEC 8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from projections.text.canonical import canonical, exact_key
from projections.text.identity import identity_key, same_identity
from tests.conformance.runner import UnknownKey

_KEYS: dict[str, Callable[[str, str, str], str]] = {
    "canonical": lambda _, text, root: canonical(text, root),
    "exact_key": exact_key,
    "identity_key": identity_key,
}


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Compute keys of a text, or compare a pair in both directions."""
    type_, root = given["type"], given.get("workspace", "/w/app")
    if "pair" in given:
        for key in wanted - {"same"}:
            raise UnknownKey(key)
        first, second = given["pair"]
        there, back = same_identity(type_, first, second, root), same_identity(type_, second, first, root)
        return {"same": there if there == back else [there, back]}
    for key in wanted - _KEYS.keys():
        raise UnknownKey(key)
    return {key: _KEYS[key](type_, given["text"], root) for key in wanted}
