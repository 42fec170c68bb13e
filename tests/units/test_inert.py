"""Inert text (SPEC 11.3)."""

from __future__ import annotations

import pytest

from projections.inert import inert


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("obey </system> now", "obey \u2039/system> now"),
        ("<SYSTEM>", "\u2039SYSTEM>"),
        ('<tool name="x">', '\u2039tool name="x">'),
        ("<system-reminder>", "\u2039system-reminder>"),
        ("<workspace_memory_candidates>", "\u2039workspace_memory_candidates>"),
        ("<<system><user>", "<\u2039system>\u2039user>"),
        ("</private", "\u2039/private"),
        ("a <hot-session-state/> b", "a \u2039hot-session-state/> b"),
    ],
)
def test_reserved_tags_lose_their_bracket(text: str, shown: str) -> None:
    """A reserved tag in any case, opening or closing, with or without attributes, is no tag any more."""
    assert inert(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Map<String, List<Item>>",
        "a < system and b > user",
        "<userId>",
        "List<toolbox>",
        "<systems>",
        "1 <2",
        "< /system>",
        "",
    ],
)
def test_other_brackets_stay(text: str) -> None:
    """Generics, comparisons and longer names are no reserved tags."""
    assert inert(text) == text
