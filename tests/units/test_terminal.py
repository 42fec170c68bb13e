"""What people see: colour by the known rules, aligned tables, and stored text that can't harm a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import unicodedata
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfold.terminal import (
    Style,
    clean,
    clean_json,
    clean_styled,
    display_width,
    fit,
    style_for,
    table,
    terminal_width,
    wrap,
)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


_TEXT = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("ab \n\t\x1b\u202e\u0301\u200d漢字가한👍🏽"),
        st.characters(categories=["Cs"]),
    )
)
_CLEAN = _TEXT.map(clean)


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [
        ({}, True),
        ({"TERM": "xterm"}, True),
        ({"TERM": "dumb"}, False),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
    ],
)
def test_a_terminal_is_coloured_unless_someone_objects(environ: Mapping[str, str], coloured: bool) -> None:
    """NO_COLOR counts when it isn't empty and goes before FORCE_COLOR; a dumb terminal has no colour."""
    assert style_for(Terminal(), environ).colour is coloured


@pytest.mark.parametrize(("value", "coloured"), [("1", True), ("3", True), ("0", False), ("", False)])
def test_a_pipe_is_coloured_only_by_force(value: str, coloured: bool) -> None:
    """FORCE_COLOR colours a pipe; 0 and the empty value are no force."""
    assert style_for(io.StringIO(), {"FORCE_COLOR": value}).colour is coloured


def test_the_option_wins() -> None:
    """``--color`` goes before every variable and before what the stream is."""
    assert style_for(io.StringIO(), {"NO_COLOR": "1"}, "always").colour
    assert not style_for(Terminal(), {"FORCE_COLOR": "1"}, "never").colour


def test_no_stream_and_a_closed_stream_have_no_colour() -> None:
    """A process may run without stdout, or with a closed one."""
    closed = io.StringIO()
    closed.close()
    assert not style_for(None, {}).colour
    assert not style_for(closed, {}).colour


def test_six_codes_and_none_at_all() -> None:
    """Each style wraps the text in its code and a reset; without colour, and around nothing, there is no code."""
    names = ("bold", "dim", "red", "green", "yellow", "cyan")
    shown = [getattr(Style(colour=True), name)("x") for name in names]
    assert shown == [f"\x1b[{code}mx\x1b[0m" for code in (1, 2, 31, 32, 33, 36)]
    assert [getattr(Style(), name)("x") for name in names] == ["x"] * 6
    assert Style(colour=True).red("") == ""


def test_width_is_asked_only_of_terminals() -> None:
    """A pipe is never cut; COLUMNS goes before what the terminal says, unless it is no number."""
    assert terminal_width(None, {"COLUMNS": "50"}) is None
    assert terminal_width(io.StringIO(), {"COLUMNS": "50"}) is None
    assert terminal_width(Terminal(), {"COLUMNS": "50"}) == 50
    assert terminal_width(Terminal(), {"COLUMNS": "wide"}) is None


def test_width_of_a_real_terminal() -> None:
    """The terminal's own size is taken; a terminal that reports no columns is not cut."""
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0), os.fdopen(follower, "w") as stream:
        assert terminal_width(stream, {"COLUMNS": "0"}) is None
        os.environ.pop("COLUMNS", None)
        import fcntl
        import struct
        import termios

        fcntl.ioctl(stream, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 97, 0, 0))
        assert terminal_width(stream, {}) == 97


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200fb\u2066", "a\\u200fb\\u2066"),
        ("one\ntwo\r", "one\\ntwo\\x0d"),
        ("a\tb", "a    b"),
        ("a\u2028b\x85c\x9b", "a\\u2028b\\x85c\\x9b"),
        ("\ud800", "\\ud800"),
        ("x\U000e0041", "x\\U000e0041"),
        ("\ufeffx\u200b\xad", "\\ufeffx\\u200b\\xad"),
        ("👩\u200d💻 می\u200cخواهم", "👩\u200d💻 می\u200cخواهم"),
        ("\x7f\x00", "\\x7f\\x00"),
    ],
)
def test_clean_shows_what_could_deceive(text: str, shown: str) -> None:
    """Controls, bidi controls and invisible characters become escapes; joiners that scripts need stay."""
    assert clean(text) == shown


def test_clean_can_keep_line_breaks() -> None:
    """A text of several lines keeps its line feeds and nothing else."""
    assert clean("a\nb\r\x1b", lines=True) == "a\nb\\x0d\\x1b"


def test_our_own_codes_alone_stay() -> None:
    """Between the codes of a style everything is made safe, other codes included."""
    text = f"{Style(colour=True).red('a')}\x1b[5mb\x1b[2Jc\u202e\nd"
    assert clean_styled(text) == "\x1b[31ma\x1b[0m\\x1b[5mb\\x1b[2Jc\\u202e\nd"


def test_json_holds_no_raw_control() -> None:
    """What a terminal would obey is escaped, beyond the first plane as a pair, and means the same."""
    text = json.dumps({"a": "\x9b\u202e\U000e0041é"}, ensure_ascii=False, indent=1)
    assert clean_json(text) == '{\n "a": "\\u009b\\u202e\\udb40\\udc41é"\n}'
    assert json.loads(clean_json(text)) == json.loads(text)


