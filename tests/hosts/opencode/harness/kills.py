"""Kill the client again and again: ``python -m tests.hosts.opencode.harness.kills N``.

Each round says "Remember: ..." in the real client and sends SIGKILL after the turn's first model request has arrived,
to the client's process alone or to it and its bridge. What was asked for must be in the ledger in the end.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memfold.hosts.opencode_install import plugin_text
from tests.hosts.opencode.harness.fake_provider import Json
from tests.hosts.opencode.harness.host import OpenCode, Plugin, children, install, loopback_only, ripgrep, wait_for

__all__ = ["Round", "fact", "is_running", "play"]

_HERE = Path(__file__).resolve().parent
_BERTHS = ("north", "south", "eastern", "western", "inner", "outer", "old", "new")
_NEEDS = ("a pilot", "a tug", "shore power", "fresh water", "a fender", "two lines", "a crane", "customs")
_STEPS: list[Json] = [
    {"tools": [{"name": "bash", "args": {"command": "sleep 0.1; exit 3", "description": "Fail"}}]},
    {"tools": [{"name": "bash", "args": {"command": "sleep 0.1", "description": "Succeed"}}]},
    {"text": "Done, now for the rest:", "slow": 2},
]
"""A turn with something to be in the middle of."""


class Round(NamedTuple):
    """One kill.

    Attributes:
        way: ``run`` or ``serve``, the client's command that is killed.
        group: whether all processes of the client are killed with it.
        delay: seconds between the arrival of the model request and the kill.
        resume: whether the turn goes on in the session of the round before.
    """

    way: str
    group: bool
    delay: float
    resume: bool


def fact(number: int) -> str:
    """What is to be remembered in a round: no two say the same."""
    berth, need = _BERTHS[number % 8], _NEEDS[number // 8 % 8]
    return f"ships at the {berth} berth need {need} before they may leave, harbour rule r{number}"


def is_running(process: int) -> bool:
    """Whether a process is still at work."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


def play(oc: OpenCode, rounds: Iterable[Round]) -> list[str]:
    """Play the rounds; what was to be remembered in each. No bridge runs any more then."""
    facts: list[str] = []
    session = ""
    for one in rounds:
        facts.append(fact(len(facts)))
        text = f"Remember: {facts[-1]}"
        oc.fake.learn(text, _STEPS)
        session = _play(oc, one, text, session if one.resume else "")
    return facts


def _play(oc: OpenCode, one: Round, text: str, session: str) -> str:
    """Play a round; its session."""
    asked = len(oc.requests())
    if one.way == "run":
        process = oc.begin_run(text, *(("--session", session) if session else ()))
    else:
        server = oc.serve()
        process, session = server.process, session or server.create()
        threading.Thread(target=server.prompt_unanswered, args=(session, text), daemon=True).start()
    while len(oc.requests()) == asked:
        assert process.poll() is None, "the client ended before it asked the model"
        time.sleep(0.001)
    time.sleep(one.delay)
    started = children(process.pid)
    if one.group:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    wait_for(lambda: not any(map(is_running, started)), 30)
    return oc.requests()[asked].session


def main(count: int, seed: int, *, patiently: bool) -> int:
    """Play rounds at random moments; 1 if something was lost."""
    from tests.hosts.opencode.stage import BRIDGE, WORKSPACES, patient

    chance = random.Random(seed)  # noqa: S311 - moments of kills are no secret
    rounds = [
        Round(chance.choice(("run", "serve")), chance.random() < 0.5, chance.choice((0, chance.random())), n % 4 > 0)
        for n in range(count)
    ]
    plugin = plugin_text([BRIDGE])
    with tempfile.TemporaryDirectory(prefix="memfold-kills-") as work:
        oc = OpenCode(
            Path(work) / "kills",
            WORKSPACES / "demo",
            plugins=[Plugin("memfold.js", patient(plugin) if patiently else plugin)],
        )
        try:
            facts = play(oc, rounds)
            rows = {
                row["text"]: row["state"]
                for row in json.loads(oc.memfold("list", "--state", "all", "--json"))["memories"]
            }
            damage = oc.memfold("check").strip()
        finally:
            oc.close()
    lost = [(one, text) for one, text in zip(rounds, facts, strict=True) if text not in rows]
    for one, text in lost:
        print(f"lost: {text} ({one})")
    print(f"{count} rounds, seed {seed}: {Counter(rows.values())}, {len(lost)} lost; check: {damage}")
    return 1 if lost else 0


if __name__ == "__main__":
    install()
    ripgrep()
    loopback_only()
    raise SystemExit(
        main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, patiently="patient" in sys.argv)
    )
