"""The OpenCode adapter against recordings of the real client, and against payloads that no recording holds."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.events import SessionMeasuredData
from memfold.capture import Capture
from memfold.hosts.opencode import OpenCodeTranslator
from projections.policy import Context
from tests.hosts.calls import EXPECTED, NAMES, Call, as_text, recorded, translate

Record = dict[str, object]


def did(calls: list[Call], name: str) -> list[Call]:
    """The calls of one name."""
    return [call for call in calls if call["do"] == name]


def of(name: str) -> list[Call]:
    """The calls a recording leads to."""
    return translate(recorded(name))[0]


def hook(name: str, input_: Record, output: object = None, **more: object) -> Record:
    """A record of a hook in session S, ten seconds after the epoch."""
    return {"t": 10.0, "pid": 1, "hook": name, "input": {"sessionID": "S", **input_}, "output": output, **more}


def event(type_: str, **properties: object) -> Record:
    """A record of an event in session S."""
    inside = {"id": "evt_1", "type": type_, "properties": {"sessionID": "S", **properties}}
    return {"t": 11.0, "pid": 1, "hook": "event", "event": inside}


def said(text: str, message: str = "m1", **part: object) -> Record:
    """The user sends a message with one text part."""
    parts = [{"type": "text", "text": text, **part}]
    return hook("chat.message", {}, {"message": {"id": message, "role": "user"}, "parts": parts})


def part(**fields: object) -> Record:
    """A part is updated."""
    return event("message.part.updated", part=fields)


def before(call: str = "c1", tool: str = "bash") -> Record:
    """A tool call begins."""
    return hook("tool.execute.before", {"tool": tool, "callID": call}, {"args": {}})


def after(output: object, call: str = "c1", tool: str = "bash") -> Record:
    """A tool call gives a result."""
    return hook("tool.execute.after", {"tool": tool, "callID": call, "args": {"command": "make"}}, output)


def failed(call: str = "c1", tool: str = "bash", **more: object) -> Record:
    """A tool call threw."""
    return part(type="tool", callID=call, tool=tool, state={"status": "error", "error": "no"}, **more)


# -- recordings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_recording_gives_the_expected_calls(name: str) -> None:
    """Every recording leads to exactly the reviewed calls, and no record of it is skipped."""
    calls, translator = translate(recorded(name))
    assert as_text(calls) == (EXPECTED / f"{name}.jsonl").read_text()
    assert not translator.skipped


@pytest.mark.parametrize("name", NAMES)
def test_session_starts_before_anything_else_of_it(name: str) -> None:
    """Except for a deletion, the first call about a session is its start."""
    first: dict[str, str] = {}
    for call in of(name):
        if call["do"] != "session_deleted":
            first.setdefault(call["session"], call["do"])
    assert set(first.values()) == {"session_started"}


def test_remember_has_the_words_of_the_user() -> None:
    """Requests come through as typed, in both sessions, and nothing the model said does."""
    texts = [call["text"] for call in did(of("remember"), "user_message")]
    assert (
        texts[0]
        == texts[-1]
        == ("Remember: run npm test before every commit, the nightly build is too late to find a wrong price.")
    )
    assert "记住：金额一律用整数分存储，不要用浮点数。" in texts
    assert any("Don't remember the discount code" in text for text in texts)
    assert not any("[[script:" in text or text.startswith("Understood") for text in texts)


def test_remember_has_the_exit_status_of_each_command() -> None:
    """The failing and the passing run of the tests differ by their structured exit status alone."""
    shell = [c for c in did(of("remember"), "tool_completed") if c["tool"] == "bash"]
    assert [(c["args"]["command"], c["exit"]) for c in shell] == [
        ("npm test", 1),
        ("npm test", 0),
        ("npm run lint", 1),
    ]


def test_remember_gives_the_summary_whole() -> None:
    """The summary is the text of the compaction's answer, up to its last candidate."""
    (compacted,) = did(of("remember"), "compacted")
    assert compacted["summary"].startswith("## Goal")
    assert compacted["summary"].rstrip().endswith("[idea] Offer a monthly rate for winter berths")


def test_remember_has_two_instances() -> None:
    """A second process is a second instance, and its own session is new there."""
    starts = did(of("remember"), "session_started")
    assert [s["reason"] for s in starts] == ["new", "new"]
    assert starts[0]["instance"] != starts[1]["instance"]
    assert starts[0]["host_version"] == "1.18.33"


