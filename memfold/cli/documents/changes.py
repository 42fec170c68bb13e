"""The JSON documents of the commands that change the memory or tell how it changed, and their parts."""

from __future__ import annotations

from msgspec import Struct

__all__ = [
    "CHANGE_DOCUMENTS",
    "CHANGE_PARTS",
    "ChangeDocument",
    "EditPart",
    "HistoryDocument",
    "OutcomePart",
    "PlacePart",
    "PurgeDocument",
    "PurgedPart",
    "ReasonPart",
    "StepPart",
    "SyncDocument",
    "UndoDocument",
]


class ReasonPart(Struct, frozen=True):
    """Why something was refused.

    Attributes:
        code: reason code.
        rule: section of the specification.
        text: a sentence.
    """

    code: str
    rule: str
    text: str


class OutcomePart(Struct, frozen=True):
    """What an undo makes of one memory or candidate.

    Attributes:
        id: its id; empty for a candidate without one.
        state: what it becomes.
        text: its text now.
        title: its title then, where that changes; else empty.
        content: its content then, where that changes; else empty.
        tags: its tags then, where they change; else null.
        into: the memory that has its text then; empty if none.
        dependant: whether the undone event itself was about another memory.
    """

    id: str
    state: str
    text: str
    title: str
    content: str
    tags: tuple[str, ...] | None
    into: str
    dependant: bool


class StepPart(Struct, frozen=True):
    """What one event did to a memory.

    Attributes:
        offset: of the event.
        event: its type.
        time: when it counts.
        session: whose it was; null where no session's.
        actor: who made the change, for a tool, a command or a hand edit, or the file and line of an import; else empty.
        undoes: offset of the event that it undid; null where it is no undo.
        reason: what they gave as their reason; may be empty.
        states: what was decided, of the memory or of what went into it.
        reasons: codes of the decisions.
        before: title and content before it; empty where it wasn't there.
        after: title and content behind it.
        tags: its tags behind it.
        reinforcements: how often it had been reinforced by then.
    """

    offset: int
    event: str
    time: str
    session: str | None
    actor: str
    undoes: int | None
    reason: str
    states: tuple[str, ...]
    reasons: tuple[str, ...]
    before: str
    after: str
    tags: tuple[str, ...]
    reinforcements: int


class ChangeDocument(Struct, frozen=True, tag_field="schema", tag="memfold.change/1"):
    """What came of a change (`memfold add|edit|forget|restore|pin|unpin --json`).

    Attributes:
        ledger: folder of the ledger.
        done: `saved`, `duplicate`, `updated`, `unchanged`, `archived`, `restored` or `refused`.
        id: the memory; for `duplicate` and a refused text the one that has it.
        state: its state now.
        type: its type now.
        text: its text now.
        tags: its tags now.
        reasons: why it was refused.
        event: id of the event that was written; empty if none was.
        position: offset of the last event now.
    """

    ledger: str
    done: str
    id: str
    state: str
    type: str
    text: str
    tags: tuple[str, ...]
    reasons: tuple[ReasonPart, ...]
    event: str
    position: int


class UndoDocument(Struct, frozen=True, tag_field="schema", tag="memfold.undo/1"):
    """What an undo changes (`memfold undo --json`).

    Attributes:
        ledger: folder of the ledger.
        dry_run: whether it was only shown.
        event: id of the undone event.
        offset: its offset.
        change: what it had done.
        what: what it says, in one line.
        outcomes: what becomes of each memory that it concerns.
    """

    ledger: str
    dry_run: bool
    event: str
    offset: int
    change: str
    what: str
    outcomes: tuple[OutcomePart, ...]


class HistoryDocument(Struct, frozen=True, tag_field="schema", tag="memfold.history/1"):
    """Every event of one memory (`memfold history --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        id: its id; empty for a candidate without one.
        state: its state.
        text: its text.
        steps: oldest first.
    """

    ledger: str
    position: int
    now: str
    id: str
    state: str
    text: str
    steps: tuple[StepPart, ...]


class EditPart(Struct, frozen=True):
    """A hand edit that was recorded.

    Attributes:
        event: type of its event.
        id: the memory; empty for what was refused.
        what: what the event holds, in one line.
    """

    event: str
    id: str
    what: str


class SyncDocument(Struct, frozen=True, tag_field="schema", tag="memfold.sync/1"):
    """What came of bringing MEMORY.md and the ledger together (`memfold sync --json`).

    Attributes:
        ledger: folder of the ledger.
        file: the file.
        kept: whether one is kept here.
        edits: the hand edits that were recorded.
        wrote: whether the file was written.
        reports: what a person should know.
    """

    ledger: str
    file: str
    kept: bool
    edits: tuple[EditPart, ...]
    wrote: bool
    reports: tuple[str, ...]


class PurgedPart(Struct, frozen=True):
    """A memory or candidate whose text a purge takes, or one that holds such a text in its own.

    Attributes:
        id: its id; empty for a candidate without one.
        state: its state before the purge.
        leaves: whether it is active or pending now, and deleted by the purge.
        type: its type.
        text: its text.
        wordings: all of its texts that go, earlier ones too, the oldest first.
    """

    id: str
    state: str
    leaves: bool
    type: str
    text: str
    wordings: tuple[str, ...]


class PlacePart(Struct, frozen=True):
    """A file or folder beside the ledger that holds a purged text, or may.

    Attributes:
        path: where it is.
        kind: `derived`, `quarantine`, `spool`, `log`, `backup`, `copy`, `project` or `other`.
        action: `remove`; `rewrite`; `store`: what waits there is stored first, and erased in the ledger; `tell`: it
            isn't memfold's to change.
    """

    path: str
    kind: str
    action: str


class PurgeDocument(Struct, frozen=True, tag_field="schema", tag="memfold.purge/1"):
    """What a purge erases (`memfold purge --json`).

    Attributes:
        ledger: folder of the ledger.
        done: whether it was done; false for a dry run, and where there was nothing to purge.
        outcome: `done`; `dry-run`; or `nothing`: there is nothing left here that memfold could erase.
        text: the text that was named, which goes from wherever it stands; empty where an id or a message was.
        texts: the memories and candidates that lose their text, in ledger order.
        changed: number of events that change, by type; damaged pieces of the ledger as `damage`.
        left: lines of the ledger that hold a text and keep it: that of a memory that stays, or an id.
        stays: the fields that hold it there, such as `tool.completed data.call`, and in how many lines.
        maybe: the fields that hold a short text among other words, likewise: they keep it.
        places: files beside the ledger; those with the action `tell` hold a text also afterwards.
        absent: folders of backups that weren't there, so that nobody knows what they hold.
        unreachable: what memfold can't look into.
        event: id of the event that records the purge; empty if there is none.
    """

    ledger: str
    done: bool
    outcome: str
    text: str
    texts: tuple[PurgedPart, ...]
    changed: dict[str, int]
    left: int
    stays: dict[str, int]
    maybe: dict[str, int]
    places: tuple[PlacePart, ...]
    absent: tuple[str, ...]
    unreachable: tuple[str, ...]
    event: str


CHANGE_PARTS: tuple[type[Struct], ...] = (ReasonPart, OutcomePart, StepPart, EditPart, PurgedPart, PlacePart)
CHANGE_DOCUMENTS: tuple[type[Struct], ...] = (
    ChangeDocument,
    UndoDocument,
    HistoryDocument,
    SyncDocument,
    PurgeDocument,
)
