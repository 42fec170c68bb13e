"""One line that says what an event holds."""

from __future__ import annotations

import os.path

from ledger.events import (
    AnyEvent,
    CompactionPrepared,
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
    PolicySet,
    PromptRendered,
    RulesLoaded,
    SessionCompacted,
    SessionLinked,
    SessionMeasured,
    SessionStarted,
    ToolCompleted,
    ToolCompletedData,
    UnknownEvent,
)
from memfold.cli.words import plural

__all__ = ["gist"]


def gist(event: AnyEvent, root: str = "") -> str:
    """What an event says, as one line of stored text that isn't made safe yet.

    Args:
        event: any event.
        root: the workspace root; paths below it are shown relative.
    """
    match event:
        case MemoryRequested(data=data):
            return " ".join(data.text.split())
        case ToolCompleted(data=data):
            return _call(data, root)
        case SessionCompacted(data=data):
            lines = sum(1 for line in data.section.splitlines() if line.strip()) - 1
            return plural(max(lines, 0), "line") + " in its candidates section" if data.section else "no candidates"
        case SessionStarted(data=data):
            return " ".join(part for part in (data.reason, data.host, data.host_version) if part) + _parent(data.parent)
        case SessionLinked(data=data):
            return f"{data.session}{_parent(data.parent)}"
        case SessionMeasured(data=data):
            cached = f", {data.cache_read:,} from the cache" if data.cache_read else ""
            return f"{plural(data.requests, 'request')}, {data.input:,} tokens in{cached}"
        case MemoryAdded(data=data):
            return data.title
        case MemoryUpdated(data=data):
            return data.title or data.content or "other fields"
        case MemoryDeleted(data=data):
            return f"what {data.message} proposed" if data.message is not None else data.reason
        case MemoryImported(data=data):
            return data.text
        case _:
            return _rest(event)


def _rest(event: AnyEvent) -> str:
    """Events that hold no text of a person or model."""
    match event:
        case LedgerCreated(data=data):
            return data.root
        case PolicySet(data=data):
            return f"digest {data.digest}"
        case CompactionPrepared(data=data):
            return plural(len(data.targets), "numbered memory", "numbered memories")
        case PromptRendered(data=data):
            return f"{data.kind}, {plural(data.size, 'character')}"
        case RulesLoaded(data=data):
            return data.path
        case MemoryRestored(data=data):
            return data.reason
        case MemoryUndone(data=data):
            return f"event {data.undone}"
        case LedgerSealed(data=data):
            return plural(data.size, "leaf", "leaves")
        case LedgerRepaired(data=data):
            return plural(data.pieces, "damaged piece")
        case LedgerErased(data=data):
            return plural(len(data.targets), "text")
        case UnknownEvent():
            return "a type this release doesn't know"
        case _:
            return ""


def _call(data: ToolCompletedData, root: str) -> str:
    subject = data.args.command.partition("\n")[0] or _relative(data.args.path, root)
    end = f" → {data.exit}" if data.exit is not None else "" if data.status == "completed" else f" → {data.status}"
    return f"{data.tool} {subject}".rstrip() + end


def _relative(path: str, root: str) -> str:
    prefix = root.rstrip("/") + os.path.sep
    return path.removeprefix(prefix) if root else path


def _parent(parent: str | None) -> str:
    return "" if parent is None else f", sub-agent of {parent}"
