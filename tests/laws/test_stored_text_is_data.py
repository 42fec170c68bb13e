"""Laws of stored text: whatever it says and however it came in, it is shown as data, beside unharmed neighbours.

The texts are those of ``tests.support.hostile``; ``tests/e2e/test_stored_text.py`` takes some of them through the
bridge and the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.events import AnyEvent
from ledger.source import make_source
from memfold.tools.answers import listing
from projections.compaction import compaction_context
from projections.headers import FILE_END, FILE_TITLE, HOT_HEADER, NUMBERED_HEADER, WORKSPACE_HEADER
from projections.hot.delivery import DELTA_CHARS, hot_due
from projections.hot.view import hot_view
from projections.inert import inert, inert_content, inert_line, inert_quote
from projections.memory.model import Entry
from projections.memory_file.entries import file_entries
from projections.memory_file.projection import file_text
from projections.memory_file.reading import read_file
from projections.memory_file.summary import SUMMARY_BANNER, summary_file
from projections.policy import DEFAULT_POLICY, type_order
from projections.prompts import block_digest
from projections.reasons import REASONS
from projections.render import numbered_block
from projections.rules.own_blocks import remove_foreign
from projections.world import WorldState
from replay.views import frozen_text, next_block
from replay.why import why
from tests.support.effort import PHASES, examples
from tests.support.harness import HOST
from tests.support.hostile import BREAKS, HOSTILE, Hostile, samples
from tests.support.shown import assert_block, assert_inert, assert_known, assert_lines
from tests.support.streams import Stage, Step
from tests.support.ways_in import MEMORY_WAYS, TOOL_WAYS, WAYS, Way

HEADINGS = tuple(f"{name}:" for name in type_order(DEFAULT_POLICY))
HOT_HEADINGS = ("active_files:", "open_errors:", "open_errors: (none)", "recent_decisions:", "pending_memories:")
NEIGHBOURS = (
    "We decided that prices are integer cents",
    "The repository keeps its tariff tables in config/tariffs.json",
    "docs are at https://docs.example/handbook",
)
TOGETHER = 12
"""Hostile texts of one ledger: few enough that a block shows them all."""


# -- the texts ------------------------------------------------------------------------------------------------------


def test_the_corpus_is_what_it_says() -> None:
    """At least 150 different texts, each rule's languages and six others among them."""
    assert len({one.text for one in HOSTILE}) == len(HOSTILE) >= 150
    kinds = {one.kind for one in HOSTILE}
    assert {f"override {name}" for name in ("de", "fr", "es", "ru", "ar", "hi")} < kinds


@pytest.mark.parametrize("name", WAYS)
def test_hostile_texts_are_data_whichever_way_they_come(name: str) -> None:
    """Every text by every way: all that is shown holds, neighbours are there, and what isn't shown has a reason."""
    way = WAYS[name]
    for number in range(0, len(HOSTILE), TOGETHER):
        some = HOSTILE[number : number + TOGETHER]
        stage = _stage(step for index, one in enumerate(some, number) for step in way(one.text, index))
        _assert_shown_as_data(stage)
        if name in MEMORY_WAYS:
            _assert_accounted(stage, some, whole=name in ("title", "tags", "content", "imported store"))


@pytest.mark.parametrize("name", TOOL_WAYS)
def test_tools_of_the_client_propose_nothing(name: str) -> None:
    """What a command, path, patch or output says becomes no candidate, not even a refused one (SPEC 3.1)."""
    stage = Stage(None)
    stage.feed([{"do": "session_start", "session": "A"}])
    stage.feed([step for number, one in enumerate(HOSTILE) for step in TOOL_WAYS[name](one.text, number)])
    stage.feed([{"do": "compacted", "session": "A", "summary": ""}, {"do": "session_start", "session": "B"}])
    assert not stage.state().accounts.records


# -- any texts anywhere ---------------------------------------------------------------------------------------------

_hostile = st.sampled_from(HOSTILE).map(lambda one: one.text)
_pieces = st.one_of(_hostile, _hostile, st.sampled_from(BREAKS), st.text(max_size=8), st.sampled_from("<>/`#-[]|“”: "))
_texts = st.lists(_pieces, min_size=1, max_size=6).map("".join)
_happenings = st.lists(st.tuples(st.sampled_from(sorted(WAYS)), _texts), min_size=1, max_size=6)


