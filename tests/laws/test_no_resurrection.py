"""Laws of deletion: what was deleted comes back by a request alone (SPEC 15, I6)."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ledger.events import Draft, MemoryDeletedData
from projections.memory.model import MemoryState, Proposal
from projections.rules.explicit import extract
from projections.rules.injection import find_injection
from tests.support.effort import examples
from tests.support.streams import Stage, Step, histories, no_requests
from tests.support.watch import active_keys


def _states_after(stage: Stage, steps: list[Step]) -> list[MemoryState]:
    states: list[MemoryState] = []
    for step in steps:
        stage.step(step)
        states.append(stage.state().memory)
    return states


def _delete_one(stage: Stage, data: st.DataObject) -> Proposal:
    """Delete an active memory or one that waits."""
    memory = stage.state().memory
    live = {ref: entry.proposal for ref, entry in memory.entries.items() if entry.state == "promoted"} | memory.pending
    assume(live)
    ref = data.draw(st.sampled_from(list(live)))
    delete = MemoryDeletedData(target=ref, origin="cli")
    stage.workspace().record([Draft(source="memfold", time=None, data=delete)])
    return live[ref]


@settings(max_examples=examples(60))
@given(histories(max_size=20), no_requests(max_size=10), st.data())
def test_i6_what_was_deleted_stays_deleted(before: list[Step], after: list[Step], data: st.DataObject) -> None:
    """No summary, command, output, import, start, restart or link makes a deleted text active; a tool add does."""
    stage = Stage(None)
    stage.feed(before)
    deleted = _delete_one(stage, data)
    # People may have stated the same text as another type: the two stand apart (SPEC 9.3), and the other one stays.
    assume(deleted.key not in active_keys(stage.state().memory))
    for memory in [stage.state().memory, *_states_after(stage, after)]:
        assert deleted.key not in active_keys(memory)
        # A request that waits would come back; an import that waits is turned away when it is decided.
        assert deleted.key not in {waiting.key for waiting in memory.pending.values() if not waiting.imported}
    if find_injection(deleted.text) is None:
        add = {"do": "memory_add", "session": "new", "title": deleted.text, "content": ""}
        stage.step(add)
        # Another active memory may state the same fact by now: then it takes the newcomer in (SPEC 9.1).
        *_, record = stage.state().accounts.records.values()
        assert record.state in {"promoted", "absorbed"}
        assert record.proposal.key == deleted.key


@given(histories(max_size=12), no_requests(max_size=6), st.sampled_from(("use tabs in Makefiles", "部署只从主分支")))
def test_i6_an_explicit_request_brings_it_back(before: list[Step], after: list[Step], text: str) -> None:
    """Asking again makes a new memory under a new id, and its text is no longer turned away."""
    stage = Stage(None)
    stage.feed(before)
    ask = {"do": "user_message", "session": "new", "text": f"Remember: {text}"}
    wait = {"do": "compacted", "session": "new", "summary": None}
    (asked,) = extract(f"Remember: {text}", stage.workspace().capture._context)
    assert not asked.reasons
    stage.feed([ask | {"message": "ask-1"}, wait, {"do": "memory_delete", "text": text}])
    memory = stage.state().memory
    gone = {entry.number for entry in memory.entries.values() if entry.proposal.text == text}
    assume(text not in {entry.proposal.text for entry in memory.entries.values() if entry.state == "promoted"})
    stage.feed(after)
    stage.feed([ask | {"message": "ask-2"}, wait])
    back = [entry for entry in stage.state().memory.entries.values() if entry.state == "promoted"]
    assert [entry.number for entry in back if entry.proposal.text == text and entry.number not in gone]


@given(st.sampled_from(("use tabs in Makefiles", "the codebase builds with Bazel only")), no_requests(max_size=8))
def test_i6_a_message_deleted_before_it_came(text: str, after: list[Step]) -> None:
    """A delete that overtakes its message keeps the text away as one that comes later does."""
    stage = Stage(None)
    stage.feed([{"do": "memory_delete", "message": "late"}])
    stage.feed([{"do": "user_message", "session": "new", "message": "late", "text": f"Remember: {text}"}])
    (key,) = {record.proposal.key for record in stage.state().accounts.records.values()}
    for memory in _states_after(stage, after):
        assert key not in active_keys(memory)