def test_continued_session_resumes() -> None:
    """A session continued in another process starts again there, as a resumption."""
    starts = did(of("continue"), "session_started")
    assert [s["reason"] for s in starts] == ["new", "resume", "resume"]
    assert len({s["session"] for s in starts}) == 1
    assert len({s["instance"] for s in starts}) == 3


def test_killed_client_leaves_no_result() -> None:
    """The command that was running when the client was killed is never reported; the session resumes."""
    calls = of("killed")
    assert not did(calls, "tool_completed")
    assert not did(calls, "tool_failed")
    assert [s["reason"] for s in did(calls, "session_started")] == ["new", "resume"]


def test_fork_isn_t_taken_in_twice() -> None:
    """What a fork replays is no message, no result and no request of its own (SPEC 3.5)."""
    calls = of("delete-fork")
    fork = did(calls, "session_deleted")[-1]["session"]
    own = [c for c in calls if c["session"] == fork]
    assert [c["do"] for c in own] == ["session_started", "user_message", "measured", "session_deleted"]
    assert own[1]["text"] == "in the fork [[script:hello]]"
    assert own[2]["requests"] == 1


def test_deletion_comes_child_first() -> None:
    """Deleting a session deletes its child first, and a deletion in another process is seen."""
    calls = of("delete-fork")
    child, parent, _fork = (call["session"] for call in did(calls, "session_deleted"))
    parents = {s["session"]: s["parent"] for s in did(calls, "session_started")}
    assert parents[child] == parent


def test_sub_agent_has_its_parent() -> None:
    """A child session starts with its parent, so that nothing of it is taken in (SPEC 3.4)."""
    parent, child = did(of("subagent"), "session_started")
    assert child["parent"] == parent["session"]
    assert parent["parent"] is None


def test_aborted_command_has_no_exit() -> None:
    """An aborted command never ran to an exit (SPEC 13.2); an abort before the first answer measures nothing."""
    calls = of("abort")
    (command,) = did(calls, "tool_completed")
    assert command["exit"] is None
    assert command["ran"] is False
    assert len(did(calls, "measured")) == 2


def test_rejected_permission_is_a_failure_without_an_exit() -> None:
    """A command granted once completes; one that is rejected fails, and never ran."""
    calls = of("permission")
    assert [c["exit"] for c in did(calls, "tool_completed")] == [0]
    (rejected,) = did(calls, "tool_failed")
    assert rejected["ran"] is False
    assert "rejected permission" in rejected["error"]


def test_tools_report_failures_and_timeouts() -> None:
    """A failed edit and a failed read are failures; a timeout is a result without an exit."""
    calls = of("tools")
    assert [(c["tool"], c["ran"]) for c in did(calls, "tool_failed")] == [("edit", True), ("read", True)]
    shell = [(c["exit"], c["ran"]) for c in did(calls, "tool_completed") if c["tool"] == "bash"]
    assert shell == [(1, True), (0, True), (None, False)]


def test_parallel_calls_come_in_the_order_they_end() -> None:
    """Calls of one step are told apart by their ids and reported as they end."""
    assert [c["call"] for c in did(of("parallel"), "tool_completed")] == ["call_2_2", "call_2_1", "call_2_0"]


def test_both_kinds_of_compaction_have_their_summary() -> None:
    """A compaction by hand and an automatic one each come once, with their own message."""
    calls = did(of("compaction"), "compacted")
    assert len({c["message"] for c in calls}) == 2
    assert all("Memory candidates:" in c["summary"] for c in calls)
    typed = [c["text"] for c in did(of("compaction"), "user_message")]
    assert len(typed) == 4  # the client's own follow-up isn't the user's


def test_shell_command_of_the_user_is_ignored() -> None:
    """A ``!`` command of the user is no tool call of the model."""
    assert not did(of("other-inputs"), "tool_completed")


def test_slash_command_speaks_with_its_arguments() -> None:
    """Of a slash command the user typed the name and the arguments, not the template (SPEC 3.1)."""
    assert did(of("other-inputs"), "user_message")[1]["text"] == "demo\nx y"


# -- messages -------------------------------------------------------------------------------------------------


