"""Many processes and a person at one MEMORY.md, and processes that are killed: no edit is lost, none counts twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from ledger.check import check
from ledger.events import MemoryAdded
from ledger.log import FileLog
from ledger.problems import Kind
from memfold.config import Config
from memfold.memory_file.keeper import MemoryFileKeeper, Synced
from projections.memory_file.projection import file_text
from replay.state import state_at

ROOT_FOLDER = str(Path(__file__).parents[2])

TOOLS = """
import os, sys
from pathlib import Path
from ledger.log import FileLog
from memfold.clock import now_ms
from memfold.config import Config
from memfold.editing import add
from memfold.memory_file.keeper import MemoryFileKeeper
from memfold.workspace import Workspace
from projections.policy import DEFAULT_POLICY
from ledger.times import format_time

root, folder = sys.argv[1], sys.argv[2]

def begin():
    log = FileLog.open(folder, lock_timeout=60.0)
    tools = Workspace(log, root, DEFAULT_POLICY, host="test")
    config = Config(memory_file="on")
    return tools, MemoryFileKeeper(root, folder, project=True, config=config, timeout=60.0)

def call(tools, title):
    text = f"{title}, as the harbour decided"
    done = add(tools, session="A", title=title, content=text, origin="tool", time=format_time(now_ms()))
    assert done.kind == "saved", done

def insert(text, title):
    return text.replace("## Archived", f"### [MEM-000] {title}\\n{title}, as a person saw it\\n\\n## Archived")

def save(file, text):
    new = file.with_name("editor")
    new.write_text(text)
    new.replace(file)

file = Path(root, ".opencode", "memory", "MEMORY.md")
"""

TOOL_CALLS = f"""{TOOLS}
tools, keeper = begin()
for index in range(int(sys.argv[4])):
    call(tools, f"{{sys.argv[3]}} {{index}}")
    keeper.sync()
"""

EDITOR = f"""{TOOLS}
for index in range(int(sys.argv[4])):
    while True:
        before, text = os.stat(file), file.read_text()
        text = insert(text, f"{{sys.argv[3]}} {{index}}")
        now = os.stat(file)
        if (before.st_ino, before.st_mtime_ns) == (now.st_ino, now.st_mtime_ns):  # as editors ask before they overwrite
            save(file, text)
            break
"""

SYNC = f"""{TOOLS}
begin()[1].sync()
"""

KILLED = f"""{TOOLS}
for child in range(int(sys.argv[3])):
    save(file, insert(file.read_text(), f"Hand {{child}}"))
    if (pid := os.fork()) == 0:
        tools, keeper = begin()
        index = 0
        while True:
            title = f"Tool {{child}} {{index}}"
            call(tools, title)
            os.write(1, f"{{title}}\\n".encode())
            keeper.sync()
            index += 1
    os.write(1, f"pid {{pid}}\\n".encode())
    os.waitpid(pid, 0)
"""


class Place:
    """A workspace whose file is kept and written."""

    def __init__(self, base: Path) -> None:
        self.root, self.folder = base / "app", base / "ledger"
        self.root.mkdir()
        self.file = self.root / ".opencode" / "memory" / "MEMORY.md"
        FileLog.create(self.folder, root=str(self.root), key="k")
        assert self.sync().wrote

    def sync(self) -> Synced:
        """Bring file and log together, in this process."""
        config = Config(memory_file="on")
        keeper = MemoryFileKeeper(str(self.root), str(self.folder), project=True, config=config, timeout=60.0)
        try:
            return keeper.sync()
        finally:
            keeper.close()

    def start(self, script: str, *arguments: object) -> subprocess.Popen[bytes]:
        """A process at the same file."""
        command = [sys.executable, "-c", script, str(self.root), str(self.folder), *map(str, arguments)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT_FOLDER)

    def titles(self) -> list[str]:
        """Titles of active memories by number, after a last sync; the ledger is sound, and the file shows it."""
        self.sync()
        # Whoever waits for the lock took the time before.
        assert {problem.kind for problem in check(self.folder)} <= {Kind.TIME_BACK}
        memory = state_at(FileLog.open(self.folder).read()).memory
        assert self.file.read_text(encoding="utf-8") == file_text(memory)
        assert self.sync() == Synced()
        entries = sorted(memory.entries.values(), key=lambda one: one.number)
        return [entry.proposal.title for entry in entries if entry.state == "promoted"]

    def added(self) -> list[str]:
        """Titles of all additions that were ever recorded."""
        events = FileLog.open(self.folder).read()
        return [event.data.title for event in events if isinstance(event, MemoryAdded)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A workspace with an empty memory file."""
    return Place(tmp_path)


def _end(*processes: subprocess.Popen[bytes]) -> None:
    for process in processes:
        process.communicate(timeout=120)
        assert process.returncode == 0


def test_an_editor_and_tools_at_once(place: Place) -> None:
    """A process that edits by rename and two whose tools add and write the file: what each added is there, once."""
    tools = [place.start(TOOL_CALLS, name, 6) for name in ("Crane", "Gate")]
    editor = place.start(EDITOR, "Hand", 4)
    _end(editor, *tools)
    wanted = sorted([f"{name} {index}" for name in ("Crane", "Gate") for index in range(6)])
    hand = [f"Hand {index}" for index in range(4)]
    assert sorted(place.titles()) == wanted + hand
    assert sorted(place.added()) == wanted + hand


def test_processes_that_see_one_edit(place: Place) -> None:
    """Of four processes that look at an edited file at once, one records the edits, and the file is written."""
    text = place.file.read_text(encoding="utf-8")
    entries = [f"### [MEM-000] Hand {index}\nAs a person saw it, {index}\n" for index in range(5)]
    place.file.write_text(text.replace("## Archived", "\n".join([*entries, "## Archived"])), encoding="utf-8")
    _end(*[place.start(SYNC) for _ in range(4)])
    assert place.added() == [f"Hand {index}" for index in range(5)]
    assert place.titles() == place.added()


def test_killed_while_it_keeps_the_file(place: Place) -> None:
    """Between its kills a person edits: all edits and all answered calls are there, once."""
    with place.start(KILLED, 30) as parent:
        assert parent.stdout is not None
        answered: list[str] = []
        kills = 0
        for line in parent.stdout:
            word, _, number = line.decode().strip().partition(" ")
            if word != "pid":
                answered.append(f"{word} {number}")
                continue
            time.sleep(0.01 + kills % 10 * 0.004)
            os.kill(int(number), signal.SIGKILL)
            kills += 1
    assert kills == 30
    found = Counter(place.titles())
    assert set(found.values()) == {1}
    assert {f"Hand {index}" for index in range(30)} | set(answered) <= set(found)
    assert Counter(place.added()) == found
