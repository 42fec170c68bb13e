"""What a client is given at each hook, and what stands in the ledger afterwards."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ledger.drafts import given_ids
from ledger.events import (
    CompactionPrepared,
    Draft,
    LedgerCreated,
    MemoryRequested,
    PolicySet,
    PromptRendered,
    RulesLoaded,
    SessionLinked,
    SessionMeasured,
    SessionStarted,
    ToolCompleted,
)
from memfold.bridge.bridge import HELD_LIMIT, Bridge, serve
from memfold.bridge.lines import LineWriter
from memfold.bridge.notice import NOTICE_CHARS
from projections.policy import RULES_VERSION
from tests.support.bridge import (
    Client,
    Record,
    compacted,
    compacting,
    environment,
    event,
    events_of,
    folder_of,
    hook,
    init,
    line_of,
    ran,
    remembered,
    said,
    system,
)
from tests.support.broken_disk import broken_disk, error_of

REMEMBER = "Remember: use integer cents for money"
FROZEN = "Workspace memory (cross-session, verify if stale):\nfeedback:\n- use integer cents for money"
HOT = (
    "Hot session state (current session):\nopen_errors: (none)\n"
    "pending_memories:\n- [feedback] use integer cents for money"
)

NOTED = "Noted for the next sessions: use integer cents for money"


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """A client in a folder without git, whose bridge has been told where it is."""
    (tmp_path / "w").mkdir()
    made = Client(tmp_path, tmp_path / "w")
    made.begin()
    return made


# -- what is done behind an answer ------------------------------------------------------------------------------


def test_an_answered_call_is_in_the_log(tmp_path: Path) -> None:
    """Before anything that can wait is done; the state that it leads to is the same, however many are answered so."""
    (tmp_path / "w").mkdir()
    parts = []
    for home, settles in (("a", True), ("b", False)):
        bridge = Bridge(environment(tmp_path / home))
        bridge.answer(line_of(init(tmp_path / "w"), 1))
        bridge.answer(line_of(said(REMEMBER), 2))
        bridge.settle()
        for number in range(40):
            call = ran(f"npm test {number % 3}", 1, f"FAIL src/{number}.js: no", call=f"c{number}")
            assert bridge.answer(line_of(call, 3 + number)).refused is None
            stored = [one for one in events_of(tmp_path / home, tmp_path / "w") if isinstance(one, ToolCompleted)]
            assert [one.data.call for one in stored] == [f"c{n}" for n in range(number + 1)]
            if settles:
                bridge.settle()
        parts.append(bridge.answer(line_of(said("go on", message="m2"), 50)).part)
        bridge.close()
    assert "src/39.js" in str(parts[0])
    assert parts[0] == parts[1]


def test_it_is_said_once_that_the_log_is_read(tmp_path: Path) -> None:
    """Behind the first answer: what is at hand by then stays."""
    (tmp_path / "w").mkdir()
    told: list[str] = []
    bridge = Bridge(environment(tmp_path / "home"), warmed=lambda: told.append("warm"))
    for number, record in enumerate((init(tmp_path / "w"), said(REMEMBER), system()), 1):
        bridge.answer(line_of(record, number))
        bridge.settle()
    bridge.close()
    assert told == ["warm"]


# -- init -----------------------------------------------------------------------------------------------------


def test_init_alone_makes_nothing(client: Client) -> None:
    """A client that is only started leaves no trace on the disk."""
    assert list((client.folder / "home").iterdir()) == []


def test_hooks_before_init_are_refused(tmp_path: Path) -> None:
    """Without knowing where it is, the bridge answers nothing."""
    client = Client(tmp_path, tmp_path)
    assert client.ask(said(REMEMBER))["refused"].startswith("not ready: ")
    assert client.ask(system())["refused"].startswith("not ready: ")


@pytest.mark.parametrize("directory", [None, 7, "", "relative/path", "/a\0b"])
def test_a_directory_that_names_none_is_refused(tmp_path: Path, directory: object) -> None:
    """Only an absolute path says where the client works."""
    client = Client(tmp_path, tmp_path)
    assert client.ask({"hook": "init", "input": {"directory": directory}})["refused"].startswith("unreadable: ")
    assert client.begin() == {}


def test_a_second_init_may_only_repeat_the_directory(client: Client) -> None:
    """The same directory again is fine, another one is refused, and the bridge goes on with the first."""
    assert client.begin() == {}
    assert client.begin(client.folder)["refused"].startswith("elsewhere: ")
    client.ask(said(REMEMBER))
    assert len(client.events(MemoryRequested)) == 1


def test_no_data_folder(tmp_path: Path) -> None:
    """A data folder that can't be named is a reason to refuse, and nothing breaks."""
    client = Client(tmp_path, tmp_path, MEMFOLD_DATA_DIR="relative")
    assert client.begin()["refused"].startswith("no data folder: ")
    assert client.ask(system())["refused"].startswith("not ready: ")


