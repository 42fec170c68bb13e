"""Which memory a new text resembles (SPEC 9.1)."""

from __future__ import annotations

import pytest

from projections.memory.model import MemoryState
from projections.similar import most_similar
from tests.support.entries import add_entry, empty_state


def _memory(*texts: str, **fields: object) -> MemoryState:
    state = empty_state()
    for order, text in enumerate(texts):
        add_entry(state, {"id": f"e{order}", "type": "project", "text": text, **fields}, order)
    return state


def _found(memory: MemoryState, text: str) -> str | None:
    entry = most_similar(memory, text)
    return None if entry is None else entry.proposal.text


def _words(count: int) -> str:
    return " ".join(f"w{number}" for number in range(count))


@pytest.mark.parametrize(
    ("shared", "own", "is_similar"),
    [(3, 0, True), (3, 2, True), (22, 15, False), (37, 25, False), (60, 40, True), (59, 40, False)],
)
def test_sixty_percent_of_the_words_are_shared(shared: int, own: int, is_similar: bool) -> None:
    """Of the words of both together, rounded down: 22 of 37 are too few."""
    assert (_found(_memory(_words(shared + own)), _words(shared)) is not None) == is_similar
    assert (_found(_memory(_words(shared)), _words(shared + own)) is not None) == is_similar


def test_the_one_that_shares_most_is_told() -> None:
    """Whichever comes first in the ledger; of equals the one with the lowest id."""
    near, nearer, as_near = "the crane is oiled daily", "the crane is oiled on", "on the crane is oiled"
    assert _found(_memory(near, nearer, as_near), "the crane is oiled on mondays") == nearer
    assert _found(_memory(as_near, nearer, near), "the crane is oiled on mondays") == as_near


def test_two_words_say_too_little() -> None:
    """A text needs three words to resemble another."""
    assert _found(_memory("use npm"), "use npm") is None
    assert _found(_memory("use npm now"), "use npm now") == "use npm now"


def test_words_count_whole() -> None:
    """That two words have the same pairs of letters says nothing, where words stand apart."""
    assert _found(_memory("harbour harbours harbouring arbours"), "harbou arbour arbouring rbours") is None


def test_letters_of_scripts_without_spaces_count_in_pairs() -> None:
    """One more word in a sentence that is written in one piece leaves it similar."""
    assert _found(_memory("数据库迁移需要手动执行"), "数据库迁移总是需要手动执行") is not None
    assert _found(_memory("数据库迁移需要手动执行"), "部署脚本放在根目录下面") is None


def test_the_new_one_itself_and_what_is_gone_are_not_looked_at() -> None:
    """Else each memory would resemble itself."""
    memory = _memory("the crane is oiled on mondays")
    (entry,) = memory.entries.values()
    assert most_similar(memory, entry.proposal.text, but=entry) is None
    assert _found(_memory("the crane is oiled on mondays", state="superseded"), entry.proposal.text) is None
