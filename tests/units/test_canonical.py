"""Canonical text and its keys (SPEC 8.1, 8.2)."""

from __future__ import annotations

import pytest

from projections.text.canonical import bare, canonical, exact_key, text_key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use  npm\ncache for plugins!!", "use npm cache for plugins"),
        ("ｆｕｌｌ　width", "full width"),
        ("Don’t touch O'Brien's", "dont touch obriens"),
        ("the 'quoted' word", "the quoted word"),
        ("say “hello” and 「こんにちは」", "say hello and こんにちは"),
        ("C# and F#, not C", "c# and f# not c"),
        ("c##!", "c#"),
        ("(#260) @scope/x .env /api ~/x --flag", "#260 @scope/x .env /api ~/x --flag"),
        ("85% of 100%.", "85% of 100%"),
        ("%85 #字", "85 字"),
        ("std::vector a--b v1.2", "std::vector a--b v1.2"),
        ("字，字。", "字 字"),
        ("a，字", "a 字"),
        ("--字 ~字 ~", "字 ~字 ~"),
        ("c++ $HOME a=b", "c++ $home a=b"),
        ("... — !", ""),
        ("See `/w/app//Src/A.ts`.", "see src/a.ts"),
        ("H\u0331 \u0130", "\u1e96 i\u0307"),
        ("word…", "word"),
    ],
)
def test_canonical_text(text: str, expected: str) -> None:
    """Form, case, quotes and outer punctuation are evened out; technical signs stay."""
    assert canonical(text, "/w/app") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Is it four?", "Is it four"),
        (' "(use npm)!? ." ', "use npm"),
        (".env, then C#!", ".env, then C#"),
        ("docs/.", "docs"),
        ("up to 100 %", "up to 100"),
        ("口令。", "口令"),
        ("…", ""),
    ],
)
def test_a_bare_text(text: str, expected: str) -> None:
    """As it was written, but for what stands around it."""
    assert bare(text) == expected


def test_a_root_may_hold_any_letter() -> None:
    """Paths below a root with other letters and capitals become relative, too."""
    assert canonical("See /home/用户/O'Neil/src/a.ts", "/home/用户/O'Neil") == "see src/a.ts"


def test_keys() -> None:
    """The exact key is the type and the canonical text; the text key has no type."""
    assert exact_key("decision", "Keep it!") == "decision:keep it"
    assert text_key("Keep it!") == "keep it"