@settings(max_examples=examples(40), phases=PHASES)
@given(_happenings, st.lists(st.sampled_from(NEIGHBOURS), max_size=3, unique=True), st.booleans())
def test_any_mixture_is_data_beside_its_neighbours(
    happenings: list[tuple[str, str]], early: list[str], restart: bool
) -> None:
    """Hostile texts joined at random, in any order, before and behind other memories."""
    stage = _stage((step for number, (name, text) in enumerate(happenings) for step in WAYS[name](text, number)), early)
    if restart:
        stage.feed([{"do": "session_start", "session": "A"}, {"do": "give", "session": "A", "instance": "i2"}])
    _assert_shown_as_data(stage)


@settings(max_examples=examples(100), phases=PHASES)
@given(_texts)
def test_inert_forms_hold(text: str) -> None:
    """Each form is inert; a line is one, a quotation can't be left, a content is quoted throughout."""
    line, quote, content = inert_line(text), inert_quote(text), inert_content(text)
    assert (inert_line(line), inert(line), len(inert(text))) == (line, line, len(text))
    for shown in (line, quote, content):
        assert_inert(shown, but="\n\t")
    assert line.splitlines() in ([line], [])
    assert not {"“", "”"} & set(quote)
    assert all(one.startswith(">") for one in content.splitlines())


@settings(max_examples=examples(40), phases=PHASES)
@given(st.lists(_texts, min_size=1, max_size=4), st.sampled_from(sorted(MEMORY_WAYS)), st.data())
def test_i17_blocks_of_hostile_texts_come_back_as_nothing(texts: list[str], name: str, data: st.DataObject) -> None:
    """What is shown of them proposes nothing and hides nothing when it comes back in a message or a summary."""
    stage = _stage(step for number, text in enumerate(texts) for step in MEMORY_WAYS[name](text, number))
    shown = data.draw(st.sampled_from([text for text in _blocks_of(stage.state()) if text]))
    known, behind = set(stage.state().accounts.records), "Remember: the neighbour stands behind the block"
    said: Step = {"do": "user_message", "session": "C", "message": "back", "text": f"See:\n{shown}\n\n{behind}"}
    told: Step = {"do": "compacted", "session": "C", "summary": f"See:\n{shown}\n\nMemory candidates:\n(none)"}
    stage.feed([said, told])
    new = [record for ref, record in stage.state().accounts.records.items() if ref not in known]
    assert [record.proposal.text for record in new] == ["the neighbour stands behind the block"]


# -- what must hold -------------------------------------------------------------------------------------------------


def _stage(steps: Iterable[Step], early: Sequence[str] = NEIGHBOURS[:2]) -> Stage:
    """A ledger in which neighbours came before, in between and after; then another session starts."""
    stage = Stage(None)
    stage.feed([{"do": "session_start", "session": "A"}, {"do": "session_start", "session": "C"}])
    late = [text for text in NEIGHBOURS if text not in early]
    stage.feed([_neighbour(text) for text in early])
    stage.feed(list(steps))
    stage.feed([*map(_neighbour, late), {"do": "session_start", "session": "B"}])
    return stage


def _neighbour(text: str) -> Step:
    return {"do": "memory_add", "session": "C", "title": text, "content": "", "tags": ["safety-critical"]}


def _assert_shown_as_data(stage: Stage) -> None:
    world = stage.state()
    frozen = assert_block(frozen_text(world, make_source(HOST, "B")), WORKSPACE_HEADER, HEADINGS)
    assert set(NEIGHBOURS) <= set(frozen)
    upcoming = next_block(world)
    assert len(assert_block(upcoming.text, WORKSPACE_HEADER, HEADINGS)) == len(upcoming.shown)
    numbered = numbered_block(world.memory)
    assert len(assert_block(numbered.text, NUMBERED_HEADER, HEADINGS, r"\[M\d+\] ")) == len(numbered.shown)
    _assert_context(world)
    for session in "ABC":
        _assert_hot(world, make_source(HOST, session))
    _assert_files(world)
    _assert_listing(world)


