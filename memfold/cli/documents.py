"""The JSON documents of ``--json``, one struct each; ``docs/reference/json.md`` is generated from them.

Keys are stable: one may be added, none is renamed or given another meaning without another number in ``schema``. The
document of ``why`` stands beside its command: what it is made of is dear to import.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ledger.events import Target

__all__ = [
    "DOCUMENTS",
    "PARTS",
    "AccountDocument",
    "BlockPart",
    "CheckDocument",
    "ConfigDocument",
    "EpochPart",
    "ErrorDocument",
    "FindingPart",
    "HealthPart",
    "HotPart",
    "IngestDocument",
    "LastEventPart",
    "LinePart",
    "ListDocument",
    "MemoryPart",
    "MissingPathPart",
    "OmittedPart",
    "PathsDocument",
    "PendingPart",
    "ProblemPart",
    "PromptDocument",
    "ReasonCountPart",
    "SettingPart",
    "ShowDocument",
    "SizePart",
    "StatusDocument",
]


class SizePart(Struct, frozen=True):
    """How large a block is.

    Attributes:
        characters: Unicode code points.
        tokens: estimate: a quarter of the characters, rounded up.
    """

    characters: int
    tokens: int


class LinePart(Struct, frozen=True):
    """A line of a block: a memory that it shows.

    Attributes:
        id: its id.
        type: its type.
        text: its text as stored.
    """

    id: str
    type: str
    text: str


class OmittedPart(Struct, frozen=True):
    """An active memory that a block leaves out.

    Attributes:
        id: its id.
        reason: code of the reason.
        text: its text as stored.
    """

    id: str
    reason: str
    text: str


class BlockPart(Struct, frozen=True):
    """A block of memories.

    Attributes:
        text: the block, byte for byte; empty if there is none.
        digest: SHA-256 of its UTF-8 bytes, in hex.
        size: how large it is.
        shown: what it shows, in the order of its lines.
        omitted: which active memories it leaves out, strongest first.
    """

    text: str
    digest: str
    size: SizePart
    shown: tuple[LinePart, ...]
    omitted: tuple[OmittedPart, ...]


class EpochPart(Struct, frozen=True):
    """The epoch that a frozen block belongs to.

    Attributes:
        offset: offset of the event that began it.
        event: id of that event.
        time: its time, which is "now" in the block.
    """

    offset: int
    event: str
    time: str


class HotPart(Struct, frozen=True):
    """The hot block of a session.

    Attributes:
        text: the block; empty if nothing is known.
        size: how large it is.
        sections: number of lines by section.
    """

    text: str
    size: SizePart
    sections: dict[str, int]


class PromptDocument(Struct, frozen=True, tag_field="schema", tag="memfold.prompt/1"):
    """The blocks of a prompt (`memfold prompt --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        kind: `frozen` for a session's block, `present` as of the last event, `next` for a session that starts now,
            `numbered` for the list that a compaction is given.
        session: id of the session, or null.
        epoch: the session's open epoch, or null.
        block: the block.
        hot: the hot block if `--hot` was given, else null.
        note: why the block is empty, or null.
    """

    ledger: str
    position: int
    now: str
    kind: str
    session: str | None
    epoch: EpochPart | None
    block: BlockPart
    hot: HotPart | None = None
    note: str | None = None


class MemoryPart(Struct, frozen=True, kw_only=True):
    """A candidate, and the memory it became if it did.

    Attributes:
        id: the memory's id; null for a candidate that never became one.
        candidate: what names it for ever.
        type: its type.
        text: its text; empty where it isn't kept.
        source: `explicit`, `manual` or `compaction`.
        state: one of the seven states.
        reasons: codes of the reasons for that state.
        strength: strength at the position; null unless active.
        rank: place among active memories, from 1; null unless active.
        reinforcements: how often it was reinforced.
        age_days: whole days since it was proposed.
        proposed: time at which it was proposed.
        shown: whether the block as of the position shows it.
        omitted: code of the reason why the block leaves it out; null unless it is active and left out.
    """

    id: str | None
    candidate: Target
    type: str
    text: str
    source: str
    state: str
    reasons: tuple[str, ...]
    strength: float | None
    rank: int | None
    reinforcements: int
    age_days: int
    proposed: str
    shown: bool
    omitted: str | None


class ListDocument(Struct, frozen=True, tag_field="schema", tag="memfold.list/1"):
    """Memories or candidates (`memfold list --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        memories: active ones by rank; others newest first, behind them.
    """

    ledger: str
    position: int
    now: str
    memories: tuple[MemoryPart, ...]


class ShowDocument(Struct, frozen=True, tag_field="schema", tag="memfold.show/1"):
    """Everything about the memories that a name fits (`memfold show --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        memories: newest first.
        more: how many further ones fit.
    """

    ledger: str
    position: int
    now: str
    memories: tuple[DetailPart, ...]
    more: int


class DetailPart(MemoryPart, frozen=True, kw_only=True):
    """A memory with all its fields.

    Attributes:
        confidence: in hundredths.
        title: title in the memory file.
        content: content in the memory file.
        tags: its tags.
        rationale: why it holds; may be empty.
        importance: `low`, `normal` or `high`.
        safety_critical: whether caps of types don't count for it.
        updated: when it last changed, or null.
        clock: when its decay started.
        half_life_days: days in which its strength halves.
        reinforced: when it was last reinforced, or null.
        sessions: ids of the sessions that have stated it.
        supersedes: id of the memory it replaced, or null.
        superseded_by: id of the memory that replaced it, or null.
        into: id of the memory that absorbed it, or null.
        session: id of the session that proposed it, or null.
        message: the host's id of the message or summary; empty if there was none.
        offset: offset of the event that proposed it.
        decided: offset of the event that decided it.
    """

    confidence: int
    title: str
    content: str
    tags: tuple[str, ...]
    rationale: str
    importance: str
    safety_critical: bool
    updated: str | None
    clock: str | None
    half_life_days: float | None
    reinforced: str | None
    sessions: tuple[str, ...]
    supersedes: str | None
    superseded_by: str | None
    into: str | None
    session: str | None
    message: str
    offset: int
    decided: int


class ReasonCountPart(Struct, frozen=True):
    """How many candidates a reason counts for.

    Attributes:
        state: their state.
        code: code of the reason.
        rule: section of the specification.
        text: the reason as a sentence.
        count: number of candidates; one with several reasons counts in each.
    """

    state: str
    code: str
    rule: str
    text: str
    count: int


class AccountDocument(Struct, frozen=True, tag_field="schema", tag="memfold.account/1"):
    """The account of all candidates (`memfold account --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        counts: candidates, and how many are in each of the seven states.
        adds_up: whether the seven states add up to the candidates; anything but true is a bug of memfold.
        reasons: candidates by state and reason.
    """

    ledger: str
    position: int
    now: str
    counts: dict[str, int]
    adds_up: bool
    reasons: tuple[ReasonCountPart, ...]


class PendingPart(Struct, frozen=True):
    """The oldest candidate that is undecided.

    Attributes:
        text: its text.
        proposed: when it was proposed.
        age_days: whole days since then, as of the position.
    """

    text: str
    proposed: str
    age_days: int


class LastEventPart(Struct, frozen=True):
    """The events of one type.

    Attributes:
        type: stored name of the type.
        count: number of events.
        offset: offset of the last one.
        time: its time; empty if it has none.
    """

    type: str
    count: int
    offset: int
    time: str


class HealthPart(Struct, frozen=True):
    """What reading the whole ledger found.

    Attributes:
        status: `ok`, or `recovered` if anything was damaged.
        events: events that count.
        damaged: pieces that were set aside.
        duplicates: events that came twice and count once.
        unknown: events of a type that this release doesn't know.
    """

    status: str
    events: int
    damaged: int
    duplicates: int
    unknown: int


class MissingPathPart(Struct, frozen=True):
    """A path that a memory names and that isn't there any more.

    Attributes:
        id: id of the memory.
        path: the path below the workspace root.
    """

    id: str
    path: str


class FindingPart(Struct, frozen=True):
    """A setting that was ignored or lowered.

    Attributes:
        source: file, variable or layer.
        key: the setting; empty where the source as a whole is meant.
        value: what was found.
        problem: what is wrong with it.
        fix: what to write instead.
    """

    source: str
    key: str
    value: str
    problem: str
    fix: str


class StatusDocument(Struct, frozen=True, kw_only=True, tag_field="schema", tag="memfold.status/1"):
    """How memory is doing (`memfold status --json`).

    Attributes:
        ledger: folder of the ledger.
        workspace: root of the workspace.
        project: whether the folder is a project; if not, nothing becomes workspace memory.
        position: offset of the last event that counts.
        now: time at that position.
        enabled: whether memory is on.
        received: whether any event of a host was ever received.
        counts: candidates, and how many are in each of the seven states.
        adds_up: whether the seven states add up to the candidates.
        rejections: reasons of rejected candidates, the most frequent first.
        oldest_pending: the oldest undecided candidate, or null.
        block: size of the block as of the last event.
        block_limit: characters that the block may have.
        block_shown: memories that the block shows.
        last_events: events by type.
        languages: trigger languages that are on.
        languages_off: trigger languages that are off.
        off: settings that switch something off.
        health: what reading the whole ledger found.
        warnings: counts by code: deliveries and conflicts.
        missing_paths: paths that active memories name and that don't exist; empty where the workspace isn't there.
        findings: settings that were ignored or lowered.
    """

    ledger: str
    workspace: str
    project: bool
    position: int
    now: str
    enabled: bool
    received: bool
    counts: dict[str, int]
    adds_up: bool
    rejections: tuple[ReasonCountPart, ...]
    oldest_pending: PendingPart | None
    block: SizePart
    block_limit: int
    block_shown: int
    last_events: tuple[LastEventPart, ...]
    languages: tuple[str, ...]
    languages_off: tuple[str, ...]
    off: tuple[str, ...]
    health: HealthPart
    warnings: dict[str, int]
    missing_paths: tuple[MissingPathPart, ...]
    findings: tuple[FindingPart, ...]


class ProblemPart(Struct, frozen=True):
    """A problem of the ledger.

    Attributes:
        line: number of the line, from 1.
        byte: offset in the file.
        length: number of bytes concerned.
        kind: what it is.
        message: what was found.
        fix: what to do about it.
        note: whether it only informs, so that the exit code doesn't count it.
    """

    line: int
    byte: int
    length: int
    kind: str
    message: str
    fix: str
    note: bool


class CheckDocument(Struct, frozen=True, tag_field="schema", tag="memfold.check/1"):
    """Problems of the ledger (`memfold check --json`).

    Attributes:
        ledger: folder of the ledger.
        findings: number of problems that are more than notes; the exit code is 3 unless it is 0.
        problems: in the order of the file.
    """

    ledger: str
    findings: int
    problems: tuple[ProblemPart, ...]


class IngestDocument(Struct, frozen=True, tag_field="schema", tag="memfold.ingest/1"):
    """What an ingestion did (`memfold ingest --json`).

    Attributes:
        recording: the file.
        workspace: root of the workspace.
        ledger: folder of the ledger.
        records: number of records in the recording.
        added: events written now.
        known: events of the recording that stood in the ledger already.
        events: events of the recording by type.
        sessions: ids of its sessions.
        skipped: why records were skipped, and how often.
    """

    recording: str
    workspace: str
    ledger: str
    records: int
    added: int
    known: int
    events: dict[str, int]
    sessions: tuple[str, ...]
    skipped: dict[str, int]


class SettingPart(Struct, frozen=True):
    """One setting.

    Attributes:
        key: its name.
        value: its value.
        origin: where the value comes from: `default`, a file, a variable.
    """

    key: str
    value: Any
    origin: str


class ConfigDocument(Struct, frozen=True, tag_field="schema", tag="memfold.config/1"):
    """The configuration in force (`memfold config show --json`).

    Attributes:
        workspace: root of the workspace.
        settings: every setting.
        findings: settings that were ignored or lowered.
    """

    workspace: str
    settings: tuple[SettingPart, ...]
    findings: tuple[FindingPart, ...]


class PathsDocument(Struct, frozen=True, tag_field="schema", tag="memfold.paths/1"):
    """Where things are (`memfold paths --json`).

    Attributes:
        workspace: root of the workspace.
        key: key of the workspace; empty where a ledger was named.
        ledger: folder of the ledger.
        events: the ledger's file.
        exists: whether that file is there.
        data: folder of all ledgers.
        config: folder of the user's configuration.
    """

    workspace: str
    key: str
    ledger: str
    events: str
    exists: bool
    data: str
    config: str


class ErrorDocument(Struct, frozen=True, tag_field="schema", tag="memfold.error/1"):
    """Why a command failed: the last line of stderr of any command with `--json`.

    Attributes:
        code: the exit code.
        error: name of the error.
        message: what is wrong.
        fix: what to do about it; may be empty.
    """

    code: int
    error: str
    message: str
    fix: str


DOCUMENTS: tuple[type[Struct], ...] = (
    StatusDocument,
    ListDocument,
    ShowDocument,
    PromptDocument,
    AccountDocument,
    CheckDocument,
    IngestDocument,
    ConfigDocument,
    PathsDocument,
    ErrorDocument,
)
PARTS: tuple[type[Struct], ...] = (
    MemoryPart,
    DetailPart,
    BlockPart,
    LinePart,
    OmittedPart,
    SizePart,
    EpochPart,
    HotPart,
    ReasonCountPart,
    PendingPart,
    LastEventPart,
    HealthPart,
    MissingPathPart,
    FindingPart,
    ProblemPart,
    SettingPart,
)