@pytest.mark.parametrize("is_seen", [True, False])
def test_a_workspace_that_cannot_be_seen(tmp_path: Path, *, is_seen: bool) -> None:
    """Where ``.git`` can't be read no ledger is made; each line looks again, and what came meanwhile isn't lost."""
    repo = tmp_path / "w" / "sub"
    (tmp_path / "w" / ".git").mkdir(parents=True)
    repo.mkdir()
    client = Client(tmp_path, repo)
    before = sorted(tmp_path.rglob("*"))
    with broken_disk(lambda call: error_of(errno.EIO) if call.path.endswith(".git") else None):
        for record in (init(repo), said("Remember: use tabs", message="m0"), system()):
            assert client.ask(record)["refused"].startswith("no workspace: ")
    assert sorted(tmp_path.rglob("*")) == before
    if is_seen:
        client.ask(said(REMEMBER))
    client.bridge.close()
    asked = [one.data.message for one in client.events(MemoryRequested) if isinstance(one, MemoryRequested)]
    assert asked == ["m0", *(["m1"] if is_seen else [])]
    assert len(client.events(PromptRendered)) == is_seen  # of what came meanwhile nobody got an answer


# -- messages -------------------------------------------------------------------------------------------------


def test_a_first_message_brings_the_whole_hot_block(client: Client) -> None:
    """A request is in the log before the answer, and shows in the hot block that goes with its own message."""
    assert client.ask(said(REMEMBER)) == {"part": HOT, "notice": NOTED}
    kinds = [type(one) for one in client.events()]
    assert kinds == [LedgerCreated, PolicySet, SessionStarted, MemoryRequested, PromptRendered]
    assert client.receipts() == [("hot", "one", len(HOT))]


def test_an_empty_hot_block_has_a_receipt(client: Client) -> None:
    """Nothing to show is no part, but the session has been given the whole; later there are changes alone."""
    assert client.ask(said("good morning")) == {}
    assert client.receipts() == [("hot", "one", 0)]
    answer = client.ask(said(REMEMBER, message="m2"))
    assert answer["part"] == "Hot session state (changes):\n+ pending_memories: [feedback] use integer cents for money"
    assert client.ask(said("go on", message="m3")) == {}
    assert [kind for kind, _, _ in client.receipts()] == ["hot", "delta"]


def test_a_failing_command_is_a_change(client: Client) -> None:
    """What a tool call opened comes with the next message."""
    client.ask(said("test it"))
    client.ask(hook("tool.execute.before", tool="bash", callID="c1"))
    assert client.ask(ran("npm test", 1, "FAIL src/rates.js: wrong")) == {}
    answer = client.ask(said("and now?", message="m2"))
    assert answer["part"] == "Hot session state (changes):\n+ open_errors: [test] FAIL src/rates.js: wrong"


def test_nothing_is_said_off_the_record(client: Client) -> None:
    """Of a message off the record, and the calls up to the next one, nothing is written; no part goes with it."""
    client.ask(said("go"))
    before = client.events()
    assert client.ask(said(f"off the record\n{REMEMBER}", message="m2")) == {"private": True}
    client.ask(ran("npm test", 1, "FAIL src/rates.js: wrong"))
    assert client.events() == before
    assert client.ask(system()) == {"system": []}
    client.ask(said(REMEMBER, message="m3"))
    assert len(client.events(MemoryRequested)) == 1


def test_sub_agents_of_a_turn_off_the_record_leave_no_word(client: Client) -> None:
    """Neither what they are told nor their calls, at any depth and in a successor too, up to the next message."""
    child, grandchild = (
        event("session.created", session, info={"id": session, "parentID": parent})
        for session, parent in (("child", "S"), ("grandchild", "child"))
    )
    client.ask(child)
    assert client.ask(said("off the record: zyx", message="m0")) == {"private": True}

    def work(call: str) -> None:
        for session in ("grandchild", "child"):  # it may be the first that a successor hears of
            assert client.ask(said("Remember: zyx is secret", session, f"m{call}{session}")) == {}
            client.ask(system(session))
            client.ask(ran("npm test zyx", 1, "FAIL src/zyx.js: wrong", session, call))
            client.ask(event("message.part.updated", session, part={"id": call, "type": "step-finish"}))
            for record in compacted("Memory candidates:\n- [project] zyx", session, f"sum{call}"):
                client.ask(record)

    client.ask(grandchild)
    work("c1")
    client.bridge = Bridge(client.environ)
    client.begin(private=["S"])
    for record in (grandchild, child):
        client.ask(record)
    work("c2")
    assert b"zyx" not in (folder_of(client.folder / "home", client.root) / "events.jsonl").read_bytes()
    assert client.events(ToolCompleted, MemoryRequested) == []
    client.ask(said("go on", message="m9"))
    client.ask(ran("npm test", 0, session="grandchild", call="c3"))
    client.ask(event("session.idle", "grandchild"))
    assert len(client.events(ToolCompleted)) == 1
    assert client.events(SessionMeasured) == []


def test_hot_delivery_off_gives_nothing(client: Client) -> None:
    """With hotDelivery off no message carries anything, and no receipt says so."""
    client.configure('hotDelivery = "off"')
    assert client.ask(said(REMEMBER)) == {"notice": NOTED}
    assert client.receipts() == []


