"""One line that says what an event holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ledger.events import (
    AnyEvent,
    CompactionPrepared,
    Event,
    FileImported,
    FileWritten,
    LedgerCreated,
    LedgerErased,
    LedgerRepaired,
    LedgerSealed,
    MemoryAdded,
    MemoryDeleted,
    MemoryImported,
    MemoryRequested,
    MemoryRestored,
    MemoryUndone,
    MemoryUpdated,
    MemoryUpdatedData,
    PolicySet,
    PromptRendered,
    RulesLoaded,
    SessionCompacted,
    SessionCompactedData,
    SessionLinked,
    SessionMeasured,
    SessionMeasuredData,
    SessionStarted,
    SessionStartedData,
    ToolCompleted,
    ToolCompletedData,
    UnknownEvent,
)
from memfold.cli.words import plural

__all__ = ["NO_OFFSETS", "gist"]

NO_OFFSETS: Mapping[str, int] = MappingProxyType({})


def gist(event: AnyEvent, root: str = "", offsets: Mapping[str, int] = NO_OFFSETS) -> str:
    """What an event says, as one line of stored text that isn't made safe yet.

    Args:
        event: any event.
        root: the workspace root; paths below it are shown relative.
        offsets: of earlier events, by id: what they hold is named where a change is about it.
    """
    if isinstance(event, UnknownEvent):
        return "a type this release doesn't know"
    if isinstance(event, ToolCompleted):
        return _call(event.data, root)
    words = _WORDS.get(type(event))
    said = "" if words is None else words(event.data)
    return ": ".join(part for part in (_about(event, offsets), said) if part)


def _about(event: Event, offsets: Mapping[str, int]) -> str:
    """The event that a change is about: which is undone, or has proposed the memory."""
    if isinstance(event, MemoryUndone):
        undone = event.data.undone
        return f"#{offsets[undone]}" if undone in offsets else f"event {undone}"
    target = event.data.target if isinstance(event, MemoryUpdated | MemoryDeleted | MemoryRestored) else None
    return f"#{offsets[target.event]}" if target is not None and target.event in offsets else ""


def _updated(data: MemoryUpdatedData) -> str:
    tags = None if data.tags is None else f"tags: {', '.join(data.tags) or 'none'}"
    return data.title or data.content or tags or (f"type: {data.type}" if data.type else "")


def _call(data: ToolCompletedData, root: str) -> str:
    path = data.args.path.removeprefix(root.rstrip("/") + "/") if root else data.args.path
    subject = data.args.command.partition("\n")[0] or path
    end = f" → {data.exit}" if data.exit is not None else "" if data.status == "completed" else f" → {data.status}"
    return f"{data.tool} {subject}".rstrip() + end


def _started(data: SessionStartedData) -> str:
    parent = "" if data.parent is None else f", sub-agent of {data.parent}"
    return " ".join(part for part in (data.reason, data.host, data.host_version) if part) + parent


def _measured(data: SessionMeasuredData) -> str:
    cached = f", {data.cache_read:,} from the cache" if data.cache_read else ""
    return f"{plural(data.requests, 'request')}, {data.input:,} tokens in{cached}"


def _compacted(data: SessionCompactedData) -> str:
    lines = sum(1 for line in data.section.splitlines() if line.strip())
    return f"{plural(lines, 'line')} kept of the summary" if lines else "no candidates in the summary"


_WORDS: dict[type[Event], Callable[[Any], str]] = {
    LedgerCreated: lambda data: data.root,
    SessionStarted: _started,
    SessionLinked: lambda data: f"{data.session}, sub-agent of {data.parent}",
    SessionCompacted: _compacted,
    SessionMeasured: _measured,
    CompactionPrepared: lambda data: plural(len(data.targets), "numbered memory", "numbered memories"),
    MemoryRequested: lambda data: " ".join(data.text.split()),
    MemoryAdded: lambda data: data.title,
    MemoryUpdated: _updated,
    MemoryDeleted: lambda data: data.reason if data.message is None else f"what {data.message} proposed",
    MemoryRestored: lambda data: data.reason,
    MemoryUndone: lambda data: data.reason,
    FileImported: lambda data: f"{data.file} ({data.format.replace('_', '-')}){data.damaged and f': {data.damaged}'}",
    MemoryImported: lambda data: data.text,
    FileWritten: lambda data: f"MEMORY.md as of #{data.position}",
    PolicySet: lambda data: f"digest {data.digest}",
    PromptRendered: lambda data: f"{data.kind}, {plural(data.size, 'character')}",
    RulesLoaded: lambda data: data.path,
    LedgerSealed: lambda data: plural(data.size, "leaf", "leaves"),
    LedgerRepaired: lambda data: (
        plural(data.pieces, "damaged piece")
        + (f", {plural(data.steps, 'break')} in the numbers noted" if data.steps else "")
    ),
    LedgerErased: lambda data: plural(len(data.targets), "text"),
}
"""Type of event → its words; the others say nothing beyond their type."""
