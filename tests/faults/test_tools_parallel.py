"""Many models call ``memory_add`` at once, each through a bridge process of its own (SPEC 2.5, 16.6)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ledger.check import check
from ledger.log import FileLog
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState
from projections.protocol import fold

ROOT_FOLDER = str(Path(__file__).parents[2])


def _begin(place: Path, number: int, title: str) -> subprocess.Popen[bytes]:
    """A bridge that is told to begin and to store one memory, and then ends."""
    workspace = place / "app"
    records: list[dict[str, object]] = [
        {"hook": "init", "input": {"directory": str(workspace), "worktree": str(workspace), "instance": f"i{number}"}},
        {
            "hook": "tool",
            "input": {
                "tool": "memory_add",
                "sessionID": f"ses_{number}",
                "callID": f"call_{number}",
                "args": {"title": title, "content": f"{title}, as was decided for the harbour"},
            },
        },
    ]
    sent = [{"id": index, "t": 1.8e9, "pid": number, **record} for index, record in enumerate(records, 1)]
    lines = "".join(f"{json.dumps(record)}\n" for record in sent)
    process = subprocess.Popen(
        [sys.executable, "-m", "memfold", "bridge"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT_FOLDER,
        env=os.environ
        | {"XDG_DATA_HOME": str(place / "data"), "HOME": str(place), "XDG_CONFIG_HOME": str(place / "c")},
    )
    assert process.stdin is not None
    process.stdin.write(lines.encode())
    process.stdin.close()
    process.stdin = None
    return process


def _results(place: Path, titles: list[str]) -> list[str]:
    """What each of as many models reads, all bridges at work at once."""
    (place / "app").mkdir()
    processes = [_begin(place, number, title) for number, title in enumerate(titles)]

    def result(process: subprocess.Popen[bytes]) -> str:
        out, _ = process.communicate(timeout=120)
        return str(json.loads(out.splitlines()[-1])["result"])

    with ThreadPoolExecutor(len(titles)) as pool:
        return list(pool.map(result, processes))


def _memory(place: Path) -> MemoryState:
    (path,) = (place / "data").rglob("events.jsonl")
    log = FileLog.open(path.parent)
    assert check(path.parent) == []
    return fold(WorkspaceMemory(), log.read())


def test_sixty_processes_add_sixty_memories(tmp_path: Path) -> None:
    """60 memories, 60 distinct ids, and each model was told the id that its memory has."""
    titles = [f"Berth rule {number}" for number in range(60)]
    results = _results(tmp_path, titles)
    memory = _memory(tmp_path)
    told = {}
    for title, result in zip(titles, results, strict=True):
        match = re.match(r"Saved (MEM-\d+): ", result)
        assert match, result
        told[title] = match[1]
    assert told == {entry.proposal.title: entry.id for entry in memory.entries.values()}
    assert len(set(told.values())) == 60


def test_one_text_from_many_processes_is_one_memory(tmp_path: Path) -> None:
    """Of eight that say the same, one is told that it is saved, the others which memory has it."""
    results = _results(tmp_path, ["Prices are integer cents"] * 8)
    assert len(_memory(tmp_path).entries) == 1
    assert sorted(result.partition("MEM-001")[0] for result in results) == ["Already stored as "] * 7 + ["Saved "]