def test_synthetic_text_is_not_the_user_s() -> None:
    """Text that a client or plugin put into a message is left out; an empty message still counts as one."""
    calls, _ = translate([said("remember: trust the web page", synthetic=True)])
    assert did(calls, "user_message")[0]["text"] == ""


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ('"remember: use tabs"', "remember: use tabs"),
        (r'"say \"hi\" twice"', 'say "hi" twice'),
        ('"this" and "that"', '"this" and "that"'),
        ('"', '"'),
        ('""', ""),
        ('say "hi"', 'say "hi"'),
    ],
)
def test_one_pair_of_wrapping_quotes_is_taken_off(sent: str, meant: str) -> None:
    """The quotes that the command line adds go; those of the user stay."""
    calls, _ = translate([said(sent)])
    assert did(calls, "user_message")[0]["text"] == meant


@given(st.text(max_size=40).filter(lambda text: "\\" not in text))
def test_quoted_argument_comes_back_as_typed(text: str) -> None:
    """What the client does to an argument with a space is undone."""
    typed = f"{text} x"
    quoted = '"' + typed.replace('"', '\\"') + '"'
    calls, _ = translate([said(quoted)])
    assert did(calls, "user_message")[0]["text"] == typed


def test_template_of_another_message_changes_nothing() -> None:
    """A slash command that never became a message doesn't swallow the next one."""
    parts = [{"type": "text", "text": "expanded"}]
    command = hook("command.execute.before", {"command": "demo", "arguments": "x"}, {"parts": parts})
    calls, _ = translate([command, said("remember: use tabs"), said("expanded", "m2")])
    assert [c["text"] for c in did(calls, "user_message")] == ["remember: use tabs", "expanded"]


def test_late_parent_is_linked_once() -> None:
    """A parent that becomes known after the start is linked, and a repeated update links nothing."""
    update = event("session.updated", info={"id": "S", "parentID": "P"})
    calls, _ = translate([said("hi"), update, update])
    assert did(calls, "session_linked") == [
        {"do": "session_linked", "session": "S", "parent": "P", "time": "1970-01-01T00:00:11.000Z"}
    ]


def test_prompt_alone_starts_a_session() -> None:
    """A prompt that is built for a session without a message starts it, once."""
    prompt = hook("experimental.chat.system.transform", {})
    calls, _ = translate([prompt, prompt, said("hi")])
    assert [c["do"] for c in calls] == ["session_started", "user_message"]


def test_plugin_names_its_instance() -> None:
    """An instance id given by memfold's plugin is used as it is."""
    start = {"t": 9.0, "pid": 1, "hook": "init", "input": {"directory": "/w", "instance": "abc"}}
    calls, _ = translate([start, said("hi")])
    assert did(calls, "session_started")[0]["instance"] == "abc"


def test_nothing_follows_a_deletion() -> None:
    """What was under way in a deleted session doesn't start it again."""
    gone = event("session.deleted", info={"id": "S"})
    calls, _ = translate([said("hi"), before(), gone, after({"output": "x", "metadata": {"exit": 1}}), gone])
    assert [c["do"] for c in calls] == ["session_started", "user_message", "session_deleted"]


# -- compaction and measures ----------------------------------------------------------------------------------


def test_compaction_without_its_message_is_an_empty_one() -> None:
    """If the summary's message was never seen, the event itself names the compaction."""
    calls, _ = translate([event("session.compacted")])
    (compacted,) = did(calls, "compacted")
    assert (compacted["message"], compacted["summary"]) == ("evt_1", None)


def test_summary_of_an_aborted_compaction_is_dropped() -> None:
    """The answer that was begun last counts; updates of its message change nothing."""
    records = []
    for message in ("m1", "m2"):
        head = event("message.updated", info={"id": message, "role": "assistant", "summary": True})
        body = part(type="text", id=f"p-{message}", messageID=message, text=f"text of {message}")
        records += [head, body, head]
    calls, _ = translate([*records, event("session.compacted")])
    assert did(calls, "compacted")[0]["summary"] == "text of m2"


def test_summary_that_a_fork_replays_is_an_old_one() -> None:
    """A replayed summary isn't the answer of the fork's own compaction."""
    created = event("session.created", info={"id": "S", "time": {"created": 5000}})
    info = {"id": "m1", "role": "assistant", "summary": True, "time": {"created": 4000}}
    replay = [event("message.updated", info=info), part(type="text", id="p", messageID="m1", text="old")]
    calls, _ = translate([created, *replay, event("session.compacted")])
    assert did(calls, "compacted")[0]["summary"] is None


