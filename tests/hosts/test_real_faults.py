"""Kills and faults in the real OpenCode: nothing asked for is lost, nothing is felt, and ``memfold doctor`` knows why.

As in all stories with the real client, each test plays many things in few processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.hosts.opencode.faults import FAULTS, KEPT, Fault, Stage, read_only
from tests.hosts.opencode.harness.host import wait_for
from tests.hosts.opencode.harness.kills import Round, play
from tests.hosts.opencode.stage import Start, account, client, start

__all__ = ["client", "start"]  # the fixtures of the stage

ROUNDS = (
    Round("run", group=False, delay=0, resume=False),
    Round("serve", group=True, delay=0, resume=True),
    Round("serve", group=False, delay=0.01, resume=False),
    Round("run", group=True, delay=0.05, resume=True),
    Round("serve", group=True, delay=0.2, resume=True),
    Round("run", group=False, delay=0.4, resume=False),
)


def test_a_killed_client_loses_no_requested_memory(start: Start) -> None:
    """SIGKILL after the turn's first model request, with or without the bridge: each fact is in the ledger, whole."""
    oc = start()
    facts = play(oc, ROUNDS)
    states = {row["text"]: row["state"] for row in account(oc)}
    assert set(states) == set(facts)
    assert set(states.values()) <= KEPT
    assert oc.memfold("check").strip() == "no problem"


@pytest.fixture
def stage(start: Start, client: Path, tmp_path: Path) -> Iterator[Stage]:
    """A server and a healthy ledger with one memory."""
    with ExitStack() as files:
        stage = Stage(start, client, tmp_path, files)
        first = stage.remember()
        wait_for(lambda: stage.kept(first), 20)
        code, said = stage.doctor()
        assert code == 0, said
        yield stage


def look(stage: Stage, fault: Fault, cause: str) -> None:
    """With the fault a turn is as ever, and doctor names the cause; behind it all that was asked for is there."""
    with fault(stage):
        during = stage.remember()
        code, said = stage.doctor()
        assert (code, bool(re.search(cause, said, re.MULTILINE))) == (3, True), f"{fault.__name__}: {said}"
    after = stage.remember()
    wait_for(lambda: stage.kept(during, after), 60)


def test_nobody_feels_a_fault(stage: Stage) -> None:
    """Whatever is wrong with the ledger or the bridge: the client works as without memfold, doctor names the cause."""
    for fault, cause in FAULTS:
        if fault is not read_only or stage.can_be_read_only:
            look(stage, fault, cause)
    assert stage.is_quiet()
    if not stage.can_be_read_only:
        pytest.skip(f"all but a read-only disk was looked at: {stage.why_no_disk}, and root may write anywhere")
