"""Imports: nothing twice, no id twice, nothing lost on the way out and in again, whatever stands in a file."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ledger.codec import encode
from ledger.drafts import stamp
from ledger.events import AnyEvent, Event, LedgerCreated, MemoryUndone, MemoryUndoneData
from ledger.ids import MonotonicIds
from memfold.cli.export import export_document
from memfold.exports.reference_a import journal_bytes, store_bytes
from memfold.imports.apply import drafts_of
from memfold.imports.formats import FORMATS, read, recognise
from memfold.imports.model import Format
from memfold.workspace import Workspace
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import Entry, MemoryState
from projections.memory_file.projection import file_text
from projections.memory_file.reading import encode_file
from projections.policy import DEFAULT_POLICY
from projections.protocol import fold
from projections.world import World, WorldState
from replay.undo import plan_undo
from tests.support.effort import examples
from tests.support.harness import Harness
from tests.support.stores import TIME, bring, memory_md, store
from tests.support.streams import BODIES, ledgers
from tests.support.watch import watched

_LATER = "2027-01-01T00:00:00Z"
_TEXTS = st.one_of(st.sampled_from(BODIES), st.text(max_size=40), st.text("ab: \n#[]", max_size=30))
_ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(("feedback", "decision", "project", "reference", "odd", 3)),
        "text": _TEXTS,
        "source": st.sampled_from(("explicit", "compaction", "manual", "odd")),
        "status": st.sampled_from(("active", "superseded", "odd", None)),
        "confidence": st.sampled_from((0.5, 1, -1, "high")),
        "createdAt": st.sampled_from(("2026-01-01T00:00:00Z", "2029-01-01", "never", 1_767_225_600_000, -5)),
        "updatedAt": st.sampled_from(("2026-01-01T00:00:00Z", "2026-02-01")),
        "reinforcementCount": st.sampled_from((0, 3, 10**30, -2)),
        "lastReinforcedAt": st.sampled_from((1_767_225_600_000, "never")),
        "tags": st.lists(st.sampled_from(("git", "safety-critical", "importance-low", "a,b")), max_size=3),
    },
)
_NUMBER = st.one_of(st.integers(0, 12), st.sampled_from((2**53 - 1, 2**53, 10**30)))
_HEADS = st.lists(st.tuples(_NUMBER, st.sampled_from(BODIES[:7]), st.booleans()), max_size=5)


def _memory_md(heads: list[tuple[int, str, bool]], counter: int) -> bytes:
    parts = {gone: [f"{number}] {text}" for number, text, is_gone in heads if is_gone == gone] for gone in (0, 1)}
    return memory_md(*parts[False], archived=parts[True], counter=counter)


_FILES = st.one_of(
    st.tuples(st.just("workspace-memory.json"), st.lists(_ENTRY, max_size=6).map(lambda one: store(*one))),
    st.tuples(st.just("workspace-pending-journal.json"), st.lists(_ENTRY, max_size=3).map(lambda one: store(*one))),
    st.tuples(st.just("MEMORY.md"), st.builds(_memory_md, _HEADS, _NUMBER)),
)


def _imported(world: WorldState, name: str, data: bytes, *, time: str | None = TIME) -> list[Event]:
    format_ = recognise(name, data) or "reference_a"
    drafts = drafts_of([read(name, data, DEFAULT_POLICY, format_)], world.memory, time)
    events, _ = stamp(drafts, world.memory.offset + 1, MonotonicIds(), frozenset())
    return events


def _with_imports(events: list[AnyEvent], files: list[tuple[str, bytes]], places: list[int]) -> list[AnyEvent]:
    """A history into which files are imported at places."""
    mixed: list[AnyEvent] = []
    at = sorted(zip((place % len(events) for place in places), files, strict=False), key=lambda pair: pair[0])
    for index, event in enumerate(events):
        mixed.append(msgspec.structs.replace(event, seq=len(mixed)))
        for place, (name, data) in at:
            if place == index:
                made = _imported(fold(World(), mixed), name, data)
                mixed += (msgspec.structs.replace(one, seq=len(mixed) + number) for number, one in enumerate(made))
    return mixed


@settings(max_examples=examples(60))
@given(ledgers(max_size=15), st.lists(_FILES, min_size=1, max_size=4), st.lists(st.integers(0, 99), min_size=4))
def test_i7_imports_give_no_number_twice(
    events: list[AnyEvent], files: list[tuple[str, bytes]], places: list[int]
) -> None:
    """Whatever counters and ids files bring: a number names one memory for ever, and the counter never falls."""
    watched(_with_imports(events, files, places))


@settings(max_examples=examples(60))
@given(ledgers(max_size=12), st.lists(_FILES, min_size=1, max_size=3), st.integers(0, 99))
def test_importing_again_changes_nothing(events: list[AnyEvent], files: list[tuple[str, bytes]], place: int) -> None:
    """A second import writes no event; and its events, had another process written them, would change no memory."""
    mixed = _with_imports(events, files, [place] * len(files))
    before = fold(World(), mixed)
    for name, data in files:
        assert not _imported(before, name, data, time=_LATER)
        copies = _imported(World().initial(), name, data, time=None)
        after = fold(World(), copies, before)
        assert after.memory.entries == before.memory.entries
        assert after.memory.changes == before.memory.changes
        assert after.accounts.records.keys() == before.accounts.records.keys()


@settings(max_examples=examples(60))
@given(st.lists(_ENTRY, min_size=1, max_size=5), st.lists(_ENTRY, max_size=3))
def test_an_edited_store_changes_nothing_about_the_rest(
    entries: list[dict[str, Any]], more: list[dict[str, Any]]
) -> None:
    """What a first import brought is the same memory, field by field, after a longer file was imported."""
    world = fold(World(), _imported(World().initial(), "workspace-memory.json", store(*entries)))
    longer = store(*entries, *(one | {"text": f"{one.get('text')} only here"} for one in more))
    after = fold(World(), _imported(world, "workspace-memory.json", longer, time=_LATER), world)
    for ref, entry in world.memory.entries.items():
        assert after.memory.entries[ref] == entry


@given(st.binary(max_size=200), st.sampled_from(list(FORMATS)))
def test_any_bytes_can_be_imported(data: bytes, format_: Format) -> None:
    """No reader raises, and what it gives can be stored."""
    _storable(data, format_)
    recognise("f", data)


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.dictionaries(
                st.sampled_from(("entries", "type", "text", "memories", "schema", "observations", "name", "state")),
                inner,
                max_size=5,
            ),
        ),
        max_leaves=15,
    ),
    st.sampled_from(("reference_a", "mcp", "memfold")),
)
def test_any_json_can_be_imported(value: object, format_: Format) -> None:
    """No value of any type in any place raises, NaN and half characters included."""
    _storable(json.dumps(value).encode(), format_)
    _storable(json.dumps({"schema": "memfold.export/1", "entries": [value], "memories": [value]}).encode(), format_)


def _storable(data: bytes, format_: Format) -> None:
    drafts = drafts_of([read("f", data, DEFAULT_POLICY, format_)], WorkspaceMemory().initial(), TIME)
    for event in stamp(drafts, 0, MonotonicIds(), frozenset())[0]:
        encode(event)


def _filled(events: list[AnyEvent]) -> tuple[WorldState, LedgerCreated]:
    first = events[0]
    assert isinstance(first, LedgerCreated)
    return fold(World(), events), first


def _into_empty(name: str, data: bytes, format_: Format) -> list[Entry]:
    ws: Workspace = Harness(None).workspace()
    bring(ws, name, data, format_, time="2031-01-01T00:00:00Z")
    return [one for one in ws.world().memory.entries.values() if one.state == "promoted"]


_OUT = st.lists(
    st.fixed_dictionaries(
        {
            "do": st.just("memory_add"),
            "session": st.sampled_from(("A", "B")),
            "title": st.one_of(st.sampled_from(BODIES), st.text(max_size=150).map("x{}".format)),
            "content": st.one_of(st.just(""), st.text(max_size=300)),
            "tags": st.lists(st.sampled_from(("git", "safety-critical", "importance-high")), max_size=2),
            "type": st.sampled_from((None, "decision", "project", "reference")),
        }
    ),
    max_size=8,
)


def _spoken(steps: list[dict[str, Any]]) -> WorldState:
    harness = Harness(None)
    harness.feed(steps)
    return harness.state()


def _active(world: WorldState) -> list[Entry]:
    """Active memories; two that have come to state one fact would meet as they come in again (SPEC 9.1)."""
    active = [one for one in world.memory.entries.values() if one.state == "promoted"]
    assume(len({one.proposal.identity for one in active}) == len(active))
    return active


def _said(entries: list[Entry]) -> list[tuple[str, str, tuple[str, ...]]]:
    return sorted((one.proposal.type, one.proposal.text, one.proposal.tags) for one in entries)


@settings(max_examples=examples(60))
@given(_OUT)
def test_a_reference_a_export_comes_back(steps: list[dict[str, Any]]) -> None:
    """Imported into an empty ledger, a store gives the same active texts, types and tags, in the same order."""
    world = _spoken(steps)
    active = _active(world)
    again = _into_empty("workspace-memory.json", store_bytes(world.memory, "/w/app", "0" * 16), "reference_a")
    assert _said(again) == _said(active)
    for first, second in zip(active, again, strict=True):
        assert (first.proposal.source, first.proposal.confidence) == (
            second.proposal.source,
            second.proposal.confidence,
        )
        assert (first.created, first.clock) == (second.created, second.clock)


@settings(max_examples=examples(60))
@given(_OUT)
def test_an_export_of_ours_comes_back_whole(steps: list[dict[str, Any]]) -> None:
    """The JSON document gives the same memories under the same ids, with title, content and tags."""
    world = _spoken(steps)
    first = Harness(None).events()[0]
    assert isinstance(first, LedgerCreated)
    data = msgspec.json.encode(export_document(world, first.data))
    active = _active(world)
    again = _into_empty("export.json", data, "memfold")
    assert [(one.number, one.proposal.title, one.proposal.content) for one in again] == [
        (one.number, one.proposal.title, one.proposal.content) for one in active
    ]
    assert _said(again) == _said(active)


@settings(max_examples=examples(60))
@given(_OUT)
def test_a_memory_file_comes_back_under_its_ids(steps: list[dict[str, Any]]) -> None:
    """MEMORY.md gives the same memories under the same ids; it has no types, so they are told by words (SPEC 17)."""
    world = _spoken([step | {"type": None} for step in steps])
    active = _active(world)
    again = _into_empty("MEMORY.md", encode_file(file_text(world.memory)), "reference_b")
    assert [(one.number, one.proposal.title, one.proposal.content) for one in again] == [
        (one.number, one.proposal.title, one.proposal.content) for one in active
    ]
    assert _said(again) == _said(active)


@settings(max_examples=examples(40))
@given(ledgers(max_size=30))
def test_exports_of_any_history_can_be_read(events: list[AnyEvent]) -> None:
    """Whatever has happened, a store and a journal are files that a reader takes whole."""
    world, created = _filled(events)
    for name, data in (
        ("workspace-memory.json", store_bytes(world.memory, created.data.root, created.data.key)),
        ("workspace-pending-journal.json", journal_bytes(world.memory, created.data.root, created.data.key)),
        ("export.json", msgspec.json.encode(export_document(world, created.data))),
    ):
        format_ = recognise(name, data)
        assert format_ is not None
        file = read(name, data, DEFAULT_POLICY, format_)
        assert not file.file.damaged
        reasons = {one.reason for one in file.file.skipped}
        assert reasons <= {"it was no memory any more", "its type is none of ours", "it has no text"}


def _undone(id_: str, seq: int, data: MemoryUndoneData) -> MemoryUndone:
    return MemoryUndone(specversion="1.0", id=id_, source="memfold", time=None, seq=seq, data=data)


def _kinds(memory: MemoryState) -> Counter[tuple[str, str]]:
    return Counter((one.proposal.type, one.proposal.text) for one in memory.entries.values() if one.state == "promoted")


@settings(max_examples=examples(50))
@given(ledgers(max_size=15), st.lists(_FILES, min_size=1, max_size=3), st.lists(st.integers(0, 99), min_size=3))
def test_undoing_an_import_equals_the_fold_without_it(
    events: list[AnyEvent], files: list[tuple[str, bytes]], places: list[int]
) -> None:
    """Active texts are those of a log in which the file never was, and none of its own waits; undone, all is back.

    Of logs without undos: what one of them leads to was told with the file in the log (``replay.undo``).
    """
    mixed = _with_imports([event for event in events if not isinstance(event, MemoryUndone)], files, places)
    before = fold(WorkspaceMemory(), mixed)
    for undone, change in before.changes.items():
        if change.kind != "imported" or change.undone:
            continue
        plan = plan_undo(mixed, undone)
        assert plan is not None
        undo = _undone("u1", len(mixed), MemoryUndoneData(undone, plan.outcomes))
        after = fold(WorkspaceMemory(), [*mixed, undo])
        without = [event for event in mixed if undone not in (event.id, getattr(event, "causationid", None))]
        wanted = fold(WorkspaceMemory(), without)
        assert _kinds(after) == _kinds(wanted)
        own = {event.id for event in mixed if getattr(event, "causationid", None) == undone}
        assert not {ref for ref in after.pending if ref.event in own}
        again = plan_undo([*mixed, undo], "u1")
        assert again is not None
        redo = _undone("u2", len(mixed) + 1, MemoryUndoneData("u1", again.outcomes))
        assert _kinds(fold(WorkspaceMemory(), [*mixed, undo, redo])) == _kinds(before)
        watched([*mixed, undo, redo])
