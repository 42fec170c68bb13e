"""The tools over a bridge: what is offered, what a start records, and what a call leads to (SPEC 16.6, 12.3, 3.5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.events import MemoryAdded, MemoryDeleted, MemoryUpdated, SessionStarted
from memfold.tools.definitions import TOOL_NAMES
from memfold.tools.operation_log import OPERATION_LOG_NAME
from projections.policy_text import EMPTY_POLICY, POLICY
from tests.support.bridge import (
    Client,
    Record,
    asks_for_tools,
    event,
    folder_of,
    has_tools,
    init,
    line_of,
    said,
    system,
    use,
)

SAVED = "Saved MEM-001: "


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """A client that has asked for the tools and taken them."""
    made = begun(tmp_path)
    made.ask(asks_for_tools())
    made.ask(has_tools())
    return made


def begun(folder: Path, options: Record | None = None, **variables: str) -> Client:
    """A client in a folder of its own whose bridge knows where it is."""
    (folder / "w").mkdir()
    made = Client(folder, folder / "w", **variables)
    made.begin(options=options or {})
    return made


def add(call: str = "c1", title: str = "Use pnpm", session: str = "S") -> Record:
    """A call that stores something."""
    return use("memory_add", call, session, title=title, content="in every package")


def start(client: Client) -> SessionStarted:
    """The newest start of a session."""
    found = client.events(SessionStarted)[-1]
    assert isinstance(found, SessionStarted)
    return found


def operations(client: Client) -> Path:
    """The log of operations."""
    return folder_of(client.folder / "home", client.root) / OPERATION_LOG_NAME


# -- what is offered --------------------------------------------------------------------------------------------


def test_all_four_are_offered(tmp_path: Path) -> None:
    """The answer holds their definitions, in a fixed order; asking makes nothing on the disk."""
    client = begun(tmp_path)
    offered = client.ask(asks_for_tools())["tools"]
    assert tuple(one["name"] for one in offered) == TOOL_NAMES
    assert all(set(one) == {"name", "description", "args", "required"} for one in offered)
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "variables"),
    [
        ({"tools": False}, {}),
        ({"enabled": False}, {}),
        ({}, {"MEMFOLD_TOOLS": "false"}),
        ({}, {"MEMFOLD": "off"}),
    ],
)
def test_none_are_offered_where_they_are_off(tmp_path: Path, options: Record, variables: dict[str, str]) -> None:
    """Off by the plugin's option, by a variable, or with memory as a whole (SPEC 19)."""
    assert begun(tmp_path, options, **variables).ask(asks_for_tools()) == {"tools": []}


def test_none_are_offered_where_a_file_says_off(tmp_path: Path) -> None:
    """The workspace's configuration counts as well."""
    (tmp_path / "w").mkdir()
    client = Client(tmp_path, tmp_path / "w")
    client.configure("tools = false")
    client.begin()
    assert client.ask(asks_for_tools()) == {"tools": []}


# -- what a start records -----------------------------------------------------------------------------------------


def test_a_start_records_whether_the_client_has_them(tmp_path: Path) -> None:
    """Asking isn't having: only when the client says so, sessions that start then are told of the tools."""
    client = begun(tmp_path)
    client.ask(asks_for_tools())
    assert client.ask(system("before")) == {"system": []}
    assert not start(client).data.delivery.tools
    client.ask(has_tools())
    assert client.ask(system("after")) == {"system": [EMPTY_POLICY]}
    assert start(client).data.delivery.tools
    assert client.ask(system("before")) == {"system": []}  # its epoch goes on as it began


def test_a_successor_is_told_with_its_first_line(client: Client) -> None:
    """A child that replaces a dead one never offered anything, and still tells sessions of the tools."""
    client.bridge = type(client.bridge)(client.environ)
    client.begin(tools=True)
    assert client.ask(system()) == {"system": [EMPTY_POLICY]}


@pytest.mark.parametrize("tools", [False, 1, "true", None])
def test_only_true_counts(tmp_path: Path, tools: object) -> None:
    """A first line that says anything else is one of a client without tools."""
    client = begun(tmp_path)
    client.bridge = type(client.bridge)(client.environ)
    client.begin(tools=tools)
    assert client.ask(system()) == {"system": []}


def test_switched_off_later_they_are_told_of_no_more(client: Client) -> None:
    """The client still has them, but the next session isn't told."""
    client.configure("tools = false")
    assert client.ask(system("T")) == {"system": []}
    assert not start(client).data.delivery.tools


def test_a_start_records_how_memory_is_given(client: Client) -> None:
    """The settings of the file and of the summary stand beside it (SPEC 19)."""
    client.configure('injection = "summary"\nmemoryFile = "off"\nmaxSummaryChars = 99')
    client.ask(system())
    delivery = start(client).data.delivery
    assert (delivery.tools, delivery.injection, delivery.memory_file) == (True, "summary", "off")
    assert delivery.summary_chars == 99


# -- calls ----------------------------------------------------------------------------------------------------------


