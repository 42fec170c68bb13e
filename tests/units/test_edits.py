"""What a person did to MEMORY.md is told apart from what the log has done meanwhile (SPEC 16.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from projections.memory.model import HIGHEST_NUMBER, MemoryState, Ref
from projections.memory_file.edits import Edits, Update, find_edits
from projections.memory_file.entries import file_entries
from projections.memory_file.model import FileEntry, Parsed
from tests.support.streams import Stage


def _memory(*titles: str, then: Iterable[dict[str, Any]] = ()) -> MemoryState:
    """Memories of these titles, MEM-001 first, whose content tells their number, and what was done to them."""
    stage = Stage(None)
    adds = [
        {"do": "memory_add", "session": "A", "title": title, "content": f"number {number}", "tags": ["boats"]}
        for number, title in enumerate(titles, 1)
    ]
    stage.feed([{"do": "session_start", "session": "A"}, *adds, *then])
    return stage.state().memory


def _delete(number: int) -> dict[str, Any]:
    return {"do": "memory_delete", "id": f"MEM-{number:03}"}


def _edits(
    memory: MemoryState, *changes: tuple[int, dict[str, Any]], base: Iterable[FileEntry] = (), **parsed: Any
) -> Edits:
    """The edits of a person who gave some entries other fields, or took them out where there are none."""
    before = list(base) or list(file_entries(memory))
    fields = dict(changes)
    after = [replace(one, **fields.get(one.number, {})) for one in before if fields.get(one.number) != {}]
    return find_edits(before, Parsed(entries=tuple(after), found=True, **parsed), memory)


def _ref(memory: MemoryState, number: int) -> Ref:
    return memory.numbers[number]


def test_nothing_changed() -> None:
    """No edit, whatever state the entries are in."""
    memory = _memory("Ropes", "Eels", "Boats", then=[_delete(2)])
    assert _edits(memory) == Edits()
    assert _edits(memory).is_empty


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"title": "Blue ropes"}, {"title": "Blue ropes"}),
        ({"title": "  Blue\tropes "}, {"title": "Blue ropes"}),
        ({"title": ""}, {"title": "Untitled"}),
        ({"content": "other"}, {"content": "other"}),
        ({"tags": ("boats", "harbour")}, {"tags": ("boats", "harbour")}),
        ({"tags": (" harbour ", "harbour", "", "a,b")}, {"tags": ("harbour", "a", "b")}),
        ({"tags": ()}, {"tags": ()}),
        ({"title": "Blue", "content": "", "tags": ()}, {"title": "Blue", "content": "", "tags": ()}),
    ],
)
def test_changed_fields_are_told_as_they_will_be_stored(change: dict[str, Any], expected: dict[str, Any]) -> None:
    """Those that the person left alone are None; each is taken in as a tool's would be."""
    memory = _memory("Ropes", "Eels")
    assert _edits(memory, (1, change)) == Edits(updated=(Update(_ref(memory, 1), **expected),))


@pytest.mark.parametrize("change", [{"tags": (" boats ", "boats")}, {"title": " Ropes"}, {"content": "number 1  "}])
def test_what_is_stored_the_same_is_no_edit(change: dict[str, Any]) -> None:
    """Spaces and repeats that storing takes out again."""
    assert _edits(_memory("Ropes", "Eels"), (1, change)) == Edits()


def test_what_the_log_shows_already_is_left_out() -> None:
    """As after a kill between recording and writing: the base is older than the memory."""
    base = file_entries(_memory("Ropes", "Eels"))
    update = {"do": "memory_update", "session": "A", "id": "MEM-001", "title": "Blue ropes", "content": "number 1"}
    memory = _memory("Ropes", "Eels", then=[update, _delete(2)])
    assert _edits(memory, (1, {"title": "Blue ropes"}), (2, {}), base=base) == Edits()
    assert _edits(memory, (2, {"archived": True}), base=base) == Edits()


