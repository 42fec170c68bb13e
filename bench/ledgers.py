"""Synthetic ledgers of any size, the same for the same seed, in the proportions of real sessions."""

from __future__ import annotations

import hashlib
import os
import random
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct

import ledger.blocks
import ledger.codec
import ledger.events
import projections.facts
import projections.hot.calls
import replay.blocklines
import replay.calls
import replay.kept
import replay.outlines
from ledger.events import (
    Data,
    Draft,
    MemoryAddedData,
    MemoryRequestedData,
    SessionCompactedData,
    SessionDeletedData,
    SessionMeasuredData,
    SessionStartedData,
    ToolArguments,
    ToolCompletedData,
)
from ledger.ids import MonotonicIds
from ledger.log import FileLog
from ledger.source import make_source
from ledger.times import DAY_MS, HOUR_MS, format_time, parse_time
from projections.policy import Context
from replay.calls import keep_calls
from replay.kept import keep_all
from replay.outlines import keep_outlines

__all__ = ["ROOT", "Kept", "Mix", "drafts", "kept_ledger", "write_ledger"]

ROOT = "/home/dev/src/shop"
"""The workspace's root, as its first event tells."""
_START = 1_700_000_000_000
_BATCH = 1000

_SUBJECTS = ("the API", "the parser", "the build", "every package", "the checkout page", "release notes", "the cache")
_VERBS = ("uses", "must use", "should keep", "prefers", "avoids", "needs", "reads", "documents")
_THINGS = ("pnpm workspaces", "event logs", "typed records", "integer cents", "short names", "UTC times")
_REASONS = ("for reviews", "in all modules", "on every platform", "since release 4", "for audits", "by default")
_FOREIGN = (
    "部署只从主分支进行",
    "错误信息要写明下一步",
    "テストは必ず型を付ける",
    "設定は一か所にまとめる",
    "커밋 메시지는 짧게 쓴다",
    "résumés stay in UTF-8",
)
_FOLDERS = ("src/api", "src/parser", "src/ui/checkout", "tests/unit", "packages/core/lib", "docs/guide")
_NAMES = ("index", "orders", "session_store", "price_table", "router", "render", "config", "überblick", "订单")
_COMMANDS = ("npm test", "pytest -q", "npm run lint", "tsc --noEmit", "git status", "ls src", "make build")
_FAILURES = (
    "FAIL {path}\nError: expected 3 items, got 2\n  at check ({path}:41:7)\n1 failed, 23 passed",
    "{path}:17:3 - error TS2322: Type 'string' is not assignable to type 'number'.\nFound 1 error in {path}:17",
    "E   AssertionError: 订单 total is 41, not 42\n{path}:88: AssertionError\n1 failed, 212 passed in 3.1s",
)
_TOOLS: tuple[tuple[Literal["read", "edit", "write", "grep", "bash"], int], ...] = (
    ("read", 26), ("edit", 20), ("write", 4), ("grep", 24), ("bash", 26),
)  # fmt: skip


_WHAT_A_LEDGER_IS = (
    sys.modules[__name__],
    ledger.blocks,
    ledger.codec,
    ledger.events,
    projections.facts,
    projections.hot.calls,
    replay.blocklines,
    replay.calls,
    replay.kept,
    replay.outlines,
)


class Mix(Struct, frozen=True):
    """Proportions of a ledger; what is left over are starts, ends and measures of sessions.

    Attributes:
        tools: tool events per 1,000 events.
        memories: memory events per 1,000: requests, summaries with candidates, tool adds.
        foreign: texts per 1,000 with letters outside ASCII.
        session: events of a session, on average.
    """

    tools: int = 980
    memories: int = 10
    foreign: int = 100
    session: int = 250


DEFAULT_MIX = Mix()


def write_ledger(directory: Path, events: int, *, seed: int = 0, mix: Mix = DEFAULT_MIX) -> str:
    """Write a ledger of so many events in all through the real writer; the source of its latest session."""
    chance = random.Random(seed)
    latest, now = "", _START
    stream = drafts(seed=seed, mix=mix)

    def clock() -> int:
        return now

    ids = MonotonicIds(clock, chance.randbytes)
    with FileLog.create(directory, root=ROOT, key="0" * 16, clock=clock, new_id=ids, durability="never") as log:
        for first in range(1, events, _BATCH):
            batch = list(islice(stream, min(_BATCH, events - first)))
            now = parse_time(batch[0].time) or now  # an id tells about when its event was written
            log.append(batch)
            latest = batch[-1].source
    return latest


class Kept(NamedTuple):
    """A ledger that is kept: its folder, and the source of its latest session."""

    place: Path
    session: str


