"""Every way a candidate moves: from which state, into which, why, and by which event (SPEC 9.6)."""

from __future__ import annotations

from typing import Any

from ledger.events import AnyEvent, Draft, MemoryAddedData, MemoryRestored, MemoryRestoredData
from ledger.times import DAY_MS, HOUR_MS, format_time, parse_time
from projections.memory.fold import WorkspaceMemory
from projections.memory.intake import refuse
from projections.memory.model import Change, Entry, MemoryState, Ref
from projections.memory.turn import Turn
from tests.support.entries import add_entry, empty_state, proposal
from tests.support.harness import FIRST
from tests.support.streams import Stage, summary_of
from tests.support.watch import watched

Told = tuple[str, str | None, str, tuple[str, ...]]
"""Text, state before and after, reasons."""

RULE = "Specs run on the native harness"
OTHER = "Specs run on the remote harness now"


def play(*steps: dict[str, Any]) -> Stage:
    """A ledger in which these steps happened."""
    stage = Stage(None)
    stage.feed(list(steps))
    return stage


def told(events: list[AnyEvent], text: str) -> list[Told]:
    """The moves of the candidates with this text, while everything that holds after each event is watched."""
    watched(events)
    projection, found = WorkspaceMemory(), list[Told]()
    state = projection.initial()
    for event in events:
        projection.step(state, event)
        found += [(one.proposal.text, one.before, one.after, one.reasons) for one in state.moves]
    return [one for one in found if one[0] == text]


def moves(stage: Stage, text: str = RULE) -> list[tuple[str | None, str, tuple[str, ...]]]:
    """States and reasons of the moves of one text."""
    return [one[1:] for one in told(stage.events(), text)]


def memory(stage: Stage) -> MemoryState:
    """The workspace memory at the end."""
    return stage.state().memory


def entry(stage: Stage, number: int) -> Entry:
    """The entry with a number."""
    state = memory(stage)
    return state.entries[state.numbers[number]]


def say(text: str, message: str = "m1", session: str = "A", **more: Any) -> dict[str, Any]:
    """A request."""
    return {"do": "user_message", "session": session, "message": message, "text": f"Remember: {text}", **more}


def start(session: str = "B", **more: Any) -> dict[str, Any]:
    """A session's first prompt, which decides what others left pending."""
    return {"do": "session_start", "session": session, **more}


def compacted(session: str, *lines: str, **more: Any) -> dict[str, Any]:
    """A summary with these lines."""
    return {"do": "compacted", "session": session, "summary": summary_of(list(lines)), **more}


def listed(session: str) -> dict[str, Any]:
    """The numbered list of a session."""
    return {"do": "compaction_started", "session": session}


def add(title: str, **more: Any) -> dict[str, Any]:
    """A memory that a tool adds."""
    return {"do": "memory_add", "session": "A", "title": title, "content": "", **more}


def line(text: str, row: int = 1, **more: Any) -> dict[str, Any]:
    """One line of an imported file."""
    given = {"file": "old.json", "digest": "d", "line": row, "text": text, "type": "project", "source": "compaction"}
    return {"do": "import_line", "line": given | more}


NEW: tuple[None, str, tuple[str, ...]] = (None, "promoted", ("new_entry",))
WAITS: tuple[None, str, tuple[str, ...]] = (None, "pending", ())
UNDO = {"do": "undo"}


def test_a_request_waits_and_is_promoted_or_absorbed() -> None:
    """It is pending first; what repeats it goes into it."""
    stage = play(say(RULE), say(RULE, "m2"), start())
    assert moves(stage) == [
        WAITS,
        WAITS,
        ("pending", "promoted", ("new_entry",)),
        ("pending", "absorbed", ("absorbed_exact",)),
    ]


def test_what_waits_is_refused_from_where_it_waited() -> None:
    """For a tombstone, for want of room, and because the text is another by now."""
    caps = {"do": "policy", "config": {"caps": {"project": 1}}}
    full = play(caps, say("the project builds with Bazel only"), start(), line(RULE, state="pending"), compacted("C"))
    assert moves(full) == [WAITS, ("pending", "rejected", ("rejected_capacity",))]

    buried = play(line(RULE, state="pending"), add(RULE), {"do": "memory_delete", "text": RULE}, compacted("C"))
    assert moves(buried)[0] == WAITS
    assert ("pending", "deleted", ("deleted",)) in moves(buried)

    changed = play(
        line(RULE, source="manual"),
        {"do": "memory_update", "session": "A", "id": "MEM-001", "title": OTHER, "content": ""},
        line(RULE, 2, source="manual", state="pending"),
        compacted("C"),
    )
    assert moves(changed)[1:] == [WAITS, ("pending", "rejected", ("imported_before",))]