class Pipe(LineWriter):
    """Keeps how many answers were written at once; ``heard`` is whether somebody reads them."""

    def __init__(self, *, heard: bool = True) -> None:
        super().__init__(-1)
        self.answers: list[int] = []
        self._is_heard = heard

    def write(self, line: bytes) -> bool:
        """Take answers, each a line."""
        self.answers.append(line.count(b"\n"))
        return self._is_heard


def _served(client: Client, *records: Record, heard: bool = True) -> list[int]:
    pipe = Pipe(heard=heard)
    lines = (line_of(record, n) for n, record in enumerate([init(client.root), *records]))
    serve(lines, pipe, Bridge(client.environ))
    return pipe.answers


def test_a_slash_command_is_held_until_its_message(client: Client) -> None:
    """What a template was expanded to proposes nothing; its line isn't answered before the message is recorded."""
    parts = [{"type": "text", "text": REMEMBER}]
    command = hook("command.execute.before", output={"parts": parts}, command="look", arguments="around")
    update = event("session.updated", info={"id": "S"})
    assert _served(client, command, update, said(REMEMBER), update) == [1, 3, 1]
    assert client.events(MemoryRequested) == []


def test_a_summary_is_answered_with_its_end(client: Client) -> None:
    """The lines of a summary are answered when its compaction is recorded, or when the turn ends without one."""
    head, part, end = compacted("Memory candidates:\n(none)")
    assert _served(client, head, part, end, system()) == [1, 3, 1]
    assert _served(client, head, part, event("session.idle")) == [1, 3]
    assert _served(client, head, part) == [1, 2]


def test_answers_are_not_held_for_ever(client: Client) -> None:
    """What is left unfinished holds back a bounded number of answers."""
    head, *_ = compacted("")
    assert _served(client, *[head] * (HELD_LIMIT + 5)) == [1, HELD_LIMIT, 5]


def test_what_nobody_reads_is_no_receipt(client: Client) -> None:
    """A client that is gone is given nothing; what it said is recorded."""
    assert _served(client, said(REMEMBER), system(), heard=False) == [1, 1, 1]
    assert len(client.events(MemoryRequested)) == 1
    assert client.receipts() == []


# -- the frozen block -----------------------------------------------------------------------------------------


def test_the_frozen_block_is_the_same_until_a_compaction(client: Client) -> None:
    """A block is frozen at its session's start; another session sees what was asked for, the same one later."""
    client.ask(said(REMEMBER))
    assert client.ask(system()) == {"system": []}
    assert client.ask(system(session="T")) == {"system": [FROZEN]}
    assert client.ask(system()) == {"system": []}
    for record in compacted("Memory candidates:\n(none)"):
        client.ask(record)
    assert client.ask(system()) == {"system": [FROZEN]}


def test_a_frozen_block_has_one_receipt_per_epoch_and_instance(client: Client) -> None:
    """However many steps a turn has, the block is noted once; a new epoch or instance is noted again."""
    for _ in range(3):
        client.ask(system())
    assert client.receipts() == [("workspace", "one", 0)]
    client.respawn()
    client.ask(system())
    assert client.receipts() == [("workspace", "one", 0)]
    client.respawn(instance="two")
    client.ask(system())
    for record in compacted(""):
        client.ask(record)
    client.ask(system())
    assert client.receipts() == [("workspace", "one", 0), ("workspace", "two", 0), ("workspace", "two", 0)]


def test_sub_agents_get_nothing(client: Client) -> None:
    """A session with a parent has no block, no part and no list, and what it is told is no memory (SPEC 3.4)."""
    client.ask(said(REMEMBER, session="other"))
    client.ask(event("session.created", "child", info={"id": "child", "parentID": "S", "time": {"created": 1}}))
    assert client.ask(said("Remember: use tabs", session="child", message="m2")) == {}
    assert client.ask(system("child")) == {"system": []}
    assert client.ask(compacting("child")) == {"context": []}
    assert client.events(CompactionPrepared) == []
    client.ask(system("next"))
    assert "tabs" not in str(client.ask(system("next")))


def test_placement_system(client: Client) -> None:
    """With placement "system" the hot block stands behind the frozen one; it is noted when it changes."""
    client.configure('placement = "system"')
    assert client.ask(said(REMEMBER)) == {"notice": NOTED}
    assert client.ask(system()) == {"system": [HOT]}
    assert client.ask(system()) == {"system": [HOT]}
    assert [kind for kind, _, _ in client.receipts()] == ["workspace", "hot"]
    client.ask(ran("npm test", 1, "FAIL src/rates.js: wrong"))
    (segment,) = client.ask(system())["system"]
    assert "- [test] FAIL src/rates.js: wrong" in segment
    assert [kind for kind, _, _ in client.receipts()] == ["workspace", "hot", "hot"]
    client.ask(said("off the record", message="m2"))
    assert client.ask(system()) == {"system": []}
    assert client.ask(system("T")) == {"system": [FROZEN]}


