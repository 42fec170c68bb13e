"""What happens in each recording: one function a scenario, driving the real client."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tests.hosts.opencode.harness.fake_provider import Json
from tests.hosts.opencode.harness.host import OpenCode, wait_for
from tests.hosts.opencode.harness.remember import remember

__all__ = ["SCENARIOS", "Scenario"]

_SUMMARY = """## Goal
- Keep the demo workspace working.

## Key Decisions
- app.py returns 2.

## Next Steps
- (none)

Memory candidates:
- [decision] Functions in app.py return even numbers because the report rounds to even values
- [project] Release notes of the demo live in notes.txt, one line per change
"""


class Scenario(NamedTuple):
    """A scenario: what it does, its workspace and what it adds to the client's configuration."""

    play: Callable[[OpenCode], None]
    workspace: str = "demo"
    config: Json | None = None


def _run(oc: OpenCode, text: str, *flags: str) -> None:
    oc.mark("run: " + " ".join((*flags, text)))
    oc.run(text, *flags)


def _session(oc: OpenCode) -> str:
    return str(oc.hooks("chat.message")[0]["input"]["sessionID"])


def _one_turn(text: str) -> Callable[[OpenCode], None]:
    return lambda oc: _run(oc, text)


def _resume(oc: OpenCode) -> None:
    _run(oc, "first turn [[script:short]]")
    _run(oc, "second turn [[script:turn2]]", "--continue")
    _run(oc, "third turn [[script:hello]]", "--session", _session(oc))


def _compaction(oc: OpenCode) -> None:
    oc.fake.summary = _SUMMARY
    server = oc.serve()
    session = server.create()
    oc.mark("turn with a failing and a passing command")
    server.prompt(session, "work [[script:short]]")
    oc.mark("manual compaction")
    server.summarize(session)
    oc.mark("turn after it")
    server.prompt(session, "go on [[script:hello]]")
    oc.mark("turn that reports a usage near the limit: automatic compaction")
    server.prompt(session, "big one [[script:overflow]]")
    oc.mark("turn after it")
    server.prompt(session, "next [[script:hello]]")
    server.dispose()


def _subagent(oc: OpenCode) -> None:
    server = oc.serve()
    session = server.create()
    server.prompt(session, "delegate [[script:task]]")
    server.prompt(session, "and [[script:hello]]")
    server.dispose()


def _abort(oc: OpenCode) -> None:
    server = oc.serve()
    session = server.create()
    server.prompt(session, "hi [[script:hello]]")
    for script in ("slow", "slowbash"):
        oc.mark(f"abort during [[script:{script}]]")
        turn = oc.begin(server.prompt_unanswered, session, f"slow work [[script:{script}]]")
        time.sleep(2)
        oc.mark("abort")
        server.call("POST", f"/session/{session}/abort")
        turn.join(20)
    oc.mark("turn after it")
    server.prompt(session, "again [[script:hello]]")
    server.dispose()


def _delete_fork(oc: OpenCode) -> None:
    server = oc.serve()
    session = server.create()
    server.prompt(session, "delegate [[script:task]]")
    oc.mark("fork")
    fork = str(server.call("POST", f"/session/{session}/fork", {})["id"])
    server.prompt(fork, "in the fork [[script:hello]]")
    oc.mark("delete the first session (it has a child session)")
    server.call("DELETE", f"/session/{session}")
    oc.mark("dispose the instance, then a new session in it")
    server.dispose()
    time.sleep(1)
    server.prompt(server.create(), "fresh [[script:hello]]")
    server.dispose()
    time.sleep(1)
    server.stop()
    oc.mark("delete the fork with the command line, in another process")
    oc.cli("session", "delete", fork)


def _big_output(oc: OpenCode) -> None:
    (oc.workspace / "big.txt").write_text("".join(f"row {i} {'x' * 40}\n" for i in range(300)))
    _run(oc, "a lot of output [[script:big]]")


def _permission(oc: OpenCode) -> None:
    server = oc.serve()
    session = server.create()
    for count, reply in enumerate(("once", "reject")):
        turn = oc.begin(server.prompt, session, "ask me [[script:ask]]")
        asked = wait_for(partial(_asked, oc, count), 20)
        oc.mark(f"reply {reply}")
        server.call("POST", f"/session/{session}/permissions/{asked[0]}", {"response": reply})
        turn.join(20)
    server.dispose()


def _asked(oc: OpenCode, answered: int) -> list[str]:
    """The permission requests that came after those already answered."""
    events = [r["event"] for r in oc.hooks("event")]
    return [str(e["properties"]["id"]) for e in events if e["type"] == "permission.asked"][answered:]


def _other_inputs(oc: OpenCode) -> None:
    server = oc.serve()
    session = server.create()
    oc.mark("message without a reply")
    server.prompt(session, "for the record only", noReply=True)
    oc.mark("slash command")
    server.call("POST", f"/session/{session}/command", {"command": "demo", "arguments": "x y"})
    oc.mark("shell command of the user")
    server.call("POST", f"/session/{session}/shell", {"command": "echo from-shell", "agent": "build"})
    server.dispose()


def _killed(oc: OpenCode) -> None:
    server = oc.serve()
    session = server.create()
    server.prompt(session, "hi [[script:hello]]")
    oc.begin(server.prompt_unanswered, session, "slow work [[script:slowbash]]")
    time.sleep(2)
    oc.mark("SIGKILL")
    server.stop(signal.SIGKILL)
    _run(oc, "go on [[script:hello]]", "--session", session)


_ASK_FOR_GIT = {"permission": {"*": "allow", "bash": {"*": "allow", "git *": "ask"}}}
_DEMO_COMMAND = {"command": {"demo": {"template": "run demo $ARGUMENTS [[script:hello]]", "description": "demo"}}}

SCENARIOS = {
    "remember": Scenario(remember, workspace="booking"),
    "tools": Scenario(_one_turn("do the tools [[script:tools]]")),
    "continue": Scenario(_resume),
    "compaction": Scenario(_compaction),
    "subagent": Scenario(_subagent),
    "abort": Scenario(_abort),
    "delete-fork": Scenario(_delete_fork),
    "parallel": Scenario(_one_turn("three at once [[script:par]]")),
    "big-output": Scenario(_big_output),
    "no-output": Scenario(_one_turn("no output [[script:quiet]]")),
    "permission": Scenario(_permission, config=_ASK_FOR_GIT),
    "other-inputs": Scenario(_other_inputs, config=_DEMO_COMMAND),
    "killed": Scenario(_killed),
}