def test_an_imported_text_that_was_replaced_since_stays_away() -> None:
    """Also where it had another wording when it was replaced, so that no tombstone has its text (SPEC 17)."""
    stage = play(
        line(RULE),
        {"do": "memory_update", "session": "A", "id": "MEM-001", "title": "Specs run on the local harness"},
        listed("A"),
        compacted("A", f"REPLACE [M1] [project] {OTHER}"),
        line(RULE, 2),
    )
    assert entry(stage, 1).state == "superseded"
    assert moves(stage) == [NEW, (None, "rejected", ("superseded_before",))]


def test_a_deleted_memory_is_restored() -> None:
    """Under its id, with the day of its last change and no successor."""
    stage = play(add(RULE), {"do": "memory_delete", "id": "MEM-001", "at": format_time(FIRST + DAY_MS)})
    assert entry(stage, 1).updated == FIRST + DAY_MS
    stage.feed([{"do": "memory_restore", "id": "MEM-001", "at": format_time(FIRST + 2 * DAY_MS)}])
    assert moves(stage) == [NEW, ("promoted", "deleted", ("deleted",)), ("deleted", "promoted", ("restored",))]
    restored = entry(stage, 1)
    assert (restored.updated, restored.superseded_by) == (FIRST + 2 * DAY_MS, None)


def test_a_replaced_memory_is_restored() -> None:
    """Its replacement retires in turn (SPEC 15.3)."""
    replace = (listed("A"), compacted("A", f"REPLACE [M1] [project] {OTHER}"))
    stage = play(compacted("A", f"- [project] {RULE}"), *replace)
    assert entry(stage, 1).superseded_by == entry(stage, 2).ref
    assert entry(stage, 2).supersedes == entry(stage, 1).ref
    stage.feed([{"do": "memory_restore", "id": "MEM-001"}])
    assert moves(stage) == [
        NEW,
        ("promoted", "superseded", ("numbered_ref_replace",)),
        ("superseded", "promoted", ("restored",)),
    ]
    assert moves(stage, OTHER) == [
        (None, "promoted", ("numbered_ref_replace",)),
        ("promoted", "superseded", ("superseded_by_restore",)),
    ]
    old, new = entry(stage, 1), entry(stage, 2)
    assert (old.superseded_by, new.superseded_by) == (None, old.ref)
    assert stage.state().accounts.records[old.ref].into == old.ref


def test_a_request_that_was_deleted_while_it_waited_is_restored() -> None:
    """It never was an entry; it becomes one."""
    stage = play(say(RULE), {"do": "memory_delete", "text": RULE}, {"do": "memory_restore", "id": RULE})
    assert moves(stage) == [WAITS, ("pending", "deleted", ("deleted",)), ("deleted", "promoted", ("restored",))]


def test_a_replacement_that_is_remembered_already_takes_the_place() -> None:
    """The old text goes into the one that is there (SPEC 5.4)."""
    stage = play(
        compacted("A", f"- [project] {RULE}"),
        add(OTHER, type="project"),
        listed("B"),
        compacted("B", f"REPLACE [M2] [project] {OTHER}"),
    )
    assert moves(stage) == [NEW, ("promoted", "superseded", ("numbered_ref_replace",))]
    assert moves(stage, OTHER) == [NEW, (None, "absorbed", ("absorbed_exact",))]
    assert entry(stage, 1).superseded_by == entry(stage, 2).ref


def test_a_message_deleted_before_it_came_is_deleted_by_that_event() -> None:
    """The request is never pending; the account names who did it (SPEC 15.1)."""
    stage = play(start("A"), {"do": "memory_delete", "message": "m1"}, say(RULE))
    assert moves(stage) == [(None, "deleted", ("deleted",))]
    (record,) = stage.state().accounts.records.values()
    assert record.decided == next(event.id for event in stage.events() if type(event).__name__ == "MemoryDeleted")


def test_undoing_a_delete_by_message_is_for_that_message_alone() -> None:
    """What it proposes later is welcome again; what another deleted message proposes is not."""
    forget = [{"do": "memory_delete", "message": name} for name in ("m1", "m2")]
    stage = play(start("A"), say("use tabs in Makefiles", "m2"), *forget, UNDO)
    stage.feed([say(RULE, "m2"), say(OTHER, "m1")])
    assert memory(stage).deleted_messages.keys() == {"m1"}
    assert moves(stage, OTHER) == [(None, "deleted", ("deleted",))]