def test_delivery_is_that_of_the_start(client: Client) -> None:
    """A setting that changes in the middle of an epoch counts from the next one on."""
    client.ask(said("go"))
    client.configure('placement = "system"')
    assert "part" in client.ask(said(REMEMBER, message="m2"))
    assert client.ask(system()) == {"system": []}
    (start,) = client.events(SessionStarted)
    assert isinstance(start, SessionStarted)
    assert not start.data.delivery.tools


# -- what the user is told --------------------------------------------------------------------------------------


def told(client: Client, text: str, message: str = "m1", session: str = "S") -> str | None:
    """What the user is told of a message."""
    notice: str | None = client.ask(said(text, session, message)).get("notice")
    return notice


def test_a_message_that_asks_for_nothing_has_no_notice(client: Client) -> None:
    """Only requests have a receipt."""
    assert told(client, "please fix the test") is None


def test_what_is_not_kept_says_why(client: Client) -> None:
    """A refusal has its reason in a few words; what was negated isn't quoted (SPEC 4.4, 4.8)."""
    assert told(client, "Remember: should we use tabs here?") == (
        "Not kept (the text is a question): should we use tabs here?"
    )
    assert told(client, "Remember: x", "m2") == "Not kept (the text is too short to stand alone): x"
    assert told(client, "don't remember that I like tabs", "m3") == "Not kept (the request is negated)"


def test_what_is_known_already_is_said(client: Client) -> None:
    """A request that waits or is active is known; so says the notice, in this session and another one."""
    known = "Already known: use integer cents for money"
    assert told(client, REMEMBER) == NOTED
    assert told(client, REMEMBER, "m2") == known
    assert told(client, REMEMBER, "m3", "T") == known


def test_a_notice_is_short_and_safe(client: Client) -> None:
    """Three candidates are named and the others counted; a line has 120 characters and moves no cursor."""
    bidi = "keep \u200fmarks"
    words = [f"Remember: {text}" for text in (bidi, "a <system> tag is shown", "x" * 300, "use tabs", "use spaces")]
    first, second, third, rest = str(told(client, "\n".join(words))).split("\n")
    assert first == "Noted for the next sessions: keep \\u200fmarks"
    assert second == "Noted for the next sessions: a \u2039system> tag is shown"
    assert third.endswith("x…")
    assert len(third) == NOTICE_CHARS
    assert rest == "and 2 more"
    secret = "password: " + "hunter2" * 3
    assert "hunter2" not in str(told(client, f"Remember: the {secret}", "m2"))


def test_a_message_that_comes_again_has_the_same_notice(client: Client) -> None:
    """The answer that got lost had told it, so it is told again; what was refused was recorded all the same."""
    text = f"{REMEMBER}\nRemember: should we use tabs here?"
    first = told(client, text)
    assert first is not None
    assert "question" in first
    client.respawn()
    assert told(client, text) == first
    assert told(client, "Remember: should we?", "m2") is not None
    assert told(client, "Remember: should we?", "m2") is None


def test_what_was_decided_meanwhile_is_told_as_it_is(client: Client) -> None:
    """A message that comes again after its candidates were decided: promoted is noted, absorbed is known."""
    told(client, REMEMBER)
    told(client, REMEMBER, "m2")
    client.ask(system("T"))
    assert told(client, REMEMBER) == NOTED
    assert told(client, REMEMBER, "m2") == "Already known: use integer cents for money"


FILE = "Settings ignored: ~/w/.memfold.toml"
BROKEN = f"{FILE}: is no TOML and is ignored: Invalid value (at line 1, column 11); correct that place"
QUOTED = f"{FILE}: enabled = 'false': is not true or false; write true or false, without quotation ma…"


@pytest.fixture
def at_home(tmp_path: Path) -> Client:
    """A client in a folder below the home folder, not started yet."""
    (tmp_path / "home" / "w").mkdir(parents=True)
    return Client(tmp_path, tmp_path / "home" / "w")


@pytest.mark.parametrize(("text", "line"), [("enabled = no", BROKEN), ('enabled = "false"', QUOTED)])
def test_settings_that_cannot_be_used_are_told_once(at_home: Client, text: str, line: str) -> None:
    """The first message after a start is told of them, before what it asked for; no other one is (SPEC 19)."""
    at_home.configure(text)
    assert at_home.begin() == {}
    assert "notice" not in at_home.ask(system())
    assert told(at_home, REMEMBER) == f"{line}\n{NOTED}"
    assert told(at_home, "go on", "m2") is None
    assert told(at_home, "go on", "m3", "T") is None


def test_settings_that_are_read_again_are_told_again(at_home: Client) -> None:
    """A file that changes and still can't be used is told with the next message; one that is put right, never."""
    at_home.begin()
    assert told(at_home, "go") is None
    at_home.configure("enabled = no")
    assert told(at_home, "go on", "m2") == BROKEN
    at_home.configure('enabled = "false"')
    assert told(at_home, "go on", "m3") == QUOTED
    at_home.configure("enabled = no  # mend me")
    at_home.ask(system())
    at_home.configure("enabled = true")
    assert told(at_home, "go on", "m4") is None


