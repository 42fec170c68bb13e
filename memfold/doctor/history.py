# ruff: noqa: PTH110, PTH113, PTH118 - os.path strings, as in ``memfold.paths``
"""Checks of what the log tells: damage, what arrived, what became of it, and blocks that stayed the same."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from ledger.events import AnyEvent, PromptRendered
from ledger.files import open_regular
from ledger.log import LOG_NAME, FileLog
from ledger.problems import Kind
from ledger.source import split_source
from ledger.times import format_time, parse_time
from memfold.arrivals import Arrivals
from memfold.bridge.private_log import PRIVATE_LOG_NAME
from memfold.cli.words import age, of_the_last, plural
from memfold.doctor.model import Check, Outcome, Scene
from memfold.lost import had_a_log
from projections.accounting import Accounts, counts
from projections.memory.model import CANDIDATE_STATES
from projections.prompts import Epoch, Receipt, block_digest
from projections.reasons import explain
from projections.world import WorldState
from replay.outlines import by_blocks
from replay.state import state_of

__all__ = ["check_events", "check_failures", "check_log", "check_memories"]

_HOW_TO_TEST = "send any message in OpenCode in this folder, then: memfold doctor"
"""A session that starts is an event, and leaves nothing to be forgotten."""
_MODES = frozenset({Kind.WRITABLE_FILE, Kind.READABLE_FILE, Kind.UNTRUSTED_FILE})
"""Kinds that the check of the folder tells."""
_SILENT = 20
"""Candidates after which it is odd that all of them were refused."""
_TOP = 3
_SESSIONS = 10
_AHEAD_MS = 300_000
_JUST_NOW_MS = 60_000
_TAIL = 65_536
_QUIET = ("DEBUG", "INFO")


def check_log(scene: Scene) -> Iterator[Check]:
    """Whether the log is whole, and of a format that this release writes."""
    if not _has_log(scene):
        return
    survey, _ = scene.log
    found = [one for one in survey.problems if not one.is_note and one.kind not in _MODES]
    newer = next((one for one in found if one.kind is Kind.NEWER_FORMAT), None)
    rest = [one for one in found if one is not newer]
    if newer is not None:
        yield Check("log", "fail", newer.message, newer.fix)
    if rest:
        kinds = Counter(one.kind for one in rest)
        seen = ", ".join(f"{kind.value}: {count}" for kind, count in kinds.items())
        fixes = tuple(f"{kind.value}: {next(one.fix for one in rest if one.kind is kind)}" for kind in kinds)
        yield Check(
            "log", "warn", f"problems were found ({seen})", f"memfold check{scene.named} tells each place", fixes
        )
    if not found:
        yield Check("log", "ok", "no damage")


def check_events(scene: Scene) -> Iterator[Check]:
    """What arrived, and when each kind came last; whether the clock ran ahead."""
    if had_a_log(scene.ledger):
        return  # it is gone: that nothing arrived would be false
    arrivals = _arrivals(scene)
    arrived, latest = list(arrivals.by_type()), arrivals.from_client
    if latest is None:
        yield Check("events", "note", "no event of a client was ever received", _HOW_TO_TEST)
        return
    kinds: dict[str, list[str]] = {}
    for name, count, event in arrived:
        kinds.setdefault(_when(event, scene.now), []).append(f"{count:,} {name}")
    details = tuple(f"last {when}: {', '.join(names)}" for when, names in kinds.items())
    total = sum(count for _, count, _ in arrived)
    seen = f"{total:,}, the last from a client {_when(latest, scene.now)}"
    yield Check("events", "ok", seen, "", details)
    ahead = _latest(arrived) - scene.now
    if ahead > _AHEAD_MS:
        seen = f"the latest event lies {age(ahead)} in the future: ages count from there"
        yield Check("clock", "warn", seen, f"set the clock of this machine; it says {format_time(scene.now)}")


def check_memories(scene: Scene) -> Iterator[Check]:
    """What became of all that was proposed, and whether blocks stayed the same within an epoch (I12)."""
    if not _has_log(scene):
        return
    log = FileLog.open(scene.ledger)
    given = [event.source for event in by_blocks(log) if type(event) is PromptRendered]
    sessions = list(dict.fromkeys(reversed(given)))
    sources = set(sessions[:_SESSIONS])
    world = state_of(log, sources)
    yield from _account(world.accounts)
    yield from _stable(world, sources, len(sessions))


def check_failures(scene: Scene) -> Iterator[Check]:
    """What the private log has to say since the last event."""
    path = os.path.join(scene.data, PRIVATE_LOG_NAME)
    lines = _tail(path) if scene.data else []
    since = _latest(_arrivals(scene).by_type())
    failures: dict[str, tuple[int, str]] = {}
    for line in lines:
        time, _, rest = line.partition(" ")
        level, _, said = rest.partition(" ")
        moment = parse_time(time)
        if moment is not None and moment > since and level.strip("[]") not in _QUIET:
            failures[said] = (failures.get(said, (0, ""))[0] + 1, time)
    if not lines:
        return
    if not failures:
        yield Check("failures", "ok", f"none since the last event, says {path}")
        return
    details = tuple(
        f"{time[:19]} {said}" + (f" ({count} times)" if count > 1 else "") for said, (count, time) in failures.items()
    )
    yield Check("failures", "warn", f"{len(failures)} since the last event, says {path}", "see what they name", details)


def _account(accounts: Accounts) -> Iterator[Check]:
    table = counts(accounts)
    proposed = table["candidates"]
    parts = [f"{table[state]:,} {state}" for state in CANDIDATE_STATES if table[state]]
    seen = f"{proposed:,} proposed" + (f" = {' + '.join(parts)}" if parts else "")
    rejected = Counter(code for one in accounts.records.values() if one.state == "rejected" for code in one.reasons)
    details = tuple(f"{count:,} rejected: {explain(code)} ({code})" for code, count in rejected.most_common(_TOP))
    refused = proposed == table["rejected"] != 0
    outcome: Outcome = "ok" if not refused else "note" if proposed < _SILENT else "warn"
    action = "" if outcome == "ok" else "memfold list --state rejected, then memfold why with one of them"
    yield Check("memories", outcome, seen, action, details)


def _stable(world: WorldState, sources: Collection[str], sessions: int) -> Iterator[Check]:
    """Whether each session was given one block per epoch, the one that the log gives."""
    looked, odd = 0, list[str]()
    limit = of_the_last(len(sources), sessions)
    for source in sorted(sources):
        epochs = {epoch.offset: epoch for epoch in world.prompts.epochs.get(source, ())}
        receipts = [one for one in world.prompts.receipts.get(source, ()) if one.kind == "workspace"]
        for offset in dict.fromkeys(one.epoch for one in receipts):
            looked += 1
            trouble = _epoch_trouble([one for one in receipts if one.epoch == offset], epochs.get(offset))
            if trouble:
                odd.append(f"session {split_source(source)[1]}, epoch #{offset}: {trouble}")
    if odd:
        action = "report it with memfold log --session …, unless memfold was upgraded or switched meanwhile"
        yield Check(
            "prompts", "warn", f"{len(odd)} of {looked} epochs{limit} had a block that changed", action, tuple(odd)
        )
    elif looked:
        yield Check("prompts", "ok", f"the block stayed the same, byte for byte, in {plural(looked, 'epoch')}{limit}")


def _epoch_trouble(receipts: list[Receipt], epoch: Epoch | None) -> str:
    empty = block_digest("")  # memory was switched off: a named exception of I12
    digests = [digest for digest in dict.fromkeys(one.digest for one in receipts) if digest != empty]
    if len(digests) > 1:
        return f"{len(digests)} blocks were given"
    if digests and epoch is not None and digests[0] != epoch.digest:
        return "another block was given than the log gives"
    return ""


def _has_log(scene: Scene) -> bool:
    """Whether there is something to read; a folder in its place is told by the check of the ledger."""
    path = os.path.join(scene.ledger, LOG_NAME)
    return bool(scene.ledger) and os.path.lexists(path) and (os.path.isfile(path) or not os.path.exists(path))


def _arrivals(scene: Scene) -> Arrivals:
    _, arrivals = scene.log if _has_log(scene) else (None, Arrivals())
    return arrivals


def _latest(arrived: Iterable[tuple[str, int, AnyEvent]]) -> int:
    """The latest time among the last events of each type, in milliseconds; 0 where none has one."""
    return max((parse_time(event.time) or 0 for _, _, event in arrived), default=0)


def _tail(path: str) -> list[str]:
    """The last whole lines of a file; none where there is no file."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            lines = file.read(_TAIL).decode("utf-8", "replace").split("\n")
    except FileNotFoundError:
        return []
    return [line for line in lines[size > _TAIL :] if line.strip()]


def _when(event: AnyEvent, now: int) -> str:
    moment = parse_time(event.time)
    if moment is None:
        return f"at #{event.seq}"
    if moment > now:
        return f"at {format_time(moment)}"
    return f"{age(now - moment)} ago" if now - moment >= _JUST_NOW_MS else "just now"