@pytest.mark.parametrize(
    ("count", "gone", "is_mass"), [(4, 4, False), (5, 2, False), (5, 3, True), (6, 3, False), (6, 4, True)]
)
def test_the_loss_of_more_than_half_is_an_accident(count: int, gone: int, is_mass: bool) -> None:
    """Of five active entries or more: it is reported, and nothing is deleted."""
    memory = _memory(*(f"Title {number}" for number in range(count)))
    edits = _edits(memory, *((number, {}) for number in range(1, gone + 1)))
    if is_mass:
        assert edits == Edits(reports=("mass_removal",))
    else:
        assert edits == Edits(deleted=tuple(_ref(memory, number) for number in range(1, gone + 1)))


def test_an_empty_file_is_an_accident() -> None:
    """Nothing of ours stands in it: an editor may just be writing it."""
    memory = _memory("Ropes")
    assert find_edits(file_entries(memory), Parsed(), memory) == Edits(reports=("mass_removal",))
    assert find_edits((), Parsed(), memory) == Edits()


@pytest.mark.parametrize("report", ["conflict_marker", "not_text"])
def test_nothing_is_taken_from_a_file_that_cannot_be_read(report: str) -> None:
    """Its reports are all that is told of it."""
    edits = _edits(_memory("Ropes"), (1, {"title": "x"}), reports=("bad_date", report))
    assert edits == Edits(reports=("bad_date", report))


def test_other_reports_are_passed_on() -> None:
    """With those of the edits, sorted."""
    memory = _memory("Ropes", then=[_delete(1)])
    edits = _edits(memory, (1, {"title": "x"}), reports=("bad_date",))
    assert edits == Edits(reports=("archived_edit", "bad_date"))


def test_moves_between_the_sections() -> None:
    """To Archived deletes, to Active restores; with other fields the change is recorded as well."""
    memory = _memory("Ropes", "Eels", "Boats", "Piers", then=[_delete(3), _delete(4)])
    one, two, three, four = (_ref(memory, number) for number in range(1, 5))
    edits = _edits(
        memory,
        (1, {"archived": True}),
        (2, {"archived": True, "title": "Grey eels"}),
        (3, {"archived": False}),
        (4, {"archived": False, "title": "Old piers"}),
    )
    assert edits == Edits(
        deleted=(one,),
        archived=(two,),
        restored=(three, four),
        updated=(Update(two, title="Grey eels"), Update(four, title="Old piers")),
    )


def test_a_text_under_archived_cannot_be_changed() -> None:
    """It is reported; where nothing but the section had been changed and the log has it so, nothing is."""
    memory = _memory("Ropes", "Eels", then=[_delete(1)])
    assert _edits(memory, (1, {"title": "Blue"})) == Edits(reports=("archived_edit",))
    active = replace(file_entries(memory)[0], archived=False)
    assert _edits(memory, (1, {"archived": True}), base=[active, file_entries(memory)[1]]) == Edits()


def test_an_edit_of_what_somebody_else_deleted_restores_it() -> None:
    """The person saw it active and wanted it so."""
    base = file_entries(_memory("Ropes", "Eels"))
    memory = _memory("Ropes", "Eels", then=[_delete(1)])
    edits = _edits(memory, (1, {"title": "Blue ropes"}), base=base)
    assert edits == Edits(restored=(_ref(memory, 1),), updated=(Update(_ref(memory, 1), title="Blue ropes"),))


def _swapped(*numbers: int) -> Callable[[MemoryState], list[tuple[int, dict[str, Any]]]]:
    """Each of these takes title and content of the next; the last one gets new ones."""

    def changes(memory: MemoryState) -> list[tuple[int, dict[str, Any]]]:
        entries = {entry.number: entry for entry in file_entries(memory)}
        taken = [
            (one, {"title": entries[other].title, "content": entries[other].content})
            for one, other in pairwise(numbers)
        ]
        return [*taken, (numbers[-1], {"title": "New"})]

    return changes