def test_all_four_are_answered(client: Client) -> None:
    """Each call leads to one event that names it; reading to none."""
    client.ask(system())
    assert client.ask(add())["result"].startswith(SAVED)
    assert "[MEM-001] Use pnpm" in client.ask(use("memory_read", "c2"))["result"]
    update = use("memory_update", "c3", id="MEM-001", content="in every package but one")
    assert client.ask(update)["result"].startswith("Updated MEM-001")
    assert client.ask(use("memory_delete", "c4", id=" mem-1 "))["result"].startswith("Archived MEM-001")
    changes = client.events(MemoryAdded, MemoryUpdated, MemoryDeleted)
    assert [type(one) for one in changes] == [MemoryAdded, MemoryUpdated, MemoryDeleted]
    assert len({one.data.call for one in changes if isinstance(one, MemoryAdded | MemoryUpdated | MemoryDeleted)}) == 3
    assert {one.source for one in changes} == {"opencode/S"}


def test_saved_means_stored(client: Client) -> None:
    """The event is on the disk before the answer is made: nothing is left for the time behind it."""
    answer = client.bridge.answer(line_of(add(), 9))
    assert str(answer.result).startswith(SAVED)
    assert len(client.events(MemoryAdded)) == 1


def test_the_same_call_twice(client: Client) -> None:
    """To the same child or to its successor: the answer is the first one, and nothing is stored again (SPEC 3.5)."""
    client.ask(said("go"))
    first = client.ask(add())
    assert client.ask(add()) == first
    client.respawn()
    assert client.ask(add()) == first
    assert len(client.events(MemoryAdded)) == 1


def test_a_session_keeps_its_segment(client: Client) -> None:
    """What is stored shows in the next session; the one that stored it goes on with the same bytes (I12)."""
    (before,) = client.ask(system())["system"]
    client.ask(add())
    assert client.ask(system())["system"] == [before] == [EMPTY_POLICY]
    (after,) = client.ask(system("T"))["system"]
    assert after.startswith(f"{POLICY}\n\nWorkspace memory")
    assert "Use pnpm" in after


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (use("memory_forget"), "there is no tool 'memory_forget'"),
        (use("memory_add"), "title"),
        (use("memory_add", title=["a"], content={}), "title"),
        (use("memory_update", id="seven"), "seven"),
        ({**use("memory_add"), "input": {"sessionID": "S"}}, "there is no tool"),
        ({**use("memory_add"), "input": {"sessionID": "S", "tool": "memory_add", "args": "t"}}, "title"),
    ],
)
def test_what_cannot_be_done_is_a_result(client: Client, line: Record, words: str) -> None:
    """A call that makes no sense has an answer like any other, and writes no memory."""
    result = client.ask(line)["result"]
    assert result.startswith("Not stored: ")
    assert words in result
    assert client.events(MemoryAdded) == []


def test_a_call_of_no_session_has_no_result(client: Client) -> None:
    """There is nobody to store it for."""
    assert client.ask({**add(), "input": {"tool": "memory_add", "args": {}}})["refused"].startswith("unreadable: ")
    assert client.events() == []


def test_off_the_record(client: Client) -> None:
    """From such a message to the next one nothing is written, also by a call; the model is told (SPEC 3.7)."""
    client.ask(said("off the record\nlook around"))
    before = client.events()
    for line in (add(), use("memory_update", "c2", id="MEM-001", title="t"), use("memory_delete", "c3", id="MEM-001")):
        client.ask(line)
    assert "off the record" in client.ask(add())["result"]
    assert client.events() == before
    assert not operations(client).exists()
    client.ask(said("go on", message="m2"))
    assert client.ask(add("c2"))["result"].startswith(SAVED)


def test_off_the_record_outlives_a_child(client: Client) -> None:
    """The successor hears which sessions are, so its answer is the same."""
    client.ask(said("off the record\nlook around"))
    client.bridge = type(client.bridge)(client.environ)
    client.begin(tools=True, private=["S"])
    assert "off the record" in client.ask(add())["result"]
    assert client.events(MemoryAdded) == []


def test_memory_switched_off_meanwhile(client: Client) -> None:
    """The client still has the tools: a call says that memory is off, and writes nothing (SPEC 3.7)."""
    client.configure("enabled = false")
    assert "switched off" in client.ask(add())["result"]
    assert client.events() == []
    assert not operations(client).exists()


def test_a_sub_agent_stores_nothing(client: Client) -> None:
    """Its calls are refused, and the refusal has its reason (SPEC 3.4)."""
    client.ask(event("session.created", "child", info={"id": "child", "parentID": "S", "version": "1.18.33"}))
    assert "subagent_session" in client.ask(add(session="child"))["result"]
    assert "MEM-" not in client.ask(use("memory_read", "c2"))["result"]


def test_outside_of_projects(tmp_path: Path) -> None:
    """A home folder is no project: what a call asks for becomes no memory there, and the model is told (SPEC 1.6)."""
    home = tmp_path / "home"
    client = Client(tmp_path, home)
    client.begin()
    client.ask(has_tools())
    client.ask(said("go"))
    result = client.ask(add())["result"]
    assert not result.startswith("Saved")


def test_the_log_of_operations_can_be_switched_off(client: Client) -> None:
    """A line for each write, none with ``enableLog = false`` (SPEC 16.9)."""
    path = operations(client)
    client.ask(add())
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1
    client.configure("enableLog = false")
    client.ask(add("c2", "Use node 22"))
    assert path.read_text(encoding="utf-8").splitlines() == lines


def test_before_the_first_line_nothing_is_answered(tmp_path: Path) -> None:
    """A bridge that doesn't know where it is offers nothing and stores nothing."""
    client = Client(tmp_path, tmp_path)
    for line in (asks_for_tools(), has_tools(), add()):
        assert client.ask(line)["refused"].startswith("not ready: ")
    assert client.ask(init(tmp_path)) == {}
