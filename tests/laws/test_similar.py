"""An index of words finds what a look at all memories finds."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.log import FileLog
from memfold.tools.similar import SimilarTexts
from projections.memory.model import MemoryState
from projections.similar import most_similar
from replay.live import Live
from tests.support.effort import examples
from tests.support.entries import add_entry, empty_state
from tests.support.streams import Stage, Step, histories

_WORDS = ("oil", "the", "crane", "daily", "on", "mondays", "数据库迁移", "/w/app/src/a.ts", "src/a.ts")
TEXTS = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=7).map(" ".join)


def _check(texts: SimilarTexts, memory: MemoryState, query: str) -> None:
    for but in (None, *list(memory.entries.values())[-2:]):
        assert texts.most_similar(memory, query, but=but) == most_similar(memory, query, but=but)


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(TEXTS, st.sampled_from(("active", "active", "deleted")), TEXTS), max_size=12, unique=True))
def test_the_index_finds_the_same_of_any_texts(rows: list[tuple[str, str, str]]) -> None:
    """While memories come, and some of them go at once."""
    texts, memory = SimilarTexts(), empty_state()
    seen: set[frozenset[str]] = set()
    for order, (text, state, query) in enumerate(rows):
        key = frozenset(text.split())
        if key not in seen:  # an active text is there once
            seen.add(key)
            row: dict[str, Any] = {"id": f"e{order}", "type": "project", "text": text, "state": state}
            add_entry(memory, row, order)
        _check(texts, memory, query)


@settings(max_examples=examples(30))
@given(histories(max_size=25), st.data())
def test_the_index_finds_the_same_in_any_history(history: list[Step], data: st.DataObject) -> None:
    """Of requests, summaries, imports, updates, undos and deletions, asked now and then."""
    with TemporaryDirectory() as folder:
        stage, texts = Stage(folder), SimilarTexts()
        stage.step({"do": "session_start", "session": "A", "at": "2026-01-01T00:00:00Z"})
        log = stage.workspace().log
        assert isinstance(log, FileLog)
        live = Live(log)
        for step in history:
            stage.step(step)
            if data.draw(st.booleans()):
                world = live.world()
                for record in world.accounts.records.values():
                    _check(texts, world.memory, record.proposal.text)
