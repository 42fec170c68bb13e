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
from memfold.config import Config
from memfold.memory_file.keeper import MemoryFileKeeper
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

    def sync(self):  # type: ignore[no-untyped-def]
        """Bring file and log together, in this process."""
        keeper = MemoryFileKeeper(
            str(self.root), str(self.folder), project=True, config=Config(memory_file="on"), timeout=60.0
        )
        try:
            return keeper.sync()
        finally:
            keeper.close()

    def start(self, script: str, *arguments: object) -> subprocess.Popen[bytes]:
        """A process at the same file."""
        command = [sys.executable, "-c", script, str(self.root), str(self.folder), *map(str, arguments)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT_FOLDER)