def test_undone_changes_move_as_the_log_without_them() -> None:
    """An addition leaves, and what it had absorbed comes; a deletion is taken back, also of what waited."""
    stage = play(add(RULE), say(RULE), start(), {"do": "undo_change", "pick": 0})
    assert moves(stage) == [
        NEW,
        WAITS,
        ("pending", "absorbed", ("absorbed_exact",)),
        ("promoted", "deleted", ("undone",)),
        ("absorbed", "promoted", ("undone",)),
    ]
    back = play(add(RULE), {"do": "memory_delete", "text": RULE}, UNDO)
    assert moves(back) == [NEW, ("promoted", "deleted", ("deleted",)), ("deleted", "promoted", ("undone",))]
    waiting = play(say(RULE), {"do": "memory_delete", "text": RULE}, UNDO)
    assert moves(waiting) == [WAITS, ("pending", "deleted", ("deleted",)), ("deleted", "pending", ("undone",))]


def test_a_memory_that_would_have_been_replaced_names_its_replacement() -> None:
    """An update stood against a replacement; undone, the one leaves for the other."""
    update = {"do": "memory_update", "session": "A", "id": "MEM-001", "title": "Specs run locally", "content": ""}
    replace = compacted("A", f"REPLACE [M1] [project] {OTHER}")
    stage = play(compacted("A", f"- [project] {RULE}"), listed("A"), update, replace, UNDO)
    assert moves(stage, OTHER) == [
        (None, "rejected", ("memory_ref_target_changed",)),
        ("rejected", "promoted", ("undone",)),
    ]
    old, new = entry(stage, 1), entry(stage, 2)
    assert (old.state, old.superseded_by) == ("superseded", new.ref)


def test_what_a_sub_agent_was_refused_for_is_its_session() -> None:
    """What the state stood against is refused for its session instead, once the parent is known (I16)."""
    stage = play(add(RULE), {"do": "memory_delete", "text": RULE}, compacted("C", f"- [project] {RULE}"))
    stage.feed([{"do": "session_parent", "session": "C", "parent": "A"}])
    assert moves(stage)[2:] == [
        (None, "rejected", ("deleted_before",)),
        ("rejected", "rejected", ("subagent_session",)),
    ]


def test_what_waits_too_long_expires_one_by_one() -> None:
    """The state says when the next one does; without one there is no such moment (SPEC 9.5)."""
    days = [format_time(FIRST + days * DAY_MS) for days in (0, 1, 31, 32)]
    stage = play(start("A", at=days[0]), line(RULE, state="pending") | {"at": days[0]})
    stage.feed([line(OTHER, 2, state="pending") | {"at": days[1]}])
    assert memory(stage).expires == FIRST + 30 * DAY_MS
    stage.feed([say("use tabs in Makefiles", at=days[2])])
    assert memory(stage).expires == FIRST + 31 * DAY_MS  # thirty days exactly are not too long
    assert moves(stage, OTHER) == [WAITS]
    stage.feed([say("use spaces in Python", "m2", at=days[3])])
    assert memory(stage).expires is None
    gone = [WAITS, ("pending", "expired", ("pending_expired",))]
    assert (moves(stage), moves(stage, OTHER)) == (gone, gone)
    stage.feed([{"do": "memory_restore", "id": RULE}])
    assert moves(stage) == [*gone, ("expired", "promoted", ("restored",))]


def test_an_hour_lies_between_two_reinforcements() -> None:
    """The last one counts, not only the creation (SPEC 10.3)."""
    again = [compacted(name, f"- [project] {RULE}", at=format_time(FIRST + 2 * HOUR_MS)) for name in "BC"]
    stage = play(compacted("A", f"- [project] {RULE}"), *again)
    known = entry(stage, 1)
    assert (known.reinforcements, known.reinforced_at, known.sessions) == (1, FIRST + 2 * HOUR_MS, ("test/A", "test/B"))


def test_what_retired_elsewhere_says_nothing_about_what_is_active_here() -> None:
    """The memory of a person is neither reworded nor reinforced by it (SPEC 17)."""
    stage = play(add(RULE, type="project", at=format_time(FIRST)))
    before = entry(stage, 1)
    stage.feed([line(RULE.upper(), source="explicit", state="superseded") | {"at": format_time(FIRST + DAY_MS)}])
    assert moves(stage, RULE.upper()) == [(None, "absorbed", ("absorbed_exact",))]
    assert entry(stage, 1) == before


