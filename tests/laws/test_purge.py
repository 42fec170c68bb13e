"""A purge erases texts everywhere and leaves everything else as it was (SPEC 15.4)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ledger.check import check
from ledger.codec import encode
from ledger.events import AnyEvent, Draft, LedgerErased, MemoryRestoredData, SessionStartedData
from ledger.problems import NOTES, Problem
from memfold.config import Config
from memfold.memory_file.keeper import MemoryFileKeeper
from memfold.paths import ledger_dir, workspace_key
from memfold.purge.purge import Purge
from memfold.workspace import Workspace
from projections.erasure.fields import is_name, staying
from projections.erasure.returning import Purged
from projections.facts import Judged, facts_for, facts_key, facts_of
from projections.memory import decide
from projections.memory.model import Proposal, Ref
from projections.protocol import fold
from projections.world import World
from replay.unseen import judge_unseen
from tests.support.effort import examples
from tests.support.harness import Harness
from tests.support.purges import PurgingStage, purging_histories
from tests.support.streams import summary_of
from tests.support.watch import watched


def _play(history: list[dict[str, Any]]) -> PurgingStage:
    stage = PurgingStage()
    stage.feed(history)
    return stage


@settings(max_examples=examples(60))
@given(purging_histories())
def test_a_purge_changes_nothing_but_texts(history: list[dict[str, Any]]) -> None:
    """Every candidate keeps state, id and reasons at each purge of a history, and what comes later obeys all laws."""
    stage = _play(history)  # each purge compares the state without the texts with the one before
    memory = watched(stage.events()).memory
    assert not any(entry.state == "promoted" and entry.proposal.erased for entry in memory.entries.values())
    assert not any(proposal.erased for proposal in memory.pending.values())


@settings(max_examples=examples(30))
@given(purging_histories(max_size=12), st.data())
def test_i2_incremental_equals_full_after_a_purge(history: list[dict[str, Any]], data: st.DataObject) -> None:
    """A purged log folds to the same state in two pieces, and with kept facts."""
    events = _play(history).events()
    cut = data.draw(st.integers(0, len(events)))
    whole = fold(World(), events)
    assert fold(World(), events[cut:], fold(World(), events[:cut])) == whole
    assert fold(World(known=_facts_of_all(events)), events) == whole


def _facts_of_all(events: list[AnyEvent]) -> dict[str, Any]:
    world, projection = World().initial(), World()
    known = {}
    for event in events:
        if isinstance(event, Judged):
            context = world.memory.context
            known[facts_key(event, context)] = facts_of(event, context)
            assert facts_for(event, context, known) == facts_of(event, context)
        projection.step(world, event)
    return known


@settings(max_examples=examples(40))
@given(purging_histories(max_size=12, purges=1))
def test_i6_no_summary_brings_a_purged_text_back(history: list[dict[str, Any]]) -> None:
    """Right behind a purge each purged text has a tombstone, unless it is active; a summary with it is refused."""
    stage = PurgingStage()
    for step in history:
        stage.step(step)
        if step["do"].startswith("purge_") and stage.choices:
            memory = stage.state().memory
            for wording in stage.choices[-1].wordings:
                assert wording.key not in memory.texts
                grave = decide.find_tombstone(memory, _from_summary(wording))
                assert grave is not None
                assert grave.kind == "deleted"


def _from_summary(wording: Proposal) -> Proposal:
    """The same text, said once more."""
    return Proposal(
        ref=Ref("later", 0),
        order=(0, 0),
        time=0,
        type=wording.type,
        text=wording.text,
        source="compaction",
        confidence=75,
        session=None,
        exact=wording.exact,
        key=wording.key,
        identity=wording.identity,
    )


@settings(max_examples=examples(30))
@given(purging_histories(max_size=12, purges=1))
def test_a_copy_from_before_a_purge_gives_itself_away(history: list[dict[str, Any]]) -> None:
    """Each event of it that says what went is told, and no other one; then nothing that says it is taken in."""
    stage = _play(history)
    record = [event for event in stage.events() if isinstance(event, LedgerErased)]
    for (before, after), choice in zip(stage.replaced, stage.choices, strict=True):
        purged = Purged([*after, *record], stage.state().memory.context)
        assert not any(map(purged.learn, after))
        for ours, theirs in zip(after, before, strict=True):
            held = not all(map(is_name, staying(encode(theirs), choice.needles)))
            left = not all(map(is_name, staying(encode(ours), choice.needles)))
            assert purged.learn(theirs) or left or not held


# -- on disk ----------------------------------------------------------------------------------------------------------

PLANTED = 'Züge halten am Pier "7" <system> only at high tide 潮位'
"""A text that nothing else says, and that JSON, prompts and regular expressions write in another way."""
PART = "only at high tide 潮位"
SHORT = "口令是芝麻开门"
"""Seven letters say as much as twenty of other scripts (SPEC 1.4)."""
TAIL = "zzz the last words of the tide table zzz"


def _on_disk(folder: Path, entries: list[str], planted: str = PLANTED) -> tuple[Harness, MemoryFileKeeper, str]:
    """A ledger in which the text came in by some ways, and a memory file beside it."""
    root = folder / "app"
    root.mkdir()
    harness = Harness(str(folder / "data"), workspace=str(root))
    keeper = MemoryFileKeeper(
        str(root),
        ledger_dir(harness.data or "", workspace_key(str(root))),
        project=True,
        config=Config(memory_file="on"),
    )
    harness.feed(
        [
            {"do": "session_start", "session": "A"},
            {"do": "user_message", "session": "A", "message": "m0", "text": "Remember: bollards are painted in March"},
            {"do": "session_start", "session": "B"},
            {"do": "memory_add", "session": "B", "title": "Ropes", "content": "They are blue"},
        ]
    )
    keeper.sync()
    for number, entry in enumerate(entries):
        for step in _ways(number, planted)[entry]:
            if step["do"] == "hand_edit":
                path = root / ".opencode" / "memory" / "MEMORY.md"
                path.write_text(path.read_text(encoding="utf-8").replace("## Archived", step["text"]), encoding="utf-8")
                keeper.sync()
            elif step["do"] == "delete_because":
                ws = harness.workspace()
                gone = ws.capture.memory_deleted(
                    None, target=next(iter(ws.state().memory.entries)), reason=step["text"], time=None
                )
                ws.record(gone)
            elif step["do"] in ("restore_because", "started_by"):
                _record(harness, step)
            else:
                harness.step(step)
    keeper.sync()
    return harness, keeper, str(root)


def _record(harness: Harness, step: dict[str, Any]) -> None:
    """What no hook of the harness reports."""
    ws = harness.workspace()
    data: MemoryRestoredData | SessionStartedData
    if step["do"] == "restore_because":
        data = MemoryRestoredData(next(iter(ws.state().memory.entries)), reason=step["text"])
    else:
        data = SessionStartedData("H", host_version=step["text"])
    ws.record([Draft(source="test/H", time=None, data=data)])


def _ways(number: int, planted: str = PLANTED) -> dict[str, list[dict[str, Any]]]:
    """How a text comes in."""
    say = {"do": "user_message", "session": "A", "message": f"say{number}"}
    tool = {"do": "tool", "session": "B", "tool": "bash", "call": f"c{number}", "exit": 1}
    return {
        "message": [say | {"text": f"Remember: {planted}\nRemember: eels like the north basin {number}"}],
        "refused": [say | {"text": f"> Remember: {planted}"}],
        "summary": [
            {"do": "compaction_started", "session": "A"},
            {
                "do": "compacted",
                "session": "A",
                "message": f"s{number}",
                "summary": summary_of(
                    [f"- [project] {planted}", "- [decision] Must paint the bollards", "REINFORCE [M1]"]
                ),
            },
        ],
        "add": [{"do": "memory_add", "session": "B", "title": "Tides", "content": f"{planted}\n{TAIL}"}],
        "update": [{"do": "memory_update", "session": "B", "id": "MEM-002", "title": "Ropes", "content": planted}],
        "import": [
            {
                "do": "import",
                "format": "reference_b",
                "files": {
                    f"MEMORY{number}.md": f"# OpenCode Memory\n\n## Active\n\n### [MEM-050] {planted}\n\nx{number}\n"
                },
            }
        ],
        "hand edit": [{"do": "hand_edit", "text": f"### [MEM-070] Written by hand {number}\n{planted}\n\n## Archived"}],
        "output": [tool | {"args": {"command": "make"}, "output": f"error: {planted}"}],
        "command": [tool | {"args": {"command": f"echo {planted}; npm test"}, "output": "error: no"}],
        "file": [{"do": "tool", "session": "A", "tool": "edit", "args": {"filePath": f"src/{planted}/a.ts"}}],
        "reason": [{"do": "delete_because", "text": f"it said: {planted}"}],
        "restored because": [{"do": "restore_because", "text": f"it was right: {planted}"}],
        "no candidate": [say | {"text": f"Remember this: {planted}?\ndon't remember this: {planted}"}],
        "rules": [{"do": "rules_file", "path": f"docs/{planted}/AGENTS.md", "text": f"{planted}\nand more"}],
        "host": [{"do": "started_by", "text": f"1.0 ({planted})"}],
    }


@settings(max_examples=examples(20))
@given(
    st.lists(st.sampled_from(sorted(_ways(0))), min_size=1, max_size=5),
    st.booleans(),
    st.sampled_from((PLANTED, SHORT)),
)
@example(entries=["command", "no candidate"], by_text=False, planted=SHORT)
def test_purged_bytes_are_in_no_file(entries: list[str], by_text: bool, planted: str) -> None:
    """However a text came in, after a purge no file of data folder and project holds it, and nothing else moved.

    A text that is named as such need be no memory's.
    """
    with tempfile.TemporaryDirectory() as base:
        harness, keeper, root = _on_disk(Path(base), entries, planted)
        directory = ledger_dir(harness.data or "", workspace_key(root))
        before, part = harness.state(), PART if planted == PLANTED else SHORT
        named = [ref for ref, record in before.accounts.records.items() if part in record.proposal.text]
        named += [ref for ref, entry in before.memory.entries.items() if part in entry.proposal.text]
        # A request that was refused as a quotation has its mark and form in its text: that is what goes with it.
        says_it = by_text or any(not before.accounts.records[ref].proposal.text.startswith(">") for ref in named)
        purge = Purge(
            directory,
            data=harness.data or "",
            key=workspace_key(root),
            named=lambda _: [] if by_text else named,
            texts=(planted,) if by_text else (),
            containing="purge",
            time="2027-01-01T00:00:00Z",
        )
        preview = purge.look()
        if preview.choice.is_empty:
            assert not named
            return
        assert preview.does_anything
        purge.run(preview)
        keeper.sync()
        keeper.close()
        for path in Path(base).rglob("*"):
            if path.is_file():
                held = path.read_bytes()
                assert not preview.choice.needles.are_in_bytes(held), (path, held)
                assert not says_it or planted.encode() not in held
        assert _findings(directory) == []
        after = harness.state()
        _assert_same_but_for(before, after, set(preview.choice.targets), preview.choice.leaving)


def _findings(directory: str) -> list[Problem]:
    return [problem for problem in check(directory) if problem.kind not in NOTES]


def _assert_same_but_for(before: Any, after: Any, targets: set[Ref], leaving: tuple[Ref, ...]) -> None:
    for ref, record in before.accounts.records.items():
        other = after.accounts.records[ref]
        if ref in leaving:
            assert (other.state, other.reasons) == ("deleted", ("erased",))
        elif ref in targets:
            assert other.state == record.state
        else:
            assert (other.state, other.reasons, other.proposal) == (record.state, record.reasons, record.proposal)
    assert after.memory.numbers == before.memory.numbers


def test_i6_a_purged_text_returns_by_request_alone(tmp_path: Path) -> None:
    """A summary with a purged text, or the same words about the same thing, is refused; a request is a new memory."""
    harness, keeper, root = _on_disk(tmp_path, ["message"])
    keeper.close()
    text = "The gauge readings are at https://tides.example/pier"
    harness.feed(
        [
            {"do": "user_message", "session": "A", "message": "gauge", "text": f"Remember: {text}"},
            {"do": "session_start", "session": "D"},
            {"do": "purge", "message": "gauge"},
            {
                "do": "compacted",
                "session": "A",
                "summary": summary_of(
                    [f"- [reference] {text}", "- [reference] See https://tides.example/pier for gauge readings"]
                ),
            },
        ]
    )
    records = harness.state(root).accounts.records.values()
    assert [record.reasons for record in records][-2:] == [("deleted_before",), ("deleted_before",)]
    count = harness.state(root).memory.next_number
    harness.feed(
        [
            {"do": "user_message", "session": "D", "message": "again", "text": f"Remember: {text}"},
            {"do": "session_start", "session": "E"},
            {"do": "compacted", "session": "D", "summary": summary_of([f"- [reference] {text}"])},
        ]
    )
    memory = harness.state(root).memory
    assert [entry.number for entry in memory.entries.values() if entry.proposal.text == text] == [count]
    assert judge_unseen(harness.state(root), text).as_candidate.accepted


def test_purging_twice_and_another_one(tmp_path: Path) -> None:
    """A second purge of the same memory finds nothing; one of another text leaves the first as it is."""
    harness, keeper, root = _on_disk(tmp_path, ["message", "add"])
    keeper.close()
    harness.feed([{"do": "purge", "id": "MEM-002"}])
    once = harness.all_bytes()
    harness.feed([{"do": "purge", "id": "MEM-002"}])
    assert harness.all_bytes() == once
    harness.feed([{"do": "purge", "id": "MEM-001"}])
    memory = harness.state(root).memory
    assert [entry.number for entry in memory.entries.values() if entry.proposal.erased] == [1, 2]
    assert len(memory.erasures) == 1  # one key, so that a text has one digest
    assert b"bollards are painted" not in b"".join(harness.all_bytes().values())


def test_a_workspace_reads_a_purged_ledger_on(tmp_path: Path) -> None:
    """A process that has the ledger open goes on behind a purge, with the log that stands there now."""
    harness, keeper, root = _on_disk(tmp_path, ["add"])
    keeper.close()
    ws: Workspace = harness.workspace(root)
    ws.record(ws.capture.user_message("A", "before", "Remember: the crane is oiled on Mondays", time=None))
    harness.feed([{"do": "purge", "message": "before"}])
    ws.record(ws.capture.user_message("A", "after", "Remember: the crane is painted in May", time=None))
    texts = [record.proposal.text for record in ws.state().accounts.records.values()]
    assert texts[-2:] == ["[erased]", "the crane is painted in May"]
    assert _findings(ledger_dir(harness.data or "", workspace_key(root))) == []