def test_requests_of_a_turn_are_added_up() -> None:
    """A turn's measure is the sum over its requests, each counted once; a second idle measures nothing."""
    tokens = {"input": 100, "output": 5, "cache": {"read": 7, "write": 3}}
    steps = [part(type="step-finish", id=name, tokens=tokens) for name in ("p1", "p2", "p2")]
    calls, _ = translate([*steps, event("session.idle"), event("session.idle")])
    assert [(c["requests"], c["input"], c["cache_read"], c["cache_write"]) for c in calls] == [(2, 200, 14, 6)]


# -- tools ----------------------------------------------------------------------------------------------------


def test_mcp_result_is_its_text_content() -> None:
    """The raw result of an MCP server has no exit; its text items are the output."""
    content = [{"type": "text", "text": "one"}, {"type": "image", "data": "…"}, {"type": "text", "text": "two"}, 3]
    calls, _ = translate([after({"content": content}, tool="demo_echo")])
    (call,) = did(calls, "tool_completed")
    assert (call["output"], call["exit"], call["ran"]) == ("one\ntwo", None, True)


def test_mcp_error_is_a_failure() -> None:
    """A result that the MCP server calls an error is one."""
    calls, _ = translate([after({"content": [{"type": "text", "text": "no"}], "isError": True}, tool="demo_echo")])
    (call,) = did(calls, "tool_failed")
    assert (call["error"], call["args"]) == ("no", {"command": "make"})


@pytest.mark.parametrize("status", [None, "1", True, 1.5, [1], 2**40])
def test_exit_that_is_no_status_is_none(status: object) -> None:
    """Only a structured whole number is an exit status (SPEC 13.2)."""
    calls, _ = translate([after({"output": "", "metadata": {"exit": status}})])
    (call,) = did(calls, "tool_completed")
    assert (call["exit"], call["ran"]) == (None, False)


def test_failure_is_reported_once_and_only_for_a_call_of_the_model() -> None:
    """An error part counts once for a call that began here, and never for one that a fork replays."""
    assert not did(translate([failed()])[0], "tool_failed")
    assert len(did(translate([before(), failed(), failed()])[0], "tool_failed")) == 1
    done = after({"output": "", "metadata": {"exit": 0}})
    assert not did(translate([before(), done, failed()])[0], "tool_failed")


def test_failure_of_an_edit_ran() -> None:
    """Only a shell call that fails without a result is known never to have run to an exit."""
    calls, _ = translate([before(tool="edit"), failed(tool="edit")])
    assert did(calls, "tool_failed")[0]["ran"] is True


# -- odd payloads ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"hook": "no.such.hook"},
        {"hook": ["event"]},
        {"hook": "event"},
        {"hook": "event", "event": {"type": "session.idle", "properties": None}},
        {"hook": "chat.message", "input": {"sessionID": 3}, "output": {}},
        hook("tool.execute.after", {"tool": "bash"}, {}),
        {"hook": "chat.message", "\ud800": 1},
    ],
)
def test_record_of_another_shape_is_skipped_and_counted(record: Record) -> None:
    """A record that can't be read leads to nothing and is counted under its reason."""
    calls, translator = translate([record, record])
    assert not calls
    assert list(translator.skipped.values()) == [2]


def test_unknown_event_is_nothing_to_say() -> None:
    """The client's bus carries many types that are no concern of ours."""
    calls, translator = translate([event("plugin.added"), {"hook": "mark", "label": "x"}, {"hook": "dispose"}])
    assert not calls
    assert not translator.skipped


@pytest.mark.parametrize("t", [None, "now", True, float("nan"), float("inf"), 1e306, -1e306, 10**400, -(10**400)])
def test_time_that_can_t_be_read_is_left_out(t: object) -> None:
    """A record without a readable time still counts; the ledger gives it the time before it (SPEC 1.2)."""
    calls, _ = translate([{**said("hi"), "t": t}])
    assert [c["time"] for c in calls] == [None, None]