def test_settings_are_not_told_off_the_record(at_home: Client) -> None:
    """A message off the record is told of nothing; the next one that is on it is (SPEC 3.7)."""
    at_home.configure("enabled = no")
    at_home.begin()
    assert at_home.ask(said("off the record")) == {"private": True}
    assert told(at_home, "go on", "m2") == BROKEN


def test_settings_are_not_told_while_memory_is_off(at_home: Client) -> None:
    """Who has switched memory off hears nothing of it; once it is on again, what is wrong is told (SPEC 3.7)."""
    at_home.configure("enabled = false\nnonsense = 1")
    at_home.begin()
    assert at_home.ask(said("go")) == {}
    at_home.configure("enabled = true\nnonsense = 1")
    assert str(told(at_home, "go on", "m2")).startswith("Settings ignored: ~/w/.memfold.toml: nonsense = 1: ")


def test_settings_are_told_where_the_ledger_cannot_be_read(at_home: Client) -> None:
    """They have nothing to do with the disk."""
    at_home.configure("enabled = no")
    at_home.begin()
    (folder_of(at_home.folder / "home", at_home.root) / "events.jsonl").mkdir(parents=True)
    answer = at_home.ask(said(REMEMBER))
    assert answer["refused"].startswith("unreadable: ")
    assert str(answer["notice"]).startswith(f"{BROKEN}\nNot stored yet: ")


def test_a_lost_answer_costs_no_notice_of_settings(at_home: Client) -> None:
    """The child that takes a dead one's place has read the settings itself, and tells them."""
    at_home.configure("enabled = no")
    at_home.begin()
    assert told(at_home, "go") == BROKEN
    at_home.respawn()
    assert told(at_home, "go") == BROKEN


# -- restarts -------------------------------------------------------------------------------------------------


def test_a_respawned_child_is_no_restart(client: Client) -> None:
    """A new child of the same client records no start and gives the hot block no second time (SPEC 12.3)."""
    client.ask(said(REMEMBER))
    client.respawn()
    assert client.ask(said("go on", message="m2")) == {}
    assert len(client.events(SessionStarted)) == 1
    client.respawn(instance="two")
    assert client.ask(said("go on", message="m3")) == {"part": HOT}
    assert len(client.events(SessionStarted)) == 2


def test_off_the_record_outlives_a_child(client: Client) -> None:
    """A successor that is told which sessions are off the record writes nothing of them up to their next message."""
    client.ask(said("go"))
    client.ask(said("off the record", message="m2"))
    before = client.events()
    client.bridge = Bridge(client.environ)
    client.begin(private=["S"])
    client.ask(ran("npm test", 1, "FAIL src/rates.js: wrong"))
    assert client.events() == before
    assert client.ask(system("T")) == {"system": []}
    assert "private" not in client.ask(said("on again", message="m3"))
    client.ask(ran("npm test", 1, "FAIL src/rates.js: wrong", call="c2"))
    assert len(client.events(ToolCompleted)) == 1


def test_off_the_record_is_told_even_where_nothing_is_written(client: Client) -> None:
    """While memory is off, or the ledger can't be read, a successor must know it all the same."""
    client.configure("enabled = false")
    assert client.ask(said("off the record")) == {"private": True}
    client.configure("enabled = true")
    (folder_of(client.folder / "home", client.root) / "events.jsonl").mkdir(parents=True)
    answer = client.ask(said("off the record", message="m2"))
    assert answer["private"] is True
    assert "notice" not in answer


def test_a_line_that_is_sent_again_changes_nothing(client: Client) -> None:
    """A message whose answer got lost is answered again, and is one request (SPEC 3.5)."""
    line = line_of(said(REMEMBER), 1)
    assert client.bridge.answer(line).part == HOT
    client.respawn()
    assert client.ask(said(REMEMBER)) == {"part": HOT, "notice": NOTED}
    client.ask(system("T"))
    assert remembered(client.events()) == (
        [(1, "promoted", "feedback", "use integer cents for money", 0)],
        [],
        [("use integer cents for money", "promoted", ("new_entry",))],
    )


def test_a_sub_agent_stays_one_after_a_respawn(client: Client) -> None:
    """A parent that only the dead child was told of is known from the ledger."""
    client.ask(event("session.created", "child", info={"id": "child", "parentID": "S", "time": {"created": 1}}))
    client.ask(said("do it", session="child"))
    client.respawn()
    assert client.ask(said("Remember: use tabs", session="child", message="m2")) == {}
    assert client.ask(system("child")) == {"system": []}
    assert client.ask(system("T")) == {"system": []}


def test_a_deleted_ledger_is_made_anew(client: Client) -> None:
    """A ledger that is deleted while a session runs begins again, and the session starts again in it."""
    client.ask(said(REMEMBER))
    folder = folder_of(client.folder / "home", client.root)
    for name in ("events.jsonl", "events.jsonl.lock"):
        (folder / name).unlink()
    assert client.ask(system()) == {"system": []}
    assert client.ask(said("Remember: use tabs", message="m2"))["part"].endswith("- [feedback] use tabs")
    kinds = [type(one) for one in client.events()]
    assert kinds[:3] == [LedgerCreated, PolicySet, SessionStarted]