def test_a_call_id_is_its_hosts() -> None:
    """Two hosts may give the same one; within a host it takes effect once (SPEC 3.5)."""
    stage = play(start("A"))
    sources = (("test/A", "Use tabs"), ("other/A", "Use UTC"), ("other/A", "Use LF"), ("test/b/c", "Use CRLF"))
    for source, title in sources:
        data = MemoryAddedData(title, "", origin="tool", call="c1")
        stage.workspace().log.append([Draft(source=source, time=format_time(FIRST + DAY_MS), data=data)])
    assert [one.proposal.text for one in memory(stage).entries.values()] == ["Use tabs", "Use UTC"]
    assert parse_time(stage.events()[-1].time) == FIRST + DAY_MS


def test_only_what_is_gone_and_may_return_is_restored() -> None:
    """Also what expired; what is active, unknown, or has its text taken is left alone, and nothing is undone later."""
    state = empty_state()
    rows = ({"id": "old", "state": "expired"}, {"id": "gone", "state": "deleted"}, {"id": "here"})
    for order, row in enumerate(rows):
        add_entry(state, {"type": "project", "text": f"The {row['id']} harness", **row}, order)
    add_entry(state, {"id": "twin", "type": "project", "text": "The gone harness"}, 3)
    for number, name in enumerate(("here", "gone", "unknown", "old")):
        event = MemoryRestored(
            specversion="1.0",
            id=f"r{number}",
            source="memfold",
            time=None,
            seq=9,
            data=MemoryRestoredData(Ref(name, 0)),
        )
        WorkspaceMemory().step(state, event)
    assert state.changes == {"r3": Change("restored")}
    assert [one.ref.event for one in state.entries.values() if one.state == "promoted"] == ["old", "here", "twin"]


def test_a_restored_request_can_be_deleted_again_by_undo() -> None:
    """Its restoration is a change like any other (SPEC 15.3)."""
    stage = play(say(RULE), {"do": "memory_delete", "text": RULE}, {"do": "memory_restore", "id": RULE}, UNDO)
    assert moves(stage)[-1] == ("promoted", "deleted", ("undone",))


def test_what_retired_elsewhere_begins_as_it_ended_there() -> None:
    """It is history from its first moment on, and says where it comes from (SPEC 17)."""
    stage = play(line(RULE, state="superseded", number=7), line(OTHER, 2, state="deleted"))
    assert moves(stage) == [(None, "superseded", ("imported",))]
    assert moves(stage, OTHER) == [(None, "deleted", ("imported",))]
    assert [one.number for one in memory(stage).entries.values()] == [7, 8]


def test_what_a_sub_agent_repeated_is_refused_from_where_it_went() -> None:
    """It had been absorbed; once the parent is known it is a candidate of a sub-agent like any other."""
    stage = play(compacted("A", f"- [project] {RULE}"), compacted("C", f"- [project] {RULE}"))
    stage.feed([{"do": "session_parent", "session": "C", "parent": "A"}])
    assert moves(stage) == [
        NEW,
        (None, "absorbed", ("absorbed_exact",)),
        ("absorbed", "rejected", ("subagent_session",)),
    ]


def test_a_memory_of_a_person_is_surer_than_that_of_a_tool() -> None:
    """One written into MEMORY.md has the number that stands there, and full confidence (SPEC 2.3, 16.5)."""
    stage = play(start("A"))
    for data in (MemoryAddedData("Use tabs"), MemoryAddedData("Use UTC", origin="hand_edit", number=7)):
        stage.workspace().log.append([Draft(source="test/A", time=format_time(FIRST + DAY_MS), data=data)])
    assert [(entry(stage, number).number, entry(stage, number).first.confidence) for number in (1, 7)] == [
        (1, 90),
        (7, 100),
    ]


def test_a_candidate_of_a_summary_says_where_it_stood() -> None:
    """Its message, and what was removed from the summary before it was read."""
    stage = play(compacted("A", f"- [project] {RULE[:5]}\u200b{RULE[5:]}", message="m7"))
    first = entry(stage, 1).first
    assert (first.text, first.message, first.origin, first.notes) == (RULE, "m7", "summary", ("invisible_removed",))


def test_where_there_is_no_project_a_candidate_is_refused_for_that() -> None:
    """The place is the reason where neither the text nor the session is one (SPEC 1.6)."""
    state = empty_state()
    state.project = False
    turn = Turn(state=state, event="e", offset=1, moves=[])
    assert refuse(turn, proposal({"id": "x", "type": "project", "text": RULE}, 0), ())
    assert [(one.before, one.after, one.reasons) for one in turn.moves] == [(None, "rejected", ("not_a_project",))]
