"""MEMORY.md gives back what was written, keeps other people's text, and tells edits exactly (SPEC 16, I15)."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from projections.headers import FILE_END, FILE_TITLE
from projections.memory_file.lines import ACTIVE, ARCHIVED
from projections.memory_file.model import FileEntry, Frame
from projections.memory_file.reading import decode_file, encode_file, read_file
from projections.memory_file.summary import summary_text
from projections.memory_file.writing import write_file
from projections.policy import DEFAULT_POLICY
from projections.text.fields import take_in_content, take_in_tags, take_in_title

_STRUCTURE = (
    FILE_TITLE,
    ACTIVE,
    ARCHIVED,
    FILE_END,
    "### [MEM-001] fake",
    "### [MEM-002]",
    "### [MEM-0003]\ttab",
    "<<<<<<< ours",
    ">>>>>>> theirs",
    "- tags: a, b",
    "- added: 2026-01-01",
    "- updated:",
    "- archived: true",
    "<!-- nextSeq: 500 -->",
    "```md",
    "",
    "   ",
    "\t- tags: x",
    " ## Active",
    "## Active  ",
    "# OpenCode Memory \u2003",
)
_line = st.one_of(
    st.builds(lambda slashes, line: "\\" * slashes + line, st.integers(0, 3), st.sampled_from(_STRUCTURE)),
    st.text(max_size=12),
    st.sampled_from(["a\u2028## Active", "x\x0b- tags: q", "\x85### [MEM-009] y", "\ufeff## Archived", "a\r## Active"]),
)
_body = st.lists(_line, max_size=6).map("\n".join)
_content = _body.map(lambda text: take_in_content(text, DEFAULT_POLICY))
_title = st.one_of(st.sampled_from(_STRUCTURE), st.text(min_size=1, max_size=20)).map(
    lambda text: take_in_title(text, DEFAULT_POLICY) or "T"
)
_tag = st.text(min_size=1, max_size=8).map(lambda text: next(iter(take_in_tags([text], DEFAULT_POLICY)), "tag"))
_day = st.dates().map(lambda day: day.isoformat() if day.year >= 1000 else "2026-01-01")


@st.composite
def entries_in_stored_form(draw: st.DrawFn) -> list[FileEntry]:
    """Entries as the ledger holds them, one number each, hostile texts among them."""
    numbers = draw(st.lists(st.integers(1, 2000), unique=True, max_size=4))
    return [
        FileEntry(
            number,
            draw(_title),
            draw(_content),
            added=draw(st.none() | _day),
            updated=draw(st.none() | _day),
            tags=tuple(dict.fromkeys(draw(st.lists(_tag, max_size=3)))),
            archived=draw(st.booleans()),
        )
        for number in numbers
    ]


def _sorted(entries: list[FileEntry]) -> list[FileEntry]:
    return sorted(entries, key=lambda one: (one.archived, one.number))


@given(entries_in_stored_form(), st.integers(1, 3000))
def test_i15_reading_gives_back_what_was_written(entries: list[FileEntry], counter: int) -> None:
    """read(write(x)) == x for all entries in stored form, whatever their text looks like."""
    read = read_file(write_file(entries, counter))
    assert list(read.entries) == _sorted(entries)
    assert read.next_number == max([counter, *(entry.number + 1 for entry in entries)])
    assert read.reports == ()
    assert read.frame == Frame()


@given(entries_in_stored_form(), st.integers(1, 3000))
def test_i15_writing_is_stable(entries: list[FileEntry], counter: int) -> None:
    """Writing what was read gives the same bytes, which end in one line feed."""
    text = write_file(entries, counter)
    read = read_file(text)
    if read.next_number == counter:
        assert write_file(read.entries, read.next_number, read.frame) == text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


_note = st.lists(st.sampled_from(["my note", "- a bullet", "## Usage", "", "  x", "caf\u00e9"]), max_size=4).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)
_foreign = st.binary(max_size=40).map(lambda data: data.replace(b"\r", b"").replace(b"#", b"") + b"\n")


@given(entries_in_stored_form(), _foreign, _note, _foreign)
@example([], b"---\r\ntitle: x\r\n---\r\n", "n\n", b"after\r\n\xff\xfe no text")
def test_i15_text_outside_our_part_is_unchanged(
    entries: list[FileEntry], before: bytes, note: str, after: bytes
) -> None:
    """Bytes before our title and behind the end line survive, of any kind, and so do notes above the first entry."""
    if b"<<<<<<<" in before + after or b">>>>>>>" in before + after:
        return
    text = write_file(entries, 9000, Frame(decode_file(before), active_note=note, after=decode_file(after)))
    data = encode_file(text)
    assert data.startswith(before)
    assert data.endswith(after)
    read = read_file(decode_file(data))
    assert list(read.entries) == _sorted(entries)
    again = encode_file(write_file(read.entries, read.next_number, read.frame))
    assert again == data
    assert note.strip() in decode_file(again)


@given(st.one_of(st.text(), st.lists(_line).map("\n".join)))
@example("\ud800### [MEM-001] x")
@example("### [MEM-" + "9" * 5000 + "] x\n<!-- nextSeq: " + "9" * 5000 + " -->")
def test_any_text_can_be_read(text: str) -> None:
    """Reading never raises, and what was read can be written and read again with the same entries."""
    read = read_file(text)
    again = read_file(write_file(read.entries, read.next_number, read.frame))
    ours = [(one.title, one.content, one.tags) for one in again.entries]
    theirs = [(one.title, one.content, one.tags) for one in sorted(read.entries, key=lambda e: (e.archived, e.number))]
    assert ours == theirs
    encode_file(text)


@given(st.binary())
def test_any_bytes_come_back(data: bytes) -> None:
    """Decoding and encoding loses no byte."""
    assert encode_file(decode_file(data)) == data


@given(entries_in_stored_form(), st.integers(1, 300))
def test_i5_summary_keeps_its_cap(entries: list[FileEntry], cap: int) -> None:
    """The summary never exceeds its characters, and names active entries only, in whole lines."""
    text = summary_text(entries, cap)
    assert len(text) <= cap
    shown = [line for line in text.split("\n") if line.startswith("- [MEM-")]
    assert len(shown) <= sum(not entry.archived for entry in entries)