# -- compaction -----------------------------------------------------------------------------------------------


def test_a_compaction_gets_the_numbered_list(client: Client) -> None:
    """The list that is given is the one that is recorded, and its id is the event's."""
    client.ask(said(REMEMBER))
    client.ask(system("T"))
    (text,) = client.ask(compacting("T"))["context"]
    (prepared,) = client.events(CompactionPrepared)
    assert "[M1] use integer cents for money" in text
    assert f"Memory ref snapshot id: {prepared.id}" in text
    assert isinstance(prepared, CompactionPrepared)
    assert prepared.data.position == prepared.seq - 1
    summary = f"Memory candidates:\nMemory ref snapshot id: {prepared.id}\nREPLACE [M1] [decision] Use cents\n"
    for record in compacted(summary, "T"):
        client.ask(record)
    assert remembered(client.events())[2][-1] == ("Use cents", "rejected", ("protected_memory_source",))


def test_open_todos_go_with_a_compaction_and_nowhere_else(client: Client) -> None:
    """Todos that are open are named, others aren't, and none of them is stored (SPEC 18.2)."""
    client.ask(said("go"))
    todos = [
        {"content": "write the parser", "status": "pending", "priority": "high"},
        {"content": "read the code", "status": "completed", "priority": "high"},
        {"content": "run the tests", "status": "in_progress", "priority": "low"},
        {"content": 5, "status": "pending"},
        "no todo",
    ]
    (text,) = client.ask(compacting(todos=todos))["context"]
    assert "write the parser" in text
    assert "run the tests" in text
    assert "read the code" not in text
    raw = (folder_of(client.folder / "home", client.root) / "events.jsonl").read_text()
    assert "parser" not in raw
    assert client.ask(compacting(todos="none"))["context"]


def test_a_session_that_is_gone_gets_no_list(client: Client) -> None:
    """After its deletion nothing about a session is recorded or said."""
    client.ask(said("go"))
    client.ask(event("session.deleted", info={"id": "S"}))
    before = client.events()
    assert client.ask(compacting()) == {"context": []}
    assert client.ask(system()) == {"system": []}
    assert client.ask(said(REMEMBER, message="m2")) == {}
    assert client.events() == before


@pytest.mark.parametrize("instance", ["one", "two"], ids=["respawned", "another client"])
def test_what_comes_late_starts_no_deleted_session(client: Client, instance: str) -> None:
    """The log says that it is deleted, to a process too that never saw it happen."""
    client.ask(said("go"))
    client.ask(event("session.deleted", info={"id": "S"}))
    before = client.events()
    client.respawn(instance)
    client.ask(ran("npm test", 1, "FAIL src/rates.js: wrong"))
    client.ask(ran("npm test", 1, "FAIL src/rates.js: wrong", call="c2"))
    assert client.ask(said(REMEMBER, message="m2")) == {}
    assert client.ask(system()) == {"system": []}
    assert client.events() == before


# -- settings -------------------------------------------------------------------------------------------------


def test_off_writes_nothing_at_all(tmp_path: Path) -> None:
    """With memory off there is no ledger, no folder and no log, and every block is empty (SPEC 3.7)."""
    client = Client(tmp_path, tmp_path, MEMFOLD="off")
    client.begin()
    assert client.ask(said(REMEMBER)) == {}
    assert client.ask(system()) == {"system": []}
    assert client.ask(compacting()) == {}
    client.bridge.close()
    assert list((tmp_path / "home").iterdir()) == []


def test_off_by_the_plugin_s_options(tmp_path: Path) -> None:
    """The options of the client's own configuration count."""
    client = Client(tmp_path, tmp_path)
    client.begin(options={"enabled": False})
    assert client.ask(said(REMEMBER)) == {}
    assert client.events() == []


def test_switching_off_and_on_needs_no_restart(client: Client) -> None:
    """A configuration file that changes is seen before the next line."""
    client.ask(said(REMEMBER))
    client.ask(system("T"))
    client.configure("enabled = false")
    before = client.events()
    assert client.ask(said("Remember: use tabs", message="m2")) == {}
    assert client.ask(system("T")) == {"system": []}
    assert client.ask(said("Remember: use tabs", session="new", message="m3")) == {}
    assert client.events() == before
    client.configure("enabled = true")
    assert client.ask(system("T")) == {"system": [FROZEN]}
    assert "part" in client.ask(said("Remember: use spaces", session="new", message="m4"))


@pytest.mark.parametrize("successor", [False, True])
def test_a_parent_named_while_memory_is_off_counts_later(client: Client, successor: bool) -> None:
    """Whose sub-agent a session is, is recorded with its next prompt, once (SPEC 3.4)."""
    head = event("session.updated", "kid", info={"id": "kid", "parentID": "S"})
    client.ask(said("go", session="kid"))
    client.configure("enabled = false")
    client.ask(head)
    client.configure("")
    if successor:
        client.respawn()
        client.ask(head)
    assert client.ask(said(REMEMBER, session="kid", message="m2")) == {}
    assert client.ask(system("kid")) == {"system": []}
    (link,) = client.events(SessionLinked)
    assert isinstance(link, SessionLinked)
    assert (link.data.session, link.data.parent) == ("kid", "S")
    assert client.ask(system("T")) == {"system": []}