@pytest.mark.parametrize(("numbers", "order"), [((1, 2), [2, 1]), ((2, 1), [1, 2]), ((1, 3, 2), [2, 3, 1])])
def test_a_text_is_free_before_another_takes_it(numbers: tuple[int, ...], order: list[int]) -> None:
    """A memory that takes another's text is updated behind it."""
    memory = _memory("Ropes", "Eels", "Boats")
    edits = _edits(memory, *_swapped(*numbers)(memory))
    assert [update.target for update in edits.updated] == [_ref(memory, number) for number in order]


def test_the_text_of_one_that_stays_is_taken_all_the_same() -> None:
    """That it is refused is for the log to say, also where only a field beside the text changes."""
    memory = _memory("Ropes", "Eels", "Boats")
    edits = _edits(memory, (1, {"title": "Eels", "content": "number 2"}), (3, {"tags": ("sails",)}))
    assert edits.updated == (
        Update(_ref(memory, 1), title="Eels", content="number 2"),
        Update(_ref(memory, 3), tags=("sails",)),
    )


def test_texts_that_change_places_are_both_updated() -> None:
    """Neither can come first, and none is lost."""
    memory = _memory("Ropes", "Eels")
    edits = _edits(
        memory, (1, {"title": "Eels", "content": "number 2"}), (2, {"title": "Ropes", "content": "number 1"})
    )
    assert {update.target for update in edits.updated} == {_ref(memory, 1), _ref(memory, 2)}


@pytest.mark.parametrize(
    ("number", "kept"), [(9, 9), (0, 0), (1, 0), (HIGHEST_NUMBER, HIGHEST_NUMBER), (HIGHEST_NUMBER + 1, 0)]
)
def test_a_new_entry_keeps_a_number_that_is_free(number: int, kept: int) -> None:
    """Else it gets one later; of two with one number the first keeps it."""
    memory = _memory("Ropes")
    entries = (*file_entries(memory), FileEntry(number, "New", "x", tags=(" a ", "a")), FileEntry(number, "Newer", "y"))
    edits = find_edits(file_entries(memory), Parsed(entries=entries, found=True), memory)
    assert edits == Edits(added=(FileEntry(kept, "New", "x", tags=("a",)), FileEntry(0, "Newer", "y")))


def test_a_new_entry_that_the_memory_has_is_none() -> None:
    """Under Active where a memory says it, under Archived where one said it with all its fields; else it is added."""
    memory = _memory("Ropes", "Eels", then=[_delete(2)])
    base = file_entries(memory)
    active = FileEntry(0, "Ropes", "number 1")
    gone = FileEntry(0, "Eels", "number 2", tags=("boats",), archived=True)
    other = FileEntry(0, "Eels", "number 2", archived=True)
    for entry, is_new in ((active, False), (gone, False), (other, True), (replace(gone, archived=False), True)):
        edits = find_edits(base, Parsed(entries=(*base, entry), found=True), memory)
        assert edits == Edits(added=(entry,) if is_new else ())


def test_an_older_version_takes_nothing_away_that_it_never_held() -> None:
    """Entries whose numbers its counter hadn't reached are no vanished ones."""
    memory = _memory("Ropes", "Eels", "Boats")
    base = file_entries(memory)
    assert find_edits(base, Parsed(entries=base[:1], found=True, counter=2), memory) == Edits()
    assert find_edits(base, Parsed(entries=base[:1], found=True, counter=3), memory).deleted == (_ref(memory, 2),)
    assert find_edits(base, Parsed(entries=base[:2], found=True), memory).deleted == (_ref(memory, 3),)


def test_a_second_entry_of_one_number_is_a_new_one() -> None:
    """As a person makes it who copies an entry to change it."""
    memory = _memory("Ropes")
    base = file_entries(memory)
    copied = replace(base[0], title="Chains")
    edits = find_edits(base, Parsed(entries=(*base, copied), found=True), memory)
    assert [(entry.number, entry.title) for entry in edits.added] == [(0, "Chains")]
    assert edits.updated == ()
