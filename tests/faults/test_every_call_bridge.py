"""Each call of the system that a bridge makes fails once: each line is answered, and in the end all is remembered."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from ledger.log import LOG_NAME
from memfold.bridge.bridge import Bridge
from memfold.bridge.private_log import PRIVATE_LOG_NAME
from memfold.bridge.protocol import Answer
from memfold.memory_file.disk import memory_path
from memfold.memory_file.watch import FileWatch
from memfold.paths import data_dir
from replay.state import state_at
from tests.faults.test_bridge_ledger import Clock
from tests.faults.test_every_call_ledger import sound
from tests.support.bridge import (
    Record,
    compacted,
    compacting,
    environment,
    events_of,
    folder_of,
    has_tools,
    init,
    line_of,
    ran,
    said,
    system,
    use,
)
from tests.support.sweep import Case, sweep

ASKED = "use integer cents for money"
TOLD = "ask the harbour master before a release"
ADDED = "Use pnpm"
SUMMED = "The tariff tables are kept in config/tariffs.json"
KEPT = {"pending", "promoted", "absorbed"}


class Stage:
    """A home folder and a project below one folder, and a client whose session is played there."""

    def __init__(self, base: Path) -> None:
        self.home, self.root = base / "home", base / "app"
        self.home.mkdir(parents=True)
        self.root.mkdir()
        self.environ = environment(self.home)
        self.base = base
        self._bridge: Bridge | None = None

    def lines(self) -> list[Record]:
        """What a client sends: two requests, a failure, a call of a tool, a compaction and another session."""
        return [
            init(self.root),
            has_tools(),
            said(f"Remember: {ASKED}"),
            system(),
            ran("npm test", 1, "FAIL src/rates.js: no"),
            use("memory_add", title=ADDED, content="in every package"),
            compacting(),
            *compacted(f"Memory candidates:\n- [project] {SUMMED}\n"),
            said(f"Remember: {TOLD}", message="m2"),
            system("T"),
        ]

    def play(self) -> list[Answer]:
        """Play it with a bridge of its own; nothing may come on stdout or stderr, and nothing is raised."""
        clock, answers = Clock(), list[Answer]()
        self._bridge = Bridge(self.environ, clock)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            for number, record in enumerate(self.lines(), 1):
                answers.append(self._bridge.answer(line_of(record, number)))
                self._bridge.settle()
                clock.now += 1
        assert out.getvalue() == ""
        return answers

    def end(self) -> None:
        """The client ends, now that nothing is wrong with the disk."""
        assert self._bridge is not None
        self._bridge.close()

    def require(self, _done: bool, said: object) -> None:
        """Each line was answered, no fault is one of ours, and in the end all that was asked for is there, once."""
        assert isinstance(said, list)
        assert [answer.id for answer in said] == list(range(1, len(self.lines()) + 1))
        assert not any("failed" in (answer.refused or "") for answer in said), said
        self.end()
        log = Path(data_dir(self.environ), PRIVATE_LOG_NAME)
        assert "unexpected" not in (log.read_text() if log.exists() else "")
        sound(folder_of(self.home, self.root))
        accounts = state_at(events_of(self.home, self.root)).accounts.records.values()
        there = [one.proposal.text for one in accounts if one.state in KEPT]
        assert there.count(ASKED) == there.count(TOLD) == there.count(SUMMED) == 1, there
        # Where the workspace can't be seen the plugin says itself that nothing is stored.
        result = said[5].result or (said[5].refused or "").replace("no workspace", "Not stored")
        assert result.startswith(("Saved", "Already", "Not stored")), result
        added = sum(text.startswith(ADDED) for text in there)
        assert added == 1 or (added == 0 and result.startswith("Not stored: ")), result


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.torture)], ids=["some", "all"])
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether each call has each kind of trouble, or one or two in turn."""
    return bool(request.param)


def test_a_session(tmp_path: Path, *, thorough: bool) -> None:
    """Whatever call fails in whatever way, the client has its answers, and what it asked for is remembered."""
    stage = Stage(tmp_path / "base")
    case = Case(stage.base, stage.play, stage.require)
    assert sweep(case, thorough=thorough, most=40) > 200


def test_a_session_with_a_memory_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, thorough: bool) -> None:
    """So it is where MEMORY.md is kept beside; it says in the end what the ledger says, and keeps a person's words."""
    monkeypatch.setattr(FileWatch, "start", lambda _: None)  # a thread would make calls of its own
    monkeypatch.setattr(FileWatch, "stop", lambda _: None)
    stage = Stage(tmp_path / "base")
    path = Path(memory_path(str(stage.root)))
    path.parent.mkdir(parents=True)
    path.write_text("Mine\n\n### [MEM-000] By hand\nThe crane rests on Sundays\n", encoding="utf-8")

    def require(done: bool, said: object) -> None:
        stage.require(done, said)
        text = path.read_text(encoding="utf-8")
        assert text.startswith("Mine\n")
        assert text.count("The crane rests on Sundays") == 1

    assert sweep(Case(stage.base, stage.play, require), thorough=thorough, most=24) > 300
    assert (folder_of(stage.home, stage.root) / LOG_NAME).exists()