def test_a_changed_policy_is_recorded_before_what_it_judges(client: Client) -> None:
    """A policy that changes while the client runs stands in the log in front of the next event, once."""
    client.ask(said("go"))
    client.configure("[patterns]\ntriggers = ['jot down']")
    client.ask(said("jot down: use tabs", message="m2"))
    client.ask(said("jot down: use spaces", message="m3"))
    kinds = [type(one) for one in client.events(PolicySet, MemoryRequested)]
    assert kinds == [PolicySet, PolicySet, MemoryRequested, MemoryRequested]
    client.respawn()
    client.ask(said("jot down: use words", message="m4"))
    assert len(client.events(PolicySet)) == 2


def test_other_rules_are_another_policy(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release with new rules records them before what they judge, though nothing was configured (SPEC 19)."""
    client.ask(said(REMEMBER))
    monkeypatch.setattr("projections.policy.RULES_VERSION", RULES_VERSION + 1)
    client.respawn()
    client.ask(said("Remember: use tabs", message="m2"))
    client.ask(said("Remember: use spaces", message="m3"))
    kinds = [type(one) for one in client.events(PolicySet, MemoryRequested)]
    assert kinds == [PolicySet, MemoryRequested, PolicySet, MemoryRequested, MemoryRequested]


# -- rule files -----------------------------------------------------------------------------------------------


def test_rule_files_are_read_at_a_start(client: Client) -> None:
    """A candidate that only repeats a line of an instruction file is refused; files are recorded once (SPEC 3.6)."""
    sub = client.root / "sub"
    sub.mkdir()
    (client.root / ".git").mkdir()
    for name in ("objects", "refs"):
        (client.root / ".git" / name).mkdir()
    (client.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (client.root / "AGENTS.md").write_text("# Rules\n- Prices must be computed in integer cents\n")
    (sub / "CLAUDE.md").write_text("Use tabs in this folder\n")
    own = client.folder / "home" / ".config" / "opencode"
    own.mkdir(parents=True)
    (own / "AGENTS.md").write_text("Answer in short sentences\n")
    client.bridge = Bridge(client.environ)
    client.begin(sub)
    client.ask(said("go"))
    client.ask(said("go", session="T", message="m2"))
    paths = [one.data.path for one in client.events(RulesLoaded) if isinstance(one, RulesLoaded)]
    assert paths == ["sub/CLAUDE.md", "AGENTS.md", str(own / "AGENTS.md")]
    for record in compacted("Memory candidates:\n- [decision] Prices must be computed in integer cents\n"):
        client.ask(record)
    accounts = remembered(client.events())[2]
    assert accounts == [("Prices must be computed in integer cents", "rejected", ("in_rules_file",))]


def test_rule_files_are_read_again_when_a_compaction_is_prepared(client: Client) -> None:
    """A file that changes, or goes, is recorded with the next compaction; one that stays as it is isn't."""
    path = client.root / "AGENTS.md"
    path.write_text("Use tabs in Go files\n")
    client.ask(said("go"))
    client.ask(compacting())
    assert len(client.events(RulesLoaded)) == 1
    path.write_text("Use spaces in Python files\n")
    os.utime(path, ns=(1, 1))
    client.ask(compacting())
    path.unlink()
    client.ask(compacting())
    client.ask(compacting())
    digests = [len(one.data.digests) for one in client.events(RulesLoaded) if isinstance(one, RulesLoaded)]
    assert digests == [1, 1, 0]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_is_no_rule_file(client: Client, make: Callable[[Path], None]) -> None:
    """A folder or a pipe in the place of an instruction file is passed over, without waiting."""
    make(client.root / "AGENTS.md")
    client.ask(said("go"))
    assert client.events(RulesLoaded) == []


# -- whatever comes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        {"hook": "chat.message"},
        {"hook": "chat.message", "input": {"sessionID": 5}, "output": {}},
        {"hook": "event", "event": {"type": 5}},
        {"hook": "event", "event": {"type": "session.created", "properties": {"sessionID": "S", "info": []}}},
        {"hook": "tool.execute.after", "input": {"sessionID": "S"}, "output": None},
        {"hook": "experimental.chat.system.transform", "input": {}},
        {"hook": "no such hook", "input": {"sessionID": "S"}},
        said(REMEMBER, session="s" * 201),
        system("s" * 201),
    ],
)
def test_wrong_shapes_are_refused(client: Client, record: Record) -> None:
    """A payload of an unexpected shape is refused with the reason, and nothing is made for it."""
    assert client.ask(record)["refused"].startswith("unreadable: ")
    assert client.events() == []


