"""What the JSON documents are made of; ``memfold.cli.documents`` puts them together."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ledger.events import Target
from memfold.cli.change_documents import CHANGE_PARTS
from memfold.cli.proof_documents import PROOF_PARTS
from replay.wording import Wording

__all__ = [
    "PARTS",
    "BlockPart",
    "ChangePart",
    "CheckPart",
    "ConfigFilePart",
    "DetailPart",
    "EpochPart",
    "EpochUsePart",
    "FindingPart",
    "HealthPart",
    "HotPart",
    "LastEventPart",
    "LinePart",
    "MemoryPart",
    "MissingPathPart",
    "OmittedPart",
    "PendingPart",
    "ProblemPart",
    "ReasonCountPart",
    "SessionUsePart",
    "SettingPart",
    "SizePart",
    "TokensPart",
    "WorkspacePart",
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
        wording: whose words it shows, or null where it shows its own.
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
    wording: Wording | None = None


class WorkspacePart(Struct, frozen=True):
    """A workspace that has a ledger.

    Attributes:
        workspace: its root when the ledger was made; empty if that can't be read.
        state: `there`, `gone`, `no project` (nothing becomes memory in it), or `unknown`.
        written: when the ledger was written last.
        size: of the log, in bytes.
        ledger: folder of the ledger.
        take_over: what to type where the workspace is now, if it is gone from here and has memories; else empty.
        taken_over_by: root of a workspace that has imported all that is there, if it is gone; else empty.
    """

    workspace: str
    state: str
    written: str
    size: int
    ledger: str
    take_over: str
    taken_over_by: str = ""


class FormerPart(Struct, frozen=True):
    """A workspace whose folder is gone, and which this one may have been before it was renamed or moved.

    Attributes:
        workspace: where it was.
        why: what makes that plausible.
        memories: how many an export of it holds.
        take_over: what to type in the workspace to take them over.
    """

    workspace: str
    why: str
    memories: int
    take_over: str


class ConfigFilePart(Struct, frozen=True):
    """A configuration file.

    Attributes:
        path: where it is, or would be.
        exists: whether it is there.
    """

    path: str
    exists: bool


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
        problems: what `memfold check` finds, notes left out.
    """

    status: str
    events: int
    damaged: int
    duplicates: int
    unknown: int
    problems: int


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


class ProblemPart(Struct, frozen=True):
    """A problem of the ledger.

    Attributes:
        line: number of the line, from 1; 0 for a file or the folder as a whole.
        byte: offset in the file; 0 there too.
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


class TokensPart(Struct, frozen=True, kw_only=True):
    """Tokens of prompts as the host reported them, and how many were read again because memory changed.

    Attributes:
        requests: requests to the model, those of compactions included.
        input: tokens that were neither read from the cache nor written to it.
        cache_read: tokens read from the provider's cache.
        cache_write: tokens written to it.
        prompt: all of these.
        cached: share of the prompt that was read from the cache, in hundredths; null if no cache use was reported.
        hot_changes: requests before which the hot block had changed, the first of each epoch left out.
        again_here: estimate of the tokens read again because a block changed before the messages; two digits.
        again_classic: the same if both blocks stood in the system prompt; null where too few turns tell.
    """

    requests: int
    input: int
    cache_read: int
    cache_write: int
    prompt: int
    cached: int | None
    hot_changes: int
    again_here: int
    again_classic: int | None


class EpochUsePart(Struct, frozen=True, kw_only=True):
    """What one epoch of a session cost.

    Attributes:
        offset: offset of the event that began it.
        time: its time.
        open: whether it is the session's open epoch.
        block: size of its frozen block.
        digest: SHA-256 of that block, in hex.
        receipts: how often a host was handed the block, by the receipts in the log.
        block_changes: how often another block was handed over than before; anything but 0 is a bug.
        carried: requests that carried the block; a compaction's own request carries none.
        placement: `user-part` or `system`: where hot state stands.
        hot_parts: hot blocks and changes that were given.
        hot: their size; each is sent once and stands in the history from then on.
        tokens: tokens of the turns that ended in this epoch.
    """

    offset: int
    time: str
    open: bool
    block: SizePart
    digest: str
    receipts: int
    block_changes: int
    carried: int
    placement: str
    hot_parts: int
    hot: SizePart
    tokens: TokensPart


class SessionUsePart(Struct, frozen=True, kw_only=True):
    """What one session cost.

    Attributes:
        session: its id.
        began: when its first epoch began, or null if it has none.
        tokens: tokens of its turns.
        epochs: its epochs, oldest first.
    """

    session: str
    began: str | None
    tokens: TokensPart
    epochs: tuple[EpochUsePart, ...]


class ChangePart(Struct, frozen=True, kw_only=True):
    """What happens to one file of a host.

    Attributes:
        action: `create`, `update`, `unchanged`; `remove`, `restore`, `gone` if it was removed before, `left` if it
            isn't ours to touch.
        scope: `global` for the user, or `project`.
        path: the file.
        commands: what the plugin starts, the first that works.
        folders: folders that are made for it, or removed if nothing else is in them.
        kept: where a copy of what stood there goes, or null.
        diff: what an update changes, as a unified diff; empty otherwise.
        why: a remark; may be empty.
    """

    action: str
    scope: str
    path: str
    commands: tuple[tuple[str, ...], ...]
    folders: tuple[str, ...]
    kept: str | None
    diff: str
    why: str


class CheckPart(Struct, frozen=True):
    """One check of `memfold doctor`.

    Attributes:
        name: what was looked at.
        outcome: `ok`; `note` for what is worth knowing; `warn` and `fail` for what needs an action.
        seen: what was found.
        action: what to do about it; may be empty.
        details: more of what was found, a line each.
    """

    name: str
    outcome: str
    seen: str
    action: str
    details: tuple[str, ...]


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
    ConfigFilePart,
    WorkspacePart,
    SessionUsePart,
    EpochUsePart,
    TokensPart,
    ChangePart,
    CheckPart,
    *CHANGE_PARTS,
    *PROOF_PARTS,
)