def _assert_context(world: WorldState) -> None:
    """The list, its id, our words and the todos, whatever these say; nothing in it begins a candidate block."""
    todos = [one.text for one in samples()]
    context = compaction_context(numbered_block(world.memory), "id1", world.memory.context.policy, todos)
    assert_inert(context)
    *_, listed = context.split("\n\n")
    title, *lines = listed.split("\n")
    assert title == "Pending todos:"
    assert_lines(lines, "- ")
    assert "Memory candidates:" not in context.splitlines()


def _assert_hot(world: WorldState, source: str) -> None:
    assert_block(hot_view(world, source).text, HOT_HEADER, HOT_HEADINGS)
    part = hot_due(world, source, "i1")
    if part is not None and part.kind == "delta":
        assert len(part.text) <= DELTA_CHARS
        assert_lines(part.text.split("\n")[1:], r"[+-] \w+: ")


def _assert_files(world: WorldState) -> None:
    """MEMORY.md reads as what was written, in one part of ours; the summary has a line for each memory."""
    entries, text = file_entries(world.memory), file_text(world.memory)
    parsed = read_file(text)
    assert (parsed.entries, parsed.next_number, parsed.reports) == (entries, world.memory.next_number, ())
    lines = [line.rstrip() for line in text.split("\n")]
    assert [lines.count(line) for line in (FILE_TITLE, "## Active", "## Archived", FILE_END)] == [1, 1, 1, 0]
    assert sum(line.startswith("### [MEM-") for line in lines) == len(entries)
    assert remove_foreign(f"words before\n{text}").split() == ["words", "before"]
    banner, blank, *titles = summary_file(entries, 100_000).splitlines()
    assert (banner, blank) == (SUMMARY_BANNER, "")
    assert len(titles) == sum(not entry.archived for entry in entries)
    assert_lines(titles, r"- \[MEM-\d+\] ")
    assert_inert("\n".join(titles))


def _assert_listing(world: WorldState) -> None:
    active = _active(world)
    text = listing(active, "", limit=len(active), offset=0, is_newer=True).text
    assert_known(text)
    first, _, *lines, newer, last = text.split("\n")
    assert (first, last) == ("<memory-context>", "</memory-context>")
    assert newer.startswith("This is newer")
    assert_inert("\n".join(lines), but="\n\t")
    heads = [line for line in lines if not line.startswith(">")]
    if len(heads) == len(active):  # else it was cut at its limit
        assert [line.partition("]")[0][1:] for line in heads] == [entry.id for entry in active]


def _assert_accounted(stage: Stage, some: Sequence[Hostile], *, whole: bool) -> None:
    """Each candidate is kept, or refused with a reason that ``why`` explains; an override is never kept."""
    world = stage.state()
    for record in world.accounts.records.values():
        assert record.reasons or record.state == "pending"
        assert all(code in REASONS for code in record.reasons)
    kept = {block_digest(part) for entry in _active(world) for part in (entry.proposal.text, *entry.proposal.beside)}
    overrides = [one.text for one in some if one.refused] if whole else []
    assert not {block_digest(text) for text in overrides} & kept
    refused = [one for one in world.accounts.records.values() if "prompt_injection" in one.reasons]
    assert len(refused) >= len(overrides)
    if refused:
        events: list[AnyEvent] = stage.events()
        story = why(lambda: iter(events), refused[-1].proposal.text).stories[0]
        assert [one.code for one in story.reasons] == list(refused[-1].reasons)
        assert all(one.text and one.rule for one in story.reasons)


def _blocks_of(world: WorldState) -> Iterator[str]:
    """Blocks, files and answers of a state."""
    yield frozen_text(world, make_source(HOST, "B"))
    yield numbered_block(world.memory).text
    yield from (hot_view(world, make_source(HOST, session)).text for session in "AC")
    yield listing(_active(world), "", limit=20, offset=0, is_newer=False).text
    yield f"{file_text(world.memory)}{FILE_END}"


def _active(world: WorldState) -> list[Entry]:
    found = [entry for entry in world.memory.entries.values() if entry.state == "promoted"]
    return sorted(found, key=lambda entry: entry.number)


def test_every_way_is_tried() -> None:
    """Both tables are part of the whole, and no way is the same as another."""
    ways: list[Way] = list(WAYS.values())
    assert len({str(way("text", 1)) for way in ways}) == len(ways) == len(MEMORY_WAYS) + len(TOOL_WAYS)