@pytest.mark.parametrize("name", ["settle", "warm_up", "close"])
def test_a_fault_of_ours_behind_an_answer(client: Client, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """An error in what is done behind an answer, or at the end, is noted and goes no further."""

    def fail(*_: object) -> None:
        raise RuntimeError

    client.bridge = Bridge(client.environ)
    monkeypatch.setattr(f"memfold.bridge.hooks.Hooks.{name}", fail)
    assert client.begin() == {}
    client.bridge.close()
    assert "RuntimeError" in (client.folder / "home/.local/share/memfold/memfold.log").read_text()


def test_a_bridge_that_was_told_nothing(tmp_path: Path) -> None:
    """A child that never got its first line has nothing to do."""
    bridge = Bridge(environment(tmp_path / "home"))
    bridge.settle()
    bridge.close()
    assert not bridge.unfinished


def test_without_a_home_folder(tmp_path: Path) -> None:
    """Where there is no home folder but a data folder is named, memory works (SPEC 19)."""
    (tmp_path / "w").mkdir()
    client = Client(tmp_path, tmp_path / "w")
    client.environ = {"HOME": "relative", "MEMFOLD_DATA_DIR": str(tmp_path / "data")}
    client.bridge = Bridge(client.environ)
    client.begin()
    unread = "Settings ignored: user: there is no home folder; set HOME or XDG_CONFIG_HOME to an absolute path"
    assert client.ask(said(REMEMBER)) == {"part": HOT, "notice": f"{unread}\n{NOTED}"}
    client.configure("enabled = false")
    assert client.ask(system()) == {"system": []}


@pytest.mark.parametrize("field", ["session", "message"])
def test_half_a_character_in_a_name(client: Client, field: str) -> None:
    """Half a character in an id is written as a whole one, and holds up nobody."""
    client.ask(said("go", **{field: "\ud83d"}))
    assert client.ask(said(REMEMBER, session="T", message="m2"))["part"] == HOT
    assert client.ask(said("Remember: use \ud83d tabs", session="U", message="\ud83d"))["part"].endswith(
        "use \ufffd tabs"
    )


def test_ids_without_end_are_shortened(client: Client) -> None:
    """A host's id of two million characters takes no room in the ledger, and still tells a second delivery."""
    for _ in range(2):
        client.ask(said(REMEMBER, message="x" * 2_000_000))
        client.ask(ran("ls", 0, call="y" * 2_000_000))
    assert (folder_of(client.folder / "home", client.root) / "events.jsonl").stat().st_size < 10_000
    assert len(remembered(client.events())[1]) == 1


@pytest.mark.parametrize("t", [10**400, -(10**400), 1e308])
def test_a_time_beyond_all_numbers(client: Client, t: object) -> None:
    """It says nothing, and costs nothing that was said with it."""
    assert client.ask(said(REMEMBER, t=t)) == {"part": HOT, "notice": NOTED}


def test_a_fault_of_ours_is_an_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that nobody expected costs one answer; the log has its kind and place, and not its words."""

    def fail(*_: object) -> Sequence[str]:
        raise RuntimeError(REMEMBER)

    with monkeypatch.context() as patch:
        patch.setattr("memfold.bridge.hooks.Hooks._part", fail)
        assert client.ask(said(REMEMBER)) == {"refused": "failed: an unexpected RuntimeError"}
    text = (client.folder / "home/.local/share/memfold/memfold.log").read_text()
    assert "RuntimeError at test_bridge_hooks.py:" in text
    assert "cents" not in text
    assert client.ask(system("T")) == {"system": [FROZEN]}


def test_arguments_nested_deeply(client: Client) -> None:
    """A call whose arguments are nested hundreds of levels deep is recorded like any other."""
    args: object = 1
    for _ in range(400):
        args = [args]
    answer = client.ask(hook("tool.execute.after", output={}, tool="x", callID="c", args={"a": args}))
    assert answer == {}
    assert client.ask(said(REMEMBER)) == {"part": HOT, "notice": NOTED}
    assert len(client.events(ToolCompleted)) == 1


def test_outside_of_projects_only_hot_state_works(tmp_path: Path) -> None:
    """In the home directory a request is shown in its session, and no other one remembers it (SPEC 1.6)."""
    client = Client(tmp_path, tmp_path / "home")
    client.begin()
    client.ask(said("go"))
    client.ask(ran("npm test", 1, "FAIL src/rates.js: wrong"))
    answer = client.ask(said(REMEMBER, message="m2"))
    assert "open_errors" in answer["part"]
    assert answer["notice"] == "Not kept (this folder is no project): use integer cents for money"
    assert client.ask(system("T")) == {"system": []}
    (created, *_) = client.events()
    assert isinstance(created, LedgerCreated)
    assert not created.data.project


def test_hooks_look_for_no_ids_in_the_log(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts get their ids from the log: one that brings its own is looked for in all of it, at any length."""
    named: list[frozenset[str]] = []

    def noted(drafts: Sequence[Draft]) -> frozenset[str]:
        named.append(given_ids(drafts))
        return named[-1]

    monkeypatch.setattr("ledger.drafts.given_ids", noted)
    assert client.ask(said(REMEMBER))["notice"] == NOTED
    client.ask(ran("npm test", 1, "1 failed"))
    client.ask(system())
    assert named
    assert set(named) == {frozenset()}