@given(_TEXT)
def test_clean_text_is_harmless_and_stable(text: str) -> None:
    """Nothing that controls is left, it can be encoded, and cleaning again changes nothing."""
    shown = clean(text)
    assert not {unicodedata.category(character) for character in shown} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {unicodedata.bidirectional(c) for c in shown} & {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "PDI"}
    assert clean(shown) == shown
    shown.encode()


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("漢字", 4), ("e\u0301", 1), ("\u1112\u1161\u11ab", 2), ("한", 2), ("", 0)]
)
def test_display_width(text: str, width: int) -> None:
    """Wide characters take two columns; combining marks and jamo inside a syllable none."""
    assert display_width(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 4, "abc…"),
        ("漢字漢字", 5, "漢字…"),
        ("漢字漢字", 4, "漢…"),
        ("ab cdef", 4, "ab…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_fit(text: str, width: int, shown: str) -> None:
    """A cut text ends in the mark, parts no accent from its letter, and never takes half of a wide character."""
    assert fit(text, width) == shown


@given(_CLEAN, st.integers(0, 30))
def test_fit_never_exceeds_the_width(text: str, width: int) -> None:
    """The result fits, and a text that fits is returned as it is."""
    assert display_width(fit(text, width)) <= width
    assert display_width(text) > width or fit(text, width) == text


def test_wrap_breaks_at_spaces() -> None:
    """Lines break between words, the indent stands before each but the first, and line breaks are kept."""
    assert wrap("one two three\nfour", 9, indent="  ") == ["one two", "  three", "  four"]
    assert wrap("", 9) == [""]


def test_wrap_breaks_what_has_no_spaces() -> None:
    """A word that is too long is broken by columns, and goes on with the next word."""
    assert wrap("漢字漢字漢 a", 4) == ["漢字", "漢字", "漢 a"]
    assert wrap("abcdefgh", 3) == ["abc", "def", "gh"]
    assert wrap("ab", 1, indent="   ") == ["a", "   b"]
    assert wrap("漢", 1) == ["漢"]


@given(_TEXT.map(lambda text: clean(text, lines=True)), st.integers(2, 20))
def test_wrap_loses_nothing_but_spaces(text: str, width: int) -> None:
    """Each line fits, and all characters but spaces come out in order."""
    lines = wrap(text, width)
    assert all(display_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "").replace("\n", "")


def test_a_table_is_aligned_by_columns() -> None:
    """Cells are padded by display width, numbers to the right, without spaces at the end of a line."""
    shown = table([["漢字", "5"], ["abc\n", "12"]], ["name", "n"], right={1})
    assert shown.split("\n") == ["name    n", "漢字    5", "abc\\n  12"]


def test_a_table_is_cut_to_the_terminal() -> None:
    """The widest column gives way first, and others keep their width as long as they can."""
    lines = table([["MEM-001", "x" * 80], ["MEM-002", "short"]], ["id", "text"], width=30).split("\n")
    assert lines == ["id       text", "MEM-001  " + "x" * 20 + "…", "MEM-002  short"]


def test_whole_columns_are_not_cut() -> None:
    """The others give way; only where nothing is left for them is the end of the line cut."""
    rows = [("MEM-0000001", "some words about it", "unsupported_candidate_syntax")]
    text = table(rows, ("id", "text", "code"), width=50, whole=(0, 2))
    assert "MEM-0000001" in text
    assert "unsupported_candidate_syntax" in text
    assert max(map(display_width, text.splitlines())) <= 50
    assert table(rows, ("id", "text", "code"), width=20, whole=(0, 2)).splitlines()[1].endswith("…")


def test_a_table_in_a_tiny_terminal_is_cut_anyway() -> None:
    """Where not even narrow columns fit, whole lines are cut."""
    lines = table([["abcdef", "ghijkl"]], ["first", "second"], width=6).split("\n")
    assert all(display_width(line) <= 6 for line in lines)


def test_a_table_without_rows_has_its_headers() -> None:
    """Headers are bold where there is colour, and are there without rows too."""
    assert table([], ["id", "text"], style=Style(colour=True)) == "\x1b[1mid  text\x1b[0m"


def test_a_row_of_another_length_is_a_mistake() -> None:
    """Rows must have as many cells as there are headers."""
    with pytest.raises(ValueError, match="zip"):
        table([["a"]], ["id", "text"])


@given(st.lists(st.tuples(_TEXT, _TEXT), max_size=4), st.integers(1, 40))
def test_no_line_of_a_table_is_wider_than_the_terminal(rows: list[tuple[str, str]], width: int) -> None:
    """Whatever the cells hold, there is one line a row and each fits."""
    lines = table(rows, ["id", "text"], width=width).split("\n")
    assert len(lines) == len(rows) + 1
    assert all(display_width(line) <= width for line in lines)