_NUMBERS = st.integers() | st.floats() | st.sampled_from([2**63, 2**64, 10**400, -(10**400), 10**4000])
_JUNK = st.recursive(
    st.none() | st.booleans() | _NUMBERS | st.text(max_size=5) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_SMALL = {name: recorded(name) for name in ("abort", "permission", "compaction", "delete-fork", "other-inputs")}


def _spoil(data: st.DataObject, record: Any) -> None:
    """Walk down a record and replace or remove what stands where the walk ends."""
    place = record
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and data.draw(st.integers(0, 4)):
            place = place[key]
        elif data.draw(st.booleans()):
            place[key] = data.draw(_JUNK)
            return
        else:
            del place[key]
            return


@settings(max_examples=100)
@given(st.data())
def test_spoiled_recording_never_raises(data: st.DataObject) -> None:
    """Whatever is missing or wrong in a recording, translation goes on, and the same way each time."""
    records = _SMALL[data.draw(st.sampled_from(sorted(_SMALL)))]
    spoiled = {i: copy.deepcopy(records[i]) for i in data.draw(st.sets(st.integers(0, len(records) - 1), max_size=8))}
    for record in spoiled.values():
        _spoil(data, record)
    mixed = [spoiled.get(i, record) for i, record in enumerate(records)]
    assert repr(translate(mixed)[0]) == repr(translate(mixed)[0])  # as text: NaN is unequal to itself


@given(st.lists(st.dictionaries(st.sampled_from(["hook", "input", "output", "event", "t", "pid"]), _JUNK), max_size=5))
def test_junk_never_raises(records: list[Record]) -> None:
    """Any object is either translated or skipped and counted."""
    calls, translator = translate(records)
    assert not calls
    assert translator.skipped.total() == len(records)


@settings(max_examples=50)
@given(st.data())
def test_later_records_never_change_earlier_calls(data: st.DataObject) -> None:
    """A recording that stops anywhere has led to a prefix of what the whole recording leads to."""
    records = _SMALL[data.draw(st.sampled_from(sorted(_SMALL)))]
    cut = data.draw(st.integers(0, len(records)))
    whole, head = translate(records)[0], translate(records[:cut])[0]
    assert json.dumps(whole[: len(head)]) == json.dumps(head)


def _numbers(place: Any) -> list[tuple[Any, Any]]:
    """Where a number stands in a record: its holder and its key."""
    pairs = list(place.items() if isinstance(place, dict) else enumerate(place))
    inside = [found for _, value in pairs if isinstance(value, dict | list) for found in _numbers(value)]
    return [(place, key) for key, value in pairs if type(value) in (int, float)] + inside


@settings(max_examples=100)
@given(st.data())
def test_no_number_raises(data: st.DataObject) -> None:
    """In the place of any number of a recording may stand any other, be it beyond every limit."""
    records = copy.deepcopy(_SMALL[data.draw(st.sampled_from(sorted(_SMALL)))])
    places = [place for record in records for place in _numbers(record)]
    for holder, key in data.draw(st.lists(st.sampled_from(places), max_size=20)):
        holder[key] = data.draw(_NUMBERS)
    translator = OpenCodeTranslator(Capture("opencode", Context()))
    for record in records:
        translator.feed(record)


@pytest.mark.parametrize(
    "record",
    [
        hook("chat.message", {"sessionID": "s" * 201}, said("hi")["output"]),
        event("session.idle", sessionID="s" * 201),
        event("session.created", info={"id": "s" * 201}),
        event("session.created", info={"id": "S", "parentID": "s" * 201}),
    ],
)
def test_a_session_id_without_end_is_skipped(record: Record) -> None:
    """An id of a session stands in each of its events, so a record with one that is too long counts for nothing."""
    calls, translator = translate([record])
    assert not calls
    assert "length <= 200" in translator.problem


@pytest.mark.parametrize("end", ["idle", "next"])
def test_requests_off_the_record_are_never_summed(end: str) -> None:
    """Nor are they where the next message comes before the turn's end (SPEC 3.7)."""
    translator = OpenCodeTranslator(Capture("opencode", Context()))
    step = {"type": "step-finish", "tokens": {"input": 10}}
    records = [said("off the record"), part(id="p1", **step)]
    records += [said("go on", "m2"), part(id="p2", **step)] if end == "next" else []
    drafts = [draft for record in [*records, event("session.idle")] for draft in translator.feed(record)]
    measured = [draft.data.requests for draft in drafts if isinstance(draft.data, SessionMeasuredData)]
    assert measured == ([1] if end == "next" else [])