def kept_ledger(events: int) -> Kept:
    """A ledger of so many events with its facts and outlines, made once and kept in ``bench/out``; for reading only.

    It is made anew when the code has changed that decides what it says.
    """
    digest = hashlib.sha256()
    for module in _WHAT_A_LEDGER_IS:
        digest.update(Path(str(module.__file__)).read_bytes())
    place = Path(__file__).parent / "out" / "ledgers" / f"{events}-{digest.hexdigest()[:16]}"
    if not place.exists():
        begun = place.with_name(f"{place.name}.{os.getpid()}")
        session = write_ledger(begun / "ledger", events)
        log = FileLog.open(begun / "ledger")
        keep_all(log.directory, log.read())
        keep_outlines(log.directory, log.path)
        keep_calls(log, Context(root=ROOT))
        (begun / "session").write_text(session)
        begun.rename(place)
    return Kept(place / "ledger", (place / "session").read_text())


def drafts(*, seed: int = 0, mix: Mix = DEFAULT_MIX, begin: int = _START) -> Iterator[Draft]:
    """Endless history of one workspace: two sessions at a time, hours or days between them, a long break each year.

    It begins at a time in milliseconds.
    """
    chance = random.Random(seed)
    now = begin
    number = 0
    open_ = [_session(chance, mix, number)]
    while True:
        now += chance.randrange(2_000, 40_000)
        if len(open_) < 2:
            number += 1
            now += chance.choice((HOUR_MS, 5 * HOUR_MS, DAY_MS)) if number % 200 else 20 * DAY_MS
            open_.append(_session(chance, mix, number))
        which = chance.randrange(2)
        data = next(open_[which][1], None)
        if data is None:
            del open_[which]
            continue
        yield Draft(source=open_[which][0], time=format_time(now), data=data)


def _session(chance: random.Random, mix: Mix, number: int) -> tuple[str, Iterator[Data]]:
    session = f"ses_{number:06d}{chance.getrandbits(80):020x}"
    return make_source("opencode", session), _events(chance, mix, session)


def _events(chance: random.Random, mix: Mix, session: str) -> Iterator[Data]:
    """One session from its start to its end."""
    yield SessionStartedData(session=session, host="opencode", host_version="1.18.33", instance="4711@1700000000")
    for number in range(chance.randrange(mix.session // 2, mix.session * 3 // 2)):
        kind = chance.randrange(1000)
        if kind < mix.tools:
            yield _tool(chance, mix, f"call_{session[4:24]}{number:05d}")
        elif kind < mix.tools + mix.memories:
            yield _memory(chance, mix, f"msg_{session[4:24]}{number:05d}")
        else:
            yield SessionMeasuredData(chance.randrange(1, 9), 30_000, cache_read=25_000, cache_write=900)
    if chance.random() < 0.1:
        yield SessionDeletedData()


def _tool(chance: random.Random, mix: Mix, call: str) -> ToolCompletedData:
    (tool,) = chance.choices([name for name, _ in _TOOLS], [weight for _, weight in _TOOLS])
    if tool == "grep":
        paths = "\n".join(f"{_path(chance, mix)}:" for _ in range(10))
        return ToolCompletedData(call, tool, ToolArguments(path=f"{ROOT}/src"), output=paths)
    if tool != "bash":
        return ToolCompletedData(call, tool, ToolArguments(path=_path(chance, mix)))
    command = f"cd {ROOT} && {chance.choice(_COMMANDS)}"
    if chance.random() < 0.5:
        return ToolCompletedData(call, tool, ToolArguments(command=command), exit=0)
    output = chance.choice(_FAILURES).format(path=_path(chance, mix))
    return ToolCompletedData(call, tool, ToolArguments(command=command), exit=1, output=output)


def _memory(chance: random.Random, mix: Mix, message: str) -> Data:
    kind = chance.randrange(10)
    if kind < 5:
        return MemoryRequestedData(message, f"Remember: {_sentence(chance, mix)}")
    if kind < 8:
        types = ("feedback", "decision", "project", "reference")
        lines = [f"- [{chance.choice(types)}] {_sentence(chance, mix)}" for _ in range(chance.randrange(1, 6))]
        return SessionCompactedData(
            message, "\n".join(["Memory candidates:", *lines]), f"{chance.getrandbits(256):064x}"
        )
    return MemoryAddedData(title=_sentence(chance, mix), content=_sentence(chance, mix), tags=("bench",))


def _sentence(chance: random.Random, mix: Mix) -> str:
    """A text worth remembering; one in ten is likely to have come before."""
    if chance.randrange(1000) < mix.foreign:
        return f"{chance.choice(_FOREIGN)} {chance.choice(_THINGS)} {chance.randrange(40)}"
    words = [chance.choice(part) for part in (_SUBJECTS, _VERBS, _THINGS, _REASONS)]
    return f"{' '.join(words)}, see {_path(chance, mix)}" if chance.random() < 0.2 else " ".join(words)


def _path(chance: random.Random, mix: Mix) -> str:
    names = _NAMES if chance.randrange(1000) < mix.foreign * 4 else _NAMES[:7]
    return f"{ROOT}/{chance.choice(_FOLDERS)}/{chance.choice(names)}_{chance.randrange(60)}.ts"
