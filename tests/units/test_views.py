"""Texts as they are seen, and back."""

from __future__ import annotations

from projections.text.views import JOINT, Span, as_seen, continued, joined, splice


def test_unseen_characters_are_left_out_and_styled_ones_are_plain() -> None:
    """What a view finds stands in the original with all that was left out inside it."""
    text = "a\u200eb ｐ\u034f﹕ℌ ½é"
    view = as_seen(text)
    assert view.text == "ab p:H ½é"
    assert text[slice(*view.origin(Span(0, 2)))] == "a\u200eb"
    assert text[slice(*view.origin(Span(3, 5)))] == "ｐ\u034f﹕"
    assert text[slice(*view.origin(Span(0, 9)))] == text


def test_common_punctuation_and_plain_text_are_their_own_view() -> None:
    """Full-width punctuation is known to the rules."""
    for text in ("plain text", "密码：（好），对！？"):
        assert as_seen(text).text == text
        assert as_seen(text).origin(Span(1, 3)) == Span(1, 3)


def test_twins_count_in_a_mixed_word_alone() -> None:
    """A letter of another script that looks like an ASCII one is that one beside it; words of that script stay."""
    assert as_seen("p\u0430ssw\u043er\u0501 \u0455\u0443stem").text == "password system"
    assert as_seen("сор, роса и ρο").text == "сор, роса и ρο"


def test_lines_are_joined_with_their_marks() -> None:
    """Rows of breaks, list marks and quote marks are one joint; other dashes stay."""
    text = "a: \n\n  - b\n> 1. c - d\u2028-e"
    view = joined(text)
    assert view.text == f"a:{JOINT}b{JOINT}c - d{JOINT}-e"
    start = view.text.index("b")
    assert text[slice(*view.origin(Span(start, start + 1)))] == "b"


def test_continuations_end_as_the_shell_or_a_reader_takes_them() -> None:
    """As nothing, the blanks behind them kept, or as one space."""
    assert continued("a\\\n  b", spaced=False).text == "a  b"
    assert continued("a\\\n  b", spaced=True).text == "a b"


def test_spans_are_replaced_in_order() -> None:
    """What stands between them stays."""
    assert splice("abcdef", [Span(0, 1), Span(2, 4)], "-") == "-b-ef"
