"""Cutting and measuring texts (SPEC 1.4, 1.5)."""

from __future__ import annotations

import unicodedata

import pytest

from projections.text.cut import cut, weighted_length


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("whole", 5, "whole"),
        ("shortened", 5, "shor…"),
        ("ab cd", 4, "ab…"),
        ("text", 1, "…"),
        ("text", 0, ""),
        ("text", -1, ""),
        ("", 0, ""),
        ("ab\u0301cd", 3, "a…"),
        ("ab\u0301cd", 4, "ab\u0301…"),
        ("a\u2764\ufe0fcd", 3, "a…"),
        ("a\U0001f44d\U0001f3fdbc", 3, "a…"),
        ("a\U0001f468\u200d\U0001f469\u200d\U0001f467b", 5, "a…"),
        ("a\U0001f468\u200d\U0001f469bc", 5, "a\U0001f468\u200d\U0001f469…"),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7x", 4, "\U0001f1e9\U0001f1ea…"),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7x", 3, "\U0001f1e9\U0001f1ea…"),
        ("a\U0001f3f4\U000e0067\U000e0062\U000e007fb", 4, "a…"),
        ("a\u1112\u1161\u11abb", 4, "a…"),
        ("\u1112\u1161\u11ab\u1112\u1161", 4, "\u1112\u1161\u11ab…"),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 3, "\U0001f1e9\U0001f1ea…"),
        ("\u0301abc", 1, "…"),
        ("\uac00\u11a8bc", 2, "…"),
        ("\uac01\u11a8bc", 2, "…"),
        ("\uac01\u1161bc", 2, "\uac01…"),
        ("\uac00\uac00bc", 2, "\uac00…"),
    ],
)
def test_cut_keeps_the_longest_prefix_of_whole_characters(text: str, limit: int, expected: str) -> None:
    """The mark counts, whitespace before it goes, and nothing is parted from its base."""
    assert cut(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "length"),
    [("abc", 3), ("用pnpm", 7), ("かな", 6), ("カー", 6), ("한글", 6), ("é!", 2), ("ｱ々〇", 9), ("。、", 2), ("𠀀", 3)],
)
def test_east_asian_letters_weigh_three(text: str, length: int) -> None:
    """Letters of Han, Hiragana, Katakana and Hangul count as 3, all else as 1 (SPEC 1.4)."""
    assert weighted_length(text) == length


_SYLLABLE_PARTS = {"CHOSEONG": "L", "JUNGSEONG": "V", "JONGSEONG": "T"}
"""What Unicode calls the leading consonants, vowels and trailing consonants of Hangul."""


def _hangul() -> dict[str, str]:
    """Each Hangul character by its kind, as Unicode's names and decompositions tell it."""
    kinds = dict[str, str]()
    for char in map(chr, range(0x1000, 0xE000)):
        part = unicodedata.name(char, "").removeprefix("HANGUL ").partition(" ")[0]
        if part in _SYLLABLE_PARTS:
            kinds[char] = _SYLLABLE_PARTS[part]
        elif part == "SYLLABLE":
            kinds[char] = "LV" if len(unicodedata.normalize("NFD", char)) == 2 else "LVT"
    return kinds


def test_hangul_syllables_stay_whole() -> None:
    """Each kind joins what Unicode says it joins (UAX 29: GB6 to GB8), every character of it at either side."""
    follows = {"L": {"L", "V", "LV", "LVT"}, "V": {"V", "T"}, "LV": {"V", "T"}, "T": {"T"}, "LVT": {"T"}}
    kinds = _hangul()
    samples = {kind: next(char for char, one in kinds.items() if one == kind) for kind in follows}
    for char, kind in kinds.items():
        for other, sample in samples.items():
            assert cut(f"{char}{sample}xx", 2) == ("…" if other in follows[kind] else f"{char}…")
            assert cut(f"{sample}{char}xx", 2) == ("…" if kind in follows[other] else f"{sample}…")
    for char in "ㄱㅏ\ua97d\ud7c7\ud7fc\uabff\ud7a4x字":
        assert cut(f"{samples['L']}{char}xx", 2) == f"{samples['L']}…"
