"""Decoding and cleaning texts from outside (SPEC 1.3)."""

from __future__ import annotations

import pytest

from projections.text.clean import INVISIBLE_REMOVED, clean, decode, single_line, utf8

FLAG_OF_ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


def test_bytes_that_are_no_utf8_become_replacement_characters() -> None:
    """Each undecodable piece is U+FFFD and the rest stays."""
    assert utf8(b"\xef\xbb\xbfa\xff\r\nb") == "a\ufffd\nb"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("\ufefftext", "text"),
        ("half \ud83d emoji", "half \ufffd emoji"),
        ("lone \udc00", "lone \ufffd"),
        ("pair \ud83d\ude00", "pair \U0001f600"),
        ("plain", "plain"),
    ],
)
def test_decoding(text: str, expected: str) -> None:
    """Line ends become LF, the BOM goes, lone surrogates are replaced and pairs joined."""
    assert decode(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]8;;https://a.test\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1bPq#0\x1b\\image", "image"),
        ("\x1b(Bcharset\x1bc", "charset"),
        ("\x1b]0;never closed\nnext", "0;never closed\nnext"),
        ("bell\x07 and null\x00", "bell and null"),
        ("\x1b\x1b[31m[32m", "[32m"),
        ("soft\u00adhyphen", "softhyphen"),
        ("pass\u200bword", "password"),
        ("a\u202egpj.exe\u2069", "agpj.exe"),
        ("in\ufeffside", "inside"),
        ("ta\U000e0061gs", "tags"),
        ("prev\u200dious\u200c\u200dly", "previously"),
        ("a\u200d\u200bb", "ab"),
        ("\U0001f3f4\U000e0067\U000e0062", "\U0001f3f4"),
        ("\U0001f3f4" + "\U000e0061" * 7 + "\U000e007f", "\U0001f3f4"),
        ("\U0001f600\ufe0f\U000e0155\U000e0156!", "\U0001f600\ufe0f!"),
    ],
)
def test_what_nobody_can_see_is_removed_and_noted(text: str, expected: str) -> None:
    """Escape sequences, controls, invisible characters and joiners within ASCII words go (step 2)."""
    assert clean(text) == (expected, (INVISIBLE_REMOVED,))


@pytest.mark.parametrize(
    "text",
    [
        "tab\t vt\v ff\f nel\x85 ls\u2028 lf\n",
        FLAG_OF_ENGLAND,
        "\u2764\ufe0f and \u908a\U000e0101 and \u1820\u180b",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u05e9\u05dd \u200f\u05d4\u200e\u061c",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    ],
)
def test_characters_with_a_use_stay(text: str) -> None:
    """Line breaks, flags, joined emoji, direction marks and joiners of other scripts stay without a note."""
    assert clean(text) == (text, ())


def test_an_entry_text_is_one_line() -> None:
    """Every run of whitespace and line breaks becomes one space; both ends are trimmed (step 4)."""
    assert single_line(" a\t\tb\v\fc\x85d\u2028e\u2029f\u3000g\n") == "a b c d e f g"
